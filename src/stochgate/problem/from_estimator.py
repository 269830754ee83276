"""From an estimator's parameters and the user's data to a problem, all checked."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples, check_consistent_length

from stochgate.engine import Training
from stochgate.engine.record import Callback
from stochgate.gates import GATES, Gate
from stochgate.networks import ACTIVATIONS, NETWORKS, Network
from stochgate.objectives import Objective, Target
from stochgate.problem.feature_index import FeatureIndex
from stochgate.problem.features import make_gate_map
from stochgate.problem.problem import Problem, make_columns
from stochgate.problem.rows import check_rows
from stochgate.problem.validation import (
    check_device,
    check_groups,
    encode_table,
    refuse_not_callable,
    resolve,
)
from stochgate.sources.survey import Survey
from stochgate.tables.encoding import TableEncoding

DEFAULT = "mlp"  # where lam is given and no network is; `hidden` and `activation` describe it


class Given(NamedTuple):
    """The data as a user hands them in.

    Attributes
    ----------
    X, y, sample_weight, groups : as in `fit`
    survey : Survey, or None
        What is known of the columns beyond these rows.
    """

    X: Any
    y: Any
    sample_weight: Any
    groups: Any
    survey: Survey | None = None


def make_problem(
    estimator: Any,
    objective: Objective,
    training: Training,
    random_state: np.random.RandomState,
    given: Given,
    callbacks: tuple[Callback, ...],
) -> tuple[Problem, Any]:
    """Check parameters and data; return the problem, and the groups of the rows that count.

    Parameters
    ----------
    estimator : GatedEstimator
        Its parameters are read, and it gets `n_features_in_` and `feature_names_in_`.
    objective, training : its parts
    random_state : RandomState
    given : Given
    callbacks : tuple of callables
        Called before the estimator's own.
    """
    refuse_not_callable("callbacks", estimator.callbacks)
    training._validate_params()
    gate, networks = resolve("gate", estimator.gate, GATES, Gate), make_networks(estimator)
    objective._validate_params()
    device, (X, y, sample_weight, groups, survey) = check_device(estimator.device), given
    table, target, weights, used = check_rows(estimator, X, y, sample_weight, objective)
    known = () if survey is None else (survey.n_rows, survey.n_missing, survey.counts)
    encoding = TableEncoding.learn(table, *known)
    check_consistent_length(X, groups)
    if estimator.lam == "auto" and len(used) < _num_samples(X):
        _refuse_splits(estimator.cv)
    X = encode_table(table, encoding)
    index = FeatureIndex(table.shape[1], getattr(estimator, "feature_names_in_", None))
    words = estimator.feature_groups, estimator.costs, estimator.always_keep
    gates = make_gate_map(index, *words, encoding.feature_of())
    networks = fit_for(networks, X)
    network = next(iter(networks.values()))
    rows = {name: value.to(device) for name, value in target.rows.items()}
    problem = Problem(
        gate=gate,
        network=network,
        networks=networks,
        objective=objective,
        training=training,
        X=X,
        table=encoding,
        target=Target(rows, target.n_outputs, target.facts),
        sample_weight=weights,
        gates=gates,
        device=device,
        random_state=random_state,
        blocks=np.zeros(len(weights), dtype=np.int64),
        callbacks=(*callbacks, *(estimator.callbacks or ())),
        labels=table.labels,
        **make_columns(X, gates, network, training, device),
    )
    return problem, None if groups is None else check_groups(groups)[used]


def _refuse_splits(cv: Any) -> None:
    """Raise where cv splits all rows, of which some are left out."""
    if not isinstance(cv, Integral | None):
        raise ValueError(
            "cv is given as splits of all rows, but some rows have weight 0 and are left out: take "
            "them out of X and y first, or give cv as a number."
        )


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
    dense = not sparse.issparse(X)
    return {name: network for name, network in networks.items() if dense or network.takes_sparse}
