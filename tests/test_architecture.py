"""Imports point one way, and importing takes no global action."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import stochgate

SOURCE = Path(stochgate.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

# What each part may import of the package; whatever is not listed may import everything below it.
LEAVES = {"streams"}
PARTS = {"gates", "networks", "objectives", "metrics", "datasets"}
ALLOWED = {
    "streams": set(),
    **{part: LEAVES | {part} for part in PARTS},
    "engine": LEAVES | {"gates", "networks", "objectives", "engine"},
    "estimators": LEAVES | PARTS - {"datasets"} | {"engine", "estimators"},
}


def part_of(path):
    relative = path.relative_to(SOURCE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported_parts(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("stochgate."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    part = part_of(path)
    if part == "__init__":
        return
    assert set(imported_parts(path)) <= ALLOWED[part]


def test_import_pulls_in_nothing_but_the_core():
    code = """
import sys
import numpy, scipy.sparse, scipy.stats, sklearn.feature_selection, torch.func, tqdm.auto

threads, state, modules = torch.get_num_threads(), torch.get_rng_state(), set(sys.modules)
import stochgate

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
    assert {name: n for name, n in lengths.items() if n > 300} == {}
