"""How strong the penalty is as training goes on: functions of the share of steps done."""

from collections.abc import Callable


def constant(progress: float) -> float:
    """Full penalty throughout."""
    return 1.0


def warm_up(progress: float) -> float:
    """No penalty in the first fifth of the training, full penalty after it."""
    return float(progress >= 0.2)


def ramp(progress: float) -> float:
    """Penalty growing linearly from 0 to full over the first half."""
    return min(1.0, 2 * progress)


SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": constant,
    "warm-up": warm_up,
    "ramp": ramp,
}
