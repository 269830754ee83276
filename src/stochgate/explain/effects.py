"""Coefficients of a linear model with intervals: odds ratios, hazard ratios, slopes."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from stochgate.choice.final import Choice
from stochgate.choice.tables import make_table
from stochgate.engine import Predictor
from stochgate.explain.coefficients import read_coefficients
from stochgate.problem.problem import Problem

N_RESAMPLES = 200
_SEED = 7919  # so that resamples are not those of a team


def find_effects(model: Any, level: float) -> Any:
    """Return a row per output and column of a linear model: coefficient, ratio and their intervals.

    The model is trained again on 200 Bayesian bootstraps of the rows (Rubin's), as one stack, with its
    features held as they are. The intervals tell how far the coefficients of *these* features may be off;
    they do not repeat the selection, so they are too narrow for "is this feature real?".

    Parameters
    ----------
    model : fitted estimator whose network is linear
    level : float
    """
    choice: Choice = model._choice
    of_model, _ = read_coefficients(model._predictor)
    resampled = resample(choice)
    tail = 50 * (1 - level)
    low, high = np.nanpercentile(resampled, [tail, 100 - tail], axis=0)
    n_outputs = of_model.shape[1]
    objective = choice.problem.objective
    outputs = objective.output_names(model._facts, n_outputs)
    names = np.array(model._table.column_names(model._names()), dtype=object)[model._predictor.features]
    rows = []
    for o, output in enumerate(outputs):
        for c, name in enumerate(names):
            row = {"column": name, "output": output, "coefficient": of_model[:, o, c].mean()}
            row |= {"low": low[o, c], "high": high[o, c]}
            if objective.ratio_name is not None:
                ends = {"coefficient": objective.ratio_name, "low": "ratio_low", "high": "ratio_high"}
                row |= {to: float(np.exp(row[of])) for of, to in ends.items()}
            rows.append(row)
    return make_table(rows)


def draw_weights(problem: Problem) -> np.ndarray:
    """Draw the weights of the rows in each resample, shape (n_resamples, n_samples)."""
    return np.random.RandomState(problem.seed + _SEED).exponential(size=(N_RESAMPLES, problem.n_samples))


def resample(choice: Choice) -> np.ndarray:
    """Return the coefficients of models on resampled rows, shape (n_resamples, n_outputs, n_columns)."""
    problem, recipe = replace(choice.problem, callbacks=()), choice.recipe
    weights = problem.weights[None] * torch.from_numpy(draw_weights(problem)).to(problem.weights)
    trained, design = recipe.train(problem, weights)
    models = trained.models
    support = torch.from_numpy(recipe.support).to(problem.device)
    gates = torch.where(support, models.gates(), 0)
    open_gates = (gates != 0).any(0, keepdim=True).to(gates.dtype)
    predictor = Predictor.make(models, design, problem.inputs, open_gates, recipe.shrink)
    if recipe.lam is not None:  # each model has gates of its own
        own = design.spread(gates)[:, torch.nonzero(design.spread(open_gates)[0])[:, 0]]
        predictor.scale.mul_(own.cpu())
    return read_coefficients(predictor)[0]
