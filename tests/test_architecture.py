"""Imports point one way, importing takes no global action, and nothing grows too large to read."""

import ast
import subprocess
import sys
from importlib.util import resolve_name
from pathlib import Path

import pytest

import stochgate

SOURCE = Path(stochgate.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

# What each part may import of the package; the package's own __init__ may import everything.
LEAVES = {"streams", "survival", "tables", "sources"}
PARTS = {"gates", "networks", "objectives", "metrics", "datasets"}
TRAINED = LEAVES | {"gates", "networks", "objectives", "engine"}
ALLOWED = {
    "streams": set(),
    "survival": set(),
    "optional": set(),
    "atomic": set(),
    "tables": {"tables"},
    "sources": {"optional", "tables", "sources"},
    **{part: LEAVES | {part} for part in PARTS},
    "metrics": LEAVES | {"optional", "metrics"},
    "datasets": LEAVES | {"optional", "datasets"},
    "engine": LEAVES | {"atomic", "gates", "networks", "objectives", "engine"},
    "backends": TRAINED | {"optional", "backends"},
    "problem": TRAINED | {"problem"},
    "choice": TRAINED | {"problem", "choice"},
    "explain": TRAINED | {"backends", "problem", "choice", "explain"},
    "export": TRAINED | {"optional", "atomic", "export"},
    "estimators": TRAINED | {"backends", "metrics", "problem", "choice", "explain", "export", "estimators"},
    "files": TRAINED | {"optional", "atomic", "choice", "explain", "estimators", "files"},
    "evaluation": LEAVES | {"backends", "engine", "metrics", "objectives", "choice", "evaluation"},
    "stability": TRAINED | {"backends", "problem", "choice", "estimators", "evaluation", "stability"},
    "plots": LEAVES | {"optional", "metrics", "explain", "plots"},
    "report": LEAVES | {"atomic", "metrics", "explain", "report"},
    "cli": TRAINED
    | {
        "__init__",
        "cli",
        "optional",
        "problem",
        "explain",
        "estimators",
        "evaluation",
        "stability",
        "report",
    },
}


def part_of(path):
    relative = path.relative_to(SOURCE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported_names(code, package):
    """Yield the full name of all that code inside a package imports, relative or not."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imported_parts(code, package):
    """Return the parts of stochgate that code inside a package imports."""
    names = [name.split(".") for name in imported_names(code, package)]
    return {name[1] if len(name) > 1 else "__init__" for name in names if name[0] == "stochgate"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import numpy.linalg; from torch import nn", set()),
        ("import stochgate", {"__init__"}),
        ("import stochgate.gates.base", {"gates"}),
        ("from stochgate.gates import GaussianGate", {"gates"}),
        ("from stochgate import gates, networks as nets", {"gates", "networks"}),
        ("from . import loop", {"engine"}),
        ("from .loop import train", {"engine"}),
        ("from .. import streams", {"streams"}),
        ("from ..gates.base import Gate", {"gates"}),
        ("def late():\n    from ..gates import Gate", {"gates"}),
    ],
)
def test_every_form_of_import_is_seen(code, expected):
    assert imported_parts(code, "stochgate.engine") == expected


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    part = part_of(path)
    if part == "__init__":
        return
    assert part in ALLOWED, f"The part {part!r} is new: list in ALLOWED what it may import."
    package = ".".join(["stochgate", *path.relative_to(SOURCE).parts[:-1]])
    assert imported_parts(path.read_text(), package) <= ALLOWED[part]


def test_import_pulls_in_nothing_but_the_core():
    code = """
import sys
import numpy, scipy.sparse, scipy.stats, sklearn.feature_selection, torch.func, tqdm

threads, state, modules = torch.get_num_threads(), torch.get_rng_state(), set(sys.modules)
import stochgate

assert "tqdm.auto" not in sys.modules  # in a notebook without ipywidgets it warns
assert torch.get_num_threads() == threads
assert torch.equal(torch.get_rng_state(), state)
new = {name.split(".")[0] for name in set(sys.modules) - modules} - set(sys.stdlib_module_names)
print(sorted(new - {"numpy", "scipy", "sklearn", "torch", "tqdm"}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['stochgate']"
    assert done.stderr == ""


def test_no_file_is_overgrown():
    lengths = {str(p.relative_to(SOURCE)): len(p.read_text().splitlines()) for p in MODULES}
    assert {name: n for name, n in lengths.items() if n > 500} == {}


def function_lengths(code):
    """Return the lines of code of every function, without docstrings, comments and blank lines."""
    lines = code.splitlines()
    lengths = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            written = set(range(node.lineno, node.end_lineno + 1))
            if ast.get_docstring(node) is not None:
                written -= set(range(first.lineno, first.end_lineno + 1))
            texts = [lines[i - 1].strip() for i in written]
            lengths[node.name, node.lineno] = sum(text != "" and text[0] != "#" for text in texts)
    return lengths


def test_lines_of_code_are_counted():
    code = 'def f(\n    x,\n):\n    """Say\n\n    more.\n    """\n    # why\n\n    return x  # it is\n'
    assert function_lengths(code) == {("f", 1): 4}


def test_no_function_is_overgrown():
    lengths = {
        f"{path.relative_to(SOURCE)}:{line} {name}": n
        for path in MODULES
        for (name, line), n in function_lengths(path.read_text()).items()
    }
    assert {name: n for name, n in lengths.items() if n > 45} == {}
