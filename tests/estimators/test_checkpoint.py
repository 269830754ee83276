"""`fit(checkpoint=...)`: the same call goes on where the last one ended; another call is refused."""

import os
import pickle

import numpy as np
import pytest
import torch
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from problems import ESTIMATORS, make_problem, predictions
from stochgate import (
    CheckpointError,
    CheckpointWriteError,
    GatedClassifier,
    GatedRegressor,
    StabilitySelector,
    Training,
    evaluate,
)
from stochgate.engine import runner
from stochgate.engine.checkpoint import state
from stochgate.problem import checkpoint as of_problem

NO_GPU = not torch.cuda.is_available()


class Killed(Exception):
    pass


def small(estimator_class=GatedRegressor, **parameters):
    """Return a model whose automatic choice takes half a second."""
    training = Training(n_steps=40, n_snapshots=4)
    return estimator_class(**{"cv": 2, "training": training, "random_state": 0, **parameters})


def interrupt(fit, n_snapshots, monkeypatch):
    """Call a function that trains, and let it end after so many snapshots."""
    seen, execute = [], runner.execute

    def kill(snapshot):
        seen.append(snapshot)
        if len(seen) == n_snapshots:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(state, "SECONDS", 0.0)
        patch.setattr(
            runner,
            "execute",
            lambda plan, design, target, callbacks, *others: execute(
                plan, design, target, (*callbacks, kill), *others
            ),
        )
        with pytest.raises(Killed):
            fit()


@pytest.fixture
def untrained(monkeypatch):
    """Return a function after which nothing can be trained."""

    def forbid(*parts):
        raise AssertionError("it is trained again")

    return lambda: monkeypatch.setattr(runner, "execute", forbid)


def assert_same_model(one, other, X):
    assert predictions(one, X).tobytes() == predictions(other, X).tobytes()
    assert one.gates_.tobytes() == other.gates_.tobytes()
    if hasattr(one, "path_"):
        assert repr(one.path_.to_dict("records")) == repr(other.path_.to_dict("records"))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_an_interrupted_fit_goes_on_to_the_same_bits(estimator_class, tmp_path, monkeypatch, untrained):
    X, y = make_problem(estimator_class)
    weights = np.random.default_rng(0).uniform(0.5, 1, len(X))
    plain = small(estimator_class).fit(X, y, weights)

    def fit():
        return small(estimator_class).fit(X, y, weights, checkpoint=tmp_path / "folder")

    interrupt(fit, 30, monkeypatch)
    interrupt(fit, 20, monkeypatch)
    assert_same_model(fit(), plain, X)
    untrained()
    again = fit()  # after its end the folder is the fit
    assert_same_model(again, plain, X)
    assert_same_model(pickle.loads(pickle.dumps(again)), plain, X)


@pytest.mark.parametrize("parameters", [{"lam": 0.5}, {"n_features_to_select": 2}], ids=str)
def test_other_ways_to_fit_go_on_too(parameters, tmp_path, monkeypatch, untrained):
    X, y = make_problem(GatedRegressor)
    training = Training(n_steps=60, n_snapshots=20, patience=5, dtype="float64")
    plain = small(**parameters, training=training).fit(X, y)

    def fit():
        return small(**parameters, training=training).fit(X, y, checkpoint=tmp_path)

    interrupt(fit, 7, monkeypatch)
    assert_same_model(fit(), plain, X)
    untrained()
    assert_same_model(fit(), plain, X)


def test_without_a_seed_a_fit_goes_on_with_the_seeds_it_began_with(tmp_path, monkeypatch):
    X, y = make_problem(GatedRegressor)

    def fit():
        return small(lam=1.0, random_state=None).fit(X, y, checkpoint=tmp_path)

    interrupt(fit, 2, monkeypatch)
    first, another = fit(), small(lam=1.0, random_state=None).fit(X, y)
    assert_same_model(fit(), first, X)
    assert predictions(first, X).tobytes() != predictions(another, X).tobytes()


def test_a_fitted_model_still_explains_itself(tmp_path):
    X, y = make_problem(GatedRegressor)
    model = small().fit(X, y, checkpoint=tmp_path)
    before = sorted(os.listdir(tmp_path))
    assert str(model.summary()) == str(small().fit(X, y).summary())
    assert sorted(os.listdir(tmp_path)) == before


def test_what_changes_no_result_may_differ(tmp_path, untrained):
    X, y = make_problem(GatedRegressor)
    small(device="cpu").fit(X, y, checkpoint=tmp_path)
    untrained()
    small(callbacks=[print], verbose=0, device="cpu").fit(
        X.tolist(), y, np.ones(len(X)), checkpoint=tmp_path
    )


