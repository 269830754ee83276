"""The networks that a problem is given to: the one the user names, or those that race."""

from typing import Any

from scipy import sparse

from stochgate.networks import ACTIVATIONS, NETWORKS, Network
from stochgate.problem.validation import resolve

DEFAULT = "mlp"  # where lam is given and no network is; `hidden` and `activation` describe it


def make_networks(estimator: Any) -> dict[str, Network]:
    """Return the networks to choose from by name, simple ones first."""
    described = estimator.hidden is not None or estimator.activation is not None
    if estimator.network is None and estimator.lam == "auto" and not described:
        made = {name: make() for name, make in NETWORKS.items()}
        return {name: network for name, network in made.items() if network.races}
    given = DEFAULT if estimator.network is None else estimator.network
    if given != DEFAULT and described:
        raise ValueError(
            f"hidden and activation describe network={DEFAULT!r}, but network={given!r} was given: give "
            "one or the other."
        )
    network: Network = resolve("network", given, NETWORKS, Network)
    if estimator.activation is not None:
        if estimator.activation not in ACTIVATIONS:
            raise ValueError(
                f"Unknown activation {estimator.activation!r}; use one of {sorted(ACTIVATIONS)}."
            )
        network.set_params(activation=estimator.activation)
    if estimator.hidden is not None:
        network.set_params(hidden=estimator.hidden)
    network._validate_params()
    return {given if isinstance(given, str) else type(given).__name__: network}


def fit_for(networks: dict[str, Network], X: Any) -> dict[str, Network]:
    """Leave out of several networks those that do not race on such an X; a single one was asked for."""
    if len(networks) == 1:
        return networks
    return {name: network for name, network in networks.items() if _races_on(network, X)}


def _races_on(network: Network, X: Any) -> bool:
    few = network.most_features is None or X.shape[1] <= network.most_features
    return few and (network.takes_sparse or not sparse.issparse(X))
