"""The methods that are compared: ours at its defaults or at given settings, and the baselines."""

from collections.abc import Callable
from functools import partial
from typing import Any

from experiments.baselines import ALL_COLUMNS, BASELINES
from stochgate import GatedClassifier, GatedCox, GatedRegressor, Training

OURS = {"classification": GatedClassifier, "regression": GatedRegressor, "survival": GatedCox}
PEERS = {**BASELINES, **ALL_COLUMNS}
# distributions whose versions a record names
PACKAGES = ("stg", "lassonet", "xgboost", "xgboost-cpu", "Boruta", "scikit-survival", "lifelines")


def make_ours(kind: str, **settings: Any) -> Any:
    """Return our unfitted model for a kind of problem."""
    return OURS[kind](**settings)


METHODS: dict[str, Callable[..., Any]] = {
    "ours": make_ours,
    "ours-tf32": partial(make_ours, training=Training(tf32=True)),  # needs a GPU
    **PEERS,
}


def make_model(method: str, kind: str, *, seed: int, device: str = "cpu", **settings: Any) -> Any:
    """Return an unfitted model of a method.

    Parameters
    ----------
    method : str
        A name in `METHODS`.
    kind : {"classification", "regression", "survival"}
    seed : int
    device : str
        Where it trains, for methods that can choose; the others run on the CPU.
    settings : dict
        Parameters other than their defaults.

    Examples
    --------
    >>> from experiments.methods import make_model
    >>> make_model("ours", "regression", seed=0, n_features_to_select=5)
    GatedRegressor(device='cpu', n_features_to_select=5, random_state=0)
    """
    return on_device(METHODS[method](kind, random_state=seed, **settings), device)


def on_device(model: Any, device: str) -> Any:
    """Return a model that trains on a device, if it has such a parameter."""
    return model.set_params(device=device) if "device" in model.get_params() else model


def can_do(method: str, kind: str) -> bool:
    """Return whether a method can do a kind of problem."""
    return method not in PEERS or kind in PEERS[method].kinds()
