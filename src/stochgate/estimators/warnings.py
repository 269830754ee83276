"""What estimators warn of."""


class NoFeatureSelectedWarning(UserWarning):
    """No feature was selected."""


class ConstantColumnWarning(UserWarning):
    """A column has one value only, so its gate is closed."""


class LeftOutColumnWarning(UserWarning):
    """A column of text has too many different values to be a feature."""


class MissingValuesWarning(UserWarning):
    """Rows to predict for lack the values of a column far more often than the rows of the fit."""


class GiveawayColumnWarning(UserWarning):
    """A column is a copy of y, or was made from it."""
