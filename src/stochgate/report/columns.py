"""The names of columns: one list of those that the page shows, all else are positions in it."""

from typing import Any

from stochgate.report.plain import MOST_CHARACTERS, to_text

MANY_NAMES = 400  # names after these are cut shorter
FEW_CHARACTERS = 30


class Columns:
    """What the columns of a model are called.

    Parameters
    ----------
    model : fitted estimator

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from stochgate.report.columns import Columns
    >>> columns = Columns(SimpleNamespace(n_features_in_=3))
    >>> columns.add(2), columns.add(0), columns.add(2), columns.names
    (0, 1, 0, ['column 2', 'column 0'])
    """

    def __init__(self, model: Any):
        names = getattr(model, "feature_names_in_", None)
        self.named = names is not None
        self.labels: list[Any] = list(range(model.n_features_in_)) if names is None else list(names)
        self.names: list[str] = []
        self._place: dict[Any, int] = {}

    def add(self, label: Any) -> int:
        """Return the place of a column in `names`, where it is put if it is not there yet.

        Parameters
        ----------
        label : its name, or its position in a model without names
        """
        if label not in self._place:
            self._place[label] = len(self.names)
            most = MOST_CHARACTERS if len(self.names) < MANY_NAMES else FEW_CHARACTERS
            is_name = self.named or isinstance(label, str)  # groups may have names
            self.names.append(to_text(label, most) if is_name else f"column {label}")
        return self._place[label]

    def places(self, positions: Any) -> list[int]:
        """Return the places of the columns at some positions of X, of those that are in `names`."""
        labels = (self.labels[position] for position in positions)
        return [self._place[label] for label in labels if label in self._place]

    def add_position(self, position: int) -> int:
        """Return the place in `names` of the column at a position of X."""
        return self.add(self.labels[position])
