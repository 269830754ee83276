"""HTML whose texts are escaped unless they are known to be HTML."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

MOST_ROWS_AT_ONCE = 25  # longer tables scroll in their box
_EMPTY = {"input", "meta", "link", "br"}


class Html(str):
    """Text that is HTML already, and safe to insert."""


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Return an element; children and attributes are escaped, but for children that are `Html`.

    Parameters
    ----------
    name : str
    *children : Html, or anything as text; None is left out
    **attributes : text, True for an attribute without a value, or None to leave it out
        `class_` stands for class, and underscores for hyphens.

    Examples
    --------
    >>> from stochgate.report.elements import tag
    >>> tag("p", tag("b", "x < y"), " & z", class_="note")
    '<p class="note"><b>x &lt; y</b> &amp; z</p>'
    """
    start = f"<{name}{''.join(_attribute(*item) for item in attributes.items())}>"
    if name in _EMPTY:
        return Html(start)
    return Html(f"{start}{join(children)}</{name}>")


def join(children: Iterable[Any]) -> Html:
    """Return children in a row, escaped but for those that are `Html`; None is left out."""
    shown = (child for child in children if child is not None)
    return Html("".join(child if isinstance(child, Html) else escape(str(child)) for child in shown))


def feature_name(name: str) -> Html:
    """Return a column's name, kept apart from its surroundings: it may be written from right to left."""
    return tag("bdi", name, class_="name")


def table(
    header: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    *,
    label: str,
    numeric: Sequence[int] = (),
    kind: str = "",
) -> Html:
    """Return a table in a box of its own, which scrolls where the table is too wide for the page.

    Parameters
    ----------
    header : sequence of texts or Html
    rows : the first cell of each is its heading
    label : str
        What the table holds, for those who do not see it.
    numeric : sequence of int
        Positions of columns that hold numbers.
    kind : str
        Classes of the box: "narrow" for a table of few short columns, "cards" for one whose rows stand as
        cards where the page is narrow.
    """
    kinds = ["number" if i in numeric else None for i in range(len(header))]
    labels = header if kind == "cards" else [None] * len(header)
    head = [tag("th", cell, scope="col", class_=each) for cell, each in zip(header, kinds, strict=True)]
    body = []
    for first, *others in rows:
        cells = zip(others, kinds[1:], labels[1:], strict=True)
        tds = [tag("td", cell, class_=each, data_label=name) for cell, each, name in cells]
        body.append(tag("tr", tag("th", first, scope="row", class_=kinds[0]), *tds))
    made = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body))
    size = "long" if len(body) > MOST_ROWS_AT_ONCE else ""
    classes = " ".join(each for each in ("scroll", size, kind) if each)
    return tag("div", made, class_=classes, role="group", aria_label=label, tabindex="0")


def chart(identifier: str, label: str, height: str = "") -> Html:
    """Return the place of a chart, which the script fills; `label` is what it shows, in a sentence."""
    canvas = tag("canvas", label, id=identifier, role="img", aria_label=label)
    return tag("div", canvas, class_=f"chart {height}".strip())


def details(summary: str, *children: Any) -> Html:
    """Return something that is shown when asked for."""
    return tag("details", tag("summary", summary), *children)


def section(identifier: str, title: str, *children: Any) -> Html:
    """Return a part of the page with its heading."""
    heading = f"{identifier}-title"
    return tag("section", tag("h2", title, id=heading), *children, id=identifier, aria_labelledby=heading)


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
