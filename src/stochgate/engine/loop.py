"""The only training loop: the paper's Algorithm 1 for a stack of models."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat

import torch
from torch import Tensor

from stochgate.engine.backend.cpu_packing import own_columns_of, pack
from stochgate.engine.backend.cpu_step import layers_by_hand
from stochgate.engine.batches import RowStream, batches
from stochgate.engine.data import Design, learn_scaling
from stochgate.engine.descent import make_descent
from stochgate.engine.optimizers import AnyOptimizer
from stochgate.engine.plan import CLOSED, FREE, Plan
from stochgate.engine.record import Callback, Record, snapshot_steps
from stochgate.engine.steps import make_optimizer, make_step, network_lr, set_lr
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

    Returns
    -------
    Trained
    """
    training = plan.training
    models, packing = start(plan, design, target), None
    layers = layers_by_hand(models, design)
    if layers is not None and stream is None:
        models, design, packing = pack(models, design, layers)
    record = Record(models, target, numbers)
    optimizer: AnyOptimizer
    if plan.accelerated:
        optimizer = make_descent(models, design, target.rows)
    else:
        optimizer = make_optimizer(models, training)
    take_step = make_step(models, design, optimizer)
    noise = draw_noise(plan, design.n_gates, 0)
    last_step = min(plan.last_step or training.n_steps, training.n_steps)
    snapshots = snapshot_steps(plan) | {last_step}
    batch = batches(design, target, plan) if stream is None else stream.batches(design, plan)
    for step in range(1, last_step + 1):
        lam = models.plan.lam * training.penalty_factor((step - 1) / training.n_steps)
        if not plan.accelerated:
            set_lr(optimizer, network_lr(training, step - 1))
        take_step(next(batch), next(noise), lam)
        if step in snapshots:
            going_on = record.add(step, models, design, callbacks)
            if len(going_on) < models.plan.n_models:
                if len(going_on) == 0:
                    break
                models, optimizer = drop_stopped(models, optimizer, going_on)
                if packing is not None:  # each has columns of its own
                    design = own_columns_of(design, going_on)
                    batch = batches(design, target, models.plan, step)
                take_step = make_step(models, design, optimizer)
                noise = draw_noise(models.plan, design.n_gates, step)
    trained = record.result()
    return trained if packing is None else replace(trained, models=packing.unpack(trained.models))


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
    """Yield each step's noise, shape (n_draws, n_models, n_gates), drawn in blocks of steps."""
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
    while True:
        steps = torch.arange(step, step + block, device=device).view(-1, 1, 1)
        keys = fold(fold(key, steps), draws)  # (block, n_draws, n_seeds)
        noise = plan.gate.noise(uniform(keys, gates, plan.weights.dtype))
        yield from noise.index_select(2, place)
        step += block


def drop_stopped(models: Models, optimizer: AnyOptimizer, going_on: Tensor) -> tuple[Models, AnyOptimizer]:
    """Go on with some of the models, each with its own state of the optimiser."""
    fewer = models.take(going_on).copy()
    after = make_optimizer(fewer, models.plan.training)
    for old, new in zip(_all_parameters(optimizer), _all_parameters(after), strict=True):
        after.state[new] = {
            name: value[going_on] if value.shape == old.shape else value
            for name, value in optimizer.state[old].items()
        }
    return fewer, after


def _all_parameters(optimizer: AnyOptimizer) -> list[Tensor]:
    return [p for group in optimizer.param_groups for p in group["params"]]
