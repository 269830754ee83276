"""What every cell of a study does: fit a model, time it and score it on other rows."""

import time
import warnings
from typing import Any


def fit_and_score(
    model: Any, train: tuple[Any, Any], test: tuple[Any, Any], *silenced: type[Warning], **fit_params: Any
) -> dict[str, Any]:
    """Fit a model; return its score on the test rows, how many features it selects, and what it cost.

    Parameters
    ----------
    model : estimator with get_support and score
        One with a parameter `device` ran there, others on the CPU.
    train, test : (X, y)
    silenced : types of warning
        Not given while fitting, since the result says it.
    fit_params : dict
        Handed to `fit`.
    """
    start = time.perf_counter()
    with warnings.catch_warnings():
        for warning in silenced:
            warnings.simplefilter("ignore", warning)
        model.fit(*train, **fit_params)
    seconds = time.perf_counter() - start
    return {
        "test_score": float(model.score(*test)),
        "n_selected": int(model.get_support().sum()),
        "seconds": seconds,
        "device": model.get_params().get("device", "cpu"),
    }
