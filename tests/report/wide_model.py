"""A model of 10,000 columns as large as reports get, without a fit."""

import numpy as np

from stochgate import GatedClassifier, Summary
from stochgate.choice.tables import make_table

N_COLUMNS, N_CLASSES = 10_000, 60
SIZES = [*range(1, 31), *range(40, 1001, 20)]


class WideModel(GatedClassifier):
    """A fitted classifier, all of whose attributes are as long as they can be."""

    classes_ = np.array([f"class <{i}>" for i in range(N_CLASSES)])
    n_features_in_, n_steps_, lam_, network_, remarks_ = N_COLUMNS, 600, 0.5, "linear", ["Look."] * 5

    def __sklearn_is_fitted__(self):
        return True

    def invent(self, name_of, seed=0):
        rng = np.random.default_rng(seed)
        self.feature_names_in_ = np.array([name_of(j) for j in range(N_COLUMNS)], dtype=object)
        order = rng.permutation(N_COLUMNS)
        self.feature_importances_ = rng.random(N_COLUMNS)
        self.selection_frequency_ = rng.random(N_COLUMNS)
        self.support_ = np.isin(np.arange(N_COLUMNS), order[:1000])
        step = np.arange(1, 201)
        gates = rng.random((200, N_COLUMNS)).astype(np.float32)
        self.gate_history_ = {"step": step, "lam": step / 10, "gates": gates}
        self.gates_ = gates[-1]
        chosen = {size: rng.permutation(order[: size + size // 3 + 1])[:size] for size in SIZES[:-1]}
        chosen[SIZES[-1]] = order[:1000]
        self.path_ = make_table([self._row(size, features) for size, features in chosen.items()])
        self._summary = self._invent_summary(order[:1000])
        return self

    def _row(self, size, features):
        names = self.feature_names_in_[features].tolist()
        judged = {"held_out_loss": 1 / (size + 1), "held_out_sd": 0.1, "network": "linear"}
        return {
            "stage": "growing",
            "n_features": size,
            "n_by_fold": [size] * 5,
            "features": names,
            **judged,
        }

    def _invent_summary(self, selected):
        names = self.feature_names_in_
        numbers = {"gate": 1.0, "frequency": 0.8, "frequency_low": 0.4, "frequency_high": 0.9}
        worth = {
            "loss_without": 0.123456,
            "loss_without_error": 0.02,
            "direction": "+",
            "direction_of": "<i>",
        }
        others = {"stand_ins": names[5000:5005].tolist()}
        rows = [{"feature": names[j], **numbers, **worth, **others} for j in selected]
        losses = {"selected": 0.1, "all": 0.11, "none": 0.9}
        return Summary(
            features=make_table(rows),
            n_features=1000,
            n_features_in=N_COLUMNS,
            lam=0.5,
            hints=("Be wary.",),
            verdict="clear signal",
            network="linear",
            gain=0.8,
            error=0.01,
            n_folds=5,
            losses=losses,
            scores={"selected": 0.95, "all": 0.95, "none": 0.1},
            score_name="accuracy",
        )

    def predict(self, X):
        return self.classes_[np.arange(len(X)) % N_CLASSES]
