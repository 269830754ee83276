"""Streamed rows are encoded, scaled and weighed as the rows of a problem are."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.utils import _safe_indexing

from stochgate import GatedClassifier, GatedCox, GatedRegressor, Stream, Training
from stochgate.choice.rows import for_stream
from stochgate.engine import Inputs
from stochgate.networks import NETWORKS
from stochgate.problem.rows import hold_out
from tables_on_disk import TARGETS, frame, numbers


def cut(X, *others, n_blocks=5):
    index = np.array_split(np.arange(len(X)), n_blocks)
    return [tuple(_safe_indexing(part, i) for part in (X, *others)) for i in index]


def one_epoch(stream, problem, plan, n_rows):
    batches = stream.through(problem.inputs).batches(problem.design, plan)
    found = list(islice(batches, n_rows // plan.training.batch_size))
    batches.close()
    columns = torch.cat([batch.columns.dense() for batch in found])
    weights = torch.cat([batch.weigh(plan) for batch in found], dim=1)
    rows = {name: torch.cat([batch.rows[name] for batch in found]) for name in found[0].rows}
    return columns, rows, weights


def problem_and_plan(model, blocks, sample_rows, size):
    problem, _ = model._make_problem(Stream(blocks, sample_rows=sample_rows), None, None, None)
    plan = problem.plan(0.1, 0, problem.weights[None], problem.fixed[None], training={"batch_size": size})
    return problem, for_stream(plan, problem.stream.n_rows)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("center", [0.0, 2000.0, 1e8])
def test_single_precision_makes_the_same_columns_of_single_numbers(center, scale):
    rng = np.random.default_rng(0)
    X = (center + scale * rng.normal(size=(500, 3))).astype(np.float32)
    inputs = Inputs.learn(X, NETWORKS["linear"](), raw=False).rounded()
    exact = inputs.apply(X, torch.float32, torch.device("cpu")).dense()
    assert torch.equal(inputs.tensor(X, torch.float32), exact)
    assert torch.equal(inputs.tensor(X.astype(np.float64), torch.float32), exact)
    assert (np.log2(inputs.scale) % 1 == 0).all()


@pytest.mark.parametrize(("network", "draw_in"), [("linear", True), ("encoded", False)])
def test_far_values_and_pieces_are_made_of_blocks_as_of_the_whole(network, draw_in):
    rng = np.random.default_rng(0)
    X = np.exp(3 * rng.normal(size=(3000, 3)))
    inputs = Inputs.learn(X, NETWORKS[network](), raw=False, draw_in=draw_in).rounded()
    exact = inputs.apply(X, torch.float32, torch.device("cpu")).dense()
    parts = [inputs.tensor(part, torch.float32) for part in np.array_split(X, 4)]
    assert torch.equal(torch.cat(parts), exact)


@pytest.mark.parametrize("kind", ["arrays", "years", "frame"])
def test_a_stream_has_the_columns_of_the_problem(kind):
    made = frame()
    X = made.drop(columns=TARGETS) if kind == "frame" else numbers()[0].astype(np.float64)
    X = X + 2e9 if kind == "years" else X
    y = np.arange(len(X)) + 0.5  # a row is known by its y
    problem, plan = problem_and_plan(GatedRegressor(lam=0.1), cut(X, y), 300, 100)
    columns, rows, weights = one_epoch(problem.stream, problem, plan, len(X))
    place = np.argsort(rows["y"][:, 0].numpy())
    sampled = torch.from_numpy(place[problem.stream.sampled])
    assert torch.equal(columns[sampled], problem.design.columns.dense())
    assert torch.equal(weights, torch.ones_like(weights))


def test_levels_and_missing_values_outside_the_sample_are_known():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=3000), "t": rng.choice(["u", "v"], 3000)})
    X.loc[2000:2007, "t"], X.loc[2100:2104, "a"] = "seldom", np.nan
    y = rng.normal(size=3000)
    model = GatedRegressor(lam=0.0, network="linear", training=Training(n_steps=20), random_state=1)
    problem, plan = problem_and_plan(model, cut(X, y), 30, 100)
    assert not np.isin(np.r_[2000:2008, 2100:2105], problem.stream.sampled).any()
    names = problem.table.column_names(["a", "t"])
    first = X["t"].mode()[0]
    other = "v" if first == "u" else "u"
    assert names == ["a", "a (missing)", "t=seldom", f"t={other}"]
    columns, _, _ = one_epoch(problem.stream, problem, plan, 3000)
    own = columns.double().numpy() * problem.inputs.scale + problem.inputs.center
    assert own[:, 1].round().sum() == 5
    assert own[:, 2].round().sum() == 8
    model.fit(Stream(cut(X, y), sample_rows=30))
    assert np.isfinite(model.predict(X)).all()


def test_missing_values_outside_the_sample_are_refused_where_none_may_be():
    X, y = numbers(3000)
    X[2999, 1] = np.nan
    model = GatedRegressor(lam=0.1, missing="error", training=Training(n_steps=5), random_state=0)
    with pytest.raises(ValueError, match="column 1 holds missing values: fill them in"):
        model.fit(Stream(cut(X, y), sample_rows=50))


def test_infinity_outside_the_sample_is_refused_with_its_row():
    X, y = numbers(3000)
    X[2999, 1] = np.inf
    model = GatedRegressor(lam=0.1, training=Training(n_steps=500), random_state=0)
    with pytest.raises(ValueError, match="infinity in row 2999, column 1"):
        model.fit(Stream(cut(X, y), sample_rows=50))


def streamed_weights(model, blocks, n_rows, held_out=None):
    problem, plan = problem_and_plan(model, blocks, 300, 100)
    stream = problem.stream
    if held_out is not None:
        mask = np.zeros(problem.n_samples, dtype=bool)
        mask[: int(held_out * problem.n_samples)] = True
        stream = stream.without(mask, problem.sample_weight)
        plan = replace(plan, weights=problem.weights[None] * torch.from_numpy(~mask))
    _, rows, weights = one_epoch(stream, problem, plan, n_rows)
    return problem, plan, rows, weights


@pytest.mark.parametrize("held_out", [None, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_batch_stands_for_its_share_of_the_weight_of_a_model(held_out, weighted):
    X, y = numbers(2000)
    label = np.where(y > 1.5, "rare", "other")
    weight = np.where(np.arange(2000) % 2, 1.0, 3.0)
    blocks = cut(X, label, weight) if weighted else cut(X, label)
    model = GatedClassifier(lam=0.1, random_state=0)
    problem, plan, _, weights = streamed_weights(model, blocks, 2000, held_out)
    mean_of_model = plan.weights.sum() / problem.n_samples
    assert weights.mean().item() == pytest.approx(mean_of_model.item(), rel=1e-5)


def test_held_out_rows_have_no_weight_and_all_others_have():
    X, _ = numbers(2000)
    y = np.arange(2000) + 0.5
    problem, _, rows, weights = streamed_weights(GatedRegressor(lam=0.1), cut(X, y), 2000, 0.3)
    silent = np.sort(rows["y"][weights[0] == 0, 0].numpy() - 0.5).astype(int)
    np.testing.assert_array_equal(silent, problem.stream.sampled[:90])


@pytest.mark.parametrize("make", [GatedRegressor, GatedClassifier, GatedCox])
def test_a_row_of_weight_0_equals_the_row_removed(make):
    made = frame(1500)
    X, weight = made[["age.x", "dose (mg)", "d"]], np.arange(1500) % 3 * 1.0
    y = {GatedRegressor: made["y"], GatedClassifier: made["label"], GatedCox: made[["event", "time"]]}[make]
    model = make(lam=0.1, training=Training(n_steps=30, patience=5), random_state=0)
    whole = model.fit(Stream(cut(X, y, weight), sample_rows=200)).gates_
    kept = [(X[w > 0], y[w > 0], w[w > 0]) for X, y, w in cut(X, y, weight)]
    removed = model.fit(Stream(kept, sample_rows=200)).gates_
    np.testing.assert_array_equal(whole, removed)


def test_early_stopping_never_learns_from_held_out_rows():
    X, y = numbers(1500)
    model = GatedRegressor(lam=0.1, training=Training(n_steps=60, patience=30), random_state=0)
    problem, _ = model._make_problem(Stream(cut(X, y), sample_rows=300), None, None, None)
    problem.draw_seed(), problem.draw_seed()  # as a fit does, which then holds the same rows out
    held_out = hold_out(problem.strata, model.training.validation_fraction, problem.random_state)
    changed = y.copy()
    changed[problem.stream.sampled[held_out]] += 5
    before, after = (model.fit(Stream(cut(X, target), sample_rows=300)).history_ for target in (y, changed))
    np.testing.assert_array_equal(before["train_loss"], after["train_loss"])
    assert (before["held_out_loss"] < after["held_out_loss"]).all()


def test_a_batch_without_events_teaches_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = np.column_stack([rng.random(2000) < 0.01, rng.exponential(np.exp(-X[:, 0]))])
    model = GatedCox(lam=0.01, training=Training(n_steps=200, batch_size=32), random_state=0)
    model.fit(Stream(cut(X, y), sample_rows=400))
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.history_["train_loss"]).all()
