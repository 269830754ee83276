import math

import pytest
import torch
from scipy import stats

from stochgate.gates import GATES, DeterministicGate, GaussianGate, HardConcreteGate
from stochgate.streams import uniform

STOCHASTIC = [GaussianGate(), GaussianGate(sigma=0.2), HardConcreteGate(), HardConcreteGate(0.4)]
ALL = [*STOCHASTIC, DeterministicGate()]
PARAMETER = torch.tensor([[-2.0, -0.6, -0.1, 0.0, 0.3, 0.5, 1.2]], dtype=torch.float64)


@pytest.mark.parametrize("gate", STOCHASTIC, ids=str)
def test_open_probability_equals_monte_carlo_frequency(gate):
    n = 200_000
    keys = torch.arange(PARAMETER.numel())
    u = uniform(keys, torch.arange(n), torch.float64)  # (n_gates, n)
    z = gate.sample(PARAMETER.T, gate.noise(u))
    frequency = (z > 0).double().mean(1)
    p = gate.open_probability(PARAMETER)[0]
    standard_error = (p * (1 - p) / n).sqrt()
    assert ((frequency - p).abs() <= 4 * standard_error + 1e-12).all()


@pytest.mark.parametrize("sigma", [0.2, 0.5, 1.0])
def test_gaussian_penalty_gradient_is_the_normal_density(sigma):
    mu = PARAMETER.clone().requires_grad_()
    GaussianGate(sigma).open_probability(mu).sum().backward()
    expected = torch.exp(-(PARAMETER**2) / (2 * sigma**2)) / math.sqrt(2 * math.pi * sigma**2)
    torch.testing.assert_close(mu.grad, expected)


def test_hard_concrete_penalty_gradient_is_the_logistic_density():
    gate = HardConcreteGate()
    log_alpha = PARAMETER.clone().requires_grad_()
    gate.open_probability(log_alpha).sum().backward()
    location = gate.beta * math.log(-gate.tau / gate.zeta)
    expected = stats.logistic.pdf(PARAMETER.numpy(), loc=location)
    torch.testing.assert_close(log_alpha.grad, torch.tensor(expected))


@pytest.mark.parametrize("gate", ALL, ids=str)
def test_gates_lie_between_0_and_1(gate):
    u = uniform(torch.tensor([1]), torch.arange(7), torch.float64)
    for z in (gate.sample(PARAMETER * 10, gate.noise(u)), gate.value(PARAMETER * 10)):
        assert (z >= 0).all()
        assert (z <= 1).all()


def test_gates_start_alike():
    gaussian, concrete = GaussianGate(), HardConcreteGate()
    for gate, p in ((gaussian, 0.84), (concrete, 0.83)):
        start = gate.initial(1, 1, torch.float64, torch.device("cpu"))
        assert gate.value(start).item() == pytest.approx(0.5)
        assert gate.open_probability(start).item() == pytest.approx(p, abs=0.005)


@pytest.mark.parametrize("gate", [GaussianGate(), HardConcreteGate()], ids=str)
def test_unit_is_the_way_to_a_closed_gate(gate):
    closing = torch.tensor(gate.start - 0.5 * gate.unit, dtype=torch.float64)
    assert gate.value(closing).item() == pytest.approx(0, abs=1e-12)
    assert gate.value(closing + 0.01).item() > 0


def test_a_clipped_draw_has_no_gradient():
    mu = torch.tensor([[-1.0, 0.5, 2.0]], requires_grad=True)
    DeterministicGate().sample(mu, torch.zeros(1, 3)).sum().backward()
    assert mu.grad.tolist() == [[0.0, 1.0, 0.0]]


def test_a_closed_gaussian_gate_has_a_second_chance_and_a_deterministic_one_has_not():
    mu = torch.full((1, 1000), -0.3, requires_grad=True)
    u = uniform(torch.tensor([3]), torch.arange(1000), torch.float32)
    for gate, reached in ((GaussianGate(), True), (DeterministicGate(), False)):
        mu.grad = None
        gate.sample(mu, gate.noise(u)).sum().backward()
        assert bool((mu.grad != 0).any()) is reached


def test_every_gate_has_a_name():
    assert {type(gate) for gate in ALL} == set(GATES.values())
