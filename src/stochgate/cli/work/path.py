"""The path of penalties: what each number of columns is worth."""

import pandas as pd

from stochgate.cli.notes import collect_notes
from stochgate.cli.progress import Watch
from stochgate.cli.request import Request
from stochgate.cli.table.data import Data
from stochgate.cli.work.select import make_model


def train_path(data: Data, request: Request, watch: Watch) -> tuple[pd.DataFrame, list[str]]:
    """Train the path without choosing; return its table and notes."""
    model = make_model(data, request, watch)
    watch.phase("Training the path")
    with collect_notes() as notes:
        table = model.path(data.X, data.y, groups=data.groups)
    return table, notes


def best_of_each_size(table: pd.DataFrame) -> pd.DataFrame:
    """Return for each number of columns the row with the lowest held-out loss.

    Examples
    --------
    >>> import pandas as pd
    >>> from stochgate.cli.work.path import best_of_each_size
    >>> table = pd.DataFrame({"n_features": [2, 1, 2], "held_out_loss": [0.3, 0.5, 0.2]})
    >>> best_of_each_size(table)["held_out_loss"].tolist()
    [0.5, 0.2]
    """
    judged = table[table["held_out_loss"].notna()]
    return judged.loc[judged.groupby("n_features")["held_out_loss"].idxmin()]
