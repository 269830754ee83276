"""A study is resumed, survives errors and cut lines, and its tables hold the right numbers."""

import json
import time

import numpy as np
import pandas as pd
import pytest
import torch

from experiments.study import (
    Cell,
    compare,
    grid,
    mean_interval,
    read_records,
    read_table,
    run_study,
    summarise,
    time_limit,
    to_markdown,
)

CELLS = grid(["a", "b"], ["ours", "peer"], [0, 1])


def result_of(task, method, seed):
    return {"f1": seed + 0.5 * (method == "ours"), "size": np.int64(3), "rank": float("nan")}


def failing(task, method, seed):
    if method == "peer":
        raise ValueError("too hard")
    return result_of(task, method, seed)


def count_threads(task, method, seed):
    return {"torch_threads": torch.get_num_threads()}


def test_the_grid_runs_seed_by_seed():
    assert [cell.seed for cell in CELLS] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert len(set(CELLS)) == 8


def test_a_record_says_what_where_and_with_which_versions(tmp_path):
    path = tmp_path / "new" / "study.jsonl"
    assert run_study(CELLS[:1], result_of, path, packages=["pytest", "no-such-package"]) == 1
    (record,) = read_records(path)
    assert Cell(record["task"], record["method"], record["seed"]) == CELLS[0]
    assert record["f1"] == 0.5
    assert record["size"] == 3
    assert record["rank"] is None  # JSON has no NaN
    assert {"python", "stochgate", "torch", "scikit-learn", "pytest"} <= set(record["versions"])
    assert "no-such-package" not in record["versions"]
    assert record["machine"]["cores"] >= 1
    assert record["date"].endswith("+00:00")


def test_cells_that_are_done_are_not_run_again(tmp_path):
    path = tmp_path / "study.jsonl"
    calls = []

    def run_cell(*cell):
        calls.append(Cell(*cell))
        return {}

    assert run_study(CELLS[:3], run_cell, path) == 3
    assert run_study(CELLS, run_cell, path) == 5
    assert calls == CELLS
    assert run_study(CELLS, run_cell, path) == 0


