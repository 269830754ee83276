"""Bring raw columns to a common scale once, so that single precision is enough for any unit."""

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse

from stochgate.engine.data import Columns, DenseColumns, SparseColumns


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
        """Learn mean and standard deviation of dense columns; `identity` or sparse X keep the raw ones."""
        if identity or sparse.issparse(X):
            return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        with np.errstate(over="ignore"):
            center = X.mean(axis=0, dtype=np.float64)
            scale = X.std(axis=0, dtype=np.float64)
        usable = np.isfinite(center) & np.isfinite(scale) & (scale > 0)
        return cls(np.where(usable, center, 0.0), np.where(usable, scale, 1.0))

    def take(self, index: np.ndarray) -> "Prescale":
        """Return the scale of some columns."""
        return Prescale(self.center[index], self.scale[index])

    def apply(self, X: np.ndarray | sparse.csr_array, dtype: torch.dtype, device: torch.device) -> Columns:
        """Scale X and hand it to the device."""
        if sparse.issparse(X):
            return SparseColumns(sparse.csr_array(X), dtype, device)
        scaled = (X - self.center) / self.scale
        return DenseColumns(torch.from_numpy(scaled).to(device, dtype))
