"""Classification with gated features."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from stochgate.engine import Training
from stochgate.estimators.base import GatedEstimator
from stochgate.gates import Gate
from stochgate.networks import Network
from stochgate.objectives import Classification, Objective


class GatedClassifier(ClassifierMixin, GatedEstimator):
    """Classifier that selects its features with stochastic gates.

    Parameters
    ----------
    lam : "auto" or float, default="auto"
        Strength of the penalty ``lam * sum_g cost_g P(z_g > 0) / n_gates``. "auto" looks for the fewest
        features that predict as well as the best model: several kinds of network and sets of every size are
        judged on held-out rows, and the final model is trained on the chosen features and all rows. What
        transfers between data sets is lam / n_gates.
    class_weight : "balanced", mapping or None, default=None
    gate : {"gaussian", "hard-concrete", "deterministic"} or Gate, default="gaussian"
    network : {"linear", "mlp", "encoded"} or Network, optional
        By default "auto" races the three kinds, and a given lam takes "mlp".
    hidden : tuple of int, optional
        Widths of the MLP's hidden layers, (64, 32) by default; () is a linear model.
    activation : {"relu", "tanh", "sigmoid", "selu", "silu"}, optional
        Of the MLP, "relu" by default.
    feature_groups : array of labels or mapping, optional
        Features that share one gate: a label a feature, or ``{name: [features]}``.
    costs : array or mapping, optional
        What opening a feature costs, 1 by default; a group costs the mean of its features.
    always_keep : list of names or positions, or mask, optional
        Features whose gate is open and not penalised. A whole number is a position.
    threshold : float, default=0
        A feature is selected when its gate is above; 0.5 is the paper's cutoff for weak signals.
    cv : int or splitter, default=5
        Folds of the automatic choice; whatever scikit-learn's `cv` takes. A number of them is drawn three
        times where there are fewer than 200 rows, or groups of rows.
    rule : {"auto", "best", "one-se"} or callable, default="auto"
        What the automatic choice takes: the fewest features that predict as well as the best model, the one
        on all columns included; the lowest held-out loss; or the fewest features within one standard error
        of it. A function is given the table `path_` and returns the position of a row, or None for no
        feature.
    n_features_to_select : int, optional
        Select exactly so many gates (a group counts once, `always_keep` counts): the strongest of one model
        on all rows, which chooses features that complement each other.
    training : Training, optional
        Steps, step sizes, batches, early stopping.
    device : str, default="auto"
        "auto" takes CUDA when it is there.
    callbacks : list of callables, optional
        Each is called with a `Snapshot` during training.
    verbose : int, default=0
        Above 0 shows a progress bar.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        ``gates_ > threshold``; a column outside it changes no prediction.
    gates_ : ndarray, shape (n_features,)
        The final model's deterministic gates, from 0 (closed) to 1 (open).
    open_probability_ : ndarray, shape (n_features,)
        P(z > 0), what the penalty sums.
    feature_importances_ : ndarray, shape (n_features,)
        P(z > 0). After an automatic choice the mean of the selection frequency and of P(z > 0) over folds
        and penalties of the chosen network's path (for a given number of features, of the model that
        chose them): it ranks closed features too.
    lam_ : float
        The penalty of the model, or the one chosen.
    network_ : str
        The kind of network chosen (automatic choice only, as the two that follow).
    selection_frequency_ : ndarray, shape (n_features,)
        The share of folds in whose set a feature is, made as the chosen set was.
    path_ : DataFrame, or list of dict without pandas
        A row for every network and set of features that was judged: how many features a model on all rows
        uses, how many each fold has open (`n_by_fold`), the folds' vote at their last step (`n_at_end`),
        and losses with their spread over the folds. The losses made the choice: they rank, they are not
        an estimate of performance.
    n_steps_ : int
        The step the model is from.
    history_ : dict of ndarray
        "step", "train_loss" and "held_out_loss" at each snapshot.
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
        n_features_to_select: int | None = None,
        training: Training | None = None,
        device: str = "auto",
        callbacks: Any = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(
            lam,
            gate=gate,
            network=network,
            hidden=hidden,
            activation=activation,
            feature_groups=feature_groups,
            costs=costs,
            always_keep=always_keep,
            threshold=threshold,
            cv=cv,
            rule=rule,
            n_features_to_select=n_features_to_select,
            training=training,
            device=device,
            callbacks=callbacks,
            verbose=verbose,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def _make_objective(self, training: Training) -> Objective:
        return Classification(self.class_weight)

    @property
    def classes_(self) -> np.ndarray:
        """The class labels, sorted."""
        return self._facts["classes"]

    def predict(self, X: Any) -> np.ndarray:
        """Return the most likely class of each row of X, shape (n_samples,)."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, shape (n_samples, n_classes)."""
        return self._read(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of `predict_proba`."""
        return Classification.log_probability(self._outputs(X))[0].numpy()
