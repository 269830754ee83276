"""Cross-entropy for two or more classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.metrics import roc_auc_score
from sklearn.utils._missing import is_pandas_na
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d
from torch import Tensor
from torch.nn import functional as F

from stochgate.objectives.base import Learned, Objective, Rows, Slope, Target

MOST_ASSUMED = 5  # whole numbers that are classes without a question


class Classification(Objective):
    r"""Cross-entropy: one output for two classes, one per class for more.

    .. math:: L = -\sum_n w_n c_{y_n} \log p(y_n | x_n)

    Parameters
    ----------
    class_weight : "balanced", dict or None, default=None
        Weights c of the classes. "balanced" makes every class weigh the same in each model, counted
        with that model's own sample weights.

    Examples
    --------
    >>> from stochgate.objectives import Classification
    >>> Classification().encode(["b", "a", "b"]).rows["label"]
    tensor([1, 0, 1])
    """

    score_name = metric_name = "accuracy"
    task = "classification"
    ratio_name = "odds_ratio"
    stratifies = True
    _parameter_constraints = {"class_weight": [StrOptions({"balanced"}), dict, None]}

    def __init__(self, class_weight: str | Mapping[Any, float] | None = None):
        self.class_weight = class_weight

    def encode(self, y: ArrayLike) -> Target:  # noqa: D102
        labels: np.ndarray = column_or_1d(y, warn=True)
        _refuse_missing_labels(labels)
        check_classification_targets(labels)
        classes, label = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y contains one class only ({classes[0]!r}); a classifier needs at least two classes."
            )
        rows = self._rows(label, classes)
        return Target(rows, 1 if len(classes) == 2 else len(classes), {"classes": classes})

    def encode_more(self, y: Any, facts: dict[str, Any]) -> Rows:  # noqa: D102
        labels, classes = column_or_1d(y), facts["classes"]
        _refuse_missing_labels(labels)
        place = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
        unknown = np.flatnonzero(classes[place] != labels)
        if len(unknown):
            raise ValueError(f"y holds the class {labels[unknown[0]]!r}, which was not there before.")
        return self._rows(place, classes)

    def _rows(self, label: np.ndarray, classes: np.ndarray) -> Rows:
        rows = {"label": torch.from_numpy(label.astype(np.int64))}
        if isinstance(self.class_weight, Mapping):
            factor = _read_class_weight(self.class_weight, classes)
            rows["class_weight"] = torch.from_numpy(factor)[rows["label"]]
        return rows

    @classmethod
    def kinds_of(cls, y: Any) -> np.ndarray:
        """Return the labels; a missing one is refused, as are numbers that are no labels."""
        labels: np.ndarray = column_or_1d(y)
        _refuse_missing_labels(labels)
        if type_of_target(labels) == "continuous":
            raise ValueError("y holds continuous numbers, no classes: use a regression.")
        return labels

    @classmethod
    def suits(cls, estimator: Any, y: Any) -> bool:  # noqa: D102
        return is_classifier(estimator)

    @classmethod
    def strata_of(cls, y: Any) -> np.ndarray:  # noqa: D102
        return np.unique(np.asarray(y), return_inverse=True)[1].ravel()

    @classmethod
    def model_without_features(cls) -> Any:  # noqa: D102
        return DummyClassifier(strategy="prior")

    def answers(self, rows: Rows) -> list[tuple[np.ndarray, bool]]:  # noqa: D102
        return [(rows["label"].cpu().numpy(), True)]

    def question(self, target: Target) -> list[str]:
        """Ask whether classes are counts: whole numbers, more than 5 and not about equally frequent."""
        classes, n_rows = target.facts["classes"], torch.bincount(target.rows["label"])
        even = n_rows.max() < 2 * n_rows.min()
        if classes.dtype.kind not in "iuf" or len(classes) <= MOST_ASSUMED or even:
            return []
        return [
            f"y has {len(classes)} classes, whole numbers from {classes[0]:g} to {classes[-1]:g}: if they "
            "are counts or a scale, GatedRegressor (--task regression) takes them as a quantity."
        ]

    def output_names(self, facts: dict[str, Any], n_outputs: int) -> list[Any]:
        """Return the classes; a single output is that of the last one."""
        return facts["classes"][-n_outputs:].tolist()

    def compares_outputs(self, n_outputs: int) -> bool:  # noqa: D102
        return n_outputs > 1

    def strata(self, rows: Rows) -> Tensor:  # noqa: D102
        return rows["label"]

    def learn(self, rows: Rows, weights: Tensor) -> Learned:  # noqa: D102
        if self.class_weight != "balanced":
            return {}
        counts = weights @ self._one_hot(rows, weights)  # (n_models, n_classes)
        mean = counts.sum(1, keepdim=True) / (counts > 0).sum(1, keepdim=True)
        return {"factor": torch.where(counts > 0, mean / counts, 0)}

    def base(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:  # noqa: D102
        weights = self.weigh(rows, weights, learned)
        share = weights @ self._one_hot(rows, weights) / weights.sum(1, keepdim=True)
        floor = 1 / (1 + weights.count_nonzero(1).unsqueeze(1))  # a class a fold has not seen
        log_share = share.maximum(floor).log()
        if log_share.shape[1] == 2:
            return log_share[:, 1:] - log_share[:, :1]
        return log_share - log_share.mean(1, keepdim=True)

    def base_of_score(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:  # noqa: D102
        return self.base({"label": rows["label"]}, weights, {})

    def loss(  # noqa: D102
        self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned
    ) -> Tensor:
        return (self._losses(output, rows) * self.weigh(rows, weights, learned)).sum(1)

    def slope(self, rows: Rows, weights: Tensor, learned: Learned) -> Slope:  # noqa: D102
        weights = self.weigh(rows, weights, learned).unsqueeze(2)  # (n_models, n_samples, 1)
        label = rows["label"].unsqueeze(1)  # (n_samples, 1)
        index, number = label.expand(weights.shape), label.to(weights.dtype)
        minus = -torch.ones_like(weights)

        def slope(output: Tensor) -> Tensor:
            if output.shape[2] == 1:
                return torch.sigmoid(output).sub_(number).mul_(weights)
            return output.softmax(2).scatter_add_(2, index, minus).mul_(weights)

        return slope

    def held_out_losses(  # noqa: D102
        self, output: Tensor, rows: Rows, weights: Tensor, parts: Tensor, learned: Learned
    ) -> Tensor:
        weighed = torch.stack([self.weigh(rows, part, learned) for part in parts.unbind(1)], dim=1)
        return self._per(weighed.sum(2), (weighed @ self._losses(output, rows).unsqueeze(2)).squeeze(2))

    @staticmethod
    def _losses(output: Tensor, rows: Rows) -> Tensor:
        """Return the loss of each row, shape (n_models, n_samples)."""
        label = rows["label"].expand(output.shape[:2])
        if output.shape[2] == 1:
            return F.binary_cross_entropy_with_logits(
                output[..., 0], label.to(output.dtype), reduction="none"
            )
        return F.cross_entropy(output.permute(0, 2, 1), label, reduction="none")

    def total(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:  # noqa: D102
        return self.weigh(rows, weights, learned).sum(1)

    def read(self, output: Tensor, learned: Learned) -> Tensor:
        """Return the class probabilities, shape (n_models, n_samples, n_classes)."""
        return self.log_probability(output).exp()

    def score(self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return the share of the weight that is classified rightly."""
        right = self.log_probability(output).argmax(2) == rows["label"]
        return self._per(weights.sum(1), (right * weights).sum(1))

    def other_scores(
        self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned, facts: dict[str, Any]
    ) -> dict[str, Tensor]:
        """Return what accuracy hides: AUC, sensitivity and specificity, or balanced accuracy."""
        classes, log_p = facts["classes"], self.log_probability(output).double().cpu().numpy()
        y, found = classes[rows["label"].cpu().numpy()], []
        for own, weight in zip(log_p, weights.double().cpu().numpy(), strict=True):
            told = classes[own.argmax(axis=1)]
            found.append(_beside_accuracy(classes, y, told, own[:, 1] - own[:, 0], weight))
        return {name: torch.tensor([own[name] for own in found]) for name in found[0]}

    @classmethod
    def other_scores_of(  # noqa: D102
        cls, model: Any, X: Any, y: Any, classes: np.ndarray
    ) -> dict[str, float]:
        y, told = np.asarray(y), np.asarray(model.predict(X))
        margin = None
        if len(classes) == 2 and np.array_equal(getattr(model, "classes_", classes), classes):
            if hasattr(model, "decision_function"):
                margin = model.decision_function(X)
            elif hasattr(model, "predict_proba"):
                margin = model.predict_proba(X)[:, 1]
        others = _beside_accuracy(classes, y, told, margin, np.ones(len(y)))
        return {"accuracy": float((told == y).mean()), **others}

    @staticmethod
    def log_probability(output: Tensor) -> Tensor:
        """Return the logarithm of the class probabilities, shape (n_models, n_samples, n_classes)."""
        if output.shape[2] == 1:
            output = torch.cat([torch.zeros_like(output), output], dim=2)
        return output.log_softmax(dim=2)

    def curvature(self, n_outputs: int) -> float:  # noqa: D102
        return 0.25 if n_outputs == 1 else 0.5

    def weigh(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Multiply each sample's weight by its class's, shape (n_models, n_samples)."""
        if "class_weight" in rows:
            weights = weights * rows["class_weight"].to(weights.dtype)
        if "factor" in learned:
            weights = weights * learned["factor"][:, rows["label"]]
        return weights

    @staticmethod
    def _one_hot(rows: Rows, like: Tensor) -> Tensor:
        return F.one_hot(rows["label"]).to(like.dtype)  # (n_samples, n_classes)


def _beside_accuracy(
    classes: np.ndarray, y: np.ndarray, told: np.ndarray, margin: np.ndarray | None, weight: np.ndarray
) -> dict[str, float]:
    """Return the scores of one model that rare classes cannot hide from, NaN where one has no row.

    Parameters
    ----------
    classes : ndarray, shape (n_classes,)
    y, told : ndarray, shape (n_samples,)
        The true and the predicted classes.
    margin : ndarray, shape (n_samples,), or None
        Larger where the second of two classes is likelier.
    weight : ndarray, shape (n_samples,)
    """
    weights = [np.where(y == label, weight, 0.0) for label in classes]
    recalls = [
        float(own[told == label].sum() / own.sum()) if own.any() else np.nan
        for own, label in zip(weights, classes, strict=True)
    ]
    if len(classes) > 2:
        known = [recall for recall in recalls if not np.isnan(recall)]
        return {"balanced accuracy": float(np.mean(known)) if known else np.nan}
    auc = np.nan
    if margin is not None and not np.isnan(recalls).any():
        auc = float(roc_auc_score(y == classes[1], margin, sample_weight=weight))
    return {
        "AUC": auc,
        f"sensitivity ({classes[1]})": recalls[1],
        f"specificity ({classes[0]})": recalls[0],
    }


def _refuse_missing_labels(y: np.ndarray) -> None:
    if y.dtype.kind in "biuUS":  # none of these can be missing
        return
    if y.dtype.kind == "f":
        missing = ~np.isfinite(y)
    else:
        missing = np.array([v is None or is_pandas_na(v) or v != v for v in y.tolist()], dtype=bool)
    if missing.any():
        row = np.flatnonzero(missing)[0]
        raise ValueError(
            f"Input y contains {y[row]} in row {row}, which is no label; give the row a label or drop it."
        )


def _read_class_weight(class_weight: Mapping[Any, float], classes: np.ndarray) -> np.ndarray:
    """Return the weight of each class; classes that are not named weigh 1."""
    named = [c for c in classes.tolist() if c in class_weight]
    if class_weight and not named:
        raise ValueError(
            f"class_weight names {sorted(map(str, class_weight))}, but y has only the classes "
            f"{classes.tolist()}."
        )
    try:
        factor = np.array([float(class_weight.get(c, 1.0)) for c in classes.tolist()])
    except (TypeError, ValueError):
        factor = np.array([np.nan])
    if not (np.isfinite(factor) & (factor >= 0)).all():
        raise ValueError(f"class_weight is {dict(class_weight)}; a weight is a number not below 0.")
    return factor
