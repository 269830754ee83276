"""The ledger is made from saved results, and every number it shows is one of them."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from experiments.__main__ import main
from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY, Claim, Finding, Paper, mean_of, verdict_of
from experiments.costs import cost_table
from experiments.experiment import Experiment
from experiments.ledger import NUMBERS, PAGE, ledger_numbers, ledger_page
from experiments.registry import find_experiments

OF_PAPER = [experiment for experiment in find_experiments().values() if experiment.paper is not None]


def judge(table):
    score = mean_of(table, "score", "ours")
    return Finding(
        verdict=verdict_of(score > 0.5),
        paper_settings="score {score:.2f}",
        defaults="{missing:.1f}",
        numbers={"score": score, "missing": math.nan},
    )


def make(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.experiment.RESULTS", tmp_path)
    return Experiment(
        name="small-one",
        title="Is it small?",
        tasks=["a", "b"],
        methods=["ours"],
        seeds=range(2),
        run_cell=lambda task, method, seed, *, device: {"score": 0.75, "n_models": 3, "n_steps": 10},
        tables=lambda table, methods: "",
        metrics={"score": "{:.1f}"},
        paper=Paper(where="Fig. 1", claims=[Claim(says="It is.", judge=judge)], settings="as printed"),
    )


def test_a_claim_without_results_was_not_run(tmp_path, monkeypatch):
    page = ledger_page([make(tmp_path, monkeypatch)])
    assert "| [small-one](#small-one) | It is. | not run |" in page
    assert "Not run." in page


def test_a_claim_is_judged_by_its_results(tmp_path, monkeypatch):
    experiment = make(tmp_path, monkeypatch)
    experiment.run(experiment.cells())
    page = ledger_page([experiment])
    assert "| It is. | - | score 0.75 | not run | holds |" in page
    assert "4 of 4 cells, " in page
    numbers = ledger_numbers([experiment])
    assert numbers.loc[numbers["name"] == "score", "value"].tolist() == [0.75]


def test_costs_tell_what_was_run_and_guess_the_rest(tmp_path, monkeypatch):
    experiment = make(tmp_path, monkeypatch)
    experiment.run(experiment.cells(["a"]))
    row = next(line for line in cost_table([experiment], "full").splitlines() if "small-one" in line)
    assert [cell.strip() for cell in row.split("|")][2:6] == ["4", "2", "6", "20"]
    assert row.split("|")[-2].strip() == "0"  # the other task's cells cost what the method's do


def test_a_sentence_with_a_missing_number_is_not_said():
    finding = Finding(verdict=HOLDS, paper_settings="{a:.1f}", defaults="none", numbers={"a": np.nan})
    assert finding.say(finding.paper_settings) == finding.final_verdict == NOT_RUN
    assert finding.say(finding.defaults) == "none"


@pytest.mark.parametrize(
    ("parts", "verdict"), [((True, True), HOLDS), ((True, False), PARTLY), ((False,), FAILS)]
)
def test_verdicts_count_the_parts_that_hold(parts, verdict):
    assert verdict_of(*parts) == verdict


@pytest.mark.parametrize("experiment", OF_PAPER, ids=lambda experiment: experiment.name)
def test_claims_can_be_judged_before_there_are_results(experiment):
    nothing = pd.DataFrame({"task": ["none"], "method": ["none"], "seed": [0]})
    for claim in experiment.paper.claims:
        finding = claim.judge(nothing)
        assert finding.final_verdict == NOT_RUN
        assert finding.say(finding.defaults) in ("", NOT_RUN)


def measured_cells(page):
    """Yield the experiment and the text of every cell of the two measured columns."""
    experiment = None
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("## "):
            experiment = line.removeprefix("## ")
        elif line.startswith("| ") and len(cells) == 5 and cells[0] not in ("claim", "---"):
            yield from ((experiment, text) for text in cells[2:4])


def test_the_page_is_what_the_saved_results_say():
    assert PAGE.read_text() == ledger_page(OF_PAPER)
    saved = pd.read_csv(NUMBERS)
    pd.testing.assert_frame_equal(saved, ledger_numbers(OF_PAPER), check_dtype=False, rtol=1e-5)


def test_every_number_of_the_ledger_is_in_the_saved_table():
    saved = pd.read_csv(NUMBERS).dropna().groupby("experiment")["value"]
    cells = list(measured_cells(PAGE.read_text()))
    assert len(cells) > 40
    for experiment, text in cells:
        for number in re.findall(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?", text):
            mantissa, _, exponent = number.replace(",", "").partition("e")
            digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
            values = saved.get_group(experiment).to_numpy()
            distance = np.abs(np.concatenate([values, 100 * values]) - float(number.replace(",", "")))
            assert distance.min() <= 0.51 * 10.0**-digits, f"{number} of {text!r} is in no saved table"


def test_the_ledger_and_the_costs_are_printed(capsys):
    main(["ledger"])
    assert capsys.readouterr().out.startswith("# The paper's experiments")
    main(["costs", "--preset", "quick"])
    assert "| all |" in capsys.readouterr().out


def test_an_experiment_or_all_of_them_must_be_named(capsys):
    for arguments in (["run"], ["run", "noise", "--all"]):
        with pytest.raises(SystemExit):
            main(arguments)
        assert "give the NAME of an experiment, or --all" in capsys.readouterr().err
