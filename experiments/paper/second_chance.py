"""Fig. dnc (bottom) of the paper: gates that training has closed and that open again.

The claim: the noise of STG gives a feature a "second chance", in the paper's example after about 4,000
epochs, while a gate that DNC has closed gets no gradient and stays closed. The check: the linear regression
of `recovery` with 60 samples, 10,000 steps, all C of its grid (the paper does not print the one of its
figure); the gates, without noise, of the 10 informative features at every tenth step. A gate has come back
if it was closed at one of these steps and is open at the end.

The picture shows one gate. It is chosen by STG alone: of those that came back in a run the one that did so
last, of the first five runs again the last. The other methods show the same gate of the same run.

    python -m experiments run second-chance --jobs 2
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from experiments.claims import Claim, Paper
from experiments.experiment import Experiment
from experiments.paper.parts.recovery_shared import (
    CONSTANT_GRID,
    GATE_OF,
    N_STEPS,
    draw_problem,
    train_gated,
)
from experiments.paper.parts.second_chance_claims import (
    LATE,
    draw,
    judge_lateness,
    judge_return,
    make_tables,
)

N_SAMPLES, EVERY = 60, 10  # samples of a run, steps between two looks at the gates
N_POINTS = 100  # of a gate's curve, at steps that grow by a constant factor


@dataclass(frozen=True)
class GatePaths:
    """The informative gates during training.

    Attributes
    ----------
    steps : ndarray, shape (n_looks,)
    values : ndarray, shape (n_looks, n_constants, n_relevant)
    """

    steps: np.ndarray
    values: np.ndarray

    @property
    def closed(self) -> np.ndarray:
        """Whether each gate is closed, shape (n_looks, n_constants, n_relevant)."""
        return self.values == 0

    @property
    def reopened(self) -> np.ndarray:
        """Whether each gate is open after it was closed, at any later look, shape as `closed`."""
        return np.logical_or.accumulate(self.closed) & ~self.closed

    @property
    def opened_at(self) -> np.ndarray:
        """The step of each gate that came back at which it opened for good; 0 for the others."""
        n_looks = len(self.steps)
        last_closed = n_looks - 1 - self.closed[::-1].argmax(axis=0)
        opened = self.steps[np.minimum(last_closed + 1, n_looks - 1)]
        return np.where(self.reopened[-1], opened, 0)


@lru_cache(maxsize=2)  # the other methods of a run ask for STG's again
def follow_gates(method: str, seed: int, n_steps: int, device: str) -> GatePaths:
    """Train with each C and return the paths of the informative gates."""
    problem = draw_problem(seed)
    stack = train_gated(
        method,
        [problem],
        [N_SAMPLES],
        CONSTANT_GRID,
        seeds=[seed],
        n_steps=n_steps,
        n_snapshots=n_steps // EVERY,
        device=device,
    )
    values = np.nan_to_num(stack.gate_path[:, :, problem.relevant])  # a gate that diverged is not open
    return GatePaths(stack.steps, values)


def run_cell(
    task: str, method: str, seed: int, *, device: str = "cpu", n_steps: int = N_STEPS
) -> dict[str, Any]:
    """Train one kind of gate; return how many informative gates closed and came back, for each C."""
    paths = follow_gates(method, seed, n_steps, device)
    n_closed = paths.closed.any(axis=0).sum(axis=1)
    n_back = paths.reopened[-1].sum(axis=1)
    return {
        "constants": list(CONSTANT_GRID),
        "n_closed": n_closed.tolist(),
        "n_reopened": paths.reopened.any(axis=0).sum(axis=1).tolist(),
        "n_back": n_back.tolist(),
        "opened_at": sorted(paths.opened_at[paths.opened_at > 0].tolist()),
        "all_closed": int(n_closed.sum()),
        "all_back": int(n_back.sum()),
        **show_example(paths, follow_gates("stg", seed, n_steps, device)),
        "n_models": len(CONSTANT_GRID),
        "n_steps": n_steps,
        "device": device,
    }


def show_example(paths: GatePaths, of_stg: GatePaths) -> dict[str, Any]:
    """Return the curve of the gate that came back last with STG; nothing where none did."""
    opened_at = of_stg.opened_at
    if not opened_at.any():
        return {}
    constant, gate = np.unravel_index(opened_at.argmax(), opened_at.shape)
    looks = np.unique(np.geomspace(1, len(paths.steps), N_POINTS).round().astype(int)) - 1
    return {
        "example_C": CONSTANT_GRID[constant],
        "example_gate": int(gate),
        "example_opened_at": int(opened_at.max()),
        "example_steps": paths.steps[looks].tolist(),
        "example_values": paths.values[looks, constant, gate].round(3).tolist(),
    }


SECOND_CHANCE = Experiment(
    name="second-chance",
    title="Fig. dnc, bottom: does a gate that training has closed open again with STG, and never with DNC?",
    tasks=["linear"],
    methods=list(GATE_OF),
    seeds=range(1000, 1020),
    run_cell=run_cell,
    tables=make_tables,
    metrics={
        "all_closed": "{} gates closed",
        "all_back": "{} came back",
        "cell_seconds": "{:.1f} s",
    },
    draw=draw,
    quick={"methods": ["stg", "hc", "dnc"], "seeds": [1000, 1001], "settings": {"n_steps": 1000}},
    paper=Paper(
        where="Fig. dnc, bottom",
        claims=[
            Claim(
                says="With STG a gate that is closed early may open again; with DNC it never does.",
                judge=judge_return,
            ),
            Claim(
                says="The second chance may come late in training.",
                published="about 4,000 epochs, one example",
                judge=judge_lateness,
            ),
        ],
        settings=f"those of `recovery` with N = {N_SAMPLES}, {N_STEPS:,} steps.",
        ours=f"all C of the grid, counted together; gates are read without noise, every {EVERY} steps. "
        f"Late means after {LATE:,} steps, half of those in the example: the median gate (holds), or any "
        "(partly).",
        differs="20 runs instead of one example.",
    ),
)
