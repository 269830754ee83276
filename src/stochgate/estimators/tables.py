"""Tables that users read: data frames where pandas is installed."""

from typing import Any


def make_table(rows: list[dict[str, Any]], columns: list[str] | None = None) -> Any:
    """Return rows as a DataFrame, or as they are without pandas.

    Parameters
    ----------
    rows : list of dict
    columns : list of str, optional
        By default those of the rows; a table without rows has none then.
    """
    try:
        import pandas as pd
    except ImportError:
        return rows
    return pd.DataFrame(rows, columns=columns)
