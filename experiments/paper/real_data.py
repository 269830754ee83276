"""Accuracy against the number of features on nine real data sets (the paper's Fig. realdata and Table 1).

The claims: STG has a clear advantage over LASSO and SVC, trees are slightly better in places, STG suits the
task better than HC, and 20 to 30 genes are enough on PBMC. The check: five folds of each data set, five
random splits where a tenth of the rows trains (RCV1, PBMC), five initialisations on MNIST's own split.
Networks have one model per penalty; LASSO and SVC go from the empty model to some 500 features; trees are
trained again on their most important features. Ours is a fit at our defaults, and the same fit asked for
other numbers of features. Curves are compared at common sizes. "pbmc-folds" is not in the paper.

    STOCHGATE_DATA=... python -m experiments run real-data --device cuda --jobs 12
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from experiments.baselines import BASELINES, GatedNetwork
from experiments.baselines.forest import feature_counts
from experiments.claims import Claim, Paper
from experiments.experiment import Experiment
from experiments.methods import make_model
from experiments.paper.parts.curves import curve_of, describe_curve
from experiments.paper.parts.planted_methods import GATES, PACKAGES
from experiments.paper.parts.real_data_claims import judge_genes, judge_hc, judge_linear, judge_trees
from experiments.paper.parts.real_data_settings import FOLDS, GIVEN, SETTINGS
from experiments.paper.parts.real_data_show import draw, make_tables
from experiments.study import fit_and_score
from stochgate import NoFeatureSelectedWarning
from stochgate.datasets import load_real
from stochgate.datasets.files import read_arrays

GATED, LINEAR, TREES = ("stg", "hc", "hc-scaled"), ("lasso", "svc"), ("forest", "extra-trees", "xgboost")
OUR_SIZES = (5, 10, 20, 50, 100)
MOST_FEATURES = 500
MOST_ROWS = 10_000  # that the methods on the CPU learn from
WEAKER, MOST_PENALTIES = 1.5, 30  # from one penalty of LASSO and SVC to the next, and how many at most


class Data(NamedTuple):
    """Rows to train on and rows to test on."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


def load_split(task: str, seed: int, n_rows: int | None = None) -> Data:
    """Return the split of a seed; columns that are constant in the training rows are left out."""
    settings = SETTINGS[task]
    if settings.split == GIVEN:
        arrays = read_arrays(settings.file)
        names = ("X_train", "y_train", "X_test", "y_test")
        data = Data(*(arrays[name] for name in names))
    else:
        table = load_real(settings.file)
        train, test = split_rows(settings.split, table.y, seed)
        data = Data(table.X[train], table.y[train], table.X[test], table.y[test])
    data = take_rows(data, n_rows, seed)
    varies = VarianceThreshold().fit(data.X).get_support()
    X, X_test = (part[:, varies] / settings.scale for part in (data.X, data.X_test))
    return Data(X, data.y, X_test, data.y_test)


def take_rows(data: Data, most: int | None, seed: int) -> Data:
    """Return at most so many of the training rows, drawn at random; None leaves them as they are."""
    if most is None or most >= len(data.y):
        return data
    rows = np.random.default_rng(seed).permutation(len(data.y))[:most]
    return data._replace(X=data.X[rows], y=data.y[rows])


