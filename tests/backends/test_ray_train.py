"""Workers that share the rows of a stream: the same models as one process, also when one is lost."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from experiments.speed.shared_rows import largest_difference, make_deadly
from stochgate import GatedCox, GatedRegressor, Stream
from stochgate.backends import backend
from stochgate.choice.rows import for_stream
from stochgate.engine import execute

pytestmark = pytest.mark.xdist_group("ray")


def streamed_problem(estimator_class=GatedRegressor, n_samples=4000):
    """Return a problem of blocks, and a plan of two penalties."""
    X = np.random.default_rng(0).normal(size=(n_samples, 6)).astype(np.float32)
    y = X[:, 2] * X[:, 5] + X[:, 1]
    if estimator_class is GatedCox:
        y = np.column_stack([np.ones(n_samples), np.exp(y)])
    blocks = list(zip(np.split(X, 8), np.split(y, 8), strict=True))
    model = estimator_class(lam=1.0, random_state=0)
    problem, _ = model._make_problem(Stream(blocks, sample_rows=500), None, None, None)
    weights, fixed = problem.weights.expand(2, -1), problem.fixed.expand(2, -1)
    training = {"n_steps": 60, "n_snapshots": 6, "batch_size": 200}
    plan = problem.plan([0.1, 1.0], [0, 1], weights, fixed, training=training)
    return problem, for_stream(plan, problem.stream.n_rows)


def test_gradients_of_shards_average_to_that_of_their_rows():
    problem, plan = streamed_problem()
    stream = problem.stream.through(problem.inputs).share(2)
    whole = next(stream.batches(problem.design, plan))
    parts = [next(replace(stream, shard=i).batches(problem.design, plan)) for i in range(2)]
    assert torch.equal(whole.columns.dense(), torch.cat([part.columns.dense() for part in parts]))
    assert torch.equal(whole.rows["y"], torch.cat([part.rows["y"] for part in parts]))
    assert [part.columns.n_samples for part in parts] == [100, 100]


def test_a_table_of_fewer_parts_than_workers_is_refused():
    problem, _ = streamed_problem()
    with pytest.raises(ValueError, match=r"8 part\(s\).*9 processes"):
        problem.stream.through(problem.inputs).share(9)


def test_more_workers_than_cpus_are_refused_at_once(ray):
    problem, plan = streamed_problem()
    runner = backend("ray", n_workers=7).make_runner()
    with pytest.raises(ValueError, match="n_workers=7, but the cluster has"):
        runner.run(plan, problem.design, problem.target, (), problem.stream.through(problem.inputs))


def test_a_shard_without_rows_is_an_error_and_no_endless_search():
    X = np.random.default_rng(0).normal(size=(400, 3))
    blocks = [(part, part[:, 0], np.full(100, i % 2)) for i, part in enumerate(np.split(X, 4))]
    model = GatedRegressor(lam=1.0, network="linear", random_state=0)
    problem, _ = model._make_problem(Stream(blocks, sample_rows=50), None, None, None)
    plan = problem.plan(1.0, 0, problem.weights[None], problem.fixed[None], training={"batch_size": 10})
    shard = problem.stream.through(problem.inputs).share(2, shard=0)
    with pytest.raises(ValueError, match="no rows of weight"):
        next(shard.batches(problem.design, plan))


def test_workers_go_on_when_one_is_lost_and_end_as_one_process_does(ray, tmp_path):
    from stochgate.backends.ray_train import train_in_shares

    problem, plan = streamed_problem()
    stream = problem.stream.through(problem.inputs)
    expected = execute(plan, problem.design, problem.target, stream=stream.share(2))
    marker = tmp_path / "was killed"
    deadly = make_deadly(stream, marker, n_alive=30)
    data = plan, problem.design, problem.target, deadly
    found = train_in_shares(ray, *data, n_workers=2, storage=str(tmp_path), every=0.0)
    assert marker.exists()
    assert largest_difference(found, expected) < 1e-5
    torch.testing.assert_close(found.train_loss, expected.train_loss, rtol=0, atol=1e-5)


def test_a_cox_model_is_not_shared_since_it_compares_rows(ray, monkeypatch):
    from stochgate.backends import ray_runner

    monkeypatch.setattr(ray_runner, "train_in_shares", None)
    problem, plan = streamed_problem(GatedCox)
    runner = backend("ray", n_workers=2).make_runner()
    stream = problem.stream.through(problem.inputs)
    found = runner.run(plan, problem.design, problem.target, (), stream)
    expected = execute(plan, problem.design, problem.target, stream=stream, n_stacks=runner.n_stacks)
    assert torch.equal(found.models.gate_parameter, expected.models.gate_parameter)
