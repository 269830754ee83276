"""Classification with gated features."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from stochgate.backends import Backend
from stochgate.engine import Training
from stochgate.estimators.base import GatedEstimator
from stochgate.estimators.documentation import document
from stochgate.gates import Gate
from stochgate.networks import Network
from stochgate.objectives import Classification, Objective


@document
class GatedClassifier(ClassifierMixin, GatedEstimator):
    """Classifier that selects its features with stochastic gates.

    Parameters
    ----------
    %(lam)s
    class_weight : "balanced", mapping or None, default=None
        What the rows of each class weigh in training; "balanced" makes all classes weigh alike.
    %(parameters)s

    Attributes
    ----------
    %(attributes)s
    classes_ : ndarray
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate import GatedClassifier
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(400, 12))
    >>> model = GatedClassifier(lam=0.2, random_state=0).fit(X, X[:, 3] * X[:, 7] > 0)
    >>> np.flatnonzero(model.get_support())
    array([3, 7])
    """

    def __init__(
        self,
        lam: float | str = "auto",
        *,
        class_weight: str | Mapping[Any, float] | None = None,
        gate: str | Gate = "gaussian",
        network: str | Network | None = None,
        hidden: tuple[int, ...] | None = None,
        activation: str | None = None,
        feature_groups: Any = None,
        costs: Any = None,
        always_keep: Any = None,
        threshold: float = 0.0,
        cv: Any = 5,
        rule: Any = "auto",
        alpha: float = 0.05,
        n_features_to_select: int | None = None,
        missing: str = "auto",
        training: Training | None = None,
        device: str = "auto",
        backend: str | Backend | None = None,
        callbacks: Any = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(
            lam, gate=gate, network=network, hidden=hidden, activation=activation,
            feature_groups=feature_groups, costs=costs, always_keep=always_keep, threshold=threshold,
            cv=cv, rule=rule, alpha=alpha, n_features_to_select=n_features_to_select, missing=missing,
            training=training, device=device, backend=backend, callbacks=callbacks, verbose=verbose,
            random_state=random_state,
        )  # fmt: skip
        self.class_weight = class_weight

    def _make_objective(self, training: Training) -> Objective:
        return Classification(self.class_weight)

    @property
    def classes_(self) -> np.ndarray:
        """The class labels, sorted."""
        return self._facts["classes"]

    def _as_coefficients(self, values: np.ndarray) -> np.ndarray:
        return values

    def predict(self, X: Any) -> np.ndarray:
        """Return the most likely class of each row of X, shape (n_samples,)."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(axis=1)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy; of a table on disk y is the name of its column."""
        return super().score(*self._scored(X, y, sample_weight))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, shape (n_samples, n_classes)."""
        return self._read(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return log-odds of the second class, shape (n_samples,), or logits, (n_samples, n_classes)."""
        outputs = self._outputs(X)[0].numpy()
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of `predict_proba`."""
        return Classification.log_probability(self._outputs(X))[0].numpy()
