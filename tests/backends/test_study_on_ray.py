"""The cells of a study as tasks of Ray."""

import pytest
import torch

from experiments.__main__ import read_options
from experiments.study import grid, read_table, run_study

pytestmark = pytest.mark.xdist_group("ray")
CELLS = grid(["a", "b"], ["ours", "peer"], [0, 1])


def test_records_of_ray_are_those_of_joblib(tmp_path, ray):
    def count(task, method, seed):
        if method == "peer" and seed == 1:
            raise ValueError("too hard")
        return {"f1": seed + len(task), "torch_threads": torch.get_num_threads()}

    tables = []
    for backend in ("loky", "ray"):
        path = tmp_path / f"{backend}.jsonl"
        assert run_study(CELLS, count, path, n_jobs=2, backend=backend) == len(CELLS)
        tables.append(read_table(path).sort_values(["task", "method", "seed"], ignore_index=True))
    changing = ["cell_seconds", "date"]
    assert tables[0].drop(columns=changing).equals(tables[1].drop(columns=changing))
    assert run_study(CELLS, count, path, n_jobs=2, backend="ray") == 0
    assert ray.is_initialized()


def test_the_budget_stops_new_tasks(tmp_path, ray):
    assert run_study(CELLS, print, tmp_path / "none.jsonl", n_jobs=2, backend="ray", budget_s=0) == 0


def test_the_command_line_takes_a_backend():
    assert read_options(["seconds"], ["run", "seconds", "--backend", "ray"]).backend == "ray"
