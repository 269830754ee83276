"""From raw X to the columns a network trains on, all on a common scale."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from stochgate.engine.data import Columns, DenseColumns, SparseColumns
from stochgate.networks import Encoding, Network

_ROWS = 10_000
_AT_ONCE = 1 << 18  # numbers
FAR_OUT, REACH = 6.0, 3.0  # a column is drawn in from so many standard deviations on, to within so many
SMALL = 2 << 30  # bytes up to which sparse columns are made dense on a GPU, which multiplies these faster


@dataclass(frozen=True)
class Inputs:
    """A network's encoding of the features and a fixed shift and scale of every column.

    Each model standardises its columns by its own weights anyway, which undoes the shift and scale
    exactly; they only keep a column such as a year or a gene count from losing its digits in single
    precision.

    Attributes
    ----------
    encoding : Encoding, or None when the features are the columns
    center, scale : ndarray, shape (n_columns,)
    reach : ndarray, shape (n_columns,), or None for none
        How far from the middle a value may be after that: further ones are drawn in smoothly,
        ``x / sqrt(1 + (x / reach)^2)``. Infinite for a column that is left as it is.
    """

    encoding: Encoding | None
    center: np.ndarray
    scale: np.ndarray
    reach: np.ndarray | None = None

    @classmethod
    def learn(
        cls, X: np.ndarray | sparse.csr_array, network: Network, *, raw: bool, draw_in: bool = False
    ) -> "Inputs":
        """Learn encoding, middle and spread; `raw` or sparse X keep the numbers as they are.

        Middle and spread come from quartiles of at most 10,000 rows: an outlier that some fold holds out
        must not squeeze the others together.

        Parameters
        ----------
        X : ndarray or csr_array
        network : Network
        raw : bool
        draw_in : bool
            Whether to draw in the values of columns without an encoding that lie far out.
        """
        encoding = network.encoding(X)
        n_columns = X.shape[1] if encoding is None else len(encoding.feature_of)
        if raw or sparse.issparse(X):
            made = cls(encoding, np.zeros(n_columns), np.ones(n_columns))
            return replace(made, reach=reach_of(X)) if draw_in and not raw else made
        rows = X[:: max(1, len(X) // _ROWS)].astype(np.float64)
        rows = rows if encoding is None else encoding.transform(rows)
        low, center, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
        scale = high - low
        narrow = ~(scale > 0)  # most values are equal: take the mean distance instead
        scale[narrow] = np.abs(rows[:, narrow] - center[narrow]).mean(axis=0)
        made = cls(encoding, center, np.where(scale > 0, scale, 1.0))
        if not draw_in or encoding is not None:  # an encoding bends columns by itself
            return made
        return replace(made, reach=reach_of((rows - made.center) / made.scale))

    @property
    def cuts_nothing(self) -> bool:
        """Whether there is an encoding, and it leaves every feature in one piece."""
        return self.encoding is not None and len(set(self.encoding.feature_of)) == len(
            self.encoding.feature_of
        )

    @property
    def is_of_dense(self) -> bool:
        """Whether columns are encoded or moved, which no sparse X is."""
        return self.encoding is not None or bool(self.center.any() or (self.scale != 1).any())

    def gate_of(self, gate_of_feature: np.ndarray | None) -> np.ndarray | None:
        """Return the gate of each column; None when every column has a gate of its own."""
        if self.encoding is None:
            return gate_of_feature
        feature_of = self.encoding.feature_of
        return feature_of if gate_of_feature is None else gate_of_feature[feature_of]

    def take(self, columns: np.ndarray) -> tuple[np.ndarray, "Inputs"]:
        """Return the features some columns need, and the inputs that make the columns of them."""
        center, scale = self.center[columns], self.scale[columns]
        if self.encoding is None:
            return columns, Inputs(None, center, scale, None if self.reach is None else self.reach[columns])
        features, encoding = self.encoding.take(columns)
        return features, Inputs(encoding, center, scale)

    def apply(self, X: np.ndarray | sparse.csr_array, dtype: torch.dtype, device: torch.device) -> Columns:
        """Encode and scale X, and hand it to the device."""
        if sparse.issparse(X):
            X = sparse.csr_array(X)
            if self.reach is not None:
                X = sparse.csr_array(
                    (_draw_in(X.data, self.reach[X.indices]), X.indices, X.indptr), X.shape
                )
            columns = SparseColumns(X, dtype, device)
            small = device.type == "cuda" and X.shape[0] * X.shape[1] * dtype.itemsize <= SMALL
            return DenseColumns(columns.dense(), was_sparse=True) if small else columns
        return DenseColumns(self._scaled(X).to(device, dtype))

    def _scaled(self, X: np.ndarray) -> torch.Tensor:
        X = X if self.encoding is None else self.encoding.transform(X)
        scaled = X - self.center
        scaled /= self.scale
        return torch.from_numpy(scaled if self.reach is None else _draw_in(scaled, self.reach))

    def drawn_in(self, X: np.ndarray) -> np.ndarray:
        """Return columns on their own scale, values that lie far out drawn in."""
        if self.reach is None:
            return X
        return self.center + self.scale * _draw_in((X - self.center) / self.scale, self.reach)

    def rounded(self) -> "Inputs":
        """Return inputs whose numbers single precision holds, the scale a power of two.

        Then single precision makes the same columns of single numbers as double precision does.
        """
        center = self.center.astype(np.float32).astype(np.float64)
        return replace(self, center=center, scale=np.exp2(np.round(np.log2(self.scale))))

    def tensor(self, X: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
        """Return a block of dense rows, encoded and scaled by `rounded` inputs."""
        if X.dtype != np.float32 or dtype != torch.float32 or self.encoding or self.reach is not None:
            return torch.cat([self._scaled(part).to(dtype) for part in np.array_split(X, _pieces(X))])
        center, factor = (torch.from_numpy(v.astype(np.float32)) for v in (self.center, 1 / self.scale))
        return torch.sub(torch.from_numpy(X), center).mul_(factor)


def reach_of(X: np.ndarray | sparse.csr_array) -> np.ndarray:
    """Return how far the values of each column may lie from 0, shape (n_columns,); mostly infinite.

    Columns such as counts have values more than six standard deviations from their mean (a normal column
    has one among 500 million): they are given three standard deviations. A sparse column far from 0 is not.
    """
    if sparse.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0)
        highest, lowest = (np.ravel(end.toarray()) for end in (X.max(axis=0), X.min(axis=0)))
        near = mean**2 <= variance
    else:
        X = X[:: max(1, len(X) // _ROWS)]
        with np.errstate(over="ignore", invalid="ignore"):  # the variance of numbers such as 1e200
            mean, variance, highest, lowest = X.mean(0), X.var(0), X.max(0), X.min(0)
        near = np.isfinite(variance)
    spread = np.sqrt(variance)
    is_far = near & (spread > 0) & (np.maximum(highest - mean, mean - lowest) > FAR_OUT * spread)
    return np.where(is_far, REACH * spread, np.inf)


def _pieces(X: np.ndarray) -> int:
    """Return into how many parts rows are cut, so that double precision stays in a cache."""
    return max(1, len(X) * X.shape[1] // _AT_ONCE)


def _draw_in(values: np.ndarray, reach: np.ndarray) -> np.ndarray:
    return values / np.hypot(1, values / reach)
