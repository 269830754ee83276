"""Linear regression with gates, as the paper's sections 7 and 8 train it, and the choice of its constant C.

The penalty of N samples is lambda_N = C alpha_N. The paper finds C "using a cross validated grid search in
the range [0.1, 10]" and prints no C; here it is chosen once per kind of gate, on draws that no result comes
from. The command prints, for each C, the held-out loss and how often exactly the informative features are
found, and so shows where `CONSTANTS` come from:

    python -m experiments.paper.parts.recovery_shared
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.baselines.gated_network import GATES
from experiments.stack import Stack, train_stack
from experiments.study import to_markdown
from stochgate.datasets import Problem, make_linear
from stochgate.engine import Training
from stochgate.networks import MLP
from stochgate.objectives import Regression

N_FEATURES, N_RELEVANT, NOISE_VARIANCE = 64, 10, 0.5
SIZES = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 120, 150, 200, 250)
MOST_ROWS, N_TEST = max(SIZES), 200
LEARNING_RATE, N_STEPS = 0.1, 10_000

# the gate of each method, and whether a Hard-Concrete gate takes longer steps
GATE_OF = {
    "stg": ("gaussian", "same"),
    "hc": ("hard-concrete", "same"),
    "hc-scaled": ("hard-concrete", "scaled"),
    "dnc": ("deterministic", "same"),
}
CONSTANT_GRID = tuple(np.geomspace(0.1, 10, 9).round(2).tolist())
TUNING_SEEDS, TUNING_SIZES = range(20), SIZES[1::2]
# read off the tables of `tuning_losses`: the lowest held-out loss, and the most exact supports
CONSTANTS = {
    "by-loss": {"stg": 0.18, "hc": 0.32, "hc-scaled": 0.18, "dnc": 0.32},
    "by-support": {"stg": 0.32, "hc": 0.56, "hc-scaled": 0.56, "dnc": 0.56},
}


def alpha_N(n_samples: Any) -> Any:
    r"""Return the penalty :math:`\sqrt{2 \sigma^2 \log(D - k) \log(k) / N}` of N samples."""
    logs = np.log(N_FEATURES - N_RELEVANT) * np.log(N_RELEVANT)
    return np.sqrt(2 * NOISE_VARIANCE * logs / np.asarray(n_samples))


def draw_problem(seed: int, rho: float = 0.0) -> Problem:
    """Draw the rows of a run: N samples are the first N of them, the last 200 are held out."""
    return make_linear(MOST_ROWS + N_TEST, N_FEATURES, N_RELEVANT, rho, random_state=seed)


def train_gated(
    method: str,
    problems: Sequence[Problem],
    sizes: Sequence[int],
    constants: Sequence[float],
    *,
    seeds: Sequence[int],
    n_steps: int = N_STEPS,
    n_snapshots: int = 1,
    device: str = "cpu",
) -> Stack:
    """Train a linear model for each run, number of samples and constant, in this order, as one stack.

    The rows of the runs lie one below the other; those of other runs have weight 0.
    """
    kind, gate_step = GATE_OF[method]
    gate = GATES[kind]()
    n_rows, shape = max(sizes), (len(problems), len(sizes), len(constants))
    run, size, constant = (index.ravel() for index in np.indices(shape))
    n_of_model = np.asarray(sizes)[size]
    of_run, row = np.divmod(np.arange(len(problems) * n_rows), n_rows)
    training = Training(
        n_steps,
        optimizer="sgd",
        lr=LEARNING_RATE,
        gate_lr=LEARNING_RATE if gate_step == "scaled" else LEARNING_RATE / gate.unit,
        momentum=0.0,
        lr_decay="constant",
        n_snapshots=n_snapshots,
        standardize=False,
    )
    return train_stack(
        np.concatenate([problem.X[:n_rows] for problem in problems]),
        np.concatenate([problem.y[:n_rows] for problem in problems]),
        objective=Regression(standardize=False),
        gate=gate,
        network=MLP((), init_std=0.1),
        training=training,
        # the paper's penalty is a sum over the gates, the engine's their mean
        lam=np.asarray(constants)[constant] * alpha_N(n_of_model) * N_FEATURES,
        seed=np.asarray(seeds)[run],
        weights=((of_run == run[:, None]) & (row < n_of_model[:, None])).astype(float),
        device=device,
    )


def tuning_losses(
    method: str, seeds: Iterable[int] = TUNING_SEEDS, rho: float = 0.0, n_steps: int = N_STEPS
) -> pd.DataFrame:
    """Return, per C, the mean log of the held-out loss and the share of models with the exact support.

    The logarithm lets each number of samples count alike: where samples are too few to learn from, losses
    are twenty times as large as where they are many.
    """
    shape = -1, len(CONSTANT_GRID)
    losses, exact = [], []
    for seed in seeds:
        problem = draw_problem(seed, rho)
        stack = train_gated(method, [problem], TUNING_SIZES, CONSTANT_GRID, seeds=[seed], n_steps=n_steps)
        errors = stack.outputs(problem.X[MOST_ROWS:])[:, :, 0] - problem.y[MOST_ROWS:]
        losses.append(np.log(np.mean(errors**2, axis=1)).reshape(shape))
        exact.append((stack.supports == problem.relevant).all(axis=1).reshape(shape))
    means = {"log loss": np.mean(losses, axis=(0, 1)), "exact": np.mean(exact, axis=(0, 1))}
    return pd.DataFrame(means, index=pd.Index(CONSTANT_GRID, name="C"))


if __name__ == "__main__":
    for name in GATE_OF:
        print(f"\n{name}\n\n{to_markdown(tuning_losses(name).round(3))}", flush=True)
