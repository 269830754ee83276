"""Where fits are trained: what may be asked for, and that it is done."""

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import stochgate
from problems import ESTIMATORS, linear_response, make_problem, short_training
from stochgate import GatedRegressor, StabilitySelector, evaluate
from stochgate.backends import Backend
from stochgate.engine.runner import Runner, current_runner

N_CPUS = 3  # of the cluster
in_one_process = pytest.mark.xdist_group("ray")
SHORT = {"network": "linear", "training": short_training(n_steps=30, dtype="float32"), "random_state": 0}


@pytest.fixture
def plans(monkeypatch):
    """Note the runner of each plan that is trained."""
    seen, run = [], Runner.run
    monkeypatch.setattr(Runner, "run", lambda self, *given: seen.append(self) or run(self, *given))
    return seen


@pytest.fixture
def tasks(monkeypatch):
    """Note the runner of each plan that Ray is given."""
    from stochgate.backends.ray_runner import RayRunner

    seen, run = [], RayRunner.run
    monkeypatch.setattr(RayRunner, "run", lambda self, *given: seen.append(self) or run(self, *given))
    return seen


# ---- what may be asked for


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"name": "dask"}, "Unknown backend 'dask'; use one of 'local', 'ray'"),
        ({"name": "ray", "n_cpus": 0}, "n_cpus=0 is no number"),
        ({"name": "local", "n_stacks": 1.5}, "n_stacks=1.5 is no number"),
        ({"name": "local", "n_cpus": 2}, "address, n_cpus, n_workers and storage are for backend='ray'"),
        ({"name": "ray", "n_cpus": 2, "address": "auto"}, "Give address or n_cpus"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(asked, sentence):
    with pytest.raises(ValueError, match=sentence):
        stochgate.backend(**asked)


@pytest.mark.parametrize("given", ["dask", 3])
def test_estimators_refuse_other_backends(given):
    X, y = linear_response()
    for model in (GatedRegressor(backend=given), StabilitySelector(GatedRegressor(), backend=given)):
        with pytest.raises(ValueError, match="The 'backend' parameter"):
            model.fit(X, y)
    with pytest.raises((ValueError, TypeError), match=r"Unknown backend|give 'local', 'ray'"):
        evaluate(GatedRegressor(), X, y, backend=given)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_backend_is_a_parameter_like_others(estimator_class):
    chosen = stochgate.backend("ray", n_cpus=2)
    model = clone(estimator_class(backend=chosen))
    assert model.get_params()["backend"] == chosen == Backend("ray", n_cpus=2)
    assert pickle.loads(pickle.dumps(chosen)) == copy.deepcopy(chosen) == chosen


def test_a_model_with_a_backend_is_saved_and_loaded(tmp_path):
    X, y = linear_response()
    for given, loaded in (("local", "local"), (stochgate.backend("local", n_stacks=2), None)):
        model = GatedRegressor(lam=0.1, backend=given, **SHORT).fit(X, y)
        stochgate.save(model, tmp_path / "model.safetensors")
        assert stochgate.load(tmp_path / "model.safetensors").backend == loaded


def test_without_ray_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install stochgate\[ray\]"):
        GatedRegressor(lam=0.1, backend="ray", **SHORT).fit(*linear_response())
    with pytest.raises(ImportError, match=r"pip install stochgate\[ray\]"), stochgate.backend("ray"):
        pass


# ---- in this process


def test_the_number_of_stacks_is_that_of_the_backend(plans):
    X, y = linear_response()
    with stochgate.backend("local", n_stacks=5):
        GatedRegressor(lam=0.1, **SHORT).fit(X, y)
        GatedRegressor(lam=0.1, backend="local", **SHORT).fit(X, y)
    GatedRegressor(lam=0.1, **SHORT).fit(X, y)
    assert [runner.n_stacks for runner in plans] == [5, None, None]
    assert current_runner().n_stacks is None


def test_backends_nest(plans):
    with stochgate.backend("local", n_stacks=2):
        with stochgate.backend("local", n_stacks=3):
            assert current_runner().n_stacks == 3
        assert current_runner().n_stacks == 2


@pytest.mark.parametrize("how", ["loky", "threading"])
def test_folds_in_processes_and_threads_are_cut_as_the_backend_says(how):
    import joblib

    X, y = linear_response()
    model = GatedRegressor(lam=0.1, network="mlp", training=short_training(), random_state=0)
    one = evaluate(model, X, y, cv=2, random_state=0, backend="local")
    with joblib.parallel_config(backend=how, n_jobs=2):
        two = evaluate(model, X, y, cv=2, random_state=0, backend="local")
    np.testing.assert_allclose(one.scores, two.scores, rtol=1e-9)


# ---- on Ray


@in_one_process
def test_a_default_fit_on_ray_equals_the_local_one_to_the_bit(ray, tasks):
    X, y = linear_response(n_features=4)
    training = short_training(n_steps=40, dtype="float32")
    models = []
    for where in (stochgate.backend("ray"), stochgate.backend("local", n_stacks=N_CPUS)):
        with where:
            models.append(GatedRegressor(training=training, random_state=0).fit(X, y))
    on_ray, local = models
    assert len(tasks) > 10
    assert on_ray.path_.equals(local.path_)
    for name in ("gates_", "support_", "open_probability_", "selection_frequency_"):
        np.testing.assert_array_equal(getattr(on_ray, name), getattr(local, name))
    np.testing.assert_array_equal(on_ray.predict(X), local.predict(X))
    assert tasks[0].sent.references == {}  # X was let go
    n_before = len(tasks)
    on_ray.at(k=2)  # outside of the `with`
    assert len(tasks) == n_before


@in_one_process
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_an_estimator_may_ask_for_ray(estimator_class, ray, tasks):
    X, y = make_problem(estimator_class)
    model = estimator_class(lam=0.1, backend="ray", **SHORT).fit(X, y)
    assert len(tasks) == 1
    local = estimator_class(lam=0.1, backend=stochgate.backend("local", n_stacks=N_CPUS), **SHORT).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), local.predict(X))
    assert ray.is_initialized()


