"""Any torch module as a network: what is trained, what is kept and what is refused in words."""

import pickle

import numpy as np
import pytest
import torch
from torch import nn

from stochgate import GatedClassifier, Training
from stochgate.engine import DenseColumns
from stochgate.networks import ModuleNetwork

N_COLUMNS, N_MODELS = 6, 3


class Around(nn.Module):
    """A linear layer and whatever a test adds to it."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.last = nn.Linear(n_in, n_out)

    def forward(self, x):
        return self.last(x)


class Scalar(Around):
    def __init__(self, n_in, n_out):
        super().__init__(n_in, n_out)
        self.slope = nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        return self.slope * self.last(x)


class NamedBase(Around):
    def __init__(self, n_in, n_out):
        super().__init__(n_in, n_out)
        self.base = nn.Parameter(torch.ones(n_out))

    def forward(self, x):
        return self.last(x) + self.base


class CalledTwice(Around):
    def __init__(self, n_in, n_out):
        super().__init__(n_in, n_out)
        self.hidden = nn.Linear(n_in, n_in)

    def forward(self, x):
        return self.last(self.hidden(torch.tanh(self.hidden(x))))


class Constant(Around):
    def __init__(self, n_in, n_out):
        super().__init__(n_in, n_out)
        self.power = torch.arange(1.0, n_in + 1)

    def forward(self, x):
        return self.last(x * self.power.to(x))


class Tied(Around):
    def __init__(self, n_in, n_out):
        super().__init__(n_in, n_out)
        self.first, self.second = nn.Linear(n_in, n_in), nn.Linear(n_in, n_in)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.last(self.second(self.first(x)))


class Recurrent(Around):
    def __init__(self, n_in, n_out):
        super().__init__(4, n_out)
        self.lstm = nn.LSTM(1, 4, batch_first=True)

    def forward(self, x):
        return self.last(self.lstm(x.unsqueeze(2))[0][:, -1])


class Noisy(Around):
    def forward(self, x):
        return self.last(nn.functional.dropout(x))


class Plain(nn.Module):
    def forward(self, x):
        return x[:, :1]


def after(layer):
    """Return a factory of a linear layer that follows another."""
    return lambda n_in, n_out: nn.Sequential(layer(n_in), nn.Linear(n_in, n_out))


def convolution(n_in, n_out):
    return nn.Sequential(
        nn.Unflatten(1, (1, n_in)),
        nn.Conv1d(1, 4, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(4 * (n_in - 2), n_out),
    )


def frozen(n_in, n_out):
    module = nn.Sequential(nn.Linear(n_in, 4), nn.Linear(4, n_out))
    module[0].weight.requires_grad_(False)
    return module


def start(factory, n_columns=N_COLUMNS, n_outputs=1, intercept=True):
    """Return a network, its parameters and the base rates of a stack of models."""
    network = ModuleNetwork(factory)
    base = torch.linspace(-2, 2, N_MODELS * n_outputs, dtype=torch.float64).reshape(N_MODELS, n_outputs)
    return network, network.initial(torch.arange(N_MODELS), n_columns, base, intercept), base


def random_input(n_samples=5, n_columns=N_COLUMNS):
    """Return columns, and the scale and shift of each model."""
    generator = torch.Generator().manual_seed(0)
    X, scale, shift = (
        torch.randn(n, n_columns, generator=generator, dtype=torch.float64)
        for n in (n_samples, N_MODELS, N_MODELS)
    )
    return DenseColumns(X), scale, shift


STACKED = [
    Around,
    Scalar,
    NamedBase,
    CalledTwice,
    Constant,
    convolution,
    after(lambda n: nn.Dropout(0)),
    after(nn.LayerNorm),
    lambda n_in, n_out: nn.Linear(n_in, n_out, bias=False),
]
REFUSED = [
    (frozen, r"frozen parameters \(0.weight\).*plain tensor attributes"),
    (Tied, r"repeats parameters \(second.weight\).*call it twice"),
    (lambda n_in, n_out: Plain(), "no parameters.*give it a layer"),
    (after(lambda n: nn.Dropout(0.5)), "contains Dropout, .*hidden state.*remove it"),
    (after(nn.BatchNorm1d), "contains BatchNorm1d, .*hidden state.*LayerNorm"),
    (after(lambda n: nn.BatchNorm1d(n, track_running_stats=False)), "contains BatchNorm1d"),
    (Recurrent, "does not run in a stack of models .*lstm.*torch.func.vmap"),
    (nn.LSTM, "does not run in a stack of models"),
    (Noisy, "does not run in a stack of models .*random"),
    (lambda n_in, n_out: nn.Linear(n_in, n_out + 1), r"shape \(1, 2\), but 1 outputs are needed"),
]


@pytest.mark.parametrize("factory", STACKED)
@pytest.mark.parametrize("intercept", [True, False])
def test_stack_equals_each_module_alone_plus_its_base(factory, intercept):
    network, parameters, base = start(factory, n_outputs=2, intercept=intercept)
    columns, scale, shift = random_input()
    output = network.forward(parameters, columns, scale, shift)
    for seed in range(N_MODELS):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            module = factory(N_COLUMNS, 2).double()
        expected = module((columns.dense() - shift[seed]) * scale[seed]) + intercept * base[seed]
        torch.testing.assert_close(output[seed], expected.detach())


@pytest.mark.parametrize("factory", STACKED)
def test_every_parameter_is_trained(factory):
    network, parameters, _ = start(factory)
    for p in parameters.values():
        p.requires_grad_()
    network.forward(parameters, *random_input()).square().sum().backward()
    assert all((p.grad != 0).any() for p in parameters.values())


@pytest.mark.parametrize("intercept", [True, False])
def test_only_an_intercept_adds_a_constant(intercept):
    _, parameters, base = start(lambda n_in, n_out: nn.Linear(n_in, n_out, bias=False), intercept=intercept)
    assert len(parameters) == 1 + intercept
    assert any(torch.equal(p, base) for p in parameters.values()) == intercept


@pytest.mark.parametrize(("factory", "message"), REFUSED)
def test_what_can_not_be_stacked_is_refused(factory, message):
    state = torch.get_rng_state()
    with pytest.raises(ValueError, match=message):
        start(factory)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_refusal_keeps_its_cause():
    with pytest.raises(ValueError, match="does not run") as caught:
        start(Recurrent)
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("factory", STACKED)
def test_global_random_numbers_are_untouched(factory):
    state = torch.get_rng_state()
    network, parameters, _ = start(factory)
    network.floats(N_COLUMNS, 10, 1)
    network.forward(parameters, *random_input())
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("factory", STACKED)
def test_narrow_equals_the_other_columns_at_zero(factory):
    network, parameters, _ = start(factory)
    columns, scale, shift = random_input()
    fed = torch.tensor([1, 4])
    closed = torch.zeros_like(scale)
    closed[:, fed] = scale[:, fed]
    narrowed, few = network.narrow(parameters, fed)
    output = narrowed.forward(few, DenseColumns(columns.dense()[:, fed]), scale[:, fed], shift[:, fed])
    torch.testing.assert_close(output, network.forward(parameters, columns, closed, shift))


def test_a_narrowed_model_is_no_larger_than_its_parameters():
    sizes = {}
    for n_columns in (10, 2000):
        network, parameters, _ = start(nn.Linear, n_columns)
        narrowed = pickle.dumps(network.narrow(parameters, torch.tensor([3, 7, 1])))
        sizes[n_columns] = len(narrowed) - sum(p.nbytes for p in parameters.values())
    assert sizes[2000] < sizes[10] + 100
    assert sizes[2000] < 5000


def fit_rare(network, n_steps):
    """Fit a classifier to 5% positives, which the first column tells apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, N_COLUMNS))
    y = X[:, 0] > np.quantile(X[:, 0], 0.95)
    training = Training(n_steps=n_steps, n_snapshots=2)
    return GatedClassifier(lam=0.1, network=network, training=training, random_state=0).fit(X, y), X, y


def test_a_model_starts_from_the_base_rate():
    def quiet(n_in, n_out):
        module = nn.Linear(n_in, n_out)
        nn.init.zeros_(module.bias)
        nn.init.normal_(module.weight, std=0.01)
        return module

    model, X, y = fit_rare(ModuleNetwork(quiet), n_steps=1)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), atol=0.01)


@pytest.mark.parametrize("factory", [convolution, Scalar, CalledTwice])
def test_a_fitted_module_predicts_the_same_after_pickling(factory):
    model, X, y = fit_rare(ModuleNetwork(factory), n_steps=300)
    assert model.score(X, y) > 0.96
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
