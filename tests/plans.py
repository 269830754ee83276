"""Small plans that the tests of the engine share."""

from dataclasses import replace

import numpy as np
import torch
from sklearn.base import clone

from reference import problem
from stochgate.engine import FREE, OPEN, DenseColumns, Design, make_plan
from stochgate.gates import GaussianGate
from stochgate.networks import MLP
from stochgate.objectives import Classification, Cox, Regression

OBJECTIVES = [
    (Classification(), "binary"),
    (Classification(class_weight="balanced"), "multiclass"),
    (Regression(), "regression"),
    (Regression(), "multioutput"),
    (Cox(), "survival"),
    (Cox(ties="efron"), "survival"),
    (Cox(), "entry and strata"),
    (Cox(ties="efron"), "entry and strata"),
]
LAM = [0.0, 0.5, 2.0]
SEED = [3, 7, 7]


def make(objective, kind, training, gate=None, network=None, dtype=torch.float64, n_samples=24):
    """Return a plan of three models that differ in lam, seed and weights, and what it needs."""
    X, y = problem(kind, n_samples=n_samples)
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, size=(3, n_samples)) * rng.uniform(0.5, 1.5, size=(3, n_samples))
    weights[0] = 1.0
    weights[:, :6] += 0.5  # every class and an event in each
    target = objective.encode(y)
    design = Design(DenseColumns(torch.tensor(X, dtype=dtype)), None, X.shape[1])
    fixed = torch.full((3, X.shape[1]), FREE, dtype=torch.int8)
    fixed[2, 1] = OPEN
    plan = make_plan(
        gate or GaussianGate(),
        network or MLP(hidden=(4,)),
        objective,
        training,
        lam=LAM,
        seed=SEED,
        weights=torch.tensor(weights, dtype=dtype),
        n_gates=X.shape[1],
        costs=torch.tensor([1.0, 2.0, 0.5, 1.0, 1.0]),
        fixed=fixed,
        data_seed=5,
    )
    return plan, design, target


def in_pieces(plan):
    """Return the plan with too little memory for two models at once."""
    return replace(plan, training=clone(plan.training).set_params(max_memory=1))