def split_rows(split: str, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to train on and to test on; five seeds in a row are the folds of one partition."""
    if split == FOLDS:
        partition, fold = divmod(seed, 5)
        folds = StratifiedKFold(5, shuffle=True, random_state=partition).split(y, y)
        return list(folds)[fold]
    train, test = train_test_split(np.arange(len(y)), train_size=0.1, random_state=seed, stratify=y)
    return train, test


def run_cell(
    task: str,
    method: str,
    seed: int,
    *,
    device: str = "cpu",
    our_sizes: Sequence[int] = OUR_SIZES,
    n_penalties: int | None = None,
    most_features: int = MOST_FEATURES,
    n_rows: int | None = None,
    **small: Any,
) -> dict[str, Any]:
    """Train the models of one method on one split and return its curve.

    A small run learns from `n_rows`; settings other than the paper's (`small`) are those of `GatedNetwork`.
    """
    data = load_split(task, seed, n_rows)
    if method in (*LINEAR, *TREES):
        data = take_rows(data, MOST_ROWS, seed)
    shape = {"n_columns": data.X.shape[1], "n_train": len(data.y), "n_test": len(data.y_test)}
    shape["n_classes"] = len(np.unique(data.y))
    if method == "ours":
        return {**shape, **fit_ours(data, our_sizes, seed, device)}
    data = data._replace(X=_dense(data.X), X_test=_dense(data.X_test))
    if method in GATED:
        settings = {**SETTINGS[task].network(method, n_penalties), **GATES[method], **small}
        network = GatedNetwork(**settings, device=device, random_state=seed)
        found = describe_curve(curve_of(network.path(*data[:2]), *data[2:]))
        return {
            **shape,
            **found,
            "n_models": len(network.lams),
            "n_steps": network.max_steps,
            "device": device,
        }
    follow = follow_linear if method in LINEAR else follow_trees
    curve = [list(point) for point in follow(method, data, most_features, seed)]
    return {**shape, **describe_curve(curve), "n_models": len(curve), "device": "cpu"}


def fit_ours(data: Data, sizes: Sequence[int], seed: int, device: str) -> dict[str, Any]:
    """Fit ours at its defaults, ask the same fit for other sizes, and return both."""
    model = make_model("ours", "classification", seed=seed, device=device)
    chosen = fit_and_score(model, data[:2], data[2:], NoFeatureSelectedWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureSelectedWarning)
        curve = curve_of((model.at(k=k) for k in sizes), *data[2:])
    return {**chosen, **describe_curve(curve), "n_models": 1 + len(curve)}


def follow_linear(method: str, data: Data, most: int, seed: int) -> Iterator[tuple[int, float]]:
    """Yield size and accuracy of LASSO or SVC at ever weaker penalties, until there are enough features.

    That is also where there are as many as rows: beyond, what is not 0 depends on the solver.
    """
    loss = "log" if method == "lasso" else "squared_hinge"
    C = l1_min_c(StandardScaler().fit_transform(data.X), data.y, loss=loss)  # of the empty model
    enough = min(most + 1, *data.X.shape)
    for _ in range(MOST_PENALTIES):
        C *= WEAKER
        given = {"alpha": 1 / (C * len(data.y))} if method == "lasso" else {"C": C}
        points = BASELINES[method](**given, random_state=seed).path(data.X, data.y)
        ((found, accuracy),) = curve_of(points, data.X_test, data.y_test)
        yield int(found), accuracy
        if found >= enough:
            return


def follow_trees(method: str, data: Data, most: int, seed: int) -> Iterator[tuple[int, float]]:
    """Yield size and accuracy of trees on ever more of the features that matter most to trees on all."""

    def fit(columns: Any) -> Any:
        # every importance is above the threshold: one ensemble on all columns that are given
        model = BASELINES[method](n_estimators=100, threshold=-1.0, random_state=seed)
        return model.path(data.X[:, columns], data.y)

    importances = fit(slice(None))[0].feature_importances_
    order = np.argsort(-importances, kind="stable")
    for n in feature_counts(min(most, len(order))):
        ((size, accuracy),) = curve_of(fit(order[:n]), data.X_test[:, order[:n]], data.y_test)
        yield int(size), accuracy


def _dense(X: Any) -> np.ndarray:
    return X if isinstance(X, np.ndarray) else X.toarray()


CUT_STEPS = ", ".join(
    f"{task.upper()} {settings.n_steps:,} of {settings.printed_steps:,}"
    for task, settings in SETTINGS.items()
    if settings.n_steps < settings.printed_steps
)
REAL_DATA = Experiment(
    name="real-data",
    title="Is STG more accurate than others with the same number of features, on nine real data sets?",
    tasks=list(SETTINGS),
    methods=["ours", *GATED, *LINEAR, *TREES],
    seeds=range(1000, 1005),
    run_cell=run_cell,
    tables=make_tables,
    metrics={
        "best_accuracy": "accuracy up to {:.3f}",
        "fewest": "sizes {}",
        "most": "to {}",
        "n_selected": "chosen {}",
        "cell_seconds": "{:.1f} s",
    },
    quick={  # without ours, which takes minutes on a CPU
        "tasks": ["coil20"],
        "methods": [*GATED, *LINEAR, *TREES],
        "seeds": [1000],
        "settings": {"n_penalties": 4, "most_features": 60, "n_rows": 300, "max_steps": 1500},
    },
    packages=PACKAGES,
    draw=draw,
    paper=Paper(
        where="Fig. realdata, Table 1",
        claims=[
            Claim(says="STG has a clear advantage over LASSO and SVC.", judge=judge_linear),
            Claim(says="Trees slightly outperform STG in some regimes.", judge=judge_trees),
            Claim(says="STG is more suited for the task than HC.", judge=judge_hc),
            Claim(
                says="On PBMC 20 to 30 genes are sufficient.",
                published="20 to 30 genes",
                judge=judge_genes,
            ),
        ],
        settings="Networks, activations, learning rates (but for RELATHE) and batches as printed; lambda "
        "times the sum of the gates' open probabilities (PBMC's as printed, 0.001 to 0.11).",
        ours="The other lambdas, from what closes a useless gate within the steps to 60 times that; "
        "columns are standardised, but for MNIST's pixels, which are divided by 255; "
        "there are 100 trees; sizes compared are 5, 10, 20, 50, 100 and 200, where both methods have them; "
        "a claim holds if it is true on three quarters of the sets that all its methods reach, and "
        "partly on a third.",
        differs="Methods are compared on the splits that both have. With the same step HC goes from all "
        "features to none within one penalty on most sets, STG on PBMC from all genes to six. RCV1 has "
        "1,747 of 23,203 rows, PBMC 412 of 20,742 cells (a tenth are 41), GISETTE is made from MNIST by "
        "its recipe; BASEHOCK has 4,862 columns. RCV1 and PBMC are split in five ways. LASSO, SVC and "
        "trees learn from 10,000 rows of MNIST and have up to some 500 features. RELATHE's learning rate "
        f"is 0.1 instead of 0.008; steps that were cut: {CUT_STEPS}.",
    ),
)
