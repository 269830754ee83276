"""An MLP on a piecewise-linear encoding of each feature, behind one gate a feature."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from stochgate.networks.mlp import MLP


@dataclass(frozen=True)
class PiecewiseLinear:
    r"""A piecewise-linear encoding: column c is feature f(c) between two of its quantiles.

    .. math:: e_c(x) = (x_{f(c)} - l_c) / (u_c - l_c), \text{ clipped to } [0, 1]

    The first column of a feature is not clipped below and the last not above, so that nothing is lost
    outside the range seen. The sum of a feature's columns rises with it, so an encoded network can do
    what a plain one can.

    Attributes
    ----------
    feature_of : ndarray of int, shape (n_columns,)
    lower, upper : ndarray, shape (n_columns,)
    floor, ceiling : ndarray, shape (n_columns,)
        Where the column is clipped; infinite where it is not.
    """

    feature_of: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    floor: np.ndarray
    ceiling: np.ndarray

    @classmethod
    def learn(cls, X: np.ndarray, n_bins: int) -> "PiecewiseLinear":
        """Place the edges at distinct quantiles of each feature, over all rows (y is not looked at)."""
        quantiles = np.quantile(X, np.linspace(0, 1, n_bins + 1), axis=0)  # (n_bins + 1, n_features)
        lower, upper = quantiles[:-1].T, quantiles[1:].T  # (n_features, n_bins)
        used = upper > lower
        used[~used.any(axis=1), 0] = True  # a constant feature keeps one column
        feature_of = np.nonzero(used)[0]
        first = np.diff(feature_of, prepend=-1) > 0
        last = np.diff(feature_of, append=X.shape[1]) > 0
        width = np.where(upper > lower, upper, lower + 1)
        return cls(
            feature_of,
            lower[used],
            width[used],
            np.where(first, -np.inf, 0.0),
            np.where(last, np.inf, 1.0),
        )

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Encode X, shape (n_samples, n_columns)."""
        encoded = X.take(self.feature_of, axis=1) - self.lower
        encoded /= self.upper - self.lower
        return np.clip(encoded, self.floor, self.ceiling, out=encoded)

    def take(self, columns: np.ndarray) -> tuple[np.ndarray, "PiecewiseLinear"]:
        """Return the features some columns need, and the encoding of those features into the columns."""
        features, feature_of = np.unique(self.feature_of[columns], return_inverse=True)
        rest = (a[columns] for a in (self.lower, self.upper, self.floor, self.ceiling))
        return features, PiecewiseLinear(feature_of, *rest)


class EncodedMLP(MLP):
    """An MLP that sees each feature cut into pieces at its quantiles, one gate a feature.

    Plain MLPs are slow to learn functions that bend sharply along a feature, such as a ring; on the
    pieces they are quick.

    Parameters
    ----------
    n_bins : int, default=4
        Pieces a feature; fewer where quantiles coincide, one for a binary feature.
    hidden, activation, skip, init_std, linear : as in `MLP`

    Examples
    --------
    >>> from stochgate.networks import EncodedMLP
    >>> EncodedMLP(n_bins=8)
    EncodedMLP(n_bins=8)
    """

    _most_features = 128  # each becomes several columns
    takes_sparse = False
    _parameter_constraints = {
        **MLP._parameter_constraints,
        "n_bins": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        n_bins: int = 4,
        hidden: tuple[int, ...] = (64, 32),
        activation: str = "relu",
        skip: bool = False,
        init_std: float | None = None,
        linear: tuple[int, ...] = (),
    ):
        super().__init__(hidden, activation, skip, init_std, linear)
        self.n_bins = n_bins

    def for_gates(self) -> "EncodedMLP":
        """Return a network half as wide: its columns are many, and it finds what a wider one finds."""
        return clone(self).set_params(hidden=tuple(max(1, width // 2) for width in self.hidden))

    def encoding(self, X: Any) -> PiecewiseLinear:
        """Learn the edges of X's features."""
        if sparse.issparse(X):
            raise ValueError(
                "An encoded network cuts features at their quantiles, which makes sparse X dense; use "
                "network='mlp' or 'linear', or hand in X.toarray()."
            )
        return PiecewiseLinear.learn(X, self.n_bins)
