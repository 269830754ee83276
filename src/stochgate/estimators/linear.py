"""Coefficients of linear models, and effects of the selected columns with intervals."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stochgate.choice.tables import make_table
from stochgate.explain.coefficients import read_coefficients, why_not_linear
from stochgate.explain.effects import find_effects, list_coefficients

if TYPE_CHECKING:
    from pandas import DataFrame


class LinearMixin:
    """Effects, and coefficients where the network is linear; elsewhere those do not exist."""

    @property
    def coef_(self: Any) -> np.ndarray:
        """What each column is multiplied with, as in scikit-learn's linear models; 0 where it is not used.

        A table with text or missing values has several coefficients per column: see `coefficients`.
        """
        values, _ = self._read_linear("coef_")
        if not self._table.is_plain:
            raise AttributeError(
                "This model has no coef_, since columns with text or missing values have several "
                "coefficients; coefficients() has them all."
            )
        spread = np.zeros((len(values), self.n_features_in_))
        spread[:, self._predictor.features] = values
        return self._as_coefficients(spread)

    @property
    def intercept_(self: Any) -> Any:
        """What is added, on the scale of y, of the log-odds or of the log hazard."""
        return self._as_coefficients(self._read_linear("intercept_")[1])

    def coefficients(self: Any) -> "DataFrame | Any":
        """Return the coefficients of a linear model by name, those of text and missing values too.

        Returns
        -------
        DataFrame, or list of dict without pandas: column ("age", "age (missing)", "sex=male"), output,
        coefficient
        """
        return make_table(list_coefficients(self, self._read_linear("coefficients")[0]))

    def effects(
        self: Any,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        level: float = 0.95,
    ) -> "DataFrame | Any":
        """Return the effects of the selected columns with intervals: slopes, odds ratios, hazard ratios.

        They are those of a linear model of these columns without gates, penalty or early stop, whatever
        the network of this model is, so they are larger than what `coefficients` says. A ratio is what one
        more unit of a column multiplies the odds or the hazard with; of text, what its level does against
        the most frequent one. With more than two classes the odds of a class are those against the mean
        of all. The intervals come from how far each row, or each group of rows, moves the estimate (the
        sandwich), so they need no equal variances.

        Estimated from the rows of the fit they are given the selection: these rows also chose the columns,
        so effects are somewhat too large, and fewer intervals hold than they say. Rows that had no part
        in the choice keep the promise: fit on one half of the rows, and give the other half.

        Parameters
        ----------
        X, y : as in `score`, optional
            Rows to estimate from; those of the fit by default.
        sample_weight : array, shape (n_samples,), optional
        groups : array, shape (n_samples,), optional
            Rows that belong together, such as those of a patient; those of the fit by default.
        level : float, default=0.95

        Returns
        -------
        DataFrame, or list of dict without pandas: column, output, coefficient, against (what the column
        is compared with), low, high, per_sd (what a standard deviation of a column of numbers does) and,
        for classes and survival, odds_ratio or hazard_ratio with ratio_low, ratio_high and ratio_per_sd;
        NaN where the rows cannot tell, as of a column that separates the classes

        Examples
        --------
        >>> import numpy as np
        >>> from stochgate import GatedRegressor
        >>> X = np.random.default_rng(0).normal(size=(200, 5))
        >>> y = 2 * X[:, 3] + np.sin(np.arange(200))
        >>> model = GatedRegressor(network="linear", random_state=0).fit(X, y)
        >>> model.effects().round(1)[["column", "coefficient", "low", "high"]].to_numpy().tolist()
        [['3', 2.0, 1.9, 2.1]]
        """
        check_is_fitted(self)
        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}; give a share between 0 and 1, such as 0.95.")
        return make_table(find_effects(self, X, y, sample_weight, groups, level))

    def _read_linear(self: Any, asked: str) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts, shapes (n_outputs, n_columns read) and (n_outputs,)."""
        check_is_fitted(self)
        reason = why_not_linear(self._predictor)
        if reason is not None:
            raise AttributeError(f"This model has no {asked}, since {reason}; network='linear' has.")
        coefficients, intercepts = read_coefficients(self._predictor)
        return coefficients.mean(axis=0), intercepts.mean(axis=0)

    def _as_coefficients(self: Any, values: np.ndarray) -> Any:
        """Return values of each output in the shape that scikit-learn's linear models have."""
        return values[0]
