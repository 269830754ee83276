"""What a fit told, as part of a file: its attributes, histories, path and summary."""

from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from stochgate.choice.tables import make_table
from stochgate.explain.summary_table import COLUMNS, Summary
from stochgate.files.errors import Fault
from stochgate.files.reading import Reading, expect, is_count, is_list_of
from stochgate.files.values import from_json, to_json

_PER_FEATURE = ("gates_", "open_probability_", "feature_importances_")
_TEXTS = ("network_", "source_")
_HISTORY = ("step", "train_loss", "held_out_loss")
_SUMMARY = {field.name: field for field in fields(Summary)}


def describe_attributes(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the public attributes of a fitted model."""
    section = {"lam_": float(model.lam_), "n_steps_": int(model.n_steps_), "remarks_": list(model.remarks_)}
    section |= {name: getattr(model, name, None) for name in _TEXTS}
    arrays = {name: getattr(model, name) for name in (*_PER_FEATURE, "support_")}
    if hasattr(model, "selection_frequency_"):
        arrays["selection_frequency_"] = model.selection_frequency_
    arrays |= {f"history_.{name}": model.history_[name] for name in _HISTORY}
    arrays |= {f"gate_history_.{name}": values for name, values in model.gate_history_.items()}
    return section, arrays


def read_attributes(reading: Reading, n_features: int) -> dict[str, Any]:
    """Return the public attributes by name."""
    names = ["lam_", "n_steps_", "remarks_", *_TEXTS]
    lam, n_steps, remarks, *texts = reading.section("attributes", names)
    expect(type(lam) is float and lam >= 0, "its lam_ is no number from 0 on")
    expect(is_count(n_steps), "its n_steps_ is no whole number")
    expect(is_list_of(str, remarks), "its remarks_ are no texts")
    expect(all(text is None or type(text) is str for text in texts), "its network_ or source_ is no text")
    found: dict[str, Any] = {"lam_": lam, "n_steps_": n_steps, "remarks_": remarks}
    found |= {name: text for name, text in zip(_TEXTS, texts, strict=True) if text is not None}
    one_each = (n_features,)
    found |= {name: reading.array(name, ["float64"], one_each) for name in _PER_FEATURE}
    found["support_"] = reading.array("support_", ["bool"], one_each)
    frequency = reading.optional("selection_frequency_", ["float64"], one_each)
    found |= {} if frequency is None else {"selection_frequency_": frequency}
    step = reading.array("history_.step", ["int64"], (None,))
    losses = {name: reading.array(f"history_.{name}", ["float64"], step.shape) for name in _HISTORY[1:]}
    found["history_"] = {"step": step, **losses}
    step = reading.array("gate_history_.step", ["int64"], (None,))
    found["gate_history_"] = {
        "step": step,
        "lam": reading.array("gate_history_.lam", ["float64"], step.shape),
        "gates": reading.array("gate_history_.gates", ["float32"], (len(step), n_features)),
    }
    return found


def describe_path(path: Any) -> tuple[dict[str, Any] | None, dict[str, np.ndarray]]:
    """Return the table of an automatic choice; features, which are many, as positions in one list."""
    if path is None:
        return None, {}
    rows = path if isinstance(path, list) else path.to_dict("records")
    place: dict[Any, int] = {}
    positions = [place.setdefault(name, len(place)) for row in rows for name in row["features"]]
    columns = {
        name: [row[name] for row in rows] for name in (rows[0] if rows else {}) if name != "features"
    }
    arrays = {
        "path.features": np.array(positions, dtype=np.int64),
        "path.counts": np.array([len(row["features"]) for row in rows], dtype=np.int64),
    }
    return {"columns": to_json(columns), "names": to_json(list(place))}, arrays


def read_path(reading: Reading) -> Any:
    """Return `path_`, None where there was no automatic choice."""
    if reading.sections.get("path", ...) is None:
        return reading.text("path")
    columns, names = map(from_json, reading.section("path", ["columns", "names"]))
    expect(
        isinstance(names, list) and all(type(name) in (str, int) for name in names), "path_ has no names"
    )
    positions = reading.index("path.features", (None,), len(names)).tolist()
    counts = reading.index("path.counts", (None,), len(positions) + 1).tolist()
    expect(sum(counts) == len(positions), "the features of its path_ are not as many as it says")
    expect(isinstance(columns, dict) and is_list_of(list, [*columns.values()]), "its path_ is no table")
    expect(all(type(name) is str for name in columns), "the columns of its path_ have no names")
    expect(all(len(values) == len(counts) for values in columns.values()), "its path_ has gaps")
    rows, start = [], 0
    for i, n in enumerate(counts):
        found = [names[position] for position in positions[start : start + n]]
        rows.append({**{name: values[i] for name, values in columns.items()}, "features": found})
        start += n
    return make_table(rows)


def describe_summary(summary: Summary | None) -> Any:
    """Return the summary, None if it was not asked for."""
    if summary is None:
        return None
    values = {name: getattr(summary, name) for name in _SUMMARY}
    table = values["features"]
    values["features"] = table if isinstance(table, list) else table.to_dict("records")
    return {name: to_json(value) for name, value in values.items()}


def read_summary(reading: Reading) -> Summary | None:
    """Return the summary, once it can be printed."""
    section = reading.text("summary")
    if section is None:
        return None
    expect(isinstance(section, dict) and set(section) <= set(_SUMMARY), "its summary has unknown fields")
    needed = {name for name, field in _SUMMARY.items() if field.default is field.default_factory is MISSING}
    expect(needed <= set(section), "its summary lacks fields")
    values = {name: from_json(value) for name, value in section.items()}
    rows = values["features"]
    columns = [*COLUMNS, "q_value"] if values.get("n_halves") else list(COLUMNS)
    fits = is_list_of(dict, rows) and all(set(row) == set(columns) for row in rows)
    expect(fits, "the table of its summary has other columns")
    try:
        summary = Summary(**{**values, "features": make_table(rows, columns)})
        summary._repr_html_()
        return summary if summary.text else None
    except (
        Exception
    ) as error:  # texts where numbers belong, and the like: what cannot be shown is no summary
        raise Fault(f"its summary cannot be shown ({type(error).__name__})") from error
