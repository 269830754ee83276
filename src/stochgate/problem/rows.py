"""From checked user input to what the engine trains on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from stochgate.engine import Design, Inputs, Training
from stochgate.engine.data import learn_scaling
from stochgate.networks import Network
from stochgate.objectives import Objective, Target
from stochgate.problem.features import GateMap
from stochgate.problem.validation import check_features

LEARNS, JUDGES, IDLE = 1, 0, -1  # what a row does in a fold


@dataclass(frozen=True)
class Prepared:
    """A data set ready for training; rows of weight 0 are gone.

    Attributes
    ----------
    design : Design
    target : Target
    inputs : Inputs
    gate_map : GateMap
    weights : ndarray, shape (n_samples,)
        Sample weights, 1 on average.
    X : ndarray or csr_array, shape (n_samples, n_features)
        The features as they were given.
    """

    design: Design
    target: Target
    inputs: Inputs
    gate_map: GateMap
    weights: np.ndarray
    X: Any

    def constant(self) -> np.ndarray:
        """Return the positions of the features that have one value only, as has all of their group."""
        columns = self.design.columns
        weights = torch.from_numpy(self.weights).to(columns.device, columns.dtype)
        scaling = learn_scaling(columns, weights[None], standardize=False)
        gates = self.design.all_columns(scaling.scale == 0)[0]
        return np.flatnonzero(self.gate_map.spread(gates.cpu().numpy()))


def check_rows(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, objective: Objective
) -> tuple[Any, Target, np.ndarray, np.ndarray]:
    """Check X, y and weights, and take out the rows of weight 0.

    Returns
    -------
    X, the encoded y, the weights (1 on average), and the positions of the rows that are left.
    """
    X = check_features(estimator, X, reset=True)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    target = objective.encode(y)
    check_consistent_length(X, next(iter(target.rows.values())))
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    used = np.flatnonzero(weights)
    if len(used) == 0:
        raise ValueError("All sample weights are 0: there is no row to learn from.")
    if len(used) < len(weights):
        parts = tuple(_safe_indexing(part, used) for part in y) if isinstance(y, tuple) else None
        target = objective.encode(_safe_indexing(y, used) if parts is None else parts)
        X, weights = X[used], weights[used]
    return X, target, weights / weights.mean(), used


def prepare(
    X: Any,
    target: Target,
    weights: np.ndarray,
    gate_map: GateMap,
    network: Network,
    training: Training,
    device: torch.device,
    draw_in: bool,
) -> Prepared:
    """Encode checked data as the network wants it, on a common scale and on the device."""
    inputs = Inputs.learn(X, network, raw=not training.standardize, draw_in=draw_in)
    of_column = inputs.gate_of(gate_map.gate_of)
    gate_of = None if of_column is None else torch.from_numpy(of_column).to(device)
    columns = inputs.apply(X, getattr(torch, training.dtype), device)
    rows = {name: value.to(device) for name, value in target.rows.items()}
    return Prepared(
        Design(columns, gate_of, gate_map.n_gates),
        Target(rows, target.n_outputs, target.facts),
        inputs,
        gate_map,
        weights,
        X,
    )


def hold_out(strata: np.ndarray, share: float, random_state: np.random.RandomState) -> np.ndarray:
    """Draw about a share of the rows, evenly from every stratum, as a mask of shape (n_samples,).

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.problem.rows import hold_out
    >>> strata = np.repeat([0, 1], [80, 20])
    >>> drawn = hold_out(strata, 0.1, np.random.RandomState(0))
    >>> np.bincount(strata[drawn])
    array([8, 2])
    """
    n_samples = len(strata)
    n_drawn = min(n_samples - 1, max(1, round(share * n_samples)))
    shuffled = random_state.permutation(n_samples)
    ordered = shuffled[np.argsort(strata[shuffled], kind="stable")]
    places = np.floor((np.arange(n_drawn) + random_state.uniform()) * n_samples / n_drawn).astype(int)
    drawn = np.zeros(n_samples, dtype=bool)
    drawn[ordered[places]] = True
    return drawn
