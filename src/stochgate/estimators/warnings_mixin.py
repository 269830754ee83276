"""What a fit warns of."""

import warnings
from typing import Any

from stochgate.estimators.warnings import (
    ConstantColumnWarning,
    GiveawayColumnWarning,
    LeftOutColumnWarning,
    NoFeatureSelectedWarning,
)
from stochgate.explain.summary import say_nothing
from stochgate.problem.remarks import Remarks


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

    def _warn_if_nothing(self: Any) -> None:
        if not self.support_.any():
            warnings.warn(say_nothing(self), NoFeatureSelectedWarning, stacklevel=4)
