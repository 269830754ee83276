"""Which experiments there are: every `Experiment` that a file of these folders defines."""

import pkgutil
from importlib import import_module

from experiments import leagues, paper, speed
from experiments.experiment import Experiment


def find_experiments() -> dict[str, Experiment]:
    """Return the experiments by name.

    Examples
    --------
    >>> from experiments.registry import find_experiments
    >>> find_experiments()["noise"].title
    'Pure noise: how often is anything selected?'
    """
    found = {}
    for folder in (leagues, speed, paper):
        for module in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."):
            things = vars(import_module(module.name)).values()
            found.update({thing.name: thing for thing in things if isinstance(thing, Experiment)})
    return found
