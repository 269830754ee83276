"""The second look at held-out residuals, and features that enter linearly."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.stats import chi2, norm

from choices import problem_and_folds
from plans import in_pieces, make
from problems import linear_response, normal_columns
from stochgate import Training
from stochgate.choice.bank import Bank
from stochgate.choice.recipe import Recipe
from stochgate.choice.residuals import clearly, curve_z, find_left, how_surely, line_z
from stochgate.choice.second_look import JudgedRecipe, look_again
from stochgate.engine import CLOSED, OPEN, DenseColumns, Design, SparseColumns, execute, train
from stochgate.networks import MLP, EncodedMLP
from stochgate.objectives import Regression

CPU = torch.device("cpu")


def mask(n_features, features):
    return np.isin(np.arange(n_features), features)


def bank_of(X):
    """Return the bank of columns behind a gate each."""
    return Bank(Design(DenseColumns(torch.tensor(X)), None, X.shape[1]))


def look(problems, network, support, folds):
    """Return what a second look at a network's model of some features finds."""
    chosen = JudgedRecipe(network=network, recipe=Recipe(support=support, linear=np.zeros_like(support)))
    return look_again(problems, chosen, folds, Bank(problems[0].design))


# ---- the columns


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_products_and_squares_equal_numpy(dtype):
    X = normal_columns(30, 7) + 1
    X[np.abs(X) < 1] = 0
    directions = np.random.default_rng(1).normal(size=(30, 3))
    for columns in (
        DenseColumns(torch.tensor(X, dtype=dtype)),
        SparseColumns(sparse.csr_array(X), dtype, CPU),
    ):
        projected = columns.project(torch.tensor(directions, dtype=dtype))
        assert projected.dtype == columns.squares().dtype == dtype
        rtol = 1e-12 if dtype == torch.float64 else 1e-4
        np.testing.assert_allclose(projected.numpy(), X.T @ directions, rtol=rtol, atol=1e-5)
        np.testing.assert_allclose(columns.squares().numpy(), (X**2).sum(axis=0), rtol=rtol)


# ---- z


def by_hand(X, residual, selected, judges):
    """Return z of every column, by least squares on the folds and the selected columns."""
    basis = np.column_stack([judges.T, X[:, selected]])
    x, r = (v - basis @ np.linalg.lstsq(basis, v, rcond=None)[0] for v in (X, residual))
    size = np.sqrt((x**2).sum(axis=0) * (r**2).sum() / (len(X) - basis.shape[1]))
    return np.where(mask(X.shape[1], selected), 0, np.abs(x.T @ r) / np.where(size > 1e-9, size, np.inf))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("selected", [[], [0, 3]], ids=str)
def test_z_equals_least_squares(kind, selected):
    X, residual = normal_columns(60, 8) + 0.5, normal_columns(60, 1, seed=1) + 3
    X[np.abs(X) < 0.5] = 0
    problem, folds = problem_and_folds(kind(X), residual[:, 0])
    z = line_z(problem, torch.tensor(residual), mask(8, selected), folds)
    np.testing.assert_allclose(z, by_hand(X, residual[:, 0], selected, folds == 0), rtol=1e-9)


def test_what_the_selected_columns_say_is_taken_out():
    X, y = linear_response(100, 6)
    X[:, 5] = 2 * X[:, 0] - 3 * X[:, 1] + 7
    problem, folds = problem_and_folds(X, y)
    z = line_z(problem, torch.tensor(y[:, None]), mask(6, [0, 1]), folds)
    assert (z[[0, 1, 5]] == 0).all()
    assert (z[[2, 3, 4]] > 0).all()
    without = line_z(problem, torch.tensor(y[:, None]), mask(6, []), folds)
    assert (without[[0, 1, 5]] > 4).all()


def test_the_folds_means_are_taken_out():
    X, y = linear_response(100, 6)
    problem, folds = problem_and_folds(X, y)
    steps = 100.0 * (folds == 0).T @ np.arange(5)  # every fold's residuals have another mean
    a, b = (line_z(problem, torch.tensor(r[:, None]), mask(6, []), folds) for r in (y, y + steps))
    np.testing.assert_allclose(a, b, rtol=1e-9)


