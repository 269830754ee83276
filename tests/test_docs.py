"""The code of README and docs runs as it stands."""

import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITH_CODE = [page for page in PAGES if BLOCK.search(page.read_text())]


def code_of(page):
    """Return the Python of a page, its lines where they stand, so that an error names the right one."""
    text = page.read_text()
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        for number, line in enumerate(block[1].splitlines()):
            lines[first + number] = line
    return "\n".join(lines)


def test_pages_with_code_are_found():
    assert {"README.md", "tables.md", "survival.md", "error-control.md", "out-of-core.md"} <= {
        page.name for page in WITH_CODE
    }


def alone(page):
    """Return a page as a parameter; what needs Ray runs in the process of Ray's tests."""
    marks = [pytest.mark.xdist_group("ray")] if page.stem == "ray" else []
    return pytest.param(page, id=page.stem, marks=marks)


@pytest.mark.parametrize("page", [alone(page) for page in WITH_CODE])
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(code_of(page), str(page), "exec"), {"__name__": "__main__"})
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_and_pictures_are_there(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there."
