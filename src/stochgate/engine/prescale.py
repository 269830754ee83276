"""Bring raw columns to a common scale once, so that single precision is enough for any unit."""

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse

from stochgate.engine.data import Columns, DenseColumns, SparseColumns

_ROWS = 10_000


@dataclass(frozen=True)
class Prescale:
    """A fixed shift and scale of every column.

    Each model standardises its columns by its own weights anyway, which undoes this one exactly; it
    only keeps a column such as a year or a gene count from losing its digits in single precision.

    Attributes
    ----------
    center, scale : ndarray, shape (n_columns,)
    """

    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def learn(cls, X: np.ndarray | sparse.csr_array, identity: bool) -> "Prescale":
        """Learn middle and spread of dense columns; `identity` or sparse X keep the raw numbers.

        They come from quartiles of at most 10,000 rows: an outlier that some fold holds out must not
        squeeze the others together.
        """
        if identity or sparse.issparse(X):
            return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        rows = X[:: max(1, len(X) // _ROWS)].astype(np.float64)
        low, center, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
        scale = high - low
        narrow = ~(scale > 0)  # most values are equal: take the mean distance instead
        scale[narrow] = np.abs(rows[:, narrow] - center[narrow]).mean(axis=0)
        return cls(center, np.where(scale > 0, scale, 1.0))

    def take(self, index: np.ndarray) -> "Prescale":
        """Return the scale of some columns."""
        return Prescale(self.center[index], self.scale[index])

    def apply(self, X: np.ndarray | sparse.csr_array, dtype: torch.dtype, device: torch.device) -> Columns:
        """Scale X and hand it to the device."""
        if sparse.issparse(X):
            return SparseColumns(sparse.csr_array(X), dtype, device)
        scaled = (X - self.center) / self.scale
        return DenseColumns(torch.from_numpy(scaled).to(device, dtype))