def test_a_gate_has_the_largest_z_of_its_columns_and_outputs():
    X, y = linear_response(100, 6)
    residual = torch.tensor(np.column_stack([y, normal_columns(100, 1, seed=5)[:, 0]]))
    alone, folds = problem_and_folds(X, y)
    grouped, _ = problem_and_folds(X, y, feature_groups=[0, 1, 2, 0, 1, 2])
    z = line_z(alone, residual, mask(6, []), folds)
    of_gate = line_z(grouped, residual, mask(3, []), folds)
    np.testing.assert_allclose(of_gate, np.maximum(z[:3], z[3:]), rtol=1e-9)
    of_outputs = [line_z(alone, r[:, None], mask(6, []), folds) for r in residual.T]
    np.testing.assert_allclose(z, np.maximum(*of_outputs), rtol=1e-9)


@pytest.mark.parametrize("n_selected", [0, 40])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_z_of_noise_is_standard_normal(kind, n_selected):
    X = normal_columns(120, 140)
    X[np.abs(X) < 0.5] = 0
    problem, folds = problem_and_folds(kind(X), X[:, 0])
    rng, support = np.random.default_rng(0), mask(140, np.arange(n_selected))
    z = np.array(
        [line_z(problem, torch.tensor(rng.normal(size=(120, 1))), support, folds) for _ in range(100)]
    )[:, ~support]
    # |z| is what is returned; the columns are dependent given the residuals, so the limits are wide
    assert abs((z**2).mean() - 1) < 0.05
    assert abs((z > norm.isf(0.025)).mean() - 0.05) < 0.01
    critical = norm.isf(0.01 / 2 / 140)
    assert (z > critical).any(axis=1).mean() <= 0.04  # 1 % is expected of 100 looks


# ---- curves


def curves_by_hand(X, residual, selected, judges):
    """Return z of every column's four curves, by least squares on the folds and the selected columns'."""
    curves = bank_of(X).curves(slice(None)).numpy()  # (n_samples, n_columns, 4)
    basis = np.column_stack([judges.T, X[:, selected], curves[:, selected].reshape(len(X), -1)])
    freed = residual - basis @ np.linalg.lstsq(basis, residual, rcond=None)[0]
    unit = freed * np.sqrt((len(X) - np.linalg.matrix_rank(basis)) / (freed**2).sum())
    scores = np.zeros(X.shape[1])
    for j in set(range(X.shape[1])) - set(selected):
        left = curves[:, j] - basis @ np.linalg.lstsq(basis, curves[:, j], rcond=None)[0]
        scores[j] = ((left.T @ unit) ** 2 / (left**2).sum(axis=0)).sum()
    return norm.isf(chi2.sf(scores, 4) / 2)


@pytest.mark.parametrize("selected", [[], [2]], ids=str)
def test_z_of_curves_equals_least_squares(selected):
    X, residual = normal_columns(200, 6), normal_columns(200, 1, seed=1) + 3
    residual[:, 0] += 0.5 * np.abs(X[:, 4])
    problem, folds = problem_and_folds(X, residual[:, 0])
    z = curve_z(problem, bank_of(X), torch.tensor(residual), mask(6, selected), folds)
    expected = curves_by_hand(X, residual[:, 0], selected, folds == 0)
    np.testing.assert_allclose(np.delete(z, selected), np.delete(expected, selected), rtol=0.02)
    assert z.argmax() == 4
    assert (z[selected] == 0).all()


@pytest.mark.parametrize("copy", [lambda x: x, np.exp], ids=["copy", "exp"])
def test_what_a_selected_column_hides_does_not_speak_for_its_copies(copy):
    X = normal_columns(800, 5)
    X[:, 4] = copy(X[:, 0])
    residual = torch.tensor(np.cos(3 * X[:, [0]]) + 0.5 * normal_columns(800, 1, seed=3))
    problem, folds = problem_and_folds(X, X[:, 0])
    assert curve_z(problem, bank_of(X), residual, mask(5, []), folds)[4] > 5
    assert curve_z(problem, bank_of(X), residual, mask(5, [0]), folds)[4] < 3


