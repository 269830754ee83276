"""The bank of scores: lines and curves of single columns, and pairs of columns."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.stats import chi2, norm, rankdata

from problems import normal_columns
from stochgate.choice import bank as bank_module
from stochgate.choice.bank import Bank, as_z
from stochgate.choice.defaults import DEFAULTS
from stochgate.engine import DenseColumns, Design, SparseColumns

EVERY = slice(None)


def bank_of(X, gate_of=None, dtype=torch.float64, was_sparse=False):
    """Return the bank of some columns, each behind its own gate unless it is said otherwise."""
    if sparse.issparse(X):
        columns = SparseColumns(sparse.csr_array(X), dtype, torch.device("cpu"))
    else:
        columns = DenseColumns(torch.tensor(X, dtype=dtype), was_sparse=was_sparse)
    n_gates = X.shape[1] if gate_of is None else max(gate_of) + 1
    return Bank(Design(columns, None if gate_of is None else torch.tensor(gate_of), n_gates))


def column(values):
    return torch.as_tensor(values, dtype=torch.float64)[:, None]


# ---- forms


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_curves_are_orthonormal_and_free_of_the_mean(dtype):
    X = np.column_stack([normal_columns(90, 2), np.random.default_rng(1).integers(0, 7, size=90)])
    curves = bank_of(X, dtype=dtype).curves(EVERY).double()
    for j in range(3):
        product = curves[:, j].T @ curves[:, j] / 90
        torch.testing.assert_close(product, torch.eye(4).double(), rtol=0, atol=2e-4)
    torch.testing.assert_close(curves.mean(0), torch.zeros(3, 4).double(), rtol=0, atol=1e-5)


def test_lines_have_mean_0_and_variance_1_and_a_constant_column_has_none():
    X = 1e3 + 5 * normal_columns(40, 3)
    X[:, 1] = 7.0
    lines = bank_of(X).lines(EVERY).numpy()
    expected = (X - X.mean(axis=0)) / X.std(axis=0).clip(1e-300)
    np.testing.assert_allclose(lines, np.where(X.std(axis=0) > 0, expected, 0), atol=1e-10)


def test_the_first_curve_is_the_mid_ranks_and_ties_share_one():
    X = np.random.default_rng(0).integers(0, 5, size=(60, 1)).astype(float)
    first = bank_of(X).curves(EVERY)[:, 0, 0].numpy()
    ranks = rankdata(X[:, 0])
    np.testing.assert_allclose(first, (ranks - ranks.mean()) / ranks.std(), rtol=1e-9)
    assert len(np.unique(first.round(9))) == 5


def test_curves_do_not_change_with_a_growing_function_of_the_column():
    X = normal_columns(50, 2)
    a, b = (bank_of(values).curves(EVERY) for values in (X, np.exp(3 * X)))
    assert torch.equal(a, b)


@pytest.mark.parametrize(("n_values", "n_curves"), [(1, 0), (2, 1), (3, 2), (5, 4), (40, 4)])
def test_a_column_has_a_curve_less_than_values_and_four_at_most(n_values, n_curves):
    X = (np.arange(80) % n_values)[:, None].astype(float)
    curves = bank_of(X).curves(EVERY)[:, 0]
    has = curves.square().mean(0) > 0
    assert has.tolist() == [True] * n_curves + [False] * (4 - n_curves)


def test_a_rare_value_has_its_curve():
    X = (np.arange(200) < 2)[:, None].astype(float)
    curve = bank_of(X).curves(EVERY)[:, 0, 0].numpy()
    np.testing.assert_allclose(curve, (X[:, 0] - X.mean()) / X.std(), rtol=1e-9)


# ---- scores


def directions_of(n_samples, k=3):
    r = np.random.default_rng(5).normal(size=(n_samples, k))
    r -= r.mean(axis=0)
    return r / r.std(axis=0)


def scores_by_hand(X, r):
    """Return the scores of lines, and of curves as what a polynomial of the ranks explains."""
    lines = (X - X.mean(axis=0)) / X.std(axis=0)
    curves = []
    for x in X.T:
        u = rankdata(x)
        powers = np.vander((u - u.mean()) / len(u), 5)
        fitted = powers @ np.linalg.lstsq(powers, r, rcond=None)[0]
        curves.append((fitted**2).sum(axis=0))
    return np.array([(lines.T @ r) ** 2 / len(X), curves])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores_equal_least_squares(dtype):
    X = normal_columns(70, 5)
    X[:, 3] = X[:, 3].round()
    r = directions_of(70)
    scores = bank_of(X, dtype=dtype).scores(torch.tensor(r, dtype=dtype))
    rtol = 1e-8 if dtype == torch.float64 else 1e-3
    np.testing.assert_allclose(scores.numpy(), scores_by_hand(X, r), rtol=rtol, atol=1e-4)


def test_scores_of_parts_are_those_of_all(monkeypatch):
    X, r = normal_columns(40, 9), torch.tensor(directions_of(40))
    whole = bank_of(X).scores(r)
    monkeypatch.setattr(bank_module, "_NUMBERS_AT_ONCE", 2 * 40 * 5)  # two columns at a time
    assert len(list(bank_of(X).parts())) == 5
    torch.testing.assert_close(bank_of(X).scores(r), whole, rtol=1e-12, atol=0)


def test_scores_of_noise_are_chi_squared():
    X = normal_columns(150, 300)
    lines, curves = bank_of(X).scores(torch.tensor(directions_of(150, 20))).numpy()
    assert (lines.mean(), curves.mean()) == pytest.approx((1, 4), rel=0.05)
    for scores, freedom in ((lines, 1), (curves, 4)):
        assert (chi2.sf(scores, freedom) < 0.05).mean() == pytest.approx(0.05, abs=0.015)


def test_a_gate_has_the_mean_of_its_columns_scores():
    X, r = normal_columns(60, 5), torch.tensor(directions_of(60))
    each = bank_of(X).scores(r)
    grouped = bank_of(X, gate_of=[0, 1, 0, 2, 0]).scores(r)
    expected = torch.stack([each[:, [0, 2, 4]].mean(1), each[:, 1], each[:, 3]], dim=1)
    torch.testing.assert_close(grouped, expected)


def test_rows_that_belong_together_meet_by_the_means_of_their_forms():
    X = normal_columns(60, 4)
    group = np.random.default_rng(0).integers(0, 12, size=60)
    size = np.bincount(group)
    of_row = torch.tensor(group), torch.tensor(size, dtype=torch.float64)
    r = directions_of(12)
    bank = bank_of(X)
    scores = bank.scores(torch.tensor(r), of_row).numpy()
    means = np.array([bank.lines(EVERY).numpy()[group == g].mean(axis=0) for g in range(12)])
    np.testing.assert_allclose(scores[0], (means.T @ r) ** 2 / 12)
    curves = np.array([bank.curves(EVERY).numpy()[group == g].mean(axis=0) for g in range(12)])
    np.testing.assert_allclose(scores[1], (np.einsum("gjk,gd->jkd", curves, r) ** 2).sum(axis=1) / 12)
    thin = bank_of(sparse.csr_array(X)).scores(torch.tensor(r), of_row).numpy()
    np.testing.assert_allclose(thin[0], scores[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sparse_columns_have_the_lines_of_dense_ones_and_no_curves(dtype):
    X = normal_columns(60, 6) + 1
    X[np.abs(X) < 1] = 0
    X[:, 5] = 0
    r = torch.tensor(directions_of(60) + 0.3, dtype=dtype)
    dense, thin = bank_of(X, dtype=dtype), bank_of(sparse.csr_array(X), dtype=dtype)
    stored_dense = bank_of(X, dtype=dtype, was_sparse=True)
    assert dense.has_curves
    assert not thin.has_curves
    assert not stored_dense.has_curves
    assert thin.scores(r).shape == (1, 6, 3)
    for bank in (thin, stored_dense):
        torch.testing.assert_close(bank.scores(r)[0], dense.scores(r)[0], rtol=1e-3, atol=1e-4)
    assert thin.pairs(r, 5) is None


def test_of_too_many_numbers_no_curves_are_asked(monkeypatch):
    X = normal_columns(20, 6)
    for most, has in ((120, True), (119, False)):
        monkeypatch.setattr(bank_module, "DEFAULTS", replace(DEFAULTS, most_ranked=most))
        assert bank_of(X).has_curves is has


def test_scores_as_z_have_the_same_p():
    scores = np.array([0.0, 1.0, 9.0, 30.0])
    np.testing.assert_allclose(2 * norm.sf(as_z(torch.tensor(scores), 4)), chi2.sf(scores, 4))
    assert np.isfinite(as_z(torch.tensor([1e6]), 4)).all()


# ---- pairs


def xor(n_samples=208, n_columns=200, seed=0):
    """Return X, and a y at mean 0 that columns 17 and 120 decide together and none of them alone."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n_samples, n_columns))
    y = np.sign(X[:, 17] * X[:, 120])
    return X, column(y - y.mean())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_xor_among_200_columns_is_found(dtype):
    X, r = xor()
    found = bank_of(X, dtype=dtype).pairs(r, 10)
    assert found.columns[0].tolist() == [17, 120]
    assert found.clear.tolist() == [True] + [False] * 9
    assert found.z[0] > 8 > 6 > found.z[1:].max()
    assert found.p < 1e-9


