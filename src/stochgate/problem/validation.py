"""Checks of what users hand in: each error says what is wrong, where, and what to do."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stochgate.engine import Trained
from stochgate.objectives import Objective, Target
from stochgate.tables.encoding import TableEncoding
from stochgate.tables.levels import first_missing
from stochgate.tables.table import Table


def check_device(device: str) -> torch.device:
    """Return the device to train on; "auto" takes CUDA when it is there.

    Parameters
    ----------
    device : str
        "auto" or what torch calls it: "cpu", "cuda", "cuda:1".
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device={device!r} cannot be used here ({reason}); use device='auto' or 'cpu'."
        ) from error
    return found


def check_groups(groups: Any) -> np.ndarray:
    """Return the groups of the rows; a missing label is an error, and so is one group for all."""
    labels = np.asarray(groups)
    missing = first_missing(labels)
    if missing is not None:
        raise ValueError(f"The group of row {missing} is missing; give it a label, or remove the row.")
    if len(set(labels.tolist())) < 2:
        raise ValueError("groups holds one group only; folds keep groups whole, so give two or more.")
    return labels


def resolve(what: str, given: Any, known: Mapping[str, Callable[[], Any]], base: type) -> Any:
    """Turn a name into an instance; an instance is cloned, anything else refused.

    Parameters
    ----------
    what : str
        The parameter's name, for the message.
    given : str or instance of `base`
    known : mapping of names to what makes an instance
    base : type
    """
    from sklearn.base import clone

    if isinstance(given, str) and given in known:
        return known[given]()
    if isinstance(given, base):
        given = clone(given)
        given._validate_params()
        return given
    raise ValueError(
        f"Unknown {what} {given!r}; use one of {sorted(known)} or an instance of {base.__name__}."
    )


def encode_table(table: Table, encoding: TableEncoding) -> Any:
    """Return the columns of numbers of a table; one without any is refused."""
    if not encoding.counts().any():
        raise ValueError(
            "X has no column to learn from: all of them hold text, of one value only or of too many "
            "different ones, as ids and notes do."
        )
    return encoding.apply(table)


def refuse_not_callable(what: str, given: Iterable[Any] | None) -> None:
    """Raise unless every entry of a list can be called."""
    for entry in given or ():
        if not callable(entry):
            raise ValueError(f"{what} holds {entry!r}, which cannot be called; give functions.")


def refuse_no_weight(objective: Objective, target: Target, weights: Tensor, which: str) -> None:
    """Raise when some rows, e.g. those left to learn from, have no weight that counts, or no event."""
    learned = objective.learn(target.rows, weights)
    if not objective.total(target.rows, weights, learned)[0] > 0:
        raise ValueError(
            f"The rows {which} have no weight (or no event): check sample_weight and class_weight, and "
            "give early stopping more rows or another share of them."
        )


def refuse_diverged(trained: Trained) -> None:
    """Raise when a parameter is not a finite number any more, or never was after a step."""
    models = trained.models
    numbers = [models.gate_parameter, *models.parameters.values()]
    if trained.step[0] == 0 or not all(torch.isfinite(n).all() for n in numbers):
        raise ValueError(
            "The training diverged: weights are not finite numbers any more; use a smaller lr, "
            "standardize=True, or bring the columns of X to a smaller range."
        )
