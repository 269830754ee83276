"""The report's numbers in words."""

import math
from typing import Any

UNKNOWN, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
SCORES = {
    "roc_auc": "AUC",
    "balanced_accuracy": "balanced accuracy",
    "accuracy": "accuracy",
    "R2": "R²",
    "C": "concordance",
    "concordance index": "concordance",
}
NETWORKS = {
    "linear": "linear model",
    "mlp": "neural network",
    "encoded": "neural network on features cut into ranges",
}
AS_WELL = 0.98  # the share of the gain of all columns that counts as all of it,
NEARLY = 0.9  # and as nearly all of it


def number(value: float | None, digits: int = 3) -> str:
    """Return a number as people read it, UNKNOWN where there is none.

    Examples
    --------
    >>> from stochgate.report.words import number
    >>> number(-0.5), number(None)
    ('−0.500', '–')
    """
    if value is None:
        return UNKNOWN
    text = f"{value:.{digits}f}"
    text = text.removeprefix("-") if float(text) == 0 else text
    return text.replace("-", MINUS)


def short(value: float | None) -> str:
    """Return a number of any size in four digits or so."""
    return UNKNOWN if value is None else f"{value:,.4g}".replace("-", MINUS)


def percent(share: float | None) -> str:
    """Return a share in percent."""
    return UNKNOWN if share is None else f"{100 * share:.0f}\N{NO-BREAK SPACE}%".replace("-", MINUS)


