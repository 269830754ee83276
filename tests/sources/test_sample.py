"""The sample: how many rows of which kind, what they weigh, and what a pass over all rows tells."""

import numpy as np
import pandas as pd
import pytest

from stochgate.objectives import Classification, Cox, Regression
from stochgate.sources.blocks import BlockSource
from stochgate.sources.opening import Stream, open_source
from stochgate.sources.sample import draw_sample
from stochgate.sources.survey import MOST_COUNTED, Survey

RNG = np.random.default_rng(0)
N = 20_000
X = np.arange(N, dtype=np.float64)[:, None]  # a row is known by its number
LABEL = np.where(RNG.random(N) < 0.01, "rare", np.where(RNG.random(N) < 0.4, "b", "a"))


def blocks_of(*arrays, size=777):
    return [tuple(values[i : i + size] for values in arrays) for i in range(0, N, size)]


def test_a_sample_has_as_many_rows_as_asked_for():
    for n in (50, 500, 5000):
        sample = draw_sample(BlockSource(blocks_of(X, LABEL)), Classification.kinds_of, n, seed=0)
        assert abs(len(sample.block.rows) - n) <= 3
        assert sample.n_rows == N
        assert not sample.is_all


def test_rows_of_a_sample_are_those_of_the_table():
    block = draw_sample(BlockSource(blocks_of(X, LABEL)), Classification.kinds_of, 900, seed=3).block
    np.testing.assert_array_equal(block.X[:, 0], block.rows)
    np.testing.assert_array_equal(block.y, LABEL[block.rows])
    assert (np.diff(block.rows) > 0).all()


def test_rare_classes_are_drawn_more_often_and_weights_undo_it():
    block = draw_sample(BlockSource(blocks_of(X, LABEL)), Classification.kinds_of, 900, seed=0).block
    assert (block.y == "rare").sum() == min(150, (LABEL == "rare").sum())
    for kind in np.unique(LABEL):
        share = block.weight[block.y == kind].sum() / block.weight.sum()
        assert share == pytest.approx((kind == LABEL).mean(), rel=1e-9)


def test_given_weights_are_kept_beside_those_that_undo_the_drawing():
    weight = RNG.integers(0, 4, N).astype(float)
    sample = draw_sample(BlockSource(blocks_of(X, LABEL, weight)), Classification.kinds_of, 900, seed=0)
    block = sample.block
    np.testing.assert_array_equal(sample.given_weight, weight[block.rows])
    assert (weight[block.rows] > 0).all()
    assert sample.n_rows == (weight > 0).sum()
    assert sample.mean_weight == pytest.approx(weight[weight > 0].mean())
    factor = block.weight / sample.given_weight
    for kind in np.unique(LABEL):
        assert np.ptp(factor[block.y == kind]) < 1e-12
        there = (kind == LABEL) & (weight > 0)
        assert factor[block.y == kind].sum() == pytest.approx(there.sum())


def test_events_are_drawn_more_often_where_they_are_rare():
    y = np.column_stack([RNG.random(N) < 0.02, RNG.exponential(size=N)])
    block = draw_sample(BlockSource(blocks_of(X, y)), Cox.kinds_of, 1000, seed=0).block
    assert block.y[:, 0].sum() == 250
    assert (block.weight * block.y[:, 0]).sum() / block.weight.sum() == pytest.approx(y[:, 0].mean())


def test_a_regression_draws_all_rows_alike():
    sample = draw_sample(BlockSource(blocks_of(X, RNG.normal(size=N))), Regression.kinds_of, 1000, seed=0)
    assert sample.block.weight is None
    assert len(sample.block.rows) == 1000
    assert abs(sample.block.rows.mean() - N / 2) < 4 * N / np.sqrt(12 * 1000)


def test_the_same_seed_draws_the_same_rows_however_the_table_is_cut():
    def drawn(size, seed):
        source = BlockSource(blocks_of(X, LABEL, size=size))
        return draw_sample(source, Classification.kinds_of, 400, seed).block.rows

    np.testing.assert_array_equal(drawn(777, 5), drawn(64, 5))
    assert not np.array_equal(drawn(777, 5), drawn(777, 6))


def test_a_sample_may_be_the_whole_table():
    sample = draw_sample(BlockSource(blocks_of(X, LABEL)), Classification.kinds_of, N, seed=0)
    assert sample.is_all
    assert sample.block.weight is None
    np.testing.assert_array_equal(sample.block.rows, np.arange(N))


def test_a_table_of_rows_without_weight_is_refused():
    with pytest.raises(ValueError, match="0 rows of weight"):
        draw_sample(BlockSource(blocks_of(X, LABEL, np.zeros(N))), Classification.kinds_of, 100, seed=0)


def test_columns_are_not_read_in_the_pass_over_y():
    asked = []

    class Watched(BlockSource):
        def read(self, part, features=None):
            asked.append(features)
            return super().read(part, features)

    draw_sample(Watched(blocks_of(X, LABEL, size=N)), Classification.kinds_of, 100, seed=0)
    assert asked == [[], None]


def surveyed(*frames):
    source = BlockSource([(frame, np.zeros(len(frame))) for frame in frames])
    survey = Survey(source)
    for part in range(source.n_parts):
        for block in source.read(part):
            survey.add(block)
    return survey


@pytest.mark.parametrize("make", ["pandas", "pyarrow", "polars"])
def test_a_survey_counts_all_texts_and_finds_what_is_missing(make):
    first = pd.DataFrame(
        {"t": ["u", "v", None], "a": [1.0, 2.0, 3.0], "i": [1, 2, 3], "d": ["1", "2", "3"]}
    )
    second = pd.DataFrame(
        {"t": ["u", "w", "u"], "a": [1.0, np.nan, 3.0], "i": [1, 2, 3], "d": ["1", None, "3"]}
    )
    frames = [first, second]
    if make == "pyarrow":
        pa = pytest.importorskip("pyarrow")
        frames = [pa.Table.from_pandas(frame) for frame in frames]
    if make == "polars":
        polars = pytest.importorskip("polars")
        frames = [polars.from_pandas(frame) for frame in frames]
    survey = surveyed(*frames)
    assert survey.counts[0] == {"u": 3, "v": 1, "w": 1, None: 1}
    assert (survey.n_rows, survey.n_missing.tolist()) == (6, [1, 1, 0, 1])


def test_a_survey_forgets_the_rarest_of_very_many_texts_and_knows_the_frequent_ones():
    rare = [f"id {i}" for i in range(3 * MOST_COUNTED)]
    frames = [
        pd.DataFrame({"t": [*rare[i : i + 2000], *["often"] * 500, None]})
        for i in range(0, len(rare), 2000)
    ]
    counts = surveyed(*frames).counts[0]
    assert len(counts) <= MOST_COUNTED + 2000
    assert counts["often"] == 500 * len(frames)
    assert counts[None] == len(frames)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int64", "bool"])
def test_missing_numbers_of_arrays_are_found(dtype):
    values = np.ones((10, 3), dtype=dtype)
    source = open_source(Stream(values), np.zeros(10))
    survey = Survey(source)
    if values.dtype.kind == "f":
        values[4, 1], values[5, 2] = np.nan, np.inf
    for block in source.read(0):
        survey.add(block)
    assert survey.n_missing.tolist() == [0, int(values.dtype.kind == "f"), 0]
