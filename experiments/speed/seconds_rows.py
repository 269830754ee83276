"""The rows of the table of seconds: what each measures."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from experiments.methods import make_model
from experiments.speed.seconds_data import Data, draw_plain
from experiments.speed.timing import peak_gigabytes
from experiments.speed.two_cores import busy_neighbour, in_turns
from stochgate import GatedClassifier, StabilitySelector, evaluate
from stochgate.engine import Snapshot

Load = Callable[[int], Data]
Found = dict[str, Any]


def time_fit(load: Load, seed: int, device: str, *, rival: str | None = None, n_turns: int = 2) -> Found:
    """Return the seconds, the score and the columns of a default fit, and of its rival."""
    data = load(seed)
    watch, start, shares = watch_stages()
    models = {"ours": make_model("ours", data.kind, seed=seed, device=device, callbacks=[watch])}
    if rival is not None:
        models[rival] = RIVALS[rival](data.kind, seed)
    fits = {name: partial(_fit, model, data, start) for name, model in models.items()}
    turns, fitted = in_turns(fits, n_turns)
    peak = peak_gigabytes()  # before any test rows are drawn
    found: Found = {
        **_describe(data, fitted["ours"]),
        "seconds": min(turns["ours"]),
        "score": data.judge(fitted["ours"]),
        "peak_gigabytes": peak,
        "turns": turns,
        "stages": shares(),
    }
    if rival is not None:
        found |= {
            "rival": rival,
            "rival_seconds": min(turns[rival]),
            "rival_score": data.judge(fitted[rival]),
            "over_rival": min(turns["ours"]) / min(turns[rival]),
            "rival_over_ours": min(turns[rival]) / min(turns["ours"]),
        }
    return found


def watch_stages() -> tuple[Callable[[Snapshot], None], Callable[[], None], Callable[[], dict[str, float]]]:
    """Return a callback, what starts the clock of a fit, and what tells each stage's share of all fits."""
    seconds: dict[str, float] = {}
    last = [time.perf_counter()]

    def start() -> None:
        last[0] = time.perf_counter()

    def watch(snapshot: Snapshot) -> None:
        now = time.perf_counter()
        seconds[snapshot.stage] = seconds.get(snapshot.stage, 0.0) + now - last[0]
        last[0] = now

    def shares() -> dict[str, float]:
        return {stage: round(value / sum(seconds.values()), 3) for stage, value in seconds.items()}

    return watch, start, shares


RIVALS: dict[str, Callable[[str, int], Any]] = {
    "forest": lambda kind, seed: RandomForestClassifier(500, n_jobs=2, random_state=seed),
    "lassonet": lambda kind, seed: make_model("lassonet", kind, seed=seed, hidden_dims=(64, 32)),
}


def time_evaluate(load: Load, seed: int, device: str) -> Found:
    """Return how many fits `evaluate(cv=5)` takes; its score is the honest one."""
    data = load(seed)
    model = make_model("ours", data.kind, seed=seed, device=device)
    asked = partial(evaluate, model, data.X, data.y, cv=5, random_state=seed)
    turns, found = in_turns({"fit": partial(_fit, model, data), "evaluate": asked}, n_turns=1)
    return {
        **_describe(data, found["fit"]),
        **_compare(turns, "evaluate", "fit"),
        "score": found["evaluate"].mean,
    }


def time_summary(load: Load, seed: int, device: str) -> Found:
    """Return how many fits `summary()` takes, each time of a fresh fit."""
    data = load(seed)
    model = make_model("ours", data.kind, seed=seed, device=device)
    fit = partial(model.fit, data.X, data.y)
    turns, _ = in_turns({"fit": fit, "summary": lambda: model.summary()}, n_turns=2)
    return {
        **_describe(data, model),
        **_compare(turns, "summary", "fit"),
        "score": data.judge(model),
    }


def time_busy(load: Load, seed: int, device: str) -> Found:
    """Return how much longer a fit takes beside a process that never waits."""
    data = load(seed)
    model = make_model("ours", data.kind, seed=seed, device=device)

    def fit_beside() -> Any:
        with busy_neighbour():
            return _fit(model, data)

    turns, found = in_turns({"alone": partial(_fit, model, data), "beside": fit_beside}, n_turns=2)
    return {
        **_describe(data, found["alone"]),
        **_compare(turns, "beside", "alone"),
        "score": data.judge(found["alone"]),
    }


def time_fdr(load: Load, seed: int, device: str) -> Found:
    """Return the seconds of a selection with error control; it has no score, but its columns are known."""
    data = load(seed)
    selector = StabilitySelector(GatedClassifier(device=device), fdr=0.1, random_state=seed)
    turns, found = in_turns({"fdr": partial(_fit, selector, data)}, n_turns=2)
    return {**_describe(data, found["fdr"]), "seconds": min(turns["fdr"]), "turns": turns}


def plain(n_samples: int, n_features: int) -> Load:
    """Return what draws so many rows and columns with a seed."""
    return lambda seed: draw_plain(n_samples, n_features, seed)


def _fit(model: Any, data: Data, start: Callable[[], None] = lambda: None) -> Any:
    start()
    return clone(model).fit(data.X, data.y)


def _describe(data: Data, model: Any) -> Found:
    selected = np.flatnonzero(model.get_support()).tolist()
    n_samples, n_features = data.X.shape
    return {
        "data": data.source,
        "n_samples": n_samples,
        "n_features": n_features,
        "n_selected": len(selected),
        "selected": selected,
    }


def _compare(turns: dict[str, list[float]], what: str, fit: str) -> Found:
    """Return the seconds of an action, those of a fit, and how many fits the action takes."""
    seconds, fit_seconds = min(turns[what]), min(turns[fit])
    return {
        "seconds": seconds,
        "fit_seconds": fit_seconds,
        "fits": seconds / fit_seconds,
        "turns": turns,
    }
