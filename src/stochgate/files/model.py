"""Save and load fitted estimators."""

import os
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from stochgate.engine import Training
from stochgate.estimators import GatedClassifier, GatedCox, GatedRegressor
from stochgate.estimators.reduced import OF_ALL_COLUMNS
from stochgate.files.container import read_file, write_file
from stochgate.files.errors import Fault, ModelFileError
from stochgate.files.parts import Factory, describe_parameters, read_parameters
from stochgate.files.predictor import describe_predictor, read_predictor
from stochgate.files.reading import Reading, is_list_of
from stochgate.files.table import describe_table, read_table
from stochgate.files.targets import DESCRIBE, READ
from stochgate.files.told import (
    describe_attributes,
    describe_path,
    describe_summary,
    read_attributes,
    read_path,
    read_summary,
)
from stochgate.networks import ModuleNetwork

ESTIMATORS: dict[str, type[Any]] = {
    "GatedClassifier": GatedClassifier,
    "GatedRegressor": GatedRegressor,
    "GatedCox": GatedCox,
}
OTHER_FORMATS = {  # by their endings: what they are, and what writes them
    **dict.fromkeys((".pkl", ".pickle"), ("pickle", "pickle.dump")),
    ".joblib": ("joblib", "joblib.dump"),
    ".onnx": ("ONNX", "model.to_onnx(path)"),
    **dict.fromkeys((".pt", ".pth"), ("torch", "torch.save(model.to_module(), path)")),
    **dict.fromkeys((".h5", ".hdf5", ".keras"), ("HDF5", "")),
    **dict.fromkeys((".npy", ".npz"), ("NumPy", "")),
    ".json": ("JSON", ""),
}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model of the selected columns, `model.reduced()`, as a safetensors file.

    The file holds numbers and JSON, no code, and not the data of the fit. The loaded model predicts the
    same to the bit. What `summary` returned is saved if it was called before.

    Some parameters come back with their defaults, and the file's metadata name them: those that JSON cannot
    hold (callbacks, a function as `rule` or `schedule`, a splitter as `cv`, a gate of your own, a
    RandomState), and `feature_groups`, `costs` and `always_keep`, which speak of all columns of the fit.
    A model that selected nothing is saved as one that predicts the base rate for any table.

    Parameters
    ----------
    model : fitted GatedClassifier, GatedRegressor or GatedCox
    path : str or path
        As a rule with the ending ``.safetensors``; that of another format (``.pkl``, ``.onnx``) is refused.
        A file that is there is replaced as a whole.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import stochgate
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> model = stochgate.GatedRegressor(lam=1.0, random_state=0).fit(X, X[:, 4] ** 2 + X[:, 9])
    >>> path = tempfile.mkdtemp() + "/model.safetensors"
    >>> stochgate.save(model, path)
    >>> loaded = stochgate.load(path)
    >>> bool((loaded.predict(X[:, [4, 9]]) == model.predict(X)).all())
    True
    """
    name = type(model).__name__
    if ESTIMATORS.get(name) is not type(model):
        raise TypeError(
            f"{name} cannot be saved: give a fitted GatedClassifier, GatedRegressor or GatedCox (of a "
            "pipeline its last step)."
        )
    _refuse_other_format(Path(path))
    check_is_fitted(model)
    model._validate_params()
    small = model if model._is_reduced else model._cut_down()
    values, left_out = describe_parameters(small)
    left_out += [of_all for of_all in OF_ALL_COLUMNS if getattr(model, of_all) is not None]
    described: dict[str, tuple[Any, dict[str, Any]]] = {
        "columns": describe_table(small._table, getattr(small, "feature_names_in_", None)),
        "target": DESCRIBE[name](small),
        "predictor": describe_predictor(small._predictor),
        "attributes": describe_attributes(small),
        "path": describe_path(getattr(small, "path_", None)),
    }
    sections: dict[str, Any] = {"estimator": name, "parameters": {"values": values, "left_out": left_out}}
    sections |= {key: section for key, (section, _) in described.items()}
    sections["summary"] = describe_summary(small._summary)
    write_file(
        path, sections, {k: array for _, arrays in described.values() for k, array in arrays.items()}
    )


def _refuse_other_format(path: Path) -> None:
    if path.suffix.lower() in OTHER_FORMATS:
        said, writer = OTHER_FORMATS[path.suffix.lower()]
        instead = f", or write {said} by {writer}" if writer else ""
        raise ModelFileError(
            f"The name {path.name!r} says {said}, but the file would be safetensors: name it "
            f"{path.with_suffix('.safetensors').name!r}{instead}."
        )


def load(
    path: str | os.PathLike[str], *, network: Factory | None = None
) -> GatedClassifier | GatedRegressor | GatedCox:
    """Load a model that `save` wrote; this runs no code of the file, whoever made it.

    Parameters
    ----------
    path : str or path
    network : callable, optional
        For a model with a custom module: the factory of its `ModuleNetwork`.

    Returns
    -------
    The fitted estimator of the selected columns. It also takes a table with more columns and finds its own
    by name.

    Raises
    ------
    ModelFileError
        The file is of another kind, cut short, changed after it was written, or of a newer stochgate.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import stochgate
    >>> X = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "sex": ["f", "m", "f", "m"]})
    >>> model = stochgate.GatedRegressor(lam=0.0, random_state=0).fit(X, X["age"])
    >>> path = tempfile.mkdtemp() + "/model.safetensors"
    >>> stochgate.save(model, path)
    >>> stochgate.load(path).feature_names_in_.tolist()
    ['age', 'sex']
    """
    if network is not None and not callable(network):
        raise TypeError(
            f"network is a {type(network).__name__}; give the factory, a function of (n_columns, "
            "n_outputs) that returns a module."
        )
    try:
        return _build(Reading(*read_file(path)), network)
    except Fault as fault:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {fault}; {fault.advice}.") from fault


def _build(reading: Reading, factory: Factory | None) -> Any:
    name = reading.text("estimator")
    if not isinstance(name, str) or name not in ESTIMATORS:
        raise Fault(f"it holds the estimator {str(name)[:40]!r}, which this stochgate does not know")
    values, left_out = reading.section("parameters", ["values", "left_out"])
    if not is_list_of(str, left_out):
        raise Fault("what it left out is no list of parameters")
    model = read_parameters(ESTIMATORS[name], values, factory)
    model._table, names = read_table(reading)
    model.n_features_in_ = model._table.n_features
    if names is not None:
        model.feature_names_in_ = names
    objective = model._make_objective(Training() if model.training is None else model.training)
    target, n_columns = READ[name](reading), int(model._table.counts().sum())
    predictor = read_predictor(reading, n_columns, objective, target, factory)
    if factory is not None and not isinstance(predictor.network, ModuleNetwork):
        raise Fault("its network is no custom module", "leave network out")
    attributes = read_attributes(reading, model.n_features_in_) | target.attributes
    path, model._summary = read_path(reading), read_summary(reading)
    attributes |= {} if path is None else {"path_": path}
    reading.finish()
    for attribute, value in attributes.items():
        setattr(model, attribute, value)
    model._choice, model._is_reduced, model._facts = None, True, target.facts
    model._predictor, model._objective, model._learned = predictor, objective, predictor.common()
    return model
