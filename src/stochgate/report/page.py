"""The page: one HTML file that needs nothing else."""

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from stochgate.report.elements import Html, tag
from stochgate.report.sections.answer import draw_answer, draw_features
from stochgate.report.sections.effects import draw_effects
from stochgate.report.sections.made import draw_glossary, draw_made
from stochgate.report.sections.outcome import draw_outcome
from stochgate.report.sections.path import draw_path
from stochgate.report.sections.stability import draw_stability, draw_stand_ins
from stochgate.report.sections.training import draw_training

SECTIONS = {
    "features": ("Features", draw_features),
    "effects": ("Effects", draw_effects),
    "path": ("How many", draw_path),
    "training": ("Gates", draw_training),
    "stability": ("Stability", draw_stability),
    "stand-ins": ("Stand-ins", draw_stand_ins),
    "prediction": ("Prediction", draw_outcome),
    "made": ("How it was made", draw_made),
    "glossary": ("Glossary", draw_glossary),
}
SCRIPTS = ("theme.js", "charts.js", "explorer.js", "report.js")
LICENSES = ("chart.LICENSE.md", "color.LICENSE.md")
_DANGEROUS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def render(data: dict[str, Any]) -> str:
    """Return the page of collected data.

    Texts of the data are escaped wherever they stand. A Content-Security-Policy allows this page's own
    scripts and styles by their hashes, and nothing else: no network, no other script.

    Parameters
    ----------
    data : dict
        From `collect`.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate import GatedRegressor
    >>> from stochgate.report.collect import collect
    >>> from stochgate.report.page import render
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> y = X[:, 3] + X[:, 1]
    >>> model = GatedRegressor(lam=1.0, network="linear", random_state=0).fit(X, y)
    >>> "<h1>Tea &amp; sleep</h1>" in render(collect(model, X, y, title="Tea & sleep"))
    True
    """
    style, scripts = read_style(), (read_library(), read_scripts())
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, scripts)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", data["title"]),
        tag("link", rel="icon", href="data:,"),
        tag("style", Html(style)),
    )
    sections = {name: draw(data) for name, (_, draw) in SECTIONS.items()}
    body = tag(
        "body",
        tag("a", "Skip to the answer", href="#answer", class_="skip"),
        _bar([name for name, drawn in sections.items() if drawn is not None]),
        tag(
            "main",
            draw_answer(data),
            *sections.values(),
            id="answer",
            tabindex="-1",
        ),
        tag(
            "footer",
            tag("p", f"Made by stochgate on {data['made_on']}. This page loads nothing from elsewhere."),
        ),
        tag("script", Html(to_script_json(data)), type="application/json", id="data"),
        *(tag("script", Html(script)) for script in scripts),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def to_script_json(data: Any) -> str:
    r"""Return data as JSON that can stand in a script element: nothing in it can end the element.

    Examples
    --------
    >>> from stochgate.report.page import to_script_json
    >>> to_script_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: _DANGEROUS[found[0]], text)


@cache
def read_style() -> str:
    """Return the page's style sheet."""
    return _read("report.css")


@cache
def read_scripts() -> str:
    """Return the page's own scripts, which share one scope."""
    return "\n".join(["(() => {", '"use strict";', *map(_read, SCRIPTS), "})();"])


@cache
def read_library() -> str:
    """Return the plotting library with its licences, without the pointer to its source map."""
    code = re.sub(r"//# sourceMappingURL=.*", "", _read("chart.umd.min.js"))
    return "\n".join([*(f"/*!\n{_read(name)}*/" for name in LICENSES), code])


def _read(name: str) -> str:
    return files("stochgate.report").joinpath("assets", name).read_text(encoding="utf-8")


def _bar(drawn: list[str]) -> Html:
    """Return the bar at the top: where to go, and light or dark."""
    links = [tag("a", SECTIONS[identifier][0], href=f"#{identifier}") for identifier in drawn]
    toggle = tag("button", "Dark", type="button", id="theme", class_="needs-script")
    bar = tag("div", tag("nav", *links, aria_label="Sections"), toggle, class_="top")
    return tag("header", bar, class_="bar-top")


def _policy(style: str, scripts: tuple[str, ...]) -> str:
    allowed = {"script-src": scripts, "style-src": (style,)}
    hashes = (f"{kind} {' '.join(map(_hash, sources))}" for kind, sources in allowed.items())
    return "; ".join(
        ["default-src 'none'", *hashes, "img-src data:", "base-uri 'none'", "form-action 'none'"]
    )


def _hash(source: str) -> str:
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    return f"'sha256-{digest}'"
