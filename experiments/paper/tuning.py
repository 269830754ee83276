"""Settings of the paper's other methods, found by Optuna within the ranges of its Table S1.

Once per experiment and method: the setting with the best mean score on the validation rows of draws that
no experiment uses (seeds below 1000). XOR and two moons have one setting for all numbers of noise columns,
how sparse a method is included; the mean is taken over 10, 50 and 90 of them. On MADELON and the Friedman
function validation rows choose in each run how sparse a method is, and the rest is tuned. Of DFS and SG-NN
only what the paper does not print is: the learning rate, and SG-NN's alpha; on the Friedman function, where
the learning rate is printed, nothing. What has nothing to be tuned has no entry.

The paper ran 1,000 trials. Here it is 30, and of DFS and SG-NN a trial has one draw, a path of three
penalties at most, and ends after 1,000 steps (of DFS's 14,000 for XOR) or after what `--max-steps` says.

    python -m experiments.paper.tuning --experiments xor moons madelon friedman --trials 30 --jobs 2
    python -m experiments.paper.tuning --experiments xor --methods forest xgboost
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed

from experiments.baselines import BASELINES
from experiments.experiment import RESULTS
from experiments.methods import on_device
from experiments.paper.parts.planted_methods import NETWORKS, PARTS, Split, draw_split
from stochgate import datasets
from stochgate.optional import require

TUNED = RESULTS / "tuned.json"
N_NOISE = (10, 50, 90)
MOST_STEPS, MOST_LAMS = 1000, 3  # of a network in a trial


@dataclass(frozen=True)
class Task:
    """What a method is tuned for.

    Attributes
    ----------
    draw : callable
        Returns a list of (problem, split), given a seed.
    chooses : bool
        Whether validation rows choose in each run how sparse a method is, so that it is not tuned.
    kind : {"classification", "regression"}
    printed : tuple of str
        Settings of networks that the paper prints.
    """

    draw: Callable[[int], list[tuple[datasets.Problem, Split]]]
    chooses: bool
    kind: str = "classification"
    printed: tuple[str, ...] = ()


def _at_each_noise(make: Callable[..., datasets.Problem], n_samples: int, seed: int) -> list[Any]:
    split = draw_split(n_samples, seed)
    return [(make(n_samples, n_noise, random_state=seed), split) for n_noise in N_NOISE]


TASKS = {
    "xor": Task(partial(_at_each_noise, datasets.make_xor, 1500), chooses=False),
    "moons": Task(
        partial(_at_each_noise, partial(datasets.make_two_moons, noise=0.1), 1000), chooses=False
    ),
    "madelon": Task(lambda seed: [(datasets.make_madelon(600, random_state=seed), PARTS)], chooses=True),
    "friedman": Task(
        lambda seed: [(datasets.make_friedman(600, random_state=seed), PARTS)],
        chooses=True,
        kind="regression",
        printed=("lr", "alpha"),
    ),
}


@dataclass(frozen=True)
class Search:
    """Where a method's settings are looked for.

    Attributes
    ----------
    sparsity : dict
        Ranges of what makes the method sparse: (low, high), whole numbers or on a logarithmic scale.
    rest : dict
        Ranges of the other settings.
    seeds : tuple of int
        Draws of each trial; where validation rows choose, which takes many fits, two at most.
    """

    sparsity: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    rest: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0, 1, 2)

    def ranges(self, task: Task) -> dict[str, tuple[float, float]]:
        """Return the ranges of what is tuned for a task."""
        ranges = dict(self.rest) if task.chooses else {**self.sparsity, **self.rest}
        return {name: ends for name, ends in ranges.items() if name not in task.printed}


_THRESHOLD = {"threshold": (1e-7, 1.0)}
SEARCHES = {
    "forest": Search(_THRESHOLD, {"n_estimators": (5, 100)}),
    "extra-trees": Search(_THRESHOLD, {"n_estimators": (5, 100)}),
    "xgboost": Search(_THRESHOLD, {"n_estimators": (1, 100), "max_depth": (1, 5)}),
    "lasso": Search({"alpha": (1e-5, 1.0)}),
    "svc": Search({"C": (1e-7, 1.0)}),
    "dfs": Search(rest={"lr": (1e-4, 1e-1)}, seeds=(0,)),
    "sgnn": Search(rest={"lr": (1e-4, 1e-1), "alpha": (1e-3, 10.0)}, seeds=(0,)),
}


def tuned_settings(experiment: str, method: str, path: Path = TUNED) -> dict[str, Any]:
    """Return the settings that were found for a method; {} where nothing was tuned.

    Examples
    --------
    >>> from experiments.paper.tuning import tuned_settings
    >>> tuned_settings("xor", "ours")
    {}
    """
    return _read(path).get(experiment, {}).get(method, {}).get("settings", {})


def tune(
    experiment: str, method: str, n_trials: int = 30, max_steps: int = MOST_STEPS, device: str = "cpu"
) -> dict[str, Any] | None:
    """Return the best settings of a method and their score; None where there is nothing to tune.

    Parameters
    ----------
    experiment : {"xor", "moons", "madelon", "friedman"}
    method : str
        A name in `SEARCHES`.
    n_trials : int
    max_steps : int
        Steps after which a network of a trial ends.
    device : str
        Where networks train.
    """
    optuna = require("optuna", package="optuna", needed_by="Tuning", extra="tune")
    task, search = TASKS[experiment], SEARCHES[method]
    ranges = search.ranges(task)
    if not ranges or task.kind not in BASELINES[method].kinds():
        return None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    seeds = search.seeds[:2] if task.chooses else search.seeds
    draws = [(seed, *drawn) for seed in seeds for drawn in task.draw(seed)]
    fixed = _cut(NETWORKS[experiment].get(method, {}), max_steps)

    def objective(trial: Any) -> float:
        settings = {**fixed, **{name: _suggest(trial, name, *ends) for name, ends in ranges.items()}}
        model = on_device(BASELINES[method](task.kind, **settings), device)
        return float(np.mean([_score(model, *draw, task.chooses) for draw in draws]))

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=n_trials)
    found = {"settings": study.best_params, "score": study.best_value, "n_trials": n_trials}
    return {**found, "seeds": list(seeds), **({"max_steps": max_steps} if fixed else {})}


def _cut(network: Mapping[str, Any], max_steps: int) -> dict[str, Any]:
    """Return the settings of a network that is trained in a trial; {} for what is no network."""
    if not network:
        return {}
    lams = network["lams"]
    few = tuple(lams[i] for i in np.unique(np.linspace(0, len(lams) - 1, MOST_LAMS).round().astype(int)))
    return {**network, "lams": few, "max_steps": max_steps}


def _suggest(trial: Any, name: str, low: float, high: float) -> float:
    if isinstance(low, int):
        return trial.suggest_int(name, low, int(high))
    return trial.suggest_float(name, low, high, log=True)


def _score(model: Any, seed: int, problem: datasets.Problem, split: Split, chooses: bool) -> float:
    """Return the score on the validation rows, which also choose how sparse the model is if told to."""
    train, valid = ((problem.X[rows], problem.y[rows]) for rows in (split.train, split.valid))
    model.set_params(random_state=seed)
    return model.fit(*train, validation=valid if chooses else None).score(*valid)


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def _write(path: Path, experiment: str, method: str, found: dict[str, Any]) -> None:
    everything = _read(path)
    everything.setdefault(experiment, {})[method] = found
    path.write_text(json.dumps(everything, indent=1, sort_keys=True) + "\n")


def _tune_in_one_thread(experiment: str, method: str, **settings: Any) -> tuple[str, str, Any]:
    torch.set_num_threads(1)
    return experiment, method, tune(experiment, method, **settings)


def main(arguments: Sequence[str] | None = None) -> None:
    """Tune methods and write what was found."""
    parser = argparse.ArgumentParser(description="Tune the paper's other methods.")
    parser.add_argument("--experiments", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--methods", nargs="+", choices=list(SEARCHES), default=list(SEARCHES))
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--max-steps", type=int, default=MOST_STEPS)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--path", type=Path, default=TUNED)
    given = parser.parse_args(arguments)
    settings = {"n_trials": given.trials, "max_steps": given.max_steps, "device": given.device}
    todo = [(experiment, method) for experiment in given.experiments for method in given.methods]
    pool = Parallel(n_jobs=given.jobs, return_as="generator_unordered")
    for experiment, method, found in pool(delayed(_tune_in_one_thread)(*one, **settings) for one in todo):
        if found is None:
            print(f"{experiment} {method}: nothing to tune")
        else:
            _write(given.path, experiment, method, found)
            print(f"{experiment} {method}: {found['score']:.3f} at {found['settings']}")


if __name__ == "__main__":
    main()