def count(n: int, noun: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> from stochgate.report.words import count
    >>> count(1, "column"), count(7129, "column")
    ('1 column', '7,129 columns')
    """
    ending = "" if n == 1 else "es" if noun.endswith("s") else "s"
    return f"{n:,} {noun}{ending}"


def listing(parts: list[str]) -> str:
    """Return parts as a sentence has them: a, b and c."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def score_word(name: str) -> str:
    """Return what a score is called on the page."""
    return SCORES.get(name, name)


def network_word(name: str | None) -> str:
    """Return what a kind of network is called on the page."""
    return UNKNOWN if name is None else NETWORKS.get(name, name)


def say_question(asked: dict[str, Any]) -> str:
    """Return in a sentence what was asked."""
    target = asked["called"]
    rows = f"{count(asked['n_rows'], 'row')} and {count(asked['n_columns'], 'column')}"
    unnamed = "" if asked["named"] else " The columns have no names; they are counted from 0."
    return f"Asked: which columns predict {target}, from {rows}. {_say_target(asked, target)}{unnamed}"


def _say_target(asked: dict[str, Any], target: str) -> str:
    """Return which kind of target it is, as the command line names it, and what it holds."""
    kind = asked["task"].capitalize()
    if "classes" in asked:
        classes = asked["classes"]
        named = [f"{each['label']} ({each['count']:,})" for each in classes[:6]]
        named += [f"{len(classes) - 6} more"] if len(classes) > 6 else []
        return f"{kind}: {target} has {count(len(classes), 'class')}: {listing(named)}."
    if "events" in asked:
        events = asked["events"]
        n_rows = events["n_events"] + events["n_censored"]
        return (
            f"{kind}: {count(events['n_events'], 'event')} in {count(n_rows, 'row')}; the others had none "
            f"when they were last seen. Half of the times are below {short(events['median'])}."
            f"{_say_compared(events)}"
        )
    numbers = asked["numbers"]
    several = f" (the first of {asked['n_outputs']} outputs)" if asked["n_outputs"] > 1 else ""
    reach = f"goes from {short(numbers['low'])} to {short(numbers['high'])}"
    return f"{kind}: {target}{several} is a quantity that {reach}; its mean is {short(numbers['mean'])}."


def _say_compared(events: dict[str, Any]) -> str:
    """Return how rows were compared where they have strata or entry times."""
    n = events["n_strata"]
    strata = "" if n is None else f" Rows are compared within {n:,} {'stratum' if n == 1 else 'strata'}."
    return f"{strata} Each row counts from its entry time on." if events["has_entry"] else strata


def say_verdict(chosen: dict[str, Any], honest: dict[str, Any] | None = None) -> str:
    """Return in a sentence what was found, with the honest scores where there are some.

    Examples
    --------
    >>> from stochgate.report.words import say_verdict
    >>> chosen = {"n_features": 12, "n_columns": 7129, "signal": "weak signal (p = 0.03)", "headline": None}
    >>> chosen |= {"has_signal": True, "advice": "treat these as candidates", "score_name": "accuracy"}
    >>> chosen |= {"scores": {"selected": 0.9, "all": 0.9, "none": 0.6}, "losses": {}}
    >>> say_verdict(chosen)
    'Weak signal (p = 0.03): 12 of 7,129 columns predict as well as all of them (accuracy 0.900 on held-out rows, all columns 0.900, no column 0.600); treat these as candidates.'
    """  # noqa: E501
    told = "" if honest is None else f" Honest score: {_say_scores(read_honest(honest))}."
    if chosen["headline"] is not None:
        worth = f" {_say_worth(chosen, honest)}." if chosen["n_features"] else told
        return f"{chosen['headline']}{worth}"
    if chosen["signal"] is None:
        given = f"open at the given penalty lam = {chosen['lam']:.3g}"
        unsure = "nothing was compared, so it is not known how sure that is"
        are = verb(chosen["n_features"], "is", "are")
        return f"{_share_of_columns(chosen)} {are} {given}; {unsure}.{told}"
    advice = f"; {chosen['advice']}" if chosen["advice"] else ""
    told = "" if chosen["n_features"] else told
    signal = f"{chosen['signal'][:1].upper()}{chosen['signal'][1:]}"
    return f"{signal}: {_say_worth(chosen, honest)}{advice}.{told}"


def _say_worth(chosen: dict[str, Any], honest: dict[str, Any] | None) -> str:
    """Return how well the chosen columns predict."""
    n, of = chosen["n_features"], _share_of_columns(chosen)
    told = chosen if honest is None else read_honest(honest)
    if n == 0:
        return "no column was chosen, so the model predicts the base rate"
    if told["scores"].get("selected") is None:
        return f"{of} {verb(n, 'was', 'were')} taken, and how well they predict was not measured"
    every, none = (told["scores"].get(part) for part in ("all", "none"))
    if n == chosen["n_columns"]:  # one number for all columns
        every, told = None, {**told, "scores": {**told["scores"], "all": None}}
    reached = _say_scores(told)
    alike = every is None or not chosen["has_signal"]
    if alike or (honest is not None and (none is None or every <= none)):
        return f"{of} {verb(n, 'reaches', 'reach')} {reached}"
    return f"{of} {verb(n, 'predicts', 'predict')} {_compare(told)} ({reached})"


def read_honest(honest: dict[str, Any]) -> dict[str, Any]:
    """Return the honest scores in the form of those of the choice."""
    names = {"score": "selected", "all_columns": "all", "base_rate": "none"}
    others = {
        name: {names[who]: value for who, value in means.items()}
        for name, means in honest["other_scores"].items()
    }
    scores = {"selected": honest["mean"], "all": honest["all_columns"], "none": honest["base_rate"]}
    where = "on rows that took no part in the choice"
    return {
        "score_name": honest["metric"],
        "scores": scores,
        "other_scores": others,
        "losses": {},
        "where": where,
    }


def _say_scores(told: dict[str, Any]) -> str:
    """Return the scores of the chosen columns beside those of all and none."""
    scores = told["scores"]
    others = [("all columns", scores.get("all")), ("no column", scores.get("none"))]
    where = told.get("where", "on held-out rows")
    reached = f"{score_word(told['score_name'])} {number(scores['selected'])} {where}"
    reached += "".join(f", {name} {number(score)}" for name, score in others if score is not None)
    beside = [
        f"{name} {number(of['selected'])}"
        for name, of in told.get("other_scores", {}).items()
        if of.get("selected") is not None
    ]
    return f"{reached}; {', '.join(beside)}" if beside else reached


def _share_of_columns(chosen: dict[str, Any]) -> str:
    return f"{chosen['n_features']:,} of {count(chosen['n_columns'], 'column')}"


def verb(n: int, one: str, many: str) -> str:
    """Return the form of a verb that a number asks for."""
    return one if n == 1 else many


def _compare(chosen: dict[str, Any]) -> str:
    """Return how the chosen columns compare with all of them, by the score and by the loss."""
    shares = [share_of_gain(chosen["scores"], 1), share_of_gain(chosen["losses"], -1)]
    known = [share for share in shares if share is not None]
    least = min(known, default=1.0)
    if least > 1 / AS_WELL:
        return "at least as well as all of them"
    if least >= AS_WELL:
        return "as well as all of them"
    return "nearly as well as all of them" if least >= NEARLY else "less well than all of them"


def share_of_gain(reached: dict[str, float | None], sign: int) -> float | None:
    """Return which share of what all columns gain over no column the chosen ones gain.

    Of losses the sign is -1. Where all columns are worse than none, what is no worse than them has all.
    """
    selected, every, none = (reached.get(part) for part in ("selected", "all", "none"))
    if selected is None or every is None or none is None or every == none:
        return None
    if sign * (every - none) < 0:
        return math.inf if sign * (selected - every) >= 0 else 0.0
    return (selected - none) / (every - none)
