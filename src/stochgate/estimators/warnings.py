"""What estimators warn of."""


class NoFeatureSelectedWarning(UserWarning):
    """No feature was selected."""


class ConstantColumnWarning(UserWarning):
    """A column has one value only, so its gate is closed."""


class LeftOutColumnWarning(UserWarning):
    """A column of text has too many different values to be a feature."""


class GiveawayColumnWarning(UserWarning):
    """A column is a copy of y, or was made from it."""
