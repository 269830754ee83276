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
    resampled = against_mean(model, resample(choice, model._predictor.features))
    tail = 50 * (1 - level)
    low, high = np.nanpercentile(resampled, [tail, 100 - tail], axis=0)
    rows, ratio = list_coefficients(model, of_model.mean(axis=0)), choice.problem.objective.ratio_name
    for row, *ends in zip(rows, low.ravel(), high.ravel(), strict=True):
        row |= dict(zip(("low", "high"), map(float, ends), strict=True))
        if ratio is not None:
            names = {"coefficient": ratio, "low": "ratio_low", "high": "ratio_high"}
            row |= {to: float(np.exp(row[of])) for of, to in names.items()}
    return make_table(rows)


def list_coefficients(model: Any, values: np.ndarray) -> list[dict[str, Any]]:
    """Return a row per output and column of a linear model, shape (n_outputs, n_columns) of values."""
    values = against_mean(model, values)
    outputs = model._objective.output_names(model._facts, len(values))
    names = np.array(model._table.column_names(model._names()), dtype=object)[model._predictor.features]
    return [
        {"column": name, "output": output, "coefficient": float(value)}
        for output, row in zip(outputs, values, strict=True)
        for name, value in zip(names, row, strict=True)
    ]


def against_mean(model: Any, values: np.ndarray) -> np.ndarray:
    """Return coefficients, shape (..., n_outputs, n_columns), of many classes against their mean."""
    compares = model._objective.compares_outputs(values.shape[-2])
    return values - values.mean(axis=-2, keepdims=True) if compares else values


def draw_weights(problem: Problem) -> np.ndarray:
    """Draw the weights of the rows in each resample, shape (n_resamples, n_samples)."""
    return np.random.RandomState(problem.seed + _SEED).exponential(size=(N_RESAMPLES, problem.n_samples))


def resample(choice: Choice, columns: np.ndarray) -> np.ndarray:
    """Return the coefficients of some columns in models on resampled rows.

    Their shape is (n_resamples, n_outputs, n_columns).
    """
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
    return read_coefficients(predictor)[0][:, :, np.searchsorted(predictor.features, columns)]
