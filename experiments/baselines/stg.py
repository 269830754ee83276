"""The first implementation of stochastic gates, the package `stg` by the method's authors."""

import collections
import collections.abc
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments.baselines.base import Baseline, Selection, best_of, torch_seed
from stochgate.optional import require


class STGSelector(Baseline):
    """`stg` 0.1.2 with its example's network, the penalty chosen on held-out rows.

    Columns are standardised and a fifth of the rows is held out. Of the models, one a penalty, the one is
    kept that scores best on the held-out rows (fewer features on a tie); its features are those whose gate,
    without noise, is above 0.

    Parameters
    ----------
    kind : {"classification", "regression"}, default="classification"
    lams : sequence of float, default=(0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
        Penalties to choose from; `stg` divides them by the number of features.
    hidden_dims : sequence of int, default=(60, 20)
        Widths of the hidden layers, as in its example.
    n_epochs : int, default=2000
        Full-batch steps of gradient descent with the step size 0.1.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        The gates' means mu.
    """

    _refused = {"survival": "in stg's Cox model the penalty has no effect and predict raises an error"}

    def __init__(
        self,
        kind: str = "classification",
        *,
        lams: Sequence[float] = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
        hidden_dims: Sequence[int] = (60, 20),
        n_epochs: int = 2000,
        random_state: Any = None,
    ):
        self.kind = kind
        self.lams = lams
        self.hidden_dims = hidden_dims
        self.n_epochs = n_epochs
        self.random_state = random_state

    def _select(self, X: np.ndarray, y: np.ndarray, seed: int) -> Selection:
        train, valid = self._kind.hold_out(y, 0.2, seed)
        points = self._path(X[train], y[train], seed)
        points = [point for point in points if np.isfinite(point.model.predict(X[valid])).all()]
        if not points:
            raise ValueError("stg diverged at every penalty: its predictions are not finite.")
        return best_of(points, X[valid], lambda prediction: self._kind.score(y[valid], prediction))

    def _path(self, X: np.ndarray, y: np.ndarray, seed: int) -> list[Selection]:
        scaler = StandardScaler().fit(X)
        points = []
        for lam in self.lams:
            with torch_seed(seed):
                network = self._train(scaler.transform(X).astype(np.float32), y, lam)
            means = network.get_gates("raw").astype(np.float64)
            points.append(Selection(network.get_gates("prob") > 0, means, _Trained(scaler, network)))
        return points

    def _train(self, X: np.ndarray, y: np.ndarray, lam: float) -> Any:
        stg = require("stg", package="stg", needed_by="STGSelector")
        n_outputs, target = _TARGETS[self.kind](y)
        with old_collections():
            network = stg.STG(
                device="cpu",
                task_type=self.kind,
                input_dim=X.shape[1],
                output_dim=n_outputs,
                hidden_dims=list(self.hidden_dims),
                activation="tanh",
                optimizer="SGD",
                learning_rate=0.1,
                batch_size=len(X),
                sigma=0.5,
                lam=lam,
            )
            network.fit(X, target, nr_epochs=self.n_epochs, verbose=False)
        return network


# how many outputs the network has, and y in the shape it takes
_TARGETS = {
    "classification": lambda y: (int(y.max()) + 1, y),
    "regression": lambda y: (1, y[:, None]),
}


@dataclass(frozen=True)
class _Trained:
    """A trained network of stg behind its scaler."""

    scaler: StandardScaler
    network: Any

    def predict(self, X: np.ndarray) -> np.ndarray:
        inputs = self.scaler.transform(X).astype(np.float32)
        with torch_seed(0), old_collections(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Implicit dimension choice for softmax")
            return np.ravel(self.network.predict(inputs))


@contextmanager
def old_collections() -> Iterator[None]:
    """Give `collections` the names that Python 3.10 moved away and stg still looks up, for a while."""
    names = [name for name in ("Sequence", "Set", "Mapping", "Iterable") if not hasattr(collections, name)]
    for name in names:
        setattr(collections, name, getattr(collections.abc, name))
    try:
        yield
    finally:
        for name in names:
            delattr(collections, name)
