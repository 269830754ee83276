"""Columns of closed gates are left out exactly, where it pays."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from scipy import sparse

from plans import make
from stochgate.engine import DenseColumns, SparseColumns, Training, data, execute, train
from stochgate.engine.backend import cpu_product as product
from stochgate.engine.backend import gpu_product as on_gpu
from stochgate.engine.backend.cpu_product import skipping_pays
from stochgate.engine.backend.cpu_runs import like_sizes
from stochgate.engine.backend.process_settings import process_set_for
from stochgate.engine.data import learn_scaling
from stochgate.gates import DeterministicGate, GaussianGate, HardConcreteGate
from stochgate.networks import MLP
from stochgate.objectives import Cox, Regression

N_MODELS, N_UNITS, N_COLUMNS, N_SAMPLES = 4, 9, 12, 7


@pytest.fixture
def always(monkeypatch):
    """Leave out closed columns however small the product."""
    monkeypatch.setattr(product, "skipping_pays", lambda shape, share, once: True)


@pytest.fixture
def as_on_gpu(monkeypatch):
    """Multiply as on a GPU, in plain operations."""
    monkeypatch.setattr(on_gpu, "_kernels", lambda: on_gpu)

    def affine(self, *layer):
        return on_gpu.WholeProduct.apply(self._with_ones, lambda: self._ones_by_column, *layer)

    monkeypatch.setattr(DenseColumns, "affine", affine)


def draw(seed=0):
    """Return weights, factors of which some are 0 (all of one model's), shifts and biases."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    scale = normal(N_MODELS, N_COLUMNS).clamp_min(0)
    scale[1] = 0
    scale[2] = 1
    X = normal(N_SAMPLES, N_COLUMNS) * (normal(N_SAMPLES, N_COLUMNS) > 0)
    X[:, 3] = 0  # a sparse column that holds nothing
    weight, shift = normal(N_MODELS, N_UNITS, N_COLUMNS), normal(N_MODELS, N_COLUMNS)
    return X, weight, scale, shift, normal(N_MODELS, N_UNITS)


def by_einsum(X, weight, scale, shift, bias):
    """Return the first layer as its formula says."""
    inputs = X if shift is None else X - shift.unsqueeze(1)  # (n_models, n_samples, n_columns)
    inputs = inputs * scale.unsqueeze(1)
    h = torch.einsum("muc,mnc->mun", weight, inputs.expand(len(weight), *X.shape))
    return h if bias is None else h + bias.unsqueeze(2)


def values_and_gradients(function, *inputs):
    leaves = [None if value is None else value.detach().clone().requires_grad_() for value in inputs]
    output = function(*leaves)
    output.sin().sum().backward()
    return [output.detach(), *(leaf.grad for leaf in leaves if leaf is not None)]


def assert_equals_formula(columns, X, weight, scale, shift, bias):
    found = values_and_gradients(lambda w, s, b: columns.affine(w, s, shift, b), weight, scale, bias)
    expected = values_and_gradients(lambda w, s, b: by_einsum(X, w, s, shift, b), weight, scale, bias)
    expected[2] = torch.where(scale == 0, found[2], expected[2])  # it does not reach a closed gate
    for value, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(value, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("biased", [True, False])
def test_all_columns_give_the_formula(shifted, biased):
    X, weight, scale, shift, bias = draw()
    assert_equals_formula(
        DenseColumns(X), X, weight, scale, shift if shifted else None, bias if biased else None
    )


@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.usefixtures("always")
def test_open_columns_alone_give_the_formula(shifted, biased):
    X, weight, scale, shift, bias = draw()
    assert_equals_formula(
        DenseColumns(X), X, weight, scale, shift if shifted else None, bias if biased else None
    )


@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.usefixtures("as_on_gpu")
def test_the_product_of_a_gpu_gives_the_formula(shifted, biased):
    X, weight, scale, shift, bias = draw()
    spare = torch.cat([X, X[:1] * 0])  # 8 rows, as it has on a GPU
    assert_equals_formula(
        DenseColumns(spare), spare, weight, scale, shift if shifted else None, bias if biased else None
    )


@pytest.mark.parametrize(("objective", "kind"), [(Regression(), "regression"), (Cox(), "survival")])
def test_training_is_the_same_with_the_product_of_a_gpu(objective, kind, request):
    problem = make(objective, kind, Training(n_steps=40), GaussianGate(), MLP((4, 3), activation="tanh"))
    expected = train(*problem)
    request.getfixturevalue("as_on_gpu")
    found = train(*problem)
    torch.testing.assert_close(found.gate_path, expected.gate_path, rtol=0, atol=1e-10)
    torch.testing.assert_close(found.train_loss, expected.train_loss, rtol=0, atol=1e-10)


@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("n_units", [3, N_UNITS])  # in one product, and every model by itself
def test_sparse_columns_give_the_formula(n_units, shifted):
    X, weight, scale, shift, bias = draw()
    shift[:, 4:] = 0
    shift[2, 1] = 0
    columns = SparseColumns(sparse.csr_array(X.numpy()), torch.float64, torch.device("cpu"))
    assert_equals_formula(
        columns, X, weight[:, :n_units], scale, shift if shifted else None, bias[:, :n_units]
    )


@pytest.mark.parametrize("how", [(), ("always",), ("as_on_gpu",)], ids=str)
def test_weights_may_lie_in_any_order(how, request):
    for fixture in how:
        request.getfixturevalue(fixture)
    X, weight, scale, shift, bias = draw()
    spare = torch.cat([X, X[:1] * 0])
    turned = weight.transpose(1, 2).contiguous().transpose(1, 2)
    assert not turned.clone().is_contiguous()
    assert_equals_formula(DenseColumns(spare), spare, turned, scale, shift, bias)


@pytest.mark.usefixtures("always")
def test_gates_that_are_held_take_no_gradient():
    X, weight, scale, shift, _ = draw()
    weight.requires_grad_()
    DenseColumns(X).affine(weight, scale, shift, None).sum().backward()
    assert scale.grad is None
    assert (weight.grad[:, 0][scale == 0] == 0).all()


@pytest.mark.parametrize("gate", [GaussianGate(), HardConcreteGate(), DeterministicGate()], ids=str)
@pytest.mark.parametrize(("objective", "kind"), [(Regression(), "regression"), (Cox(), "survival")])
def test_training_is_the_same_with_and_without_skipping(gate, objective, kind, monkeypatch):
    # a unit linear on all rows has no gradient in a Cox model but rounding, which Adam blows up: tanh
    network = MLP((4, 3), activation="tanh")
    problem = make(objective, kind, Training(n_steps=40, gate_lr=0.05), gate, network)
    whole = train(*problem)
    asked = []
    monkeypatch.setattr(product, "skipping_pays", lambda shape, share, once: asked.append(share) or True)
    skipped = train(*problem)
    assert min(share for share in asked if share > 0) < 0.9
    torch.testing.assert_close(whole.gate_path, skipped.gate_path, rtol=0, atol=1e-10)
    torch.testing.assert_close(whole.train_loss, skipped.train_loss, rtol=0, atol=1e-10)


def test_skipping_pays_for_large_products_with_few_open_columns():
    assert skipping_pays((8, 64, 5000, 500), share=0.1, once=False)
    assert not skipping_pays((8, 64, 5000, 500), share=0.8, once=False)
    assert not skipping_pays((1, 64, 20, 100), share=0.1, once=False)
    assert not skipping_pays((40, 1, 500, 500), share=0.1, once=False)  # linear models
    assert not skipping_pays((1, 64, 200, 4096), share=0.1, once=True)  # a mini-batch of one model


@pytest.mark.usefixtures("always")
def test_parts_of_every_size_give_the_same(monkeypatch):
    X, weight, scale, shift, bias = draw()
    sizes = []
    for cached in (1, 4 * N_SAMPLES * 8, 1 << 22):
        monkeypatch.setattr(product, "_CACHED", cached)
        sizes.append(len(product._choose_parts(weight, scale, N_SAMPLES, False)))
        assert_equals_formula(DenseColumns(X), X, weight, scale, shift, bias)
    assert sizes[0] > N_MODELS  # columns one by one
    assert sizes[2] == 1


@pytest.mark.parametrize("spare", [0, 1e9])
def test_models_with_most_gates_open_multiply_all_columns(spare, monkeypatch):
    monkeypatch.setattr(product, "skipping_pays", lambda shape, share, once: share < 0.6)
    monkeypatch.setattr("stochgate.engine.backend.cpu_runs._OPENING", spare)
    X, weight, scale, shift, bias = draw()
    scale[3], scale[3, :2] = 0, 1
    parts = product._choose_parts(weight, scale, N_SAMPLES, False)
    assert [(models.start, models.stop, index is None) for models, index in parts if index is None] == [
        (2, 3, True)
    ]
    assert [models.stop - models.start for models, _ in parts] == (
        [1, 1, 1, 1] if spare == 0 else [2, 1, 1]
    )
    assert_equals_formula(DenseColumns(X), X, weight, scale, shift, bias)


def test_runs_end_where_filling_up_costs_more_than_another_product():
    sizes = [0, 3, 4, 50, None, None, 60, 2]
    runs = [(r.start, r.stop, widest) for r, widest in like_sizes(sizes, 1e6, 1 << 19)]
    assert runs == [(0, 3, 4), (3, 4, 50), (4, 6, None), (6, 7, 60), (7, 8, 2)]


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_a_small_step_gets_one_thread_and_gives_the_others_back():
    plan, design, target = make(Regression(), "regression", Training(n_steps=2))
    seen = []
    execute(plan, design, target, (lambda _: seen.append(torch.get_num_threads()),))
    assert seen[0] == 1
    assert torch.get_num_threads() == 2
    with pytest.raises(ZeroDivisionError):
        execute(plan, design, target, (lambda _: 1 / 0,))
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_trainings_at_the_same_time_leave_the_settings_as_they_were():
    first, second = (process_set_for(1, tf32=False, device=torch.device("cpu")) for _ in range(2))
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert torch.get_num_threads() == 2
    with process_set_for(1 << 20, tf32=False, device=torch.device("cpu")):
        assert torch.get_num_threads() == 2


def test_a_user_of_torchs_newer_setting_of_precision_is_not_bothered():
    code = (
        "import torch; torch.backends.fp32_precision = 'tf32'; "
        "from stochgate.engine.backend.process_settings import process_set_for as scope, _tf32\n"
        "with scope(1, True, torch.device('cpu')), _tf32(False): pass\n"
        "assert torch.backends.cuda.matmul.fp32_precision == 'tf32'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_mini_batch_leaves_out_columns_that_hold_nothing():
    X = sparse.random_array((50, 40), density=0.05, rng=np.random.default_rng(0)).tocsr()
    columns = SparseColumns(X, torch.float64, torch.device("cpu")).rows(torch.arange(3))
    _, index, part = next(columns.each_open(torch.ones(1, 40)))
    assert len(index) == part.shape[1] == len(np.unique(X[:3].indices)) < 40


def test_scaling_is_learnt_of_each_models_weights_whatever_it_shares(monkeypatch):
    monkeypatch.setattr(data, "_BLOCK", 5)  # three blocks of columns
    X = draw()[0] + 3
    weights = torch.rand(3, N_SAMPLES, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    weights[1] = weights[0].flip(0)
    scaling = learn_scaling(DenseColumns(X), weights[[0, 1, 0, 2]], standardize=True)
    for i, own in enumerate(weights[[0, 1, 0, 2]] / weights[[0, 1, 0, 2]].sum(1, keepdim=True)):
        variance = own @ (X - own @ X) ** 2
        torch.testing.assert_close(scaling.shift[i], own @ X)
        torch.testing.assert_close(scaling.scale[i] ** 2 * variance, (X.std(0) > 0).double())


def test_weights_that_only_look_alike_are_told_apart(monkeypatch):
    monkeypatch.setattr(torch, "linspace", lambda *given: torch.zeros(given[-1]))  # one mark for all
    X, weights = draw()[0], torch.eye(N_SAMPLES, dtype=torch.float64)[:4] + 1
    scaling = learn_scaling(DenseColumns(X), weights, standardize=True)
    torch.testing.assert_close(scaling.shift, weights @ X / weights.sum(1, keepdim=True))
