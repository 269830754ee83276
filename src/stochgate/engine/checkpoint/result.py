"""The result of a plan as tensors, and back."""

from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from stochgate.engine.data import Design, Scaling
from stochgate.engine.loop import start
from stochgate.engine.plan import Plan
from stochgate.engine.trained import Models, Trained
from stochgate.objectives.base import Target

_OF_MODELS = ("fixed", "parameters", "gate_parameter", "learned", "total", "base")
_RECORDED = tuple(field.name for field in fields(Trained) if field.name != "models")


def to_tensors(trained: Trained) -> dict[str, Any]:
    """Return what a training has found; the plan is not part of it."""
    models = trained.models
    return {
        **{name: getattr(trained, name) for name in _RECORDED},
        "models": {name: getattr(models, name) for name in _OF_MODELS},
        "scale": models.scaling.scale,
        "shift": models.scaling.shift,
    }


def from_tensors(found: dict[str, Any], plan: Plan, design: Design, target: Target) -> Trained:
    """Return the result of a plan, given what was found; as `execute` returned it."""
    first = torch.zeros(1, dtype=torch.int64, device=plan.seed.device)
    network = start(plan.take(first), design, target).plan.network  # made ready, or of fewer columns
    plan = plan if network is plan.network else replace(plan, network=network)
    found = {**_to(found, plan.weights.device), "steps": found["steps"]}  # the steps stay on the CPU
    scaling = Scaling(found.pop("scale"), found.pop("shift"))
    models = Models(plan, scaling=scaling, **found.pop("models"))
    return Trained(models=models, **found)


def _to(found: Any, device: torch.device) -> Any:
    if isinstance(found, dict):
        return {name: _to(value, device) for name, value in found.items()}
    return found.to(device) if isinstance(found, Tensor) else found
