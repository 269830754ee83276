"""Does a gate tell anything that the other columns do not: the real columns against conditional shadows.

References
----------
Tansey, Veitch, Zhang, Rabadan and Blei (2022), The holdout randomization test for feature selection in
black box models, Journal of Computational and Graphical Statistics 31, 151-162.
"""

import numpy as np
import torch
from scipy.stats import norm
from torch import Tensor

from stochgate.choice.rows import with_fewer_rows
from stochgate.engine import DenseColumns, Design, Trained
from stochgate.problem.problem import Problem

N_DRAWS = 100
LEVEL = 0.01  # at which columns count as correlated, over all of them
ROUNDING = 10  # times the precision of a loss is no difference, as where a shadow equals its column


def conditional_p_values(
    problem: Problem,
    lam: float,
    last_step: int,
    halves: np.ndarray,
    candidates: np.ndarray,
    seed: int,
    *,
    given_others: bool = True,
) -> np.ndarray:
    r"""Return a p-value for every gate, shape (n_gates,); 1 for those that are no candidates.

    Models that learn from some rows are judged on the others, once with a gate's columns and often with
    conditional shadows of them. Summed over the models that open the gate, the loss with the real columns
    must stand out:

    .. math:: z = \frac{\text{mean}_s L(\tilde x_s) - L(x)}{\text{sd}_s L(\tilde x_s)},
        \quad p = 1 - \Phi(z)

    Parameters
    ----------
    problem : Problem
    lam : float
    last_step : int
    halves : ndarray of bool, shape (n_models, n_samples)
        Which rows each model folds from; it is judged on the others.
    candidates : ndarray of bool, shape (n_gates,)
    seed : int
    given_others : bool, default=True
        Whether shadows know what the other columns say; otherwise they are permuted columns, and a small p
        says only that the models use the gate.
    """
    p_values = np.ones(len(candidates))
    if not candidates.any():
        return p_values
    weights, test = problem.fold_weights(halves)
    seeds = problem.seed + np.arange(len(halves))
    plan = problem.plan(lam, seeds, weights, problem.fixed[None], last_step=last_step)
    trained, design = problem.execute(with_fewer_rows(plan))
    opened = (trained.models.gates() > 0).cpu().numpy()  # (n_models, n_gates)
    tested = np.flatnonzero(candidates & opened.any(axis=0))
    if len(tested) == 0:
        return p_values
    judge = _Judge(problem, trained, design, test)
    generator = torch.Generator().manual_seed(seed)
    for gate in tested:
        in_models = torch.from_numpy(opened[:, gate]).to(weights.device)
        p_values[gate] = judge.p_value(int(gate), in_models, generator, given_others)
    return p_values


class _Judge:
    """Trained models on the columns that any of them uses, judged with some of the columns replaced."""

    def __init__(self, problem: Problem, trained: Trained, design: Design, test: Tensor):
        models = trained.models
        scale = design.spread(models.gates())
        used = torch.nonzero(scale.any(0))[:, 0]
        self.network, self.parameters = models.plan.network.narrow(models.parameters, used)
        self.scale = (scale * models.scaling.scale)[:, used]
        self.shift = None if models.scaling.shift is None else models.scaling.shift[:, used]
        self.X = design.columns.take(used).dense()
        self.gate_of = design.gate_of_column()[used]
        self.design, self.learned, self.test = problem.design, models.learned, test
        self.objective, self.rows = problem.objective, problem.target.rows
        self.peers = problem.objective.peers(problem.target.rows).to(self.X.device)

    @torch.no_grad()
    def p_value(
        self, gate: int, in_models: Tensor, generator: torch.Generator, given_others: bool
    ) -> float:
        """Return the p-value of one gate, judged by the models that open it."""
        at = self.gate_of == gate
        real = self.X[:, at]
        expected = self._expected(gate, real) if given_others else torch.zeros_like(real)
        losses = [self._loss(self.X, in_models)]
        X = self.X.clone()
        for _ in range(N_DRAWS):
            order = _shuffle_within(self.peers, generator)
            X[:, at] = expected + (real - expected)[order]
            losses.append(self._loss(X, in_models))
        with_real, shadows = losses[0], torch.stack(losses[1:])
        rounding = ROUNDING * torch.finfo(X.dtype).eps * with_real.abs()
        spread = shadows.std().clamp_min(rounding).clamp_min(torch.finfo(shadows.dtype).tiny)
        return float(norm.sf(float((shadows.mean() - with_real) / spread)))

    def _loss(self, X: Tensor, in_models: Tensor) -> Tensor:
        output = self.network.forward(self.parameters, DenseColumns(X), self.scale, self.shift)
        losses = self.objective.loss(output, self.rows, self.test, self.learned)
        return losses[in_models].double().sum()

    def _expected(self, gate: int, real: Tensor) -> Tensor:
        """Return what the correlated columns of other gates say of a gate's columns; 0 without any."""
        columns, n_samples = self.design.columns, len(real)
        centred = real - real.mean(0)
        mean = columns.project(torch.full_like(centred[:, :1], 1 / n_samples))
        squares = (columns.squares()[:, None] - n_samples * mean.square()).clamp_min(0)
        norms = (squares * centred.square().sum(0)).sqrt()  # (n_columns, n_columns of the gate)
        product = columns.project(centred).abs() / norms.clamp_min(torch.finfo(norms.dtype).tiny)
        strength = torch.where(self.design.gate_of_column() == gate, 0, product.amax(1))  # |correlation|
        limit = norm.isf(LEVEL / 2 / len(strength)) / n_samples**0.5
        strongest = strength.topk(min(max(1, n_samples // 10), len(strength))).indices
        strongest = strongest[strength[strongest] > limit]
        if len(strongest) == 0:
            return torch.zeros_like(real)
        others = columns.take(strongest).dense().double().cpu()
        others = torch.cat([others, torch.ones_like(others[:, :1])], dim=1)
        # columns may depend on each other, which "gelsd" alone can bear; it is not there on a GPU
        return (others @ torch.linalg.lstsq(others, real.double().cpu(), driver="gelsd").solution).to(real)


def _shuffle_within(peers: Tensor, generator: torch.Generator) -> Tensor:
    """Return an order of the rows in which each moves to the place of one of its peers.

    A column may well depend on the stratum of a row, which the loss takes as given.
    """
    order = torch.randperm(len(peers), generator=generator).to(peers.device)
    by_peers = torch.argsort(peers, stable=True)
    return order[torch.argsort(peers[order], stable=True)][torch.argsort(by_peers)]
