"""Gather what a person acts on from a fitted estimator."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from scipy.stats import binomtest

from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.final import Choice
from stochgate.choice.sets.ranking import largest_size, most_gates
from stochgate.choice.tables import make_table
from stochgate.explain.by_size import best_by_size
from stochgate.explain.direction import find_directions, find_directions_alone, is_reversed
from stochgate.explain.leave_one_out import rises_without
from stochgate.explain.scores import held_out_scores
from stochgate.explain.stand_ins import find_stand_ins
from stochgate.explain.summary_table import COLUMNS, Summary, say_p
from stochgate.problem.features import GateMap
from stochgate.problem.problem import to_numpy

AGREED = 0.8  # mean selection frequency of features the folds agree on
NEARLY_ALL = 0.8  # the share of all features that is hardly a selection
MOST_OF_IT = 0.9  # the share of the best gain of small sets that is enough for a smaller one
LOOKS_GOOD = 0.05  # by how much a score must be above that of no column for a reader to wonder
MOST_NAMED = 5
GIVEN = (
    "lam was given, so nothing was compared and no data were kept: frequency, direction, loss without the "
    "feature, stand-ins and verdict are missing. A fit with lam='auto' or n_features_to_select has them."
)


def summarize(model: Any) -> Summary:
    """Return the summary of a fitted estimator.

    Parameters
    ----------
    model : GatedClassifier, GatedRegressor or GatedCox
    """
    choice: Choice | None = model._choice
    if choice is None and hasattr(model, "network_"):
        raise ValueError(
            "summary() needs the data of the fit, which are not pickled, and which forget_data() lets go "
            "of: call it before, and what it returned stays with the model."
        )
    rows = _rows(model, choice)
    summary = Summary(
        features=make_table(rows, list(COLUMNS)),
        n_features=int(model.support_.sum()),
        n_features_in=model.n_features_in_,
        task=model._objective.task,
        n_outputs=model._predictor.base.shape[1],
        lam=float(model.lam_),
        hints=(GIVEN,) if rows else (say_nothing(model), GIVEN),
    )
    if choice is None:
        return summary
    signal, gates = choice.signal, choice.problem.gates
    found = {} if np.isnan(choice.losses["selected"]) else held_out_scores(choice)
    score_name = choice.problem.objective.score_name
    scores = found.pop(score_name, {})
    return replace(
        summary,
        verdict=signal.verdict,
        p=signal.p,
        alpha=signal.alpha,
        network=choice.network,
        gain=signal.gain,
        error=signal.error,
        n_folds=len(choice.opened),
        n_kept=int(gates.keep[gates.number()].sum()),
        hints=(
            *hint(model, choice),
            *say_scores(summary, choice, scores),
            *(spare(rows) if signal.found else ()),
            *say_reversed(rows),
            *islice(name_shared_gaps(model, choice, rows), MOST_NAMED),
        ),
        losses=choice.losses,
        scores=scores,
        other_scores=found,
        score_name=score_name,
    )


def hint(model: Any, choice: Choice) -> Iterator[str]:
    """Tell in words what to be wary of.

    That the folds open different features is no sign of a weak signal: where columns tell the same, any
    of them will do.
    """
    keep, gates = choice.problem.gates.keep, _selected_gates(model, choice)
    own = gates[~keep[gates]]
    if len(own) == 0 and not keep.all() and model.n_features_to_select is None:
        yield say_nothing(model)
    if not (len(own) and choice.signal.found):
        return
    if choice.frequency[own].mean() < AGREED - 1e-9:  # it is rounded
        share = f"{choice.frequency[own].mean():.0%}"
        yield f"The folds do not agree on the features: on average {share} open a selected one."
    if not _chose_freely(model):
        return
    if len(gates) == len(keep) > 1:
        yield (
            "No feature was left out; n_features_to_select=k selects k features, those that predict best "
            f"together.{_offer(choice, len(gates))}"
        )
    elif len(keep) > len(gates) >= NEARLY_ALL * len(keep):
        yield f"Nearly all features were chosen.{_offer(choice, len(gates))}"
    elif _is_at_limit(choice, len(own)):
        yield (
            f"{len(own)} features are the most that are tried in a table of this size; larger sets may "
            f"predict better.{_offer(choice, len(gates))}"
        )


def _is_at_limit(choice: Choice, n_own: int) -> bool:
    """Return whether so many features, beside the kept ones, are the most a set may have."""
    problem, n_gates = choice.problem, len(choice.problem.gates.keep)
    n_free = n_gates - int(problem.gates.keep.sum())
    largest = largest_size(n_free, choice.comparison.folds.shape[1], problem.network.is_linear)
    return n_own < n_free and n_own in (largest, most_gates(n_gates))


def _offer(choice: Choice, n_chosen: int) -> str:
    """Return in words what the best set of at most half as many features reaches; empty without one.

    It is the smallest that reaches nine tenths of what the best of them gains.
    """
    gates, none = choice.problem.gates, choice.losses["none"]
    if choice.ranking is None or gates.gate_of is not None:  # a group counts once in k, but not in a path
        return ""
    rows = choice.table if isinstance(choice.table, list) else choice.table.to_dict("records")
    gains = {k: none - row["held_out_loss"] for k, row in best_by_size(rows).items() if k < n_chosen}
    small = {k: gain for k, gain in gains.items() if gates.keep.sum() < k <= n_chosen / 2}
    best = max(small.values(), default=0.0)
    if best <= 0:
        return ""
    k = min(k for k, gain in small.items() if gain >= MOST_OF_IT * best)
    first, chosen, selected = "Of the smaller sets that were compared", "", choice.losses["selected"]
    if choice.recipe.support.any():
        chosen = f", the {n_chosen} chosen {selected:.3f}"
        if max(gains.values()) < none - selected:
            first = "No smaller set that was compared does as well;"
    return (
        f" {first} one of {k} reaches a held-out loss of {none - small[k]:.3f}{chosen}, no feature "
        f"{none:.3f}: model.at(k={k}) selects {k}."
    )


def say_nothing(model: Any) -> str:
    """Return in words that no feature is selected (beside the kept ones), why, and how to get some."""
    if model.support_.any():
        return f"No feature was selected beside the kept ones: {_why_nothing(model)}."
    return f"No feature was selected: {_why_nothing(model)}. The model predicts the base rate."


def _why_nothing(model: Any) -> str:
    choice: Choice | None = model._choice  # None where lam was given
    if choice is None or model.lam != "auto" or (choice.recipe.support & ~choice.problem.gates.keep).any():
        return f"at lam={model.lam_:g} no gate is above threshold={model.threshold:g}; try a smaller lam"
    if callable(model.rule):
        return "the rule chose none; n_features_to_select=k selects k features all the same"
    p = say_p(choice.signal.p)
    if choice.signal.found:
        rival = "the kept features alone" if choice.problem.gates.keep.any() else "the base rate"
        return (
            f"there is a {choice.signal.verdict} ({p}), but no set of features beats {rival} on held-out "
            "rows; more rows may show one that does, and n_features_to_select=k selects k features all the "
            "same"
        )
    return (
        f"no signal shows beyond chance ({p}, alpha = {choice.signal.alpha:g}); more rows may show one, a "
        "larger alpha asks for less, and n_features_to_select=k selects k features whatever p is"
    )


def _chose_freely(model: Any) -> bool:
    """Return whether neither a number of features, a penalty nor a rule of the user's own was given."""
    return model.n_features_to_select is None and model.lam == "auto" and not callable(model.rule)


