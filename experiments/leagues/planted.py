"""Leagues on drawn problems whose relevant features are known.

Each cell draws one problem with its seed, trains on the first rows and is scored on 2,000 further rows of
the same problem.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from experiments.experiment import Experiment
from experiments.leagues.planted_tables import planted_tables
from experiments.methods import PACKAGES, can_do, make_model
from experiments.study import fit_and_score
from stochgate import NoFeatureSelectedWarning, datasets
from stochgate.metrics import median_rank, selection_scores

N_TEST = 2000
METRICS = {
    "f1": "F1 {:.2f}",
    "test_score": "test score {:.3f}",
    "n_selected": "{} selected",
    "seconds": "{:.1f} s",
}


@dataclass(frozen=True)
class Task:
    """A problem of a league.

    Attributes
    ----------
    kind : {"classification", "regression", "survival"}
    n_train : int
    make : callable
        Draws a `Problem`, given the number of rows and random_state.
    signal : bool
        Whether it counts in the mean F1.
    """

    kind: str
    n_train: int
    make: Callable[..., datasets.Problem]
    signal: bool = True

    def draw(self, seed: int) -> datasets.Problem:
        """Draw training and test rows, in this order."""
        return self.make(self.n_train + N_TEST, random_state=seed)


def planted_league(
    *, tasks: Mapping[str, Task], more_methods: tuple[str, ...] = (), **about: Any
) -> Experiment:
    """Return the experiment of a league.

    Parameters
    ----------
    tasks : dict of Task
    more_methods : tuple of str
        Methods that are run only if asked for.
    about : dict
        The other fields of `Experiment`, at least name, title, methods and seeds.
    """
    methods = about.pop("methods")
    signal = [name for name, task in tasks.items() if task.signal]
    about.setdefault("tables", partial(planted_tables, tasks=list(tasks), signal=signal))
    return Experiment(
        tasks=list(tasks),
        methods=[*methods, *more_methods],
        default_methods=methods,
        run_cell=partial(run_planted, tasks=tasks),
        metrics=METRICS,
        can_do=lambda task, method: can_do(method, tasks[task].kind),
        packages=PACKAGES,
        **about,
    )


def run_planted(
    task: str, method: str, seed: int, *, tasks: Mapping[str, Task], device: str = "cpu"
) -> dict[str, Any]:
    """Train one method on one drawn problem and return what it found."""
    problem, n = tasks[task].draw(seed), tasks[task].n_train
    model = make_model(method, tasks[task].kind, seed=seed, device=device)
    train, test = (problem.X[:n], problem.y[:n]), (problem.X[n:], problem.y[n:])
    scores = fit_and_score(model, train, test, NoFeatureSelectedWarning)
    ranked = median_rank(model.feature_importances_, problem.relevant) if problem.relevant.any() else None
    return {
        **selection_scores(model.get_support(), problem.relevant),
        "median_rank": ranked,
        **({"p": model.p_value_} if hasattr(model, "p_value_") else {}),
        **scores,
    }
