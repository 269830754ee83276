"""Which of scikit-learn's checks the estimators do not pass, and why."""

from sklearn.utils.estimator_checks import estimator_checks_generator

from stochgate.estimators.base import GatedEstimator
from stochgate.estimators.cox import GatedCox

WEIGHTS = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
ROUNDING = "single precision, the default, rounds in the seventh digit; Training(dtype='float64') passes"
FOLDS = (
    "splits listed as cv are of all rows, those of weight 0 included, and are refused beside such weights; "
    "rows that are repeated are more rows for the choice to draw from"
)
SURVIVAL = "the check has no y of (event, time)"


def expected_failed_checks(model: GatedEstimator) -> dict[str, str]:
    """Return the checks of scikit-learn that an estimator may fail, with the reason of each.

    Parameters
    ----------
    model : GatedClassifier, GatedRegressor or GatedCox

    Returns
    -------
    dict of str to str
        As ``check_estimator(model, expected_failed_checks=...)`` of scikit-learn takes it.

    Examples
    --------
    >>> from stochgate import GatedClassifier, Training
    >>> from stochgate.estimators.checks import expected_failed_checks
    >>> expected_failed_checks(GatedClassifier(lam=1.0, training=Training(dtype="float64")))
    {}
    >>> len(expected_failed_checks(GatedClassifier(lam=1.0)))
    3
    """
    if type(model) is GatedCox:
        return {check.func.__name__: SURVIVAL for _, check in estimator_checks_generator(model)}
    rounds = model.training is None or model.training.dtype == "float32"
    found = dict.fromkeys([*WEIGHTS, "check_methods_subset_invariance"], ROUNDING) if rounds else {}
    return found | dict.fromkeys(WEIGHTS, FOLDS) if model.lam == "auto" else found
