"""Losses and scores along the path of penalties: a function returns the numbers, another draws them."""

from typing import Any

import numpy as np

from stochgate.plots.display import new_axes


def losses_along_path(path: Any) -> dict[str, dict[str, np.ndarray]]:
    """Return each network's held-out loss along the path of penalties.

    Parameters
    ----------
    path : DataFrame or list of dict
        The `path_` of a model whose penalty was chosen automatically.

    Returns
    -------
    dict
        For each network "lam" (rising), "n_features", "held_out_loss" and "held_out_sd" (over the folds).

    Examples
    --------
    >>> from stochgate.plots import losses_along_path
    >>> row = {"network": "linear", "stage": "path", "n_features": 2, "held_out_sd": 0.1}
    >>> path = [{**row, "lam": 2.0, "held_out_loss": 0.5}, {**row, "lam": 1.0, "held_out_loss": 0.4}]
    >>> losses_along_path(path)["linear"]["held_out_loss"]
    array([0.4, 0.5])
    """
    rows = _rows_by_penalty(path)
    names = ("lam", "n_features", "held_out_loss", "held_out_sd")
    return {
        network: {
            name: np.array([row[name] for row in rows if row["network"] == network]) for name in names
        }
        for network in dict.fromkeys(row["network"] for row in rows)
    }


def draw_path(losses: dict[str, dict[str, np.ndarray]], ax: Any = None) -> Any:
    """Draw what `losses_along_path` returns against the penalty; return the axes (needs matplotlib).

    Parameters
    ----------
    losses : dict
    ax : matplotlib Axes, optional
    """
    ax = new_axes() if ax is None else ax
    for network, along in losses.items():
        (line,) = ax.plot(along["lam"], along["held_out_loss"], marker=".", label=network)
        low, high = (along["held_out_loss"] + sign * along["held_out_sd"] for sign in (-1, 1))
        ax.fill_between(along["lam"], low, high, alpha=0.15, color=line.get_color())
    ax.set(xscale="log", xlabel="penalty lam", ylabel="held-out loss (band: sd over the folds)")
    ax.legend(title="network")
    return ax


def scores_along_path(model: Any, X: Any, y: Any) -> dict[str, np.ndarray]:
    """Return the score of the model at each penalty of its path: accuracy, R2 or concordance index.

    Each is trained anew, on all rows of the fit and the features its folds agreed on, by ``at(lam=...)``.

    Parameters
    ----------
    model : fitted estimator
        Its penalty chosen automatically.
    X, y : array-likes
        Rows the model was not fitted to: on its own rows every score flatters.

    Returns
    -------
    dict
        "lam" (rising), "n_features" and "score".
    """
    rows = [row for row in _rows_by_penalty(model.path_) if row["network"] == model.network_]
    models = [model.at(lam=row["lam"]) for row in rows]
    return {
        "lam": np.array([row["lam"] for row in rows]),
        "n_features": np.array([int(m.get_support().sum()) for m in models]),
        "score": np.array([m.score(X, y) for m in models]),
    }


def draw_scores(scores: dict[str, np.ndarray], ax: Any = None, *, ylabel: str = "score") -> Any:
    """Draw what `scores_along_path` returns, with the numbers of features; return the axes.

    Parameters
    ----------
    scores : dict
    ax : matplotlib Axes, optional
        Needs matplotlib when not given.
    ylabel : str
    """
    ax = new_axes() if ax is None else ax
    ax.plot(scores["lam"], scores["score"], marker="o")
    for at, score, n_features in zip(scores["lam"], scores["score"], scores["n_features"], strict=True):
        ax.annotate(str(n_features), (at, score), xytext=(0, 6), textcoords="offset points", ha="center")
    ax.margins(y=0.2)
    ax.set(xscale="log", xlabel="penalty lam (at the points: number of features)", ylabel=ylabel)
    return ax


def _rows_by_penalty(path: Any) -> list[dict[str, Any]]:
    """Return the rows of a table's path, penalties rising."""
    rows = path.to_dict("records") if hasattr(path, "to_dict") else path
    rows = sorted((row for row in rows if row["stage"] == "path"), key=lambda row: row["lam"])
    if not rows:
        raise ValueError(
            "There is no path of penalties: it takes a fit with lam='auto', no n_features_to_select and, "
            "of fewer than 200 rows folds that agree (or cv as a splitter)."
        )
    return rows
