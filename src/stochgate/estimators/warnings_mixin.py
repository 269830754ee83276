"""What a fit warns of."""

import warnings
from typing import Any

import numpy as np

from stochgate.estimators.warnings import (
    ConstantColumnWarning,
    GiveawayColumnWarning,
    LeftOutColumnWarning,
    MissingValuesWarning,
    NoFeatureSelectedWarning,
)
from stochgate.explain.summary import say_nothing
from stochgate.problem.remarks import MOST_NAMED, Remarks


class WarningsMixin:
    """Warnings of columns that a person should look at, and of an empty selection."""

    remarks_: list[str]

    def _warn_of_columns(self: Any, remarks: Remarks) -> None:
        """Keep what is remarkable about columns, and warn of what no one should overlook."""
        names = self._names()
        self.remarks_ = remarks.sentences(names)
        for category, name in (
            (GiveawayColumnWarning, "given_away"),
            (LeftOutColumnWarning, "left_out"),
            (ConstantColumnWarning, "constant"),
        ):
            for sentence in remarks.only(name).sentences(names):
                warnings.warn(sentence, category, stacklevel=3)

    def _warn_of_missing(self: Any, n_missing: np.ndarray, n_rows: int) -> None:
        """Warn of used columns that rows to predict for lack far more often than those of the fit."""
        table, names = self._table, self._names()
        used = self._features_of(self._predictor.features)
        found = [j for j in np.flatnonzero(table.lacks_far_more(n_missing, n_rows)) if j in used]
        if not found:
            return
        told = [
            f"{names[j]!r} in {n_missing[j] / n_rows:.0%} of the rows ({table.missing_share[j]:.0%} in the "
            f"fit), {table.describe_fill(j)}"
            for j in found[:MOST_NAMED]
        ]
        more = f"; and {len(found) - MOST_NAMED} more columns" if len(found) > MOST_NAMED else ""
        text = f"Values are missing far more often than in the fit: {'; '.join(told)}{more}."
        warnings.warn(text, MissingValuesWarning, stacklevel=4)

    def _warn_if_nothing(self: Any) -> None:
        if not self.support_.any():
            warnings.warn(say_nothing(self), NoFeatureSelectedWarning, stacklevel=4)
