"""Sentences of a finding that list a number for each task or method that was run."""

import math
import re
from collections.abc import Collection, Mapping


def list_numbers(
    values: Mapping[str, float], form: str, of: str, needed: Collection[str] = ()
) -> tuple[str, dict[str, float]]:
    """Return "SE1 {size_se1:.1f}, SE2 {size_se2:.1f}" and these numbers by name; missing ones are left out.

    Where all are missing, or one that is needed, the sentence has one number, which is NaN.

    Parameters
    ----------
    values : dict
        Numbers by what they belong to, which is shown.
    form : str
        The format of a number (".1f").
    of : str
        What the numbers are; their names begin with it.
    needed : collection of str
        What the finding cannot do without.

    Examples
    --------
    >>> from experiments.paper.parts.sentences import list_numbers
    >>> list_numbers({"Cox-STG": 0.61, "RSF": float("nan")}, ".3f", "c")
    ('Cox-STG {c_cox_stg:.3f}', {'c_cox_stg': 0.61})
    """
    found = {shown: value for shown, value in values.items() if math.isfinite(value)}
    if not found or not set(needed) <= set(found):
        return f"{{{of}_none:{form}}}", {f"{of}_none": math.nan}
    names = {shown: f"{of}_{re.sub(r'[^a-z0-9]+', '_', shown.lower())}" for shown in found}
    sentence = ", ".join(f"{shown} {{{names[shown]}:{form}}}" for shown in found)
    return sentence, {names[shown]: value for shown, value in found.items()}