def test_no_single_column_shows_an_xor():
    X, r = xor()
    scores = bank_of(X).scores(r)
    assert chi2.sf(scores[1].max().item(), 4) * 200 > 0.05


@pytest.mark.parametrize("product", [lambda a, b: a * b, lambda a, b: (a**2 - 1 / 3) * (b**2 - 1 / 3)])
def test_products_of_lines_and_of_squares_are_found(product):
    X = np.random.default_rng(0).uniform(-1, 1, size=(400, 50))
    y = product(X[:, 3], X[:, 40]) * 5 + 0.3 * np.random.default_rng(1).normal(size=400)
    found = bank_of(X).pairs(column(y - y.mean()), 5)
    assert found.columns[0].tolist() == [3, 40]
    assert found.clear[0]


def test_blocks_of_columns_find_the_same_pairs(monkeypatch):
    X, r = xor(n_columns=30 + 100)
    whole = bank_of(X).pairs(r, 20)
    monkeypatch.setattr(bank_module, "_COLUMNS_AT_ONCE", 7)
    parts = bank_of(X).pairs(r, 20)
    assert torch.equal(parts.columns, whole.columns)
    torch.testing.assert_close(parts.z, whole.z)


def test_z_of_a_pair_equals_plain_numpy():
    X, r = normal_columns(50, 4), np.random.default_rng(3).exponential(size=50)
    r -= r.mean()
    bank = bank_of(X)
    curves = bank.curves(EVERY).numpy()
    z, pairs = bank._strongest(column(r), 6)
    for value, (j, k) in zip(z.tolist(), pairs.tolist(), strict=True):
        assert j < k
        terms = [curves[:, j, a] * curves[:, k, b] * r for a in range(2) for b in range(2)]
        assert value == pytest.approx(max(abs(t.sum()) / np.sqrt((t**2).sum()) for t in terms))
    assert len(set(map(tuple, pairs.tolist()))) == 6
    assert (z.diff() <= 0).all()


