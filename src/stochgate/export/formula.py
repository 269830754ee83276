"""What a fitted model computes, as numbers in the order in which they are used."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stochgate.engine import Predictor
from stochgate.engine.inputs import Inputs
from stochgate.objectives import OBJECTIVES, Objective, Regression
from stochgate.tables.encoding import TableEncoding


@dataclass(frozen=True)
class InputColumns:
    """The numbers a row is given as: a column per feature of numbers, one per level of a feature of text.

    Attributes
    ----------
    names : list of str
    fill : ndarray, shape (n_inputs,), or None
        What stands for a missing number; None where missing values are not allowed.
    source : ndarray of int, shape (n_read,)
        The input column that each column the model reads is made of.
    is_mask : ndarray of bool, shape (n_read,)
        Which of them say where a number is missing.
    """

    names: list[str]
    fill: np.ndarray | None
    source: np.ndarray
    is_mask: np.ndarray

    @classmethod
    def make(
        cls, table: TableEncoding, names: list[Any], read: np.ndarray, fills_missing: bool
    ) -> "InputColumns":
        """Find where the columns that a model reads come from.

        Parameters
        ----------
        table : TableEncoding
        names : list
            What the features are called.
        read : ndarray of int
            The columns of numbers that are read, of all that the table becomes.
        fills_missing : bool
        """
        inputs: list[str] = []
        fill: list[float] = []
        source: list[int] = []
        is_mask: list[bool] = []
        for j, name in enumerate(names):
            levels = table.levels.get(j)
            own = [f"{name}={level}" for level in levels.columns] if levels is not None else [str(name)]
            if j in table.levels and levels is None:
                continue
            places = range(len(inputs), len(inputs) + len(own))
            source += [*places, *places][: len(own) + int(table.masked[j])]
            is_mask += [*[False] * len(own), *[True] * int(table.masked[j])]
            fill += [0.0 if j in table.levels else float(table.fill[j])] * len(own)
            inputs += own
        filled = np.array(fill) if fills_missing else None
        return cls(inputs, filled, np.array(source, dtype=int)[read], np.array(is_mask, dtype=bool)[read])


@dataclass(frozen=True)
class Formula:
    """All that a model of the selected columns computes with.

    Attributes
    ----------
    estimator : str
        The name of its class.
    features : list
        The names of the features, or their positions.
    table : TableEncoding
        How the features become columns of numbers.
    columns : InputColumns
    inputs : Inputs
    predictor : Predictor
    value_scale, value_shift : ndarray, shape (n_members, n_outputs)
        What makes a member's output a value on the scale of y: 1 and 0 but for regressions.
    base : ndarray, shape (n_outputs,)
        The output without features.
    classes : ndarray or None
    """

    estimator: str
    features: list[Any]
    table: TableEncoding
    columns: InputColumns
    inputs: Inputs
    predictor: Predictor
    value_scale: np.ndarray
    value_shift: np.ndarray
    base: np.ndarray
    classes: np.ndarray | None

    @property
    def is_constant(self) -> bool:
        """Whether no column has a say."""
        return not bool(self.predictor.scale.any())

    @classmethod
    def of(cls, model: Any) -> "Formula":
        """Return what a fitted estimator computes from its selected columns."""
        check_is_fitted(model)
        _refuse_unknown(model._predictor.objective)
        small = model if model._is_reduced else model._cut_down()
        predictor, table = small._predictor, small._table
        base = predictor.base.double().numpy()
        scale, shift = np.ones_like(base), np.zeros_like(base)
        if isinstance(predictor.objective, Regression):
            scale, shift = (predictor.learned[name].double().numpy() for name in ("scale", "center"))
        return cls(
            estimator=type(small).__name__,
            features=small._names(),
            table=table,
            columns=InputColumns.make(
                table, small._names(), predictor.features, fills_missing=small.missing == "auto"
            ),
            inputs=predictor.inputs,
            predictor=predictor,
            value_scale=scale,
            value_shift=shift,
            base=(base * scale + shift).mean(axis=0),
            classes=getattr(small, "classes_", None),
        )


def _refuse_unknown(objective: Objective) -> None:
    """Raise unless outputs are read as one of the objectives here reads them; its loss may be another."""
    known = next((kind for kind in OBJECTIVES if isinstance(objective, kind)), None)
    own = type(objective)
    if known is None or own.read is not known.read or own.average is not known.average:
        raise ValueError(
            f"The objective is a {own.__name__}, and exports know how Classification, Regression and Cox "
            "make predictions of the network's outputs; with another they would return the outputs "
            "themselves. Pickle the model instead."
        )
