"""What a fit warns of."""

import warnings
from typing import Any

from stochgate.estimators.warnings import (
    ConstantColumnWarning,
    GiveawayColumnWarning,
    LeftOutColumnWarning,
    NoFeatureSelectedWarning,
)
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

    def _warn_of_nothing(self: Any) -> None:
        found = f"at lam={self.lam_:g} and threshold={self.threshold:g}: try a smaller lam"
        if self.lam == "auto" and not hasattr(self, "source_"):  # at() was asked for a penalty
            found = (
                "because no signal shows beyond chance, on held-out rows or in the columns "
                "(n_features_to_select=k or lam= select some all the same)"
            )
            if callable(self.rule):
                found = "by rule"
        warnings.warn(
            f"No feature was selected {found}; the model predicts the base rate.",
            NoFeatureSelectedWarning,
            stacklevel=4,
        )
