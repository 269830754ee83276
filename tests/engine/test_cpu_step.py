"""The step that is written out: when it is taken, and the slopes it needs."""

from dataclasses import replace

import pytest
import torch
from scipy.sparse import csr_array

from plans import make
from stochgate.engine import SparseColumns, Training
from stochgate.engine.backend.cpu_step import CpuStep, make_cpu_step
from stochgate.engine.loop import start
from stochgate.engine.steps import make_optimizer
from stochgate.gates import DeterministicGate, GaussianGate, HardConcreteGate
from stochgate.networks import MLP
from stochgate.objectives import Classification, Cox, Regression
from stochgate.objectives.base import Objective


def step_of(network, training=None, sparse=False):
    plan, design, target = make(Regression(), "regression", training or Training(), network=network)
    models = start(plan, design, target)
    if sparse:
        X = csr_array(design.columns.dense().numpy())
        design = replace(design, columns=SparseColumns(X, torch.float64, torch.device("cpu")))
    return make_cpu_step(models, design, make_optimizer(models, plan.training))


class Bent(MLP):
    def forward(self, parameters, columns, scale, shift):
        return super().forward(parameters, columns, scale, shift).sin()


@pytest.mark.parametrize("network", [MLP(), MLP(hidden=()), MLP(hidden=(3,), activation="tanh")], ids=str)
def test_chains_of_layers_are_written_out(network):
    assert isinstance(step_of(network), CpuStep)


@pytest.mark.parametrize(
    "asked",
    [
        {"network": MLP(skip=True)},
        {"network": MLP(activation="silu")},
        {"network": Bent()},
        {"network": MLP(), "training": Training(n_draws=2)},
        {"network": MLP(), "sparse": True},
    ],
    ids=str,
)
def test_others_are_left_to_autograd(asked):
    assert step_of(**asked) is None


@pytest.mark.parametrize("gate", [GaussianGate(0.3), HardConcreteGate(), DeterministicGate()], ids=str)
def test_slopes_of_gates_are_derivatives(gate):
    mu = torch.linspace(-3, 3, 41, dtype=torch.float64)[None].requires_grad_()
    noise = gate.noise(torch.linspace(0.01, 0.99, 41, dtype=torch.float64)[None])
    (of_sample,) = torch.autograd.grad(gate.sample(mu, noise).sum(), mu)
    (of_probability,) = torch.autograd.grad(gate.open_probability(mu).sum(), mu)
    torch.testing.assert_close(gate.sample_slope(mu.detach(), noise), of_sample)
    torch.testing.assert_close(gate.probability_slope(mu.detach()), of_probability)


@pytest.mark.parametrize(
    ("objective", "kind"),
    [
        (Classification(), "binary"),
        (Classification(class_weight="balanced"), "multiclass"),
        (Regression(), "regression"),
        (Regression(), "multioutput"),
        (Cox(), "survival"),
    ],
    ids=str,
)
def test_slopes_of_objectives_are_those_of_the_loss(objective, kind):
    plan, _, target = make(objective, kind, Training())
    learned = objective.learn(target.rows, plan.weights)
    generator = torch.Generator().manual_seed(0)
    shape = *plan.weights.shape, target.n_outputs
    output = torch.randn(shape, generator=generator, dtype=torch.float64)
    slopes = (
        kind.slope(objective, target.rows, plan.weights, learned)(output)
        for kind in (type(objective), Objective)
    )
    torch.testing.assert_close(*slopes)