@in_one_process
def test_a_selector_may_ask_for_ray(ray, tasks):
    X, y = linear_response()
    asked, here = {"n_pairs": 2, "random_state": 0}, stochgate.backend("local", n_stacks=N_CPUS)
    found = [
        StabilitySelector(GatedRegressor(**SHORT, backend=of_model), backend=own, **asked).fit(X, y)
        for own, of_model in (
            ("ray", None),
            (None, "ray"),
            (here, "ray"),
        )
    ]
    assert len(tasks) > 0
    assert len(tasks) % 2 == 0  # the third was trained here
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].frequencies_, other.frequencies_)


@in_one_process
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_evaluation_may_ask_for_ray(n_jobs, ray, tasks):
    X, y = linear_response()
    model = GatedRegressor(lam=0.1, **SHORT)
    asked = {"cv": 2, "random_state": 0}
    found = evaluate(model, X, y, backend="ray", n_jobs=n_jobs, **asked)
    assert len(tasks) >= 2
    local = evaluate(model, X, y, backend=stochgate.backend("local", n_stacks=N_CPUS), **asked)
    np.testing.assert_array_equal(found.scores, local.scores)
    np.testing.assert_array_equal(found.predictions, local.predictions)


@in_one_process
def test_ray_that_was_there_is_left_running(ray):
    with stochgate.backend("ray", n_cpus=7):
        assert current_runner().n_stacks == N_CPUS  # as the cluster has, not what was asked for
    assert ray.is_initialized()


STARTED_HERE = """
import subprocess, sys
from pathlib import Path
import stochgate
from stochgate.engine.runner import current_runner

def listening():
    '''Return the addresses, in hexadecimal, on which processes of this session listen.'''
    import ray
    session = ray._private.worker._global_node.get_session_dir_path()
    pids = [p for p in Path("/proc").iterdir() if p.name.isdigit() and is_of(p, session)]
    inodes = {link for p in pids for link in links(p)}
    rows = [row.split() for name in ("tcp", "tcp6") for row in open(f"/proc/net/{name}").readlines()[1:]]
    return {row[1].split(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in inodes}

def is_of(process, session):
    import os
    try:
        return process.name == str(os.getpid()) or session in (process / "cmdline").read_text()
    except OSError:
        return False

def links(process):
    import os
    return [os.readlink(fd) for fd in (process / "fd").iterdir() if fd.is_symlink()]

if __name__ == "__main__":
    import ray  # before the backend knows
    with stochgate.backend("ray", n_cpus=1):
        assert current_runner().n_stacks == 1
        found = listening()
    assert not ray.is_initialized()
    print(sorted(found))
"""


@in_one_process
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux's list of sockets")
def test_ray_that_is_started_listens_on_the_loopback_address_and_ends_with_the_block(tmp_path):
    pytest.importorskip("ray")
    script = tmp_path / "script.py"
    script.write_text(STARTED_HERE)
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
    assert set(eval(done.stdout)) <= {"0100007F", "0000000000000000FFFF00000100007F"}
    assert len(eval(done.stdout)) > 0
