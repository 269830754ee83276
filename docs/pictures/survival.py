"""Draw docs/pictures/survival.svg: METABRIC patients by risk, and the concordance index along the path.

STOCHGATE_DATA=... python docs/pictures/survival.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from stochgate import GatedCox
from stochgate.datasets import load_metabric
from stochgate.metrics import survival_curves_by_risk
from stochgate.plots import draw_scores, draw_survival_curves, scores_along_path


def main() -> None:
    """Fit 80 % of the patients and draw how the model does on the others."""
    data = load_metabric()
    genes = np.random.RandomState(0).choice(
        np.flatnonzero(data.feature_kinds == "gene"), 200, replace=False
    )
    columns = np.concatenate([np.flatnonzero(data.feature_kinds != "gene"), genes])
    X, X_test, y, y_test = train_test_split(data.X[:, columns], data.y, test_size=0.2, random_state=0)
    model = GatedCox(random_state=0).fit(X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    groups = survival_curves_by_risk(y_test["event"], y_test["time"], model.predict(X_test), n_groups=3)
    draw_survival_curves(groups, left).set_xlabel("months")
    draw_scores(scores_along_path(model, X_test, y_test), right, ylabel="Harrell's C of the test patients")
    chosen = f"chosen: {int(model.get_support().sum())} features, C {model.score(X_test, y_test):.3f}"
    right.set_title(f"{model.network_} network; {chosen}")
    figure.savefig(Path(__file__).with_suffix(".svg"))
    print(chosen, data.feature_names[columns][model.get_support()].tolist())


if __name__ == "__main__":
    main()
