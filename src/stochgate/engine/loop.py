"""The only training loop: the paper's Algorithm 1 for a stack of models."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import Any

import torch
from torch import Tensor

from stochgate.engine.backend.cpu_packing import pack
from stochgate.engine.backend.cpu_step import layers_by_hand
from stochgate.engine.batches import RowStream, batches
from stochgate.engine.data import Design, learn_scaling
from stochgate.engine.in_training import InTraining, SavedState, begin
from stochgate.engine.optimizers import Averaged
from stochgate.engine.plan import CLOSED, FREE, Plan
from stochgate.engine.record import Callback, snapshot_steps
from stochgate.engine.steps import Step, make_step, network_lr, set_lr
from stochgate.engine.trained import Models, Trained
from stochgate.objectives.base import Target
from stochgate.streams import GATES, distinct, fold, uniform

# Random numbers drawn at once: many, to spread the cost of launching, but not more than a cache holds.
_NOISE_BLOCK = {"cpu": 1 << 16, "cuda": 1 << 20}


def train(
    plan: Plan,
    design: Design,
    target: Target,
    callbacks: tuple[Callback, ...] = (),
    numbers: Tensor | None = None,
    stream: RowStream | None = None,
    saved: SavedState | None = None,
) -> Trained:
    """Train all models of a plan together.

    Each model minimises its own mean loss plus ``lam * sum_g cost_g P(z_g > 0) / n_gates``; losses are
    summed over models, so no gradient crosses from one to another.

    Parameters
    ----------
    plan : Plan
    design : Design
    target : Target
        Its tensors on the device of `plan.weights`.
    callbacks : tuple of callables
        Each is called with a `Snapshot` every time one is taken.
    numbers : int64 Tensor, shape (n_models,), optional
        What callbacks are told the models are called; 0, 1, ... by default.
    stream : RowStream, optional
        Where each step's rows come from. Those of `design` and `target` are then a sample of them, from
        which scales are learnt and on which snapshots are taken.
    saved : SavedState, optional
        Keeps the state at snapshots; a training goes on from the state that it has.

    Returns
    -------
    Trained
    """
    training = plan.training
    models, packing = start(plan, design, target), None
    layers = layers_by_hand(models, design)
    if layers is not None and stream is None:
        models, design, packing = pack(models, design, layers)
    now = begin(models, design, target, numbers)
    if saved is not None and (state := saved.load()) is not None:
        now.restore(state)
    last_step = min(plan.last_step or training.n_steps, training.n_steps)
    snapshots = snapshot_steps(plan) | {last_step}
    take_step, noise = _ready(now, stream)
    source = partial(batches, target=target) if stream is None else stream.batches
    batch = source(now.design, plan=plan, start=now.step)
    while now.step < last_step:
        now.step += 1
        lam = now.models.plan.lam * training.penalty_factor((now.step - 1) / training.n_steps)
        if not plan.accelerated:
            set_lr(now.optimizer, network_lr(training, now.step - 1))
        take_step(next(batch), next(noise), lam)
        if now.step in snapshots:
            going_on = now.record.add(now.step, now.models, now.design, callbacks)
            if len(going_on) == 0:
                break
            if len(going_on) < now.models.plan.n_models:
                now.go_on_with(going_on)
                take_step, noise = _ready(now, stream)
                if packing is not None:  # each has columns of its own
                    batch = source(now.design, plan=plan, start=now.step)
            if saved is not None and now.step < last_step:
                saved.keep(now.state)
    trained = now.record.result()
    return trained if packing is None else replace(trained, models=packing.unpack(trained.models))


def _ready(now: InTraining, stream: RowStream | None) -> tuple[Step, Iterator[Tensor]]:
    """Return what takes the next steps, and the noise that they take."""
    noise = draw_noise(now.models.plan, now.design.n_gates, now.step)
    optimizer: Any = now.optimizer
    if stream is not None and stream.average is not None:
        optimizer = Averaged(optimizer, stream.average)
    return make_step(now.models, now.design, optimizer), noise


def start(plan: Plan, design: Design, target: Target) -> Models:
    """Learn each model's scaling and draw its initial weights; constant columns close their gates."""
    scaling = learn_scaling(design.columns, plan.weights, plan.training.standardize)
    constant = design.all_columns(scaling.scale == 0)
    fixed = torch.where(constant, CLOSED, plan.fixed)
    learned = plan.objective.learn(target.rows, plan.weights)
    base = plan.objective.base(target.rows, plan.weights, learned)
    total = plan.objective.total(target.rows, plan.weights, learned)
    parameters = plan.network.initial(plan.seed, design.n_total, base, plan.objective.intercept)
    if design.kept is not None:
        network, parameters = plan.network.narrow(parameters, design.kept)
        plan = replace(plan, network=network)
    mu = plan.gate.initial(plan.n_models, design.n_gates, base.dtype, base.device)
    return Models(plan, fixed, parameters, mu, scaling, learned, total, base)


def draw_noise(plan: Plan, n_gates: int, step: int) -> Iterator[Tensor]:
    """Yield each step's noise from step `step` on, shape (n_draws, n_models, n_gates).

    It is drawn in blocks of steps, which begin at the same steps wherever a training goes on.
    """
    n_draws = plan.training.n_draws
    if not (plan.fixed == FREE).any():  # nothing is drawn
        yield from repeat(plan.weights.new_zeros(n_draws, 1, 1))
    device = plan.seed.device
    at_once = _NOISE_BLOCK.get(device.type, _NOISE_BLOCK["cpu"])
    block = max(1, min(64, at_once // (n_draws * plan.n_models * n_gates)))
    gates = torch.arange(n_gates, device=device)
    draws = torch.arange(n_draws, device=device).view(-1, 1)
    seeds, place = distinct(plan.seed)
    key = fold(seeds, GATES)
    skip = step % block
    step -= skip
    while True:
        steps = torch.arange(step, step + block, device=device).view(-1, 1, 1)
        keys = fold(fold(key, steps), draws)  # (block, n_draws, n_seeds)
        noise = plan.gate.noise(uniform(keys, gates, plan.weights.dtype))
        yield from noise.index_select(2, place)[skip:]
        step, skip = step + block, 0
