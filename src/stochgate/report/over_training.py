"""The gates over training: of the chosen features, and of some of the others."""

from typing import Any

import numpy as np

from stochgate.report.columns import Columns
from stochgate.report.plain import spread_out

MOST_CHOSEN = 40
MOST_OTHERS = 40
MOST_SNAPSHOTS = 60


def describe_gates(model: Any, columns: Columns) -> dict[str, Any] | None:
    """Return the gates at each snapshot of training; None where none were kept, or none made the choice.

    Of the features that were not chosen the half that is shown are the most important ones, the others
    are spread evenly over the rest.

    Parameters
    ----------
    model : fitted estimator
    columns : Columns
    """
    history = getattr(model, "gate_history_", None)
    if history is None or len(history["step"]) < 2 or model.summary().headline is not None:
        return None
    order = np.argsort(-model.feature_importances_, kind="stable")
    chosen, others = order[model.support_[order]], order[~model.support_[order]]
    first, rest = others[: MOST_OTHERS // 2], others[MOST_OTHERS // 2 :]
    shown = [*first, *(rest[spread_out(len(rest), MOST_OTHERS // 2)] if len(rest) else [])]
    at = spread_out(len(history["step"]), MOST_SNAPSHOTS)
    gates, lam = np.asarray(history["gates"])[at], np.broadcast_to(history["lam"], len(history["step"]))[at]

    def curves(positions: Any) -> list[dict[str, Any]]:
        return [
            {"feature": columns.add_position(j), "gate": gates[:, j].astype(float).round(4)}
            for j in map(int, positions)
        ]

    return {
        "step": np.asarray(history["step"])[at],
        "lam": lam.astype(float),
        "lam_grows": bool(lam[-1] > lam[0]),
        "is_models": bool(np.allclose(gates[-1], model.gates_, atol=0.01)),
        "n_open": (gates > 0).sum(axis=1),
        "chosen": curves(chosen[:MOST_CHOSEN]),
        "others": curves(shown),
    }
