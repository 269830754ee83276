"""What the results on real data say of the paper's claims."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from experiments.claims import FAILS, HOLDS, PARTLY, Finding, mean_of, values_of
from experiments.paper.parts.curves import mean_gain
from experiments.paper.parts.real_data_settings import OF_PAPER

SIZES = (5, 10, 20, 50, 100, 200)
MOST_SETS, SOME_SETS = 3 / 4, 1 / 3  # of the data sets: where a claim holds, and where it holds partly
SLIGHTLY = 0.02  # accuracy
TREES = ("forest", "extra-trees", "xgboost")
N_GENES, FEWEST_GENES, MOST_GENES = 25, 20, 30


def gains(table: Any, method: str, peer: str) -> dict[str, float]:
    """Return, for each data set that has both, how far a method lies above a peer over the common sizes."""
    found = {task: mean_gain(table, task, method, peer, SIZES) for task in OF_PAPER}
    return {task: gain for task, gain in found.items() if math.isfinite(gain)}


def judge_above(table: Any, peers: Sequence[str], names: Sequence[str]) -> Finding:
    """STG lies above both peers on most of the data sets that all three reach, or on some of them."""
    numbers: dict[str, float] = {}
    sentences = []
    for method in ("stg", "ours"):
        parts = []
        for peer, name in zip(peers, names, strict=True):
            found, key = gains(table, method, peer), f"{method}_{peer}".replace("-", "_")
            numbers |= {f"mean_{key}": _mean(found.values()), f"wins_{key}": _count(found)}
            numbers[f"sets_{key}"] = float(len(found))
            parts.append(
                f"{name}: {{mean_{key}:+.3f}} in the mean, above on {{wins_{key}:.0f}} of "
                f"{{sets_{key}:.0f}} sets"
            )
        sentences.append("; ".join(parts))
    compared = [gains(table, "stg", peer) for peer in peers]
    shared = set.intersection(*map(set, compared))
    share = _mean(all(found[task] > 0 for found in compared) for task in shared)
    return Finding(
        verdict=_by_share(share), paper_settings=sentences[0], defaults=sentences[1], numbers=numbers
    )


def judge_linear(table: Any) -> Finding:
    """STG lies above LASSO and SVC."""
    return judge_above(table, ("lasso", "svc"), ("over LASSO", "over SVC"))


def judge_hc(table: Any) -> Finding:
    """STG lies above HC, with the same steps and with larger ones."""
    return judge_above(table, ("hc", "hc-scaled"), ("over HC", "over HC scaled"))


def judge_trees(table: Any) -> Finding:
    """The best kind of trees lies above STG on some sets but not on all, and in the mean not by much."""
    numbers: dict[str, float] = {}
    for method in ("stg", "ours"):
        found = [gains(table, tree, method) for tree in TREES]
        best = {task: max(gain.get(task, -math.inf) for gain in found) for task in set().union(*found)}
        numbers |= {f"mean_{method}": _mean(best.values()), f"wins_{method}": _count(best)}
        numbers[f"sets_{method}"] = float(len(best))
    in_places = 0 < numbers["wins_stg"] < numbers["sets_stg"]
    slightly = numbers["mean_stg"] <= SLIGHTLY
    sentences = [
        f"the best trees are {{mean_{method}:+.3f}} above in the mean, above on {{wins_{method}:.0f}} of "
        f"{{sets_{method}:.0f}} sets"
        for method in ("stg", "ours")
    ]
    return Finding(
        verdict=HOLDS if in_places and slightly else PARTLY if numbers["wins_stg"] > 0 else FAILS,
        paper_settings=sentences[0],
        defaults=sentences[1],
        numbers=numbers,
    )


def judge_genes(table: Any) -> Finding:
    """The model whose size is nearest to 25 genes has some 20 to 30, and is about as good as the best."""
    numbers: dict[str, float] = {}
    sentences, verdicts = [], []
    for task, name in (("pbmc", "a tenth of the cells"), ("pbmc-folds", "four fifths of the cells")):
        curves = [curve for curve in values_of(table, "curve", "stg", task) if curve]
        near = [min(curve, key=_from_25_genes) for curve in curves]
        key = task.replace("-", "_")
        size, accuracy = _mean(n for n, _ in near), _mean(score for _, score in near)
        best = _mean(max(score for _, score in curve) for curve in curves)
        numbers |= {f"n_{key}_near": size, f"accuracy_{key}_near": accuracy, f"best_{key}": best}
        sentences.append(
            f"trained on {name}: {{n_{key}_near:.0f}} genes {{accuracy_{key}_near:.3f}}, best of all "
            f"{{best_{key}:.3f}}"
        )
        verdicts.append(FEWEST_GENES <= size <= MOST_GENES and accuracy >= best - SLIGHTLY)
    numbers["ours_pbmc"] = mean_of(table, "test_score", "ours", "pbmc-folds")
    numbers["ours_genes"] = mean_of(table, "n_selected", "ours", "pbmc-folds")
    return Finding(
        verdict=HOLDS if all(verdicts) else PARTLY if any(verdicts) else FAILS,
        paper_settings="; ".join(sentences),
        defaults="trained on four fifths: {ours_genes:.1f} genes {ours_pbmc:.3f}",
        numbers=numbers,
    )


def _from_25_genes(point: Sequence[float]) -> float:
    return abs(math.log(max(point[0], 0.5) / N_GENES))


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return float(np.mean(found)) if found else math.nan


def _count(found: dict[str, float]) -> float:
    return float(sum(gain > 0 for gain in found.values())) if found else math.nan


def _by_share(share: float) -> str:
    return HOLDS if share >= MOST_SETS else PARTLY if share >= SOME_SETS else FAILS