@pytest.mark.parametrize("kind", ["normal", "exponential", "rare", "cubed"])
def test_z_of_pairs_of_noise_passes_no_more_often_than_a_normal_one(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(208, 100)) ** (3 if kind == "cubed" else 1)
    draw = {
        "normal": lambda: rng.normal(size=208),
        "exponential": lambda: rng.exponential(size=208),
        "rare": lambda: (rng.random(208) < 0.1).astype(float),
        "cubed": lambda: rng.normal(size=208) ** 3,
    }[kind]
    p = []
    for _ in range(40):
        y = draw()
        found = bank_of(X).pairs(column(y - y.mean()), 1)
        p.append(found.p)
    assert np.mean(np.array(p) < 0.2) <= 0.35


def test_a_sum_of_two_strong_columns_is_no_pair():
    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 30))
    X[:, 5] = X[:, 4] + 0.1 * X[:, 5]  # the product of the two is a square
    y = X[:, 4] ** 2 + 0.05 * normal_columns(300, 1)[:, 0]
    found = bank_of(X).pairs(column(y - y.mean()), 20)
    both = (found.columns == torch.tensor([4, 5])).all(1)
    assert found.z[both] > found.level
    assert not found.clear[both]


def test_columns_of_one_gate_are_no_pair():
    X, r = xor()
    gate_of = np.arange(200)
    gate_of[120] = 17
    found = bank_of(X, gate_of=gate_of.tolist()).pairs(r, 10)
    assert not (found.columns == torch.tensor([17, 120])).all(1).any()


def test_rows_whose_residual_is_0_are_not_asked():
    X, r = xor(400)
    r[:150] = 0
    some = bank_of(X).pairs(r, 3)
    X[:150] = np.random.default_rng(9).permutation(X[:150])
    again = bank_of(X).pairs(r, 3)
    assert some.columns[0].tolist() == again.columns[0].tolist() == [17, 120]
    torch.testing.assert_close(some.z, again.z)


def test_pairs_are_not_asked_of_few_rows_or_at_great_cost(monkeypatch):
    X, r = xor()
    few = bank_of(X[:20])
    assert few.pairs(r[:20], 3) is None
    assert bank_of(X[:, :1]).pairs(r, 3) is None
    monkeypatch.setattr(bank_module, "DEFAULTS", replace(DEFAULTS, most_work=1e6))
    assert bank_of(X).pairs(r, 3) is None


def test_the_strongest_of_several_outputs_counts():
    X, r = xor()
    noise = torch.tensor(directions_of(208, 2))
    found = bank_of(X).pairs(torch.cat([noise[:, :1], r, noise[:, 1:]], dim=1), 3)
    assert found.columns[0].tolist() == [17, 120]
    assert found.clear[0]
