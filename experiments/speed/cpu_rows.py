"""Rows of the speed table that are measured on the CPU, each against its rival."""

import time
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from experiments.methods import make_model
from experiments.speed.peers import time_plain_loop, time_stg
from experiments.speed.timing import Measure, draw, fastest, fit_seconds, peak_gigabytes, timed, train_stack
from stochgate import Training, datasets
from stochgate.metrics import selection_scores
from stochgate.networks import MLP


def path_against_stg(n_columns: int, n_samples: int, n_turns: int = 5) -> dict[str, Any]:
    """A path of 20 penalties against 20 fits of `stg` (two are timed and scaled)."""
    X, y = draw(n_samples, n_columns)
    lams = np.geomspace(0.001, 0.05, 20) * n_columns
    training = Training(n_steps=1000, n_snapshots=1)
    ours, *some = fastest(
        lambda: timed(X=X, y=y, network=MLP(), lams=lams, training=training),
        *(partial(time_stg, X, y, [64, 32], "relu", lams[i], 1000, "cpu") for i in (5, 15)),
        n_turns=n_turns,
    )
    return {"ours": ours, "stg": 10 * sum(some), "ratio": 10 * sum(some) / ours}


def skipping() -> dict[str, Any]:
    """20,000 dense columns, 20 true ones, one penalty on 8 resamples, with skipping and without."""
    from stochgate.engine.backend import cpu_product as product  # nothing else here reaches into the engine

    X, y = draw(500, 20_000, n_relevant=20)
    asked: dict[str, Any] = {
        "X": X,
        "y": y,
        "network": MLP(),
        "lams": np.full(8, 0.01 * X.shape[1]),
        "training": Training(n_snapshots=1),
    }

    def without() -> float:
        with patch.object(product, "skipping_pays", lambda shape, share, once: False):
            return timed(**asked)

    ours, whole = fastest(lambda: timed(**asked), without, n_turns=2)
    return {"ours": ours, "without": whole, "ratio": whole / ours}


def newsgroups() -> dict[str, Any]:
    """20 penalties on 18,774 x 55,911 sparse counts, in mini-batches; run it alone, for its memory."""
    X, y = datasets.load_newsgroups()
    training = Training(n_steps=600, batch_size=1024, n_snapshots=2, max_memory=3 << 28)
    before = peak_gigabytes()
    lams = np.geomspace(0.001, 0.05, 20) * X.shape[1]
    start = time.perf_counter()
    trained = train_stack(X, y, MLP(), lams, training)
    return {
        "ours": time.perf_counter() - start,
        "peak_gigabytes": peak_gigabytes(),
        "peak_before": before,
        "train_loss": trained.train_loss[-1].tolist(),
    }


def million() -> dict[str, Any]:
    """A step of 1,000,000 x 200 in mini-batches of 4,096 against a plain torch loop of the same network."""
    X, y = draw(1_000_000, 200)

    def ours_in(n_steps: int) -> float:
        training = Training(n_steps=n_steps, batch_size=4096, n_snapshots=1)
        return timed(X=X, y=y, network=MLP(), lams=[1.0], training=training)

    few, many, plain = fastest(
        lambda: ours_in(20),
        lambda: ours_in(520),
        lambda: time_plain_loop(X, y, (64, 32), 4096, 500),
        n_turns=10,
    )
    ours = many - few  # what starting and the last snapshot take falls out
    return {"ours": ours / 500, "plain": plain / 500, "ratio": ours / plain}


def wide() -> dict[str, Any]:
    """Find the 5 columns of 20,000 that matter, from 500 rows: default fits of ours and of peers."""
    methods = ("ours", "lasso", "forest")
    return wide_fits({method: make_model(method, "regression", seed=1000) for method in methods})


def wide_fits(models: dict[str, Any]) -> dict[str, Any]:
    """Fit models of the Friedman function; return their seconds, F1 and test scores."""
    problem = datasets.make_friedman(2500, n_features=20_000, random_state=1000)
    X = problem.X.astype(np.float32)
    found: dict[str, Any] = {}
    for name, model in models.items():
        found[name] = fit_seconds(model, X[:500], problem.y[:500])
        found[f"f1_{name}"] = selection_scores(model.get_support(), problem.relevant)["f1"]
        found[f"score_{name}"] = model.score(X[500:], problem.y[500:])
    return found


ROWS: dict[str, Measure] = {
    "path50": partial(path_against_stg, 50, 1000),
    "path500": partial(path_against_stg, 500, 450),
    "path5000": partial(path_against_stg, 5000, 1000, n_turns=2),
    "skipping": skipping,
    "newsgroups": newsgroups,
    "million": million,
    "wide": wide,
}
