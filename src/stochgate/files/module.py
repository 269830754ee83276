"""Custom modules in a file: their tensors are there, their code is given to `load`."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from stochgate.engine import Predictor
from stochgate.engine.data import DenseColumns
from stochgate.files.errors import Fault, ModelFileError
from stochgate.files.reading import Reading, expect, is_count, read_fields
from stochgate.networks import ModuleNetwork
from stochgate.networks.module import BASE

_N_TRIED = 4
_CLOSE = 1e-4  # of the outputs' size; another activation or another order of layers is farther off


def describe_module(predictor: Predictor) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return what a file says of a module besides its parameters: columns, constants and some outputs."""
    network: Any = predictor.network
    rows = _rows_to_try(predictor)
    arrays = {"module.fed": network.fed_.numpy(), "module.tried": rows.numpy()}
    arrays["module.answers"] = _answers(predictor, rows).numpy()
    for name, constant in _constants(network.skeleton_).items():
        if constant.dtype not in (torch.float32, torch.float64, torch.int64, torch.bool):
            raise ModelFileError(
                f"The module's constant {name!r} is of type {constant.dtype}, which a file cannot hold; "
                "make it float32, float64, int64 or bool."
            )
        arrays[f"module.constants.{name}"] = constant.detach().cpu().numpy()
    return {"n_columns": int(network.n_columns_)}, arrays


def read_module(reading: Reading, predictor: Predictor, section: Any) -> Predictor:
    """Return a predictor with the module that the factory makes, once it answers as the saved one did."""
    network: Any = predictor.network
    [n_columns] = read_fields(section, ["n_columns"], "what it says of its module")
    expect(is_count(n_columns), "the number of columns of its module is no number")
    network.n_columns_ = n_columns
    network.fed_ = torch.from_numpy(reading.index("module.fed", (predictor.scale.shape[1],), n_columns))
    module = _make(network, n_columns, predictor.base.shape[1])
    _check_shapes(module, predictor)
    _set_constants(reading, module)
    network.skeleton_ = module.to(predictor.base.dtype).to("meta")
    dtype = str(predictor.scale.dtype).removeprefix("torch.")
    tried = reading.array("module.tried", [dtype], (_N_TRIED, predictor.scale.shape[1]), finite=True)
    shape = len(predictor.base), _N_TRIED, predictor.base.shape[1]
    answers = torch.from_numpy(reading.array("module.answers", [dtype], shape))
    made = replace(predictor, network=network)
    try:
        found = _answers(made, torch.from_numpy(tried))
    except Exception as error:  # whatever the module's own code raises
        raise _another_module(f"it does not run: {type(error).__name__}: {error}") from error
    if found.shape != answers.shape or not _are_close(found, answers):
        raise _another_module("it does not give the outputs that the saved one gave")
    return made


def _make(network: ModuleNetwork, n_columns: int, n_outputs: int) -> nn.Module:
    try:
        return network._make(n_columns, n_outputs, seed=0)
    except Exception as error:  # whatever the factory's own code raises
        raise _another_module(f"it fails: {type(error).__name__}: {error}") from error


def _check_shapes(module: nn.Module, predictor: Predictor) -> None:
    wanted = {name: tuple(p.shape) for name, p in module.named_parameters()}
    found = {name: tuple(p.shape[1:]) for name, p in predictor.parameters.items() if name != BASE}
    for name in sorted({*wanted, *found}):
        if wanted.get(name) != found.get(name):
            raise _another_module(
                f"its parameter {name!r} has shape {wanted.get(name)}, that of the file {found.get(name)}"
            )
    n_members, n_outputs = predictor.base.shape
    heads = {len(p) for p in predictor.parameters.values() if p.ndim}
    expect(
        heads == {n_members} and all(p.ndim for p in predictor.parameters.values()),
        "its models are not as many",
    )
    if predictor.objective.intercept:
        found_base = predictor.parameters.get(BASE)
        fits = found_base is not None and found_base.shape == (n_members, n_outputs)
        expect(fits, "its module has no base rate")
    else:
        expect(BASE not in predictor.parameters, "its module has a base rate")


def _constants(module: nn.Module) -> dict[str, Tensor]:
    """Return the plain tensor attributes of a module and its parts, by their full names."""
    return {
        f"{path}.{name}" if path else name: value
        for path, part in module.named_modules()
        for name, value in vars(part).items()
        if isinstance(value, Tensor)
    }


def _set_constants(reading: Reading, module: nn.Module) -> None:
    for name, built in _constants(module).items():
        full = f"module.constants.{name}"
        dtype = str(built.dtype).removeprefix("torch.")
        value = torch.from_numpy(reading.array(full, [dtype], tuple(built.shape)))
        path, _, attribute = name.rpartition(".")
        setattr(module.get_submodule(path), attribute, value)


def _rows_to_try(predictor: Predictor) -> Tensor:
    """Return some rows of columns, spread as those of the fit are, shape (n_rows, n_columns)."""
    scale, shift = predictor.scale[0], predictor.shift
    places = torch.arange(1, scale.shape[0] + 1, dtype=torch.float64)
    waves = torch.stack([1.5 * torch.sin((row + 1) * places) for row in range(_N_TRIED)])
    rows = waves / torch.where(scale == 0, 1, scale)
    return (rows if shift is None else rows + shift[0]).to(scale.dtype)


@torch.no_grad()
def _answers(predictor: Predictor, rows: Tensor) -> Tensor:
    columns = DenseColumns(rows)
    return predictor.network.forward(predictor.parameters, columns, predictor.scale, predictor.shift)


def _are_close(found: Tensor, answers: Tensor) -> bool:
    size = answers.abs().max() if answers.numel() else torch.tensor(0.0)
    return bool(((found - answers).abs() <= _CLOSE * size + 1e-6).all())


def _another_module(why: str) -> Fault:
    return Fault(
        f"the factory given as network makes another module ({why})", "give the one it was fitted with"
    )
