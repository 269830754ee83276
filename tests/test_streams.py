import pytest
import torch
from scipy import stats

from stochgate.streams import GATES, WEIGHTS, fold, normal, uniform

INDEX = torch.arange(100_000)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_are_uniform_and_normal(dtype):
    key = fold(torch.tensor([0]), GATES)
    u, x = uniform(key, INDEX, dtype)[0], normal(key, INDEX, dtype)[0]
    assert u.min() > 0
    assert u.max() < 1
    assert x.isfinite().all()
    assert stats.kstest(u.double().numpy(), "uniform").pvalue > 1e-3
    assert stats.kstest(x.double().numpy(), "norm").pvalue > 1e-3


def test_streams_do_not_correlate():
    seeds = torch.tensor([0, 1, 2, 3, 2**31 - 1])
    keys = [fold(fold(seeds, tag), step) for tag in (GATES, WEIGHTS) for step in (0, 1, 2)]
    u = uniform(torch.cat(keys), INDEX, torch.float64)  # (30, 100000)
    shifted = torch.cat([u, u[:1].roll(1, 1)])  # and with its own neighbours
    correlation = torch.corrcoef(shifted) - torch.eye(len(shifted))
    assert correlation.abs().max() < 5 / len(INDEX) ** 0.5


def test_a_number_depends_on_its_key_and_index_alone():
    keys = torch.tensor([5, 9, 5])
    together = uniform(keys, torch.arange(10), torch.float64)
    assert torch.equal(together[0], together[2])
    assert torch.equal(together[1, 3:4], uniform(keys[1], torch.tensor([3]), torch.float64))


def test_single_precision_rounds_the_same_numbers():
    key = torch.tensor([4])
    difference = uniform(key, INDEX, torch.float32).double() - uniform(key, INDEX, torch.float64)
    assert difference.abs().max() < 2**-22


def test_fold_takes_integers_and_tensors_alike():
    key = torch.tensor([1, 2])
    assert torch.equal(fold(key, 7), fold(key, torch.tensor(7)))