def begin(folder, X, y):
    """Begin a fit, which ends at its first snapshot."""

    def kill(snapshot):
        raise Killed

    with pytest.raises(Killed):
        small(callbacks=[kill]).fit(X, y, checkpoint=folder)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lam": 0.5}, "the parameter lam was 'auto' and is 0.5"),
        (
            {"training": Training(n_steps=41, n_snapshots=4)},
            "the parameter training__n_steps was 40 and is 41",
        ),
        ({"rule": max}, "the parameter rule was 'auto' and is builtins.max"),
        ({"costs": np.arange(1.0, 51.0)}, "the parameter costs has changed"),
        ({"random_state": 1}, "random_state has changed"),
    ],
    ids=["lam", "training", "rule", "costs", "random_state"],
)
def test_other_parameters_are_refused(changes, words, tmp_path):
    X, y = np.random.default_rng(0).normal(size=(40, 50)), np.arange(40.0)
    begin(tmp_path, X, y)
    with pytest.raises(CheckpointError, match=f"of another fit: {words}. Give"):
        small(**changes).fit(X, y, checkpoint=tmp_path)


def test_other_data_are_refused(tmp_path):
    X, y = make_problem(GatedRegressor)
    begin(tmp_path, X, y)
    other, weights = X.copy(), np.ones(len(X))
    other[3, 1] += 1e-9
    weights[0] = 2
    groups = np.arange(len(X)) % 7
    calls = {
        "X": (other, y, None, None),
        "y": (X, y + 1, None, None),
        "sample_weight": (X, y, weights, None),
        "groups": (X, y, None, groups),
    }
    for name, (X_given, y_given, w, g) in calls.items():
        with pytest.raises(CheckpointError, match=f"of another fit: {name} has changed. Give another"):
            small().fit(X_given, y_given, w, groups=g, checkpoint=tmp_path)


def test_another_estimator_is_refused(tmp_path):
    X, y = make_problem(GatedClassifier)
    begin(tmp_path, X, y)
    with pytest.raises(CheckpointError, match="the class was GatedRegressor and is GatedClassifier"):
        small(GatedClassifier).fit(X, y, checkpoint=tmp_path)


def test_without_a_checkpoint_no_digest_is_made(monkeypatch):
    monkeypatch.setattr(of_problem, "describe_data", None)
    small(lam=0.5).fit(*make_problem(GatedRegressor))


def test_a_disk_that_fills_up_leaves_a_checkpoint_to_go_on_from(tmp_path):
    resource = pytest.importorskip("resource")
    X, y = make_problem(GatedRegressor)
    plain = small().fit(X, y)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(CheckpointWriteError, match=r"cannot be written \(File too large\): make room"):
            small().fit(X, y, checkpoint=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]
    n_kept = len([name for name in os.listdir(tmp_path) if name.startswith("plan")])
    assert_same_model(small().fit(X, y, checkpoint=tmp_path), plain, X)
    assert 0 < n_kept < len([name for name in os.listdir(tmp_path) if name.startswith("plan")])


@pytest.mark.parametrize("seed", [0, None])
def test_stability_selection_goes_on(tmp_path, monkeypatch, untrained, seed):
    X, y = make_problem(GatedRegressor)

    model = make_pipeline(StandardScaler(), small(network="linear"))

    def fit(folder=tmp_path, n_pairs=6):
        selector = StabilitySelector(model, n_pairs=n_pairs, threshold=0.7, random_state=seed)
        return selector.fit(X, y, checkpoint=folder)

    interrupt(fit, 5, monkeypatch)
    found = fit()
    others = [] if seed is None else [fit(None)]
    untrained()
    for one in (fit(), *others):
        assert one.frequencies_.tobytes() == found.frequencies_.tobytes()
        assert one.support_.tobytes() == found.support_.tobytes()
    with pytest.raises(CheckpointError, match="the parameter n_pairs was 6 and is 7"):
        fit(n_pairs=7)


def test_a_checkpoint_is_for_estimators_of_this_library(tmp_path):
    X, y = make_problem(GatedRegressor)
    with pytest.raises(ValueError, match="are for estimators of this library"):
        StabilitySelector(Lasso()).fit(X, y, checkpoint=tmp_path)
    for model in (Lasso(), GridSearchCV(small(), {"lam": [1.0]})):
        with pytest.raises(ValueError, match="keeps no checkpoint of its fit: leave checkpoint out"):
            evaluate(model, X, y, checkpoint=tmp_path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("seed", [0, None])
def test_an_evaluation_goes_on(tmp_path, monkeypatch, untrained, seed):
    X, y = make_problem(GatedRegressor)

    def judge(checkpoint=tmp_path):
        model = make_pipeline(StandardScaler(), small(lam=0.5, random_state=seed))
        return evaluate(model, X, y, cv=2, random_state=seed, checkpoint=checkpoint)

    interrupt(judge, 5, monkeypatch)
    first = judge()
    if seed is not None:
        assert judge(None).scores.tobytes() == first.scores.tobytes()
    untrained()
    assert judge().scores.tobytes() == first.scores.tobytes()
    folders = sorted(path.name for path in tmp_path.iterdir() if path.is_dir())
    assert folders == ["fold-1", "fold-1-all-columns", "fold-2", "fold-2-all-columns"]
