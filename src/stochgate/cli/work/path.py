"""The path of penalties: what each number of columns is worth."""

import pandas as pd

from stochgate.cli.errors import about_the_file
from stochgate.cli.notes import collect_notes
from stochgate.cli.progress import Watch
from stochgate.cli.request import Request
from stochgate.cli.table.data import Data
from stochgate.cli.work.select import make_model


def train_path(data: Data, request: Request, watch: Watch) -> tuple[pd.DataFrame, list[str]]:
    """Train the path without choosing; return its table and notes."""
    model = make_model(data, request, watch)
    watch.phase("Training the path")
    with collect_notes() as notes, about_the_file(data.X.index):
        table = model.path(data.X, data.y, groups=data.groups)
    return table, notes
