"""LassoNet: a network with a linear skip connection whose L1 penalty governs the features."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments.baselines.base import Baseline, Selection, best_of, torch_seed
from experiments.baselines.kinds import Rows, order_in_time
from stochgate.optional import require


class LassoNetSelector(Baseline):
    """The point of LassoNet's path that scores best on held-out rows (fewer features on a tie).

    Columns are standardised; a fifth of the rows is held out, for LassoNet's early stopping too. With
    validation rows these choose the point, and the fifth serves the early stopping alone.

    Parameters
    ----------
    kind : {"classification", "regression", "survival"}, default="classification"
    hidden_dims : tuple of int, optional
        Widths of the hidden layers; LassoNet's own default is (100,).
    lambda_start : "auto" or float, default="auto"
        First penalty of the path.
    path_multiplier : float, default=1.02
        Growth of the penalty from a point of the path to the next; 1.02 is LassoNet's default.
    n_iters : (int, int), default=(1000, 100)
        Most epochs of the dense network and of each point of the path.
    device : str, default="cpu"
        Where it trains.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        The penalty at which a feature leaves the path.
    """

    def __init__(
        self,
        kind: str = "classification",
        *,
        hidden_dims: tuple[int, ...] | None = None,
        lambda_start: float | str = "auto",
        path_multiplier: float = 1.02,
        n_iters: tuple[int, int] = (1000, 100),
        device: str = "cpu",
        random_state: Any = None,
    ):
        self.kind = kind
        self.hidden_dims = hidden_dims
        self.lambda_start = lambda_start
        self.path_multiplier = path_multiplier
        self.n_iters = n_iters
        self.device = device
        self.random_state = random_state

    def _select(self, X: np.ndarray, y: np.ndarray, seed: int) -> Selection:
        _, valid = self._stopping_rows(y, seed)
        points = self._path(X, y, seed)
        return best_of(points, X[valid], lambda prediction: self._kind.score(y[valid], prediction))

    def _path(self, X: np.ndarray, y: np.ndarray, seed: int) -> list[Selection]:
        train, valid = self._stopping_rows(y, seed)
        scaler = StandardScaler().fit(X[train])
        inputs, targets = scaler.transform(X), _TARGETS[self.kind](y)
        network = self._make_network(seed)
        with torch_seed(seed):
            points = network.path(
                inputs[train],
                targets[train],
                X_val=inputs[valid],
                y_val=targets[valid],
                return_state_dicts=True,
                disable_lambda_warning=True,
            )
        importances = network.feature_importances_.numpy().astype(np.float64)
        return [
            Selection(point.selected.numpy(), importances, _AtPoint(scaler, network, point))
            for point in points
        ]

    def _stopping_rows(self, y: np.ndarray, seed: int) -> Rows:
        """Return the rows to train on, and those that tell LassoNet when to stop at a point of its path."""
        return self._kind.hold_out(y, 0.2, seed)

    def _make_network(self, seed: int) -> Any:
        lassonet = require("lassonet", package="lassonet", needed_by="LassoNetSelector")
        name, settings = _NETWORKS[self.kind]
        if self.hidden_dims is not None:
            settings = {**settings, "hidden_dims": tuple(self.hidden_dims)}
        return getattr(lassonet, name)(
            lambda_start=self.lambda_start,
            path_multiplier=self.path_multiplier,
            n_iters=tuple(self.n_iters),
            device=self.device,
            verbose=0,
            torch_seed=seed,
            **settings,
        )


_NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "classification": ("LassoNetClassifier", {}),
    "regression": ("LassoNetRegressor", {}),
    "survival": ("LassoNetCoxRegressor", {"tie_approximation": "breslow"}),
}
_TARGETS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "classification": np.asarray,
    "regression": np.asarray,
    # a censored row that shares the time of an event could drop out of LassoNet's risk sets
    "survival": lambda y: np.column_stack([order_in_time(y), y["event"]]),
}


@dataclass(frozen=True)
class _AtPoint:
    """The network, which all points of the path share, with the weights of one of them."""

    scaler: StandardScaler
    network: Any
    point: Any

    def predict(self, X: np.ndarray) -> np.ndarray:
        self.network.load(self.point)
        return np.ravel(self.network.predict(self.scaler.transform(X)))
