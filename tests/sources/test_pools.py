"""Shuffled rows: each once per epoch, the same for the same seed, in batches of one size, read ahead."""

import threading
import time
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch

from stochgate import GatedRegressor, Stream, Training
from stochgate.choice.rows import for_stream
from stochgate.engine import shared_stream
from stochgate.engine.batches import Batch
from stochgate.engine.data import DenseColumns
from stochgate.engine.shared_stream import SharedStream
from stochgate.problem import streamed
from stochgate.sources.blocks import BlockSource
from stochgate.sources.pools import read_ahead, shuffled_blocks
from tables_on_disk import Again

N, SIZE = 1000, 64


def numbered(n_rows=N, n_blocks=9):
    """Return blocks whose first column, and y, is the number of the row."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(n_rows), rng.normal(size=(n_rows, 2))])
    return [(X[i], i.astype(float)) for i in np.array_split(np.arange(n_rows), n_blocks)]


def stream_of(blocks, data_seed=0, size=SIZE, **training):
    """Return the stream, design and plan of a final model."""
    model = GatedRegressor(lam=0.1, training=Training(batch_size=size, **training), random_state=0)
    problem, _ = model._make_problem(Stream(blocks, sample_rows=200), None, None, None)
    fixed = problem.fixed[None]
    plan = problem.plan(0.1, 0, problem.weights[None], fixed)
    plan = for_stream(plan, problem.stream.n_rows)
    return problem, problem.stream.through(problem.inputs), replace(plan, data_seed=data_seed)


def row_numbers(batch):
    return batch.rows["y"][:, 0].numpy().round().astype(int)


def taken(stream, problem, plan, n, start=0):
    batches = stream.batches(problem.design, plan, start)
    found = list(islice(batches, n))
    batches.close()
    return found


@pytest.mark.parametrize("pool_rows", [1 << 17, 300])
@pytest.mark.parametrize("blocks", [numbered(), Again(numbered()), numbered(n_blocks=1)], ids=type)
def test_every_row_comes_once_before_any_comes_again(blocks, pool_rows, monkeypatch):
    monkeypatch.setattr(streamed, "POOL_ROWS", pool_rows)
    problem, stream, plan = stream_of(blocks)
    batches = taken(stream, problem, plan, 3 * N // SIZE)
    assert {len(row_numbers(batch)) for batch in batches} == {SIZE}
    rows = np.concatenate([row_numbers(batch) for batch in batches])
    epochs = [rows[i * N : (i + 1) * N] for i in range(2)]
    for epoch in epochs:
        np.testing.assert_array_equal(np.sort(epoch), np.arange(N))
    assert not np.array_equal(*epochs)


def test_shards_together_see_every_row_once():
    problem, stream, plan = stream_of(numbered(), size=50)
    found = []
    for shard in range(3):
        n_rows = sum(len(y) for _, y in numbered()[shard::3])
        batches = taken(stream.share(3, shard), problem, plan, n_rows // (50 // 3))
        assert {len(row_numbers(batch)) for batch in batches} == {50 // 3}
        found.append(np.concatenate([row_numbers(batch) for batch in batches]))
    rows = np.concatenate(found)
    assert len(np.unique(rows)) == len(rows)
    with pytest.raises(ValueError, match="too few for 10 processes"):
        stream.share(10)


def test_a_table_smaller_than_a_batch_comes_as_often_as_it_takes():
    problem, stream, plan = stream_of(numbered(300), size=500)
    rows = np.concatenate([row_numbers(batch) for batch in taken(stream, problem, plan, 3)])
    np.testing.assert_array_equal(np.bincount(rows), np.full(300, 5))


def test_rows_of_a_batch_come_from_several_parts():
    problem, stream, plan = stream_of(numbered())
    first = row_numbers(taken(stream, problem, plan, 1)[0])
    assert len(np.unique(first // 112)) >= 4


def test_the_order_is_that_of_the_seed():
    problem, stream, plan = stream_of(numbered())
    _, _, other = stream_of(numbered(), data_seed=1)
    first, again, different = (
        np.concatenate([row_numbers(b) for b in taken(stream, problem, p, 20)]) for p in (plan, plan, other)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, different)


@pytest.mark.parametrize("start", [1, 7, 40])
def test_batches_from_a_later_step_are_the_same(start):
    problem, stream, plan = stream_of(numbered())
    whole = taken(stream, problem, plan, start + 5)[start:]
    later = taken(stream, problem, plan, 5, start)
    for one, other in zip(whole, later, strict=True):
        np.testing.assert_array_equal(row_numbers(one), row_numbers(other))
        torch.testing.assert_close(one.columns.dense(), other.columns.dense(), rtol=0, atol=0)


def test_columns_and_y_of_a_batch_belong_together():
    problem, stream, plan = stream_of(numbered())
    batch = taken(stream, problem, plan, 1)[0]
    first = (
        batch.columns.dense()[:, 0].double().numpy() * problem.inputs.scale[0] + problem.inputs.center[0]
    )
    np.testing.assert_allclose(first, row_numbers(batch), atol=1e-3)


def test_blocks_of_weight_0_are_never_yielded():
    blocks = [(X, y, (y % 2 == 0) & (y > 200)) for X, y in numbered()]
    rows = np.concatenate([b.rows for b in shuffled_blocks(BlockSource(blocks), None, [0, 0])])
    np.testing.assert_array_equal(np.sort(rows), np.arange(202, N, 2))


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "stochgate-reader"]


def test_the_reader_ends_with_the_training():
    blocks = [(X[:, 1:], y) for X, y in numbered()]
    model = GatedRegressor(lam=0.1, training=Training(n_steps=5), random_state=0)
    model.fit(Stream(blocks, sample_rows=200))
    assert readers() == []
    problem, stream, plan = stream_of(blocks)
    batches = stream.batches(problem.design, plan)
    next(batches)
    assert len(readers()) == 1
    batches.close()
    assert readers() == []


class FailsLater:
    """Blocks that cannot be read any more once they were gone through some times."""

    def __init__(self, times):
        self.times = times

    def __iter__(self):
        self.times -= 1
        if self.times < 0:
            raise OSError("the disk is gone")
        return iter(numbered())


def test_errors_of_the_reader_reach_the_training():
    model = GatedRegressor(lam=0.1, training=Training(n_steps=500, batch_size=100), random_state=0)
    with pytest.raises(OSError, match="the disk is gone"):
        model.fit(Stream(FailsLater(10), sample_rows=200))
    assert readers() == []
    assert not hasattr(model, "gates_")


def test_values_are_made_ahead_but_not_far():
    made = []

    def make():
        for i in range(100):
            made.append(i)
            yield i

    values = read_ahead(make)
    assert next(values) == 0
    deadline = time.monotonic() + 5
    while len(made) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    assert made == [0, 1, 2]  # one waits in the queue, one to be put there
    assert list(values) == list(range(1, 100))


class Counted:
    """A stream of numbered batches that counts how many were made, and may fail."""

    average = None

    def __init__(self, fails_at=None):
        self.n_made, self.fails_at = 0, fails_at

    def batches(self, design, plan, start=0):
        step = start
        while True:
            if step == self.fails_at:
                raise OSError("the disk is gone")
            self.n_made += 1
            yield Batch(DenseColumns(torch.tensor([[float(step)]])), {}, lambda plan: torch.ones(1, 1))
            step += 1


def steps_of(batches, n):
    return [int(batch.columns.dense()[0, 0]) for batch in islice(batches, n)]


def together(tasks):
    results = [None] * len(tasks)

    def run(number, task):
        try:
            results[number] = task()
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=each) for each in enumerate(tasks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    return results


def test_two_stacks_see_the_same_batches_which_are_made_once():
    stream = Counted()
    shared = SharedStream(stream, 2)
    found = together([lambda: steps_of(shared.batches(None, None), 200)] * 2)
    assert found == [list(range(200))] * 2
    assert stream.n_made == 200


def test_a_stack_that_ends_early_does_not_hold_up_the_other():
    shared = SharedStream(Counted(), 2)
    found = together(
        [lambda: steps_of(shared.batches(None, None), 3), lambda: steps_of(shared.batches(None, None), 100)]
    )
    assert [len(steps) for steps in found] == [3, 100]


def test_a_stack_that_dies_does_not_hang_the_other(monkeypatch):
    monkeypatch.setattr(shared_stream, "PATIENCE_S", 0.1)
    shared = SharedStream(Counted(), 3)  # one never begins
    dead = shared.batches(None, None)  # its traceback keeps it alive
    next(dead)
    started = time.monotonic()
    assert together([lambda: steps_of(shared.batches(None, None), 100)]) == [list(range(100))]
    assert time.monotonic() - started < 5
    assert steps_of(dead, 5) == [1, 2, 3, 4, 5]  # it was only slow: it reads on by itself
    assert steps_of(shared.batches(None, None), 2) == [0, 1]


def test_errors_of_reading_reach_all_stacks():
    shared = SharedStream(Counted(fails_at=5), 2)
    found = together([lambda: steps_of(shared.batches(None, None), 100)] * 2)
    assert [type(error) for error in found] == [OSError, OSError]
