"""Tuning stays in the paper's ranges and away from the final draws, and its file is read back."""

import json
import sys
from functools import partial

import numpy as np
import pytest

from experiments.baselines import BASELINES
from experiments.paper import tuning
from experiments.paper.parts.planted_methods import NETWORKS, Split
from experiments.paper.tuning import SEARCHES, TASKS, Task, main, tune, tuned_settings
from stochgate import datasets

PARTS = Split(np.arange(60), np.arange(60, 90), np.arange(90, 100))


@pytest.fixture
def small(monkeypatch):
    """Replace the tasks by small draws of few columns."""
    pytest.importorskip("optuna")

    def draw(seed, make):
        return [(make(100, random_state=seed), PARTS)]

    make_xor = partial(datasets.make_xor, n_noise=2)
    small_tasks = {
        "xor": Task(partial(draw, make=make_xor), chooses=False),
        "madelon": Task(partial(draw, make=partial(datasets.make_madelon, n_noise=2)), chooses=True),
        "friedman": Task(
            partial(draw, make=partial(datasets.make_friedman, n_features=7)),
            chooses=True,
            kind="regression",
            printed=("lr", "alpha"),
        ),
    }
    for name, task in small_tasks.items():
        monkeypatch.setitem(TASKS, name, task)


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("experiment", TASKS)
def test_what_is_tuned_is_a_setting_and_no_network_setting_that_the_paper_prints(experiment, method):
    ranges = SEARCHES[method].ranges(TASKS[experiment])
    assert set(ranges) <= set(BASELINES[method]().get_params())
    assert set(ranges) <= {"lr", "alpha", "C", "threshold", "n_estimators", "max_depth"}
    assert not set(ranges) & set(TASKS[experiment].printed)


def test_how_sparse_a_method_is_is_tuned_only_where_validation_rows_do_not_choose_it():
    for search in SEARCHES.values():
        assert set(search.sparsity) <= set(search.ranges(TASKS["xor"]))
        assert not set(search.sparsity) & set(search.ranges(TASKS["madelon"]))


def test_no_final_draw_is_used():
    assert all(seed < 1000 for search in SEARCHES.values() for seed in search.seeds)


@pytest.mark.parametrize("experiment", ["xor", "moons"])
def test_a_trial_sees_all_numbers_of_noise_columns_by_the_papers_split(experiment):
    drawn = TASKS[experiment].draw(0)
    assert [problem.X.shape[1] for problem, _ in drawn] == [12, 52, 92]
    n_samples = len(drawn[0][0].y)
    for _, split in drawn:
        assert len(split.test) == round(0.7 * n_samples)
        assert len(split.valid) == round(0.03 * n_samples)
        everything = np.concatenate([split.train, split.valid, split.test])
        np.testing.assert_array_equal(np.sort(everything), np.arange(n_samples))


@pytest.mark.parametrize(
    ("experiment", "method"),
    [("xor", "forest"), ("xor", "lasso"), ("xor", "svc"), ("madelon", "extra-trees"), ("xor", "dfs")],
)
def test_the_best_setting_is_in_its_range_and_has_the_score_it_is_said_to_have(experiment, method, small):
    found = tune(experiment, method, n_trials=2, max_steps=20)
    task, search = TASKS[experiment], SEARCHES[method]
    assert set(found["settings"]) == set(search.ranges(task))
    for name, (low, high) in search.ranges(task).items():
        assert low <= found["settings"][name] <= high
    network = {**NETWORKS["xor"]["dfs"], "max_steps": 20, "device": "cpu"} if method == "dfs" else {}
    model = BASELINES[method](task.kind, **{**network, **found["settings"]})
    scores = []
    for seed in found["seeds"]:
        ((problem, split),) = task.draw(seed)
        train, valid = ((problem.X[rows], problem.y[rows]) for rows in (split.train, split.valid))
        model.set_params(random_state=seed).fit(*train, validation=valid if task.chooses else None)
        scores.append(model.score(*valid))
    assert np.mean(scores) == pytest.approx(found["score"])


def test_what_was_found_is_written_and_read_back(small, tmp_path, capsys):
    path = tmp_path / "tuned.json"
    assert tuned_settings("xor", "lasso", path) == {}
    for method in ("lasso", "svc"):
        main(["--experiments", "xor", "madelon", "--methods", method, "--trials", "2", "--path", str(path)])
    saved = json.loads(path.read_text())
    assert {experiment: set(methods) for experiment, methods in saved.items()} == {"xor": {"lasso", "svc"}}
    assert set(saved["xor"]["lasso"]) == {"settings", "score", "n_trials", "seeds"}
    assert tuned_settings("xor", "lasso", path) == saved["xor"]["lasso"]["settings"]
    assert tuned_settings("moons", "lasso", path) == tuned_settings("xor", "forest", path) == {}
    assert "madelon lasso: nothing to tune" in capsys.readouterr().out


@pytest.mark.parametrize("method", ["lasso", "svc", "dfs", "sgnn"])
def test_what_the_validation_rows_choose_or_the_paper_prints_is_not_tuned(method, small):
    assert tune("friedman", method, n_trials=1) is None


def test_the_saved_settings_are_settings_of_the_methods():
    saved = json.loads(tuning.TUNED.read_text()) if tuning.TUNED.exists() else {}
    for experiment, methods in saved.items():
        for method, found in methods.items():
            BASELINES[method](TASKS[experiment].kind, **found["settings"])
            assert max(found["seeds"]) < 1000


def test_a_missing_optuna_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"pip install stochgate\[tune\]"):
        tune("xor", "lasso")
