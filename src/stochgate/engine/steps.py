"""One training step of a stack of models, and its recording on a GPU."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from stochgate.engine.backend.cpu_step import make_cpu_step
from stochgate.engine.batches import Batch
from stochgate.engine.data import DenseColumns, Design
from stochgate.engine.optimizers import Adam, AnyOptimizer
from stochgate.engine.trained import Models
from stochgate.engine.training import Training

Step = Callable[[Batch, Tensor, Tensor], None]
_WARM_UP = 3  # steps before a GPU's is recorded, so that all buffers exist


def make_step(models: Models, design: Design, optimizer: AnyOptimizer) -> Step:
    """Return a function of (batch, noise, lam) that trains the models by one step.

    On a GPU, where launching the many small operations of a step takes longer than they do, a step over
    rows that come again is recorded once as a CUDA graph and then replayed.
    """
    by_hand = make_cpu_step(models, design, optimizer)
    if by_hand is not None:
        return by_hand

    def step(batch: Batch, noise: Tensor, lam: Tensor) -> None:
        value = risk(models, design, batch, noise)
        if not models.none_free:
            value = value + lam * models.penalty()
        own = models.plan.network.penalty(models.parameters)
        if own is not None:
            value = value + own
        optimizer.zero_grad(set_to_none=True)
        value.sum().backward()
        optimizer.step()

    recordable = models.plan.network.recordable and isinstance(design.columns, DenseColumns)
    return GraphedStep(step) if models.gate_parameter.is_cuda and recordable else step


class GraphedStep:
    """Steps on the GPU: one for all rows, or for each of a few batches that take turns, is recorded."""

    def __init__(self, step: Step):
        self.step = step
        self.recordings: dict[int, Recording] = {}

    def __call__(self, batch: Batch, noise: Tensor, lam: Tensor) -> None:
        """Take a step, recorded where the columns come again."""
        take = self.step
        if isinstance(batch.columns, DenseColumns) and not batch.columns.once:
            take = self.recordings.setdefault(id(batch.columns), Recording(self.step))
        with torch.cuda.device(noise.device):
            take(batch, noise, lam)


class Recording:
    """A step of the same columns and rows each time, only noise and lam are new."""

    def __init__(self, step: Step):
        self.step, self.taken = step, 0

    def __call__(self, batch: Batch, noise: Tensor, lam: Tensor) -> None:
        """Take a step; the first ones as they are, one records, the others replay it."""
        self.taken += 1
        if self.taken <= _WARM_UP:
            _aside(lambda: self.step(batch, noise, lam))
            return
        if self.taken == _WARM_UP + 1:
            self.noise, self.lam, self.graph = noise.clone(), lam.clone(), torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.step(batch, self.noise, self.lam)
        self.noise.copy_(noise)
        self.lam.copy_(lam)
        self.graph.replay()


def _aside(action: Callable[[], None]) -> None:
    """Run on a stream of its own, as steps that precede a recording must."""
    stream, current = torch.cuda.Stream(), torch.cuda.current_stream()
    stream.wait_stream(current)
    with torch.cuda.stream(stream):
        action()
    current.wait_stream(stream)


def risk(models: Models, design: Design, batch: Batch, noise: Tensor) -> Tensor:
    """Return each model's mean loss on a batch, averaged over the draws, shape (n_models,).

    A batch stands for its share of all rows: its summed loss is divided by that share of the model's
    total weight, so that batches average to the full loss and one without weight adds 0.
    """
    plan = models.plan
    weights = batch.weigh(plan)
    total = models.total * (batch.columns.n_samples / design.columns.n_samples)
    losses = []
    for draw in range(plan.training.n_draws):
        output = models.outputs(models.draw(noise[draw]), design, batch.columns)
        losses.append(plan.objective.loss(output, batch.rows, weights, models.learned))
    loss = losses[0] if len(losses) == 1 else torch.stack(losses).mean(0)
    return loss / total.clamp_min(torch.finfo(total.dtype).tiny)


def network_lr(training: Training, step: int) -> float:
    """Return the network's step size."""
    if training.lr_decay == "constant":
        return training.lr
    return training.lr * 0.5 * (1 + math.cos(math.pi * step / training.n_steps))


def set_lr(optimizer: AnyOptimizer, lr: float) -> None:
    """Set the network's step size, in place where a recorded step reads it."""
    group = optimizer.param_groups[0]
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(lr)
    else:
        group["lr"] = lr


def make_optimizer(models: Models, training: Training) -> AnyOptimizer:
    """Make the optimiser; its updates are element by element, so models stay apart."""
    gate_lr = training.gate_lr * models.plan.gate.unit
    cuda = models.gate_parameter.is_cuda
    device = models.gate_parameter.device
    sizes = [torch.tensor(lr, device=device) if cuda else lr for lr in (training.lr, gate_lr)]
    groups = [
        {"params": [p.requires_grad_() for p in models.parameters.values()], "lr": sizes[0]},
        {"params": [models.gate_parameter.requires_grad_()], "lr": sizes[1]},
    ]
    if training.optimizer == "sgd":
        return torch.optim.SGD(groups, momentum=training.momentum, fused=True)
    if cuda:
        return torch.optim.Adam(groups, fused=True, capturable=True)
    return Adam(groups)
