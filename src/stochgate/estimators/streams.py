"""Predictions and scores of tables that are read block by block."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from stochgate.sources.numbers import as_table
from stochgate.sources.opening import is_stream, open_source
from stochgate.sources.source import Source
from stochgate.sources.targets import read_target
from stochgate.tables.frame import in_memory


class StreamMixin:
    """What an estimator does with a table on disk besides its fit."""

    def transform(self: Any, X: Any) -> Any:
        """Reduce X, a table in memory, to the selected features."""
        if is_stream(X):
            raise ValueError(
                "transform takes a table in memory: read the columns that get_feature_names_out() names."
            )
        return super().transform(X)  # type: ignore[misc]

    def _outputs_of_blocks(self: Any, X: Any) -> Tensor:
        """Return the network's outputs, block by block, shape (1, n_rows, n_outputs)."""
        source, model = open_source(X, None), self._cut_down()
        features = self._features_in(source)
        parts, n_missing = [], 0
        for part in range(source.n_parts):
            for block in source.read(part, features):
                outputs, lacking = model._outputs_and_missing(as_table(block.X))
                parts.append(outputs)
                n_missing = n_missing + lacking
        if not parts:
            raise ValueError("The table has no rows.")
        joined = torch.cat(parts, dim=1)
        model._warn_of_missing(n_missing, joined.shape[1])
        return joined

    def _features_in(self: Any, source: Source) -> list[int]:
        """Return where a source has the selected features."""
        selected = np.flatnonzero(self.support_)
        if source.names is not None and hasattr(self, "feature_names_in_"):
            place = {name: i for i, name in enumerate(source.names)}
            wanted = self.feature_names_in_[selected].tolist()
            lacking = [name for name in wanted if name not in place]
            if lacking:
                raise ValueError(f"The table has no column {lacking[0]!r}, which the model uses.")
            return [place[name] for name in wanted]
        if source.n_features != self.n_features_in_:
            raise ValueError(
                f"The table has {source.n_features} columns, but the model was fitted to "
                f"{self.n_features_in_}."
            )
        return selected.tolist()

    def _scored(self: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Return X, y and weights as `score` takes them: of a table on disk y and weights are read."""
        if not is_stream(X, y):
            return in_memory(X), in_memory(y), sample_weight
        source = open_source(X, y, sample_weight)
        y, weight = read_target(source)
        return source, y, weight
