"""A fitted model as a plain torch module."""

from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, fx, nn

from stochgate.export.formula import Formula
from stochgate.export.torch_parts import BaseRate, Team


def to_module(model: Any) -> nn.Module:
    """Return the model of the selected columns as a torch module that needs no stochgate to run.

    It is a `torch.fx.GraphModule` in eval mode: torch operations and buffers, which `torch.save`,
    `torch.export` and `torch.compile` take as they take any module. Its input is a float tensor of shape
    (n_samples, n_columns), and `module.column_names` says of what: the selected columns in order, where a
    column of text stands as 0 and 1 for each level but the first (`module_input` makes them of a table).
    Missing numbers are NaN. Its output has the input's dtype and shape (n_samples, n_outputs): the log-odds
    of the second class, a logit per class where there are more, the value on the scale of y, or the log
    hazard. A model whose objective reads the network's outputs in a way of its own is refused.
    Columns are scaled in double precision; `module.float()` makes all of it single.

    Parameters
    ----------
    model : fitted GatedClassifier, GatedRegressor or GatedCox

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from stochgate import GatedRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> model = GatedRegressor(lam=1.0, random_state=0).fit(X, X[:, 4] ** 2 + X[:, 9])
    >>> module = model.to_module()
    >>> found = module(torch.from_numpy(X[:, model.support_]))
    >>> bool(np.allclose(found[:, 0].numpy(), model.predict(X), rtol=1e-5, atol=1e-5))
    True
    """
    formula = Formula.of(model)
    made: nn.Module = BaseRate(formula) if formula.is_constant else Team(formula)
    graph = _Tracer().trace(made.eval())
    graph._tracer_cls = None  # it would be pickled by name, and asked for where there is no stochgate
    module: Any = fx.GraphModule(made, graph).eval()
    module.column_names = list(formula.columns.names)
    return module.requires_grad_(False)


def module_input(model: Any, X: Any) -> Tensor:
    """Return a table as the tensor that the model's module takes.

    Parameters
    ----------
    model : fitted GatedClassifier, GatedRegressor or GatedCox
    X : as in `model.predict`

    Returns
    -------
    Tensor of float64, shape (n_samples, n_columns); NaN where a number is missing

    Examples
    --------
    >>> import pandas as pd
    >>> from stochgate import GatedRegressor
    >>> from stochgate.export import module_input
    >>> X = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "sex": ["f", "m", "f", "m"]})
    >>> model = GatedRegressor(lam=0.0, random_state=0).fit(X, X["age"])
    >>> model.to_module().column_names
    ['age', 'sex=m']
    >>> module_input(model, X[:2])
    tensor([[20.,  0.],
            [30.,  1.]], dtype=torch.float64)
    """
    check_is_fitted(model)
    table = model._read_table(X)
    numbers = table.numbers if isinstance(table.numbers, np.ndarray) else table.numbers.toarray()
    blocks = []
    for j in np.flatnonzero(model.support_).tolist():
        levels = model._table.levels.get(j)
        if levels is not None:
            blocks.append(levels.encode(table.labels[j]))
        elif j not in model._table.levels:
            blocks.append(numbers[:, [j]])
    empty = np.empty((len(numbers), 0))
    return torch.from_numpy(np.hstack([empty, *blocks]).astype(np.float64))


class _Tracer(fx.Tracer):
    """Writes out all that is computed, but for the modules of the user, which stay as they are."""

    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return name.startswith("network.members.")