def test_a_line_that_was_cut_short_is_run_again(tmp_path):
    path = tmp_path / "study.jsonl"
    run_study(CELLS, result_of, path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert len(read_records(path)) == 7
    assert run_study(CELLS, result_of, path) == 1
    assert len(read_records(path)) == 8


def test_a_last_line_without_its_end_of_line_is_kept(tmp_path):
    path = tmp_path / "study.jsonl"
    run_study(CELLS[:2], result_of, path)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert run_study(CELLS[:3], result_of, path) == 1
    assert len(read_records(path)) == 3


def test_a_broken_line_in_the_middle_is_an_error_with_its_number(tmp_path):
    path = tmp_path / "study.jsonl"
    path.write_text('{"task": "a"\n{"task": "a"}\n')
    with pytest.raises(ValueError, match="Line 1 of"):
        read_records(path)


def test_an_error_is_recorded_and_the_study_goes_on(tmp_path):
    path = tmp_path / "study.jsonl"
    assert run_study(CELLS, failing, path) == 8
    errors = [record["error"] for record in read_records(path) if "error" in record]
    assert errors == ["ValueError: too hard"] * 4
    assert run_study(CELLS, result_of, path) == 0
    assert run_study(CELLS, result_of, path, retry_errors=True) == 4
    table = read_table(path)
    assert len(table) == 8
    assert table["error"].isna().all()


def test_the_budget_stops_new_cells(tmp_path):
    def slow(*cell):
        time.sleep(0.05)
        return {}

    path = tmp_path / "study.jsonl"
    assert run_study(CELLS, slow, path, budget_s=0) == 0
    assert 1 <= run_study(CELLS, slow, path, budget_s=0.12) < 8
    assert len(read_records(path)) < 8


def test_processes_have_one_thread_each_and_give_the_same_records(tmp_path):
    paths = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    for n_jobs, path in enumerate(paths, start=1):
        assert run_study(CELLS, result_of, path, n_jobs=n_jobs) == 8
    one, two = (read_table(path).sort_values(["task", "method", "seed"]) for path in paths)
    assert one["f1"].tolist() == two["f1"].tolist()
    run_study([Cell("threads", "ours", 0)], count_threads, paths[1], n_jobs=2)
    assert read_records(paths[1])[-1]["torch_threads"] == 1


def test_each_new_record_is_reported(tmp_path):
    seen = []
    run_study(CELLS[:2], result_of, tmp_path / "study.jsonl", report=seen.append)
    assert [record["method"] for record in seen] == ["ours", "peer"]


def scores():
    """Three seeds of ours, two of a weak peer, three of a strong one, and an error."""
    values = {"ours": [0.9, 0.8, 1.0], "weak": [0.1, 0.3], "strong": [0.7, 0.7, 0.7], "broken": [None]}
    rows = [
        {"task": "a", "method": method, "seed": seed, "f1": f1}
        for method, column in values.items()
        for seed, f1 in enumerate(column)
    ]
    return pd.DataFrame(rows)


def test_means_and_intervals_are_those_worked_out_by_hand():
    found = summarise(scores(), "f1").set_index("method")
    half = 4.302652729911275 * 0.1 / np.sqrt(3)  # Student's t with 2 degrees of freedom, sd 0.1
    np.testing.assert_allclose(
        found.loc["ours", ["mean", "low", "high"]].tolist(), [0.9, 0.9 - half, 0.9 + half]
    )
    assert found["n"].to_dict() == {"ours": 3, "weak": 2, "strong": 3}


def test_one_seed_has_no_interval():
    found = summarise(scores().query("seed == 0"), "f1")
    assert found["mean"].notna().all()
    assert found[["low", "high"]].isna().all(axis=None)


def test_the_difference_is_taken_seed_by_seed_to_the_best_peer():
    (row,) = compare(scores(), "f1", "ours").to_dict("records")
    assert (row["task"], row["peer"], row["n"]) == ("a", "strong", 3)
    half = 4.302652729911275 * 0.1 / np.sqrt(3)
    np.testing.assert_allclose([row["mean"], row["low"], row["high"]], [0.2, 0.2 - half, 0.2 + half])


def test_only_seeds_that_both_have_are_compared():
    (row,) = compare(scores(), "f1", "ours", peers=["weak"]).to_dict("records")
    assert (row["peer"], row["n"]) == ("weak", 2)
    assert row["mean"] == pytest.approx(((0.9 - 0.1) + (0.8 - 0.3)) / 2)


def test_the_interval_over_splits_is_nadeau_and_bengios():
    values = [0.1, 0.2, 0.3, 0.0, 0.4]  # mean 0.2, variance 0.025
    half = 2.7764451051977987 * np.sqrt(0.025 * (1 / 5 + 3 / 7))  # Student's t with 4 degrees of freedom
    found = mean_interval(values, test_ratio=3 / 7)
    np.testing.assert_allclose([found["low"], found["high"]], [0.2 - half, 0.2 + half])
    corrected, plain = (compare(scores(), "f1", "ours", test_ratio=r).iloc[0] for r in (3 / 7, 0.0))
    widths = (corrected["high"] - corrected["low"]) / (plain["high"] - plain["low"])
    assert widths == pytest.approx(np.sqrt((1 / 3 + 3 / 7) / (1 / 3)))


def test_work_past_the_time_limit_is_stopped():
    with pytest.raises(TimeoutError, match=r"not finished in 0\.1 seconds"), time_limit(0.1):
        time.sleep(10)
    with time_limit(0.2):
        pass
    time.sleep(0.3)  # nothing rings after the end


def test_a_task_without_the_method_or_a_peer_is_left_out():
    assert compare(scores().query("method != 'ours'"), "f1", "ours").empty
    assert compare(scores().query("method == 'ours'"), "f1", "ours").empty


def test_an_empty_study_is_an_empty_table(tmp_path):
    assert read_table(tmp_path / "none.jsonl").empty


def test_markdown_has_a_header_a_rule_and_a_line_a_row():
    frame = pd.DataFrame({"x": ["1"], "y": ["2"]}, index=pd.Index(["a"], name="task"))
    assert to_markdown(frame) == "| task | x | y |\n| --- | --- | --- |\n| a | 1 | 2 |"


def test_records_are_plain_json(tmp_path):
    path = tmp_path / "study.jsonl"
    run_study(CELLS[:1], lambda *cell: {"inner": {"x": np.arange(2), "y": [np.float32(0.5)]}}, path)
    record = json.loads(path.read_text())
    assert record["inner"] == {"x": [0, 1], "y": [0.5]}