def say_scores(summary: Summary, choice: Choice, scores: dict[str, float]) -> Iterator[str]:
    """Tell in words how scores that seem to contradict the verdict go with it."""
    selected, every, none = (scores.get(of, np.nan) for of in ("selected", "all", "none"))
    name, found = choice.problem.objective.score_name, choice.signal.found
    losses = choice.losses
    if summary.n_features == 0 and every > none + LOOKS_GOOD and losses["all"] < losses["none"]:
        why = "so what they tell is spread over many of them"
        if not found:
            level = f"{say_p(choice.signal.p)}, alpha = {choice.signal.alpha:g}"
            why = f"which may be luck: the test of all columns does not tell them from noise ({level})"
        small = "" if found else _offer(choice, summary.n_features_in)
        yield (
            f"All {summary.n_features_in} columns together reach {name} {every:.3f} on held-out rows (no "
            f"column {none:.3f}), {why}.{small}"
        )
    signal = choice.signal
    if found and summary.n_features and signal.gain < DEFAULTS.little_errors * signal.error:
        yield (
            "How much the features gain is less sure than that there is a signal: where the rows that "
            f"judge had no say in the choice it is {signal.gain:.3f} ± {signal.error:.3f}."
        )
    lower = summary.n_features > 0 and losses["selected"] < losses["none"]
    if found and lower and name == "accuracy" and round(selected - none, 3) <= 0:
        yield (
            "The selected columns lower the held-out loss, but not the share of wrong classes: they move "
            "probabilities, and rarely past that of the most common class."
        )


