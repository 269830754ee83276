"""The kinds of network an estimator chooses from."""

from typing import Any

from scipy import sparse

from stochgate.networks import ACTIVATIONS, NETWORKS, Network
from stochgate.problem.validation import resolve

MOST_ENCODED = 1000  # features; of more the encoded network was never chosen, and takes most of the time


def make_networks(estimator: Any, X: Any) -> dict[str, Network]:
    """Return the kinds of network to choose from; `hidden` and `activation` describe an MLP."""
    described = estimator.hidden is not None or estimator.activation is not None
    if estimator.network is None and estimator.lam == "auto" and not described:
        wide = X.shape[1] > MOST_ENCODED
        kinds = [name for name in NETWORKS if name != "encoded" or not (wide or sparse.issparse(X))]
        return {name: NETWORKS[name]() for name in kinds}
    given = "mlp" if estimator.network is None else estimator.network
    if given != "mlp" and described:
        raise ValueError(
            f"hidden and activation describe network='mlp', but network={given!r} was given: give one "
            "or the other."
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
