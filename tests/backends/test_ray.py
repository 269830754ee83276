"""What Ray trains is what this process trains, to the bit, also when a node is lost."""

import gc
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from torch import nn

from experiments.speed.lost_node import same_to_the_bit, sixty_fits, train_and_lose
from stochgate import GatedRegressor, Training
from stochgate.backends.ray_runner import RayRunner
from stochgate.engine import CLOSED, OPEN
from stochgate.engine.runner import Runner
from stochgate.networks import MLP, ModuleNetwork

pytest.importorskip("ray")
pytestmark = pytest.mark.xdist_group("ray")
N_STACKS = 3


@pytest.fixture
def runner(ray):
    runner = RayRunner(ray, N_STACKS)
    yield runner
    runner.close()


def path():
    return sixty_fits(seed=0, n_samples=60, n_steps=20)


def some_of(plan, n):
    return plan.take(torch.arange(0, plan.n_models, plan.n_models // n)[:n])


def with_training(plan, **changes):
    return replace(plan, training=clone(plan.training).set_params(**changes))


def judged_teams():
    problem, plan = path()
    return problem, replace(some_of(plan, 12), n_members=2, seed=torch.arange(12), shrinks=(0.5, 1.0))


def teams():
    problem, plan = judged_teams()
    return problem, replace(plan, test_weights=None)


def refits():
    """Models on a few columns of their own, which are packed; some columns none may use."""
    problem, plan = path()
    plan = some_of(plan, 12)
    fixed = torch.full_like(plan.fixed, CLOSED)
    for m, row in enumerate(fixed):
        row[m : m + 3] = OPEN
    return problem, replace(plan, fixed=fixed)


def early_stopping():
    problem, plan = path()
    return problem, with_training(some_of(plan, 12), patience=1, n_snapshots=10, n_steps=60)


def mini_batches():
    problem, plan = path()
    return problem, with_training(some_of(plan, 6), batch_size=16)


def of_estimator(X, network):
    model = GatedRegressor(lam=1.0, network=network, training=Training(n_steps=10), random_state=0)
    problem, _ = model._make_problem(X, np.asarray(X[:, [3]].sum(axis=1)).ravel(), None, None)
    weights = problem.weights.repeat(4, 1)
    return problem, problem.plan(
        [0.1, 0.5, 1.0, 2.0], [1, 2, 3, 4], weights, problem.fixed.expand(4, -1), network=problem.network
    )


def sparse_columns():
    return of_estimator(sparse.random_array((80, 12), density=0.3, rng=0, format="csr"), MLP(hidden=(8,)))


def custom_module():
    def factory(n_columns, n_outputs):
        return nn.Sequential(nn.Linear(n_columns, 3), nn.Tanh(), nn.Linear(3, n_outputs))

    return of_estimator(np.random.default_rng(0).normal(size=(80, 6)), ModuleNetwork(factory))


PLANS = [path, judged_teams, teams, refits, early_stopping, mini_batches, sparse_columns, custom_module]


@pytest.mark.parametrize("make", PLANS, ids=lambda make: make.__name__)
def test_a_plan_on_ray_equals_the_local_one_to_the_bit(make, runner):
    problem, plan = make()
    (trained, design), (local, _) = (
        replace(problem, runner=r).execute(plan) for r in (runner, Runner(N_STACKS))
    )
    assert runner.n_tasks == N_STACKS
    assert same_to_the_bit(trained, local)
    assert torch.equal(trained.models.predict(design), local.models.predict(design))
    assert trained.models.plan.n_members == plan.n_members


def test_X_is_put_once_for_all_plans_and_let_go_at_the_end(runner):
    problem, plan = refits()
    whole = replace(problem, runner=runner)
    whole.execute(plan)
    n_bytes = runner.bytes_put
    whole.execute(plan)  # narrowed anew, but of the same X
    assert n_bytes - problem.design.columns.X.nbytes > runner.bytes_put - n_bytes
    assert len(runner.sent.references) == 2  # X and y
    fresh = runner.fresh()
    assert fresh.sent.references == {}
    del problem, whole
    gc.collect()
    assert len(runner.sent.references) == 0


def test_rows_of_weights_that_models_share_travel_once(runner):
    problem, plan = path()
    runner.run(plan, problem.design, problem.target)
    assert runner.bytes_put < plan.weights.nbytes + plan.test_weights.nbytes


def test_nothing_writes_into_what_was_sent(runner):
    problem, plan = path()
    before = problem.design.columns.X.clone()
    runner.run(plan, problem.design, problem.target)
    [(_, reference)] = [
        sent for sent in runner.sent.references.values() if sent[0]() is problem.design.columns
    ]
    sent = runner.ray.get(reference).arrays[0].view(np.float32)
    np.testing.assert_array_equal(np.sort(sent), np.sort(before.numpy().ravel()))


@pytest.mark.parametrize("make", [judged_teams, early_stopping])
def test_callbacks_see_the_snapshots_of_a_local_run(make, runner):
    problem, plan = make()
    seen = [], []
    for found, by in zip(seen, (runner, Runner(N_STACKS)), strict=True):
        by.run(plan, problem.design, problem.target, (found.append,))
    assert len(seen[0]) == len(seen[1]) > N_STACKS
    for one, other in zip(*seen, strict=True):
        assert (one.step, one.n_steps, one.stage) == (other.step, other.n_steps, other.stage)
        for name in ("models", "train_loss", "held_out_loss", "gates"):
            torch.testing.assert_close(getattr(one, name), getattr(other, name), rtol=0, atol=0)


def test_what_a_callback_raises_reaches_the_user(runner):
    def fail(snapshot):
        raise LookupError("enough")

    problem, plan = path()
    with pytest.raises(LookupError, match="enough"):
        runner.run(plan, problem.design, problem.target, (fail,))


def test_what_a_worker_raises_reaches_the_user_as_it_is(runner):
    def too_odd(progress):
        raise ArithmeticError("no such step")

    problem, plan = path()
    plan = with_training(plan, schedule=too_odd)
    with pytest.raises(ArithmeticError) as raised:
        runner.run(plan, problem.design, problem.target)
    assert str(raised.value) == "no such step"
    assert "too_odd" in raised.value.__notes__[0]  # where in the worker it was


def test_a_plan_survives_the_loss_of_a_node_and_equals_the_local_one(nodes):
    """The last test of this cluster, since it has a node less afterwards."""
    problem, plan = path()
    trained, found = train_and_lose(problem, plan, *nodes)
    assert found["node_is_gone"]
    assert found["n_tasks"] == plan.n_models == 60
    assert found["n_begun_there"] >= 1
    assert found["n_retried"] >= 1
    assert same_to_the_bit(trained, Runner(n_stacks=60).run(plan, problem.design, problem.target))