def finds_a_square(X, kind=np.asarray, selected=()):
    """Return whether the residuals' dependence on the square of the last column is found."""
    n_columns = X.shape[1]
    problem, folds = problem_and_folds(kind(X), X[:, 0])
    residual = torch.tensor(X[:, -1:] ** 2)
    found = how_surely(problem, Bank(problem.design), residual, mask(n_columns, selected), folds)
    return bool(clearly(found)[-1])


def test_curves_are_asked_of_dense_columns_and_not_of_few_rows():
    X = normal_columns(100, 3)
    assert finds_a_square(X)
    assert not finds_a_square(X, kind=sparse.csr_array)
    assert not finds_a_square(X[:99])


def test_beside_many_selected_columns_no_curves_are_asked():
    X = normal_columns(320, 60)
    assert finds_a_square(X, selected=range(20))
    assert not finds_a_square(X, selected=range(21))


def test_rows_that_judge_nothing_do_not_count():
    X, rng = normal_columns(800, 1), np.random.default_rng(0)
    X[:, 0] += np.linspace(0, 5, 800)  # a trend in time
    problem, _ = problem_and_folds(X, X[:, 0])
    folds = np.full((2, 800), 1, dtype=np.int8)
    folds[0, 480:640], folds[1, 640:] = 0, 0
    z = []
    for _ in range(300):
        residual = np.zeros((800, 1))
        residual[480:] = rng.normal(size=(320, 1))
        z.append(curve_z(problem, bank_of(X), torch.tensor(residual), mask(1, []), folds)[0])
    assert (np.array(z) > norm.isf(0.005)).mean() <= 0.03


@pytest.mark.parametrize("values", ["normal", "tied"])
def test_curves_of_noise_pass_as_seldom_as_they_should(values):
    X, rng = normal_columns(330, 200), np.random.default_rng(0)
    if values == "tied":  # pieces of an encoded feature: a few rows are left between equal values
        X = X.clip(-0.7, 0.1)
    problem, folds = problem_and_folds(X, X[:, 0])
    residuals = [rng.exponential(size=(330, 1)) for _ in range(60)]
    z = np.array([curve_z(problem, bank_of(X), torch.tensor(r), mask(200, []), folds) for r in residuals])
    assert (z > norm.isf(0.005)).mean() <= 0.012
    found = [how_surely(problem, bank_of(X), torch.tensor(r), mask(200, []), folds) for r in residuals]
    assert np.mean([clearly(each).any() for each in found]) <= 0.05  # 1 % is expected of 60 looks


# ---- pairs


def test_a_product_of_two_columns_is_found_and_no_column_of_it_alone():
    X = normal_columns(400, 12)
    residual = torch.tensor(X[:, [3]] * X[:, [7]] + 0.5 * normal_columns(400, 1, seed=3))
    problem, folds = problem_and_folds(X, X[:, 0])
    left = find_left(problem, bank_of(X), residual, mask(12, []), folds)
    assert np.flatnonzero(left.paired).tolist() == [3, 7]
    assert left.pairs.tolist() == [[3, 7]]
    assert not left.alone.any()
    assert np.flatnonzero(left.gates).tolist() == [3, 7]


def test_of_a_pair_with_a_selected_column_the_other_is_new():
    X = normal_columns(400, 12)
    residual = torch.tensor(X[:, [3]] * X[:, [7]] + 0.5 * normal_columns(400, 1, seed=3))
    problem, folds = problem_and_folds(X, X[:, 0])
    left = find_left(problem, bank_of(X), residual, mask(12, [3]), folds)
    assert np.flatnonzero(left.paired).tolist() == [7]
    assert not find_left(problem, bank_of(X), residual, mask(12, [3, 7]), folds).gates.any()


# ---- the look


