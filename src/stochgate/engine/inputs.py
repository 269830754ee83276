"""From raw X to the columns a network trains on, all on a common scale."""

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse

from stochgate.engine.data import Columns, DenseColumns, SparseColumns
from stochgate.networks import Encoding, Network

_ROWS = 10_000


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
    """

    encoding: Encoding | None
    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def learn(cls, X: np.ndarray | sparse.csr_array, network: Network, *, raw: bool) -> "Inputs":
        """Learn encoding, middle and spread; `raw` or sparse X keep the numbers as they are.

        Middle and spread come from quartiles of at most 10,000 rows: an outlier that some fold holds out
        must not squeeze the others together.
        """
        encoding = network.encoding(X)
        n_columns = X.shape[1] if encoding is None else len(encoding.feature_of)
        if raw or sparse.issparse(X):
            return cls(encoding, np.zeros(n_columns), np.ones(n_columns))
        rows = X[:: max(1, len(X) // _ROWS)].astype(np.float64)
        rows = rows if encoding is None else encoding.transform(rows)
        low, center, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
        scale = high - low
        narrow = ~(scale > 0)  # most values are equal: take the mean distance instead
        scale[narrow] = np.abs(rows[:, narrow] - center[narrow]).mean(axis=0)
        return cls(encoding, center, np.where(scale > 0, scale, 1.0))

    @property
    def cuts_nothing(self) -> bool:
        """Whether there is an encoding, and it leaves every feature in one piece."""
        return self.encoding is not None and len(set(self.encoding.feature_of)) == len(
            self.encoding.feature_of
        )

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
            return columns, Inputs(None, center, scale)
        features, encoding = self.encoding.take(columns)
        return features, Inputs(encoding, center, scale)

    def apply(self, X: np.ndarray | sparse.csr_array, dtype: torch.dtype, device: torch.device) -> Columns:
        """Encode and scale X, and hand it to the device."""
        if sparse.issparse(X):
            return SparseColumns(sparse.csr_array(X), dtype, device)
        X = X if self.encoding is None else self.encoding.transform(X)
        scaled = X - self.center
        scaled /= self.scale
        return DenseColumns(torch.from_numpy(scaled).to(device, dtype))