def spare(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """Name the features without which the loss does not rise, or by no more than one standard error."""
    useless = [row["feature"] for row in rows if row["loss_without"] <= 0]
    hardly = [row["feature"] for row in rows if 0 < row["loss_without"] <= row["loss_without_error"]]
    told = []
    if hardly:
        told.append(f"The loss hardly rises without {_name_some(hardly)}")
    if useless:
        more = " and does not rise without" if hardly else "The loss does not rise without"
        told.append(f"{more} {_name_some(useless)}")
    if not told:
        return ()
    if len(useless) + len(hardly) == 1:
        return (f"{told[0]}: it may be spared.",)
    return (f"{''.join(told)}: each may be spared, but one at a time, since another may tell the same.",)


def say_reversed(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """Name the features that point one way by themselves, and the other way in the model."""
    names = [row["feature"] for row in rows if is_reversed(row["direction"], row["direction_alone"])]
    if not names:
        return ()
    one = len(names) == 1
    point, it, its = ("points", "it", "its") if one else ("point", "them", "their")
    return (
        f"Alone, {_name_some(names, 'and')} {point} the other way than in the model, which reads {it} "
        f"beside the other features: do not take {its} direction for an effect of {its} own.",
    )


def name_shared_gaps(model: Any, choice: Choice, rows: list[dict[str, Any]]) -> Iterator[str]:
    """Say of which selected features the gaps, which the model sees, are those of other columns."""
    X, table, names = choice.problem.X, choice.problem.table, model._names()
    feature_of, marks = table.feature_of(), np.unique(table.missing_of())
    if feature_of is None or marks.max(initial=-1) < 0:
        return
    marks = marks[marks >= 0]
    features, gaps = feature_of[marks], X[:, marks]
    place = {names[feature]: i for i, feature in enumerate(features)}
    told = np.zeros(len(marks), dtype=bool)
    shown = [name for row in rows for name in row["members"] or [row["feature"]]]
    for i in (place[name] for name in shown if name in place):
        same = (gaps == gaps[:, [i]]).all(axis=0)
        others = features[same & (features != features[i])]
        if len(others) and not told[i]:
            who = f"{names[others[0]]} lacks" if len(others) == 1 else f"{len(others)} other columns lack"
            yield (
                f"{who} the same {gaps[:, i].sum():.0f} rows as {names[features[i]]}: what its gaps tell, "
                "theirs tell as well."
            )
        told |= same


def _name_some(names: list[Any], last: str = "or") -> str:
    """Return names as a sentence has them, of many the first."""
    shown = [str(name) for name in names[:MOST_NAMED]]
    if len(names) > MOST_NAMED:
        return f"{', '.join(shown)} and {len(names) - MOST_NAMED} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def wilson_interval(frequency: float, n_folds: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of the folds.

    Examples
    --------
    >>> from stochgate.explain.summary import wilson_interval
    >>> [round(end, 3) for end in wilson_interval(1.0, 5)]
    [0.566, 1.0]
    """
    found = binomtest(round(frequency * n_folds), n_folds).proportion_ci(0.95, method="wilson")
    return float(found.low), float(found.high)


def _selected_gates(model: Any, choice: Choice) -> np.ndarray:
    """Return the selected gates, the most important first."""
    gates = np.unique(choice.problem.gates.number()[model.support_])
    return gates[np.argsort(-choice.importance[gates], kind="stable")]


def _rows(model: Any, choice: Choice | None) -> list[dict[str, Any]]:
    """Return a row per selected feature, those that are worth most first."""
    selected, names = np.flatnonzero(model.support_), model._names()
    rows = [{**COLUMNS, "feature": names[j], "gate": float(model.gates_[j])} for j in selected]
    if choice is not None and rows:
        for part in (_frequencies, _directions, _rises, _stand_ins):
            for row, known in zip(rows, part(model, choice, selected), strict=True):
                row.update(known)
        rows = _join_groups(rows, choice.problem.gates, selected)
    return sorted(rows, key=lambda row: (-np.nan_to_num(row["loss_without"], nan=-np.inf), -row["gate"]))


def _join_groups(rows: list[dict[str, Any]], gates: GateMap, selected: np.ndarray) -> list[dict[str, Any]]:
    """Make one row of the features that share a named gate."""
    joined: dict[Any, dict[str, Any]] = {}
    for row, feature, gate in zip(rows, selected, gates.number()[selected], strict=True):
        if gate not in gates.group_names:
            joined[f"feature {feature}"] = row
        elif gate not in joined:
            others = {"direction": None, "direction_alone": None, "stand_ins": list(row["stand_ins"])}
            joined[gate] = {
                **row,
                **others,
                "feature": gates.group_names[gate],
                "members": [row["feature"]],
            }
        else:
            joined[gate]["members"].append(row["feature"])
            known = joined[gate]["stand_ins"]
            known += [name for name in row["stand_ins"] if name not in known]
    return list(joined.values())


def _frequencies(model: Any, choice: Choice, selected: np.ndarray) -> Iterator[dict[str, Any]]:
    gate_map, n_folds = choice.problem.gates, len(choice.opened)
    for gate in gate_map.number()[selected]:
        share = float(choice.frequency[gate])
        low, high = COLUMNS["frequency_low"], COLUMNS["frequency_high"]
        if not gate_map.keep[gate]:  # the folds had no say in those
            low, high = wilson_interval(share, n_folds)
        yield {"frequency": share, "frequency_low": low, "frequency_high": high}


def _directions(model: Any, choice: Choice, selected: np.ndarray) -> Iterator[dict[str, Any]]:
    problem = choice.problem
    objective, n_outputs = problem.objective, model._predictor.base.shape[1]
    names = objective.output_names(model._facts, n_outputs)
    relative = objective.compares_outputs(n_outputs)
    known = find_directions(model._predictor, problem.X, problem.table, relative=relative)
    residual = to_numpy(problem.base_residual(problem.weights[None])[0])
    outputs = {feature: output for feature, (_, output) in known.items()}
    alone = find_directions_alone(problem.X, residual, problem.table, outputs)
    for feature in selected:
        direction, output = known.get(feature, (None, 0))  # a constant column is not read
        of = {"direction_of": names[output], "direction_alone": alone.get(feature)}
        yield {"direction": direction, **of}


def _rises(model: Any, choice: Choice, selected: np.ndarray) -> Iterator[dict[str, Any]]:
    gates = _selected_gates(model, choice)
    held_open = (model.gates_[selected] == 1).all()
    rises = rises_without(choice, gates, None if held_open else model.lam_)
    place = {gate: i for i, gate in enumerate(gates)}
    for gate in choice.problem.gates.number()[selected]:
        rise = rises[place[gate]]
        error = rise.std(ddof=1) / np.sqrt(len(rise)) if np.isfinite(rise).all() else np.nan
        yield {"loss_without": float(rise.mean()), "loss_without_error": float(error)}


def _stand_ins(model: Any, choice: Choice, selected: np.ndarray) -> Iterator[dict[str, Any]]:
    names, problem = model._names(), choice.problem
    gates = problem.gates
    for others in find_stand_ins(
        problem.X,
        model.support_,
        gates.number(),
        choice.opened,
        gates.feature_of,
        problem.table.missing_of(),
    ):
        yield {"stand_ins": [names[j] for j in others]}