def test_a_weak_linear_feature_beside_strong_ones_is_found():
    X = normal_columns(400, 12)
    noise = np.random.default_rng(1).normal(size=400)
    y = 3 * np.sign(X[:, 0] * X[:, 1]) * np.abs(X[:, 0]) + 0.4 * X[:, 7] + 0.5 * noise
    problem, folds = problem_and_folds(
        X, y, MLP((16,)), Training(n_steps=200, n_snapshots=5, dtype="float64")
    )
    found = look([problem], 0, mask(12, [0, 1]), folds)
    looked, frequency = found.recipe, found.frequency
    assert np.flatnonzero(looked.recipe.support).tolist() == [0, 1, 7]
    assert np.flatnonzero(looked.recipe.linear).tolist() == [7]
    assert np.flatnonzero(frequency).tolist() == [7]
    assert 0.2 <= frequency[7] <= 1
    trained, design = looked.recipe.train(problem, problem.weights[None])
    assert design.columns.n_columns == 3
    assert trained.models.plan.network.linear == (2,)


def test_a_feature_without_a_slope_is_found_and_the_network_that_can_use_it_taken():
    X = normal_columns(600, 8)
    noise = np.random.default_rng(1).normal(size=600)
    y = X[:, 0] + np.cos(4 * X[:, 3]) + 0.3 * noise
    training = Training(n_steps=60, n_snapshots=5, dtype="float64")
    networks = {"linear": MLP(()), "mlp": MLP((4,)), "encoded": EncodedMLP(8, (32,))}
    (linear, folds), (mlp, _), (encoded, _) = (
        problem_and_folds(X, y, n, training) for n in networks.values()
    )
    problems = [linear, mlp, encoded]
    blind = look(problems[:1], 0, mask(8, [0]), folds)
    assert np.flatnonzero(blind.recipe.recipe.support).tolist() == [0]  # a linear model could not use it
    assert np.flatnonzero(blind.surely > 0.99).tolist() == [3]  # but it ranks before the others
    for network in (0, 1):
        looked = look(problems, network, mask(8, [0]), folds).recipe
        assert np.flatnonzero(looked.recipe.support).tolist() == [0, 3]
        assert looked.network == 2
        assert not looked.recipe.linear.any()
        assert looked.loss < 0.5


def test_a_copy_is_not_added_because_another_network_is_better():
    X = normal_columns(600, 6)
    X[:, 4] = X[:, 0] + 0.1 * X[:, 5]
    y = np.cos(4 * X[:, 0]) + X[:, 1] + 0.3 * np.random.default_rng(1).normal(size=600)
    training = Training(n_steps=60, n_snapshots=5, dtype="float64")
    problems = [problem_and_folds(X, y, n, training)[0] for n in (MLP(()), MLP((4,)), EncodedMLP(8, (32,)))]
    folds = problem_and_folds(X, y)[1]
    looked = look(problems, 1, mask(6, [0, 1]), folds).recipe
    assert np.flatnonzero(looked.recipe.support).tolist() == [0, 1]


def test_the_linear_model_has_nothing_to_lead_past():
    X, y = linear_response(150, 8)
    problem, folds = problem_and_folds(X, y)
    assert problem.network.with_linear([0]) is None
    looked = look([problem], 0, mask(8, [0]), folds).recipe
    assert np.flatnonzero(looked.recipe.support).tolist() == [0, 1]
    assert not looked.recipe.linear.any()


def test_a_look_at_noise_adds_nothing():
    for seed in range(5):
        X, y = normal_columns(100, 30, seed), normal_columns(100, 1, seed + 50)[:, 0]
        training = Training(n_steps=10, n_snapshots=1, dtype="float64")
        problem, folds = problem_and_folds(X, y, training=training)
        looked = look([problem], 0, mask(30, [0]), folds)
        assert looked.recipe.recipe.support.sum() == 1
        assert not looked.frequency.any()
        assert looked.surely[0] == 0
        assert (looked.surely < 0.99).all()


# ---- networks with linear columns


