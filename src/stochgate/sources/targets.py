"""All of y, without the columns of X."""

from typing import Any

import numpy as np

from stochgate.sources.source import Source, join_rows


def read_target(source: Source) -> tuple[Any, np.ndarray | None]:
    """Return y and the weights of all rows of a source."""
    blocks = [block for part in range(source.n_parts) for block in source.read(part, [])]
    if not blocks:
        raise ValueError("The table has no rows.")
    if blocks[0].y is None:
        raise ValueError("y is missing: name its column, or give blocks (X, y).")
    weights = None if blocks[0].weight is None else np.concatenate([block.weight for block in blocks])
    return join_rows([block.y for block in blocks]), weights