@pytest.fixture
def stack():
    """Return two models' parameters of an MLP with linear columns, and their input."""
    network = MLP((4, 3), activation="tanh", init_std=0.5, linear=(1, 4))
    base = torch.zeros(2, 2, dtype=torch.float64)
    parameters = network.initial(torch.tensor([3, 4]), 5, base, True)
    X = torch.tensor(normal_columns(20, 5))
    scale = torch.rand(2, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return network, parameters, X, scale


def test_linear_columns_go_past_the_hidden_layers(stack):
    network, parameters, X, scale = stack
    linear = torch.tensor([False, True, False, False, True])
    output = network.forward(parameters, DenseColumns(X), scale, None)
    for i in range(2):
        p = {name: value[i] for name, value in parameters.items()}
        x = X * scale[i]
        h = torch.tanh(x[:, ~linear] @ p["weight_0"][:, ~linear].T + p["bias_0"])
        h = torch.tanh(h @ p["weight_1"].T + p["bias_1"]) @ p["weight_2"].T + p["bias_2"]
        expected = h + x[:, linear] @ p["skip"][:, linear].T
        torch.testing.assert_close(output[i], expected)


def test_no_gradient_reaches_what_is_not_used(stack):
    network, parameters, X, scale = stack
    for p in parameters.values():
        p.requires_grad_()
    network.forward(parameters, DenseColumns(X), scale, None).square().sum().backward()
    first, skip = parameters["weight_0"].grad, parameters["skip"].grad
    assert (first[:, :, [1, 4]] == 0).all()
    assert (first[:, :, [0, 2, 3]] != 0).all()
    assert (skip[:, :, [0, 2, 3]] == 0).all()
    assert (skip[:, :, [1, 4]] != 0).all()


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("kept", [[0, 1, 3], [0, 4], [1], [0, 2, 3]], ids=str)
def test_leaving_out_columns_keeps_linear_ones_linear(stack, kept, skip):
    network, parameters, X, scale = stack
    network.set_params(skip=skip)
    columns = torch.tensor(kept)
    narrow, narrowed = network.narrow(parameters, columns)
    scale = scale * torch.isin(torch.arange(5), columns)
    torch.testing.assert_close(
        narrow.forward(narrowed, DenseColumns(X[:, columns]), scale[:, columns], None),
        network.forward(parameters, DenseColumns(X), scale, None),
    )


def test_linear_columns_can_be_set_anew(stack):
    network, parameters, X, scale = stack
    network.forward(parameters, DenseColumns(X), scale, None)
    other = MLP(**{**network.get_params(), "linear": (0,)})
    network.set_params(linear=(0,))
    torch.testing.assert_close(
        network.forward(parameters, DenseColumns(X), scale, None),
        other.forward(parameters, DenseColumns(X), scale, None),
    )


@pytest.mark.parametrize("network", [MLP((4,)), EncodedMLP(hidden=(4,))], ids=str)
def test_with_linear_gives_another_network(network):
    given = network.with_linear([2, 0])
    assert given.linear == (2, 0)
    assert network.linear == ()
    assert type(given) is type(network)


def test_pieces_of_a_plan_know_the_columns_left_out():
    plan, design, target = make(
        Regression(), "regression", Training(n_steps=20), network=MLP((4,), linear=(3, 4))
    )
    fixed = torch.tensor([[OPEN, CLOSED, OPEN, OPEN, CLOSED]] * 3, dtype=torch.int8)
    plan = replace(plan, fixed=fixed)
    narrowed = design.narrow((fixed == OPEN).any(0))
    whole = train(plan, narrowed, target).models
    pieces = execute(in_pieces(plan), narrowed, target).models
    assert pieces.plan.network.linear == whole.plan.network.linear == (2,)
    torch.testing.assert_close(pieces.predict(narrowed), whole.predict(narrowed), rtol=0, atol=1e-10)
    full = train(plan, Design(design.columns, None, 5), target).models
    torch.testing.assert_close(whole.predict(narrowed), full.predict(design), rtol=0, atol=1e-10)
