"""The cost model of docs/scaling.md: its laws, and the page says what it prints."""

import re
from pathlib import Path

import pytest

from experiments.experiment import RESULTS
from experiments.speed.cost_model import Worker, all_reduce_seconds, main, predict_local, seconds_per_step
from experiments.study import read_table

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"


def test_the_slower_of_computing_and_reading_counts_unless_cores_are_shared():
    assert Worker(row_seconds=2.0, read_seconds=3.0).seconds(10) == 30
    assert Worker(row_seconds=2.0, read_seconds=3.0, n_readers=2).seconds(10) == 20
    assert Worker(row_seconds=2.0, read_seconds=3.0, shares_cores=True).seconds(10) == 50


def test_workers_share_the_rows_of_a_step_and_pay_for_averaging():
    worker = Worker(row_seconds=1.0, read_seconds=0.0)
    assert seconds_per_step(worker, 8, 1, reduce_seconds=5.0) == 8
    assert seconds_per_step(worker, 8, 2, reduce_seconds=5.0) == 9


def test_a_ring_of_many_sends_nearly_twice_the_gradients():
    assert all_reduce_seconds(1e6, 1, bytes_per_second=1.0, latency=1.0) == 0
    assert all_reduce_seconds(1e6, 1000, bytes_per_second=4e6, latency=0.0) == pytest.approx(1.998)


def test_the_model_predicts_what_local_workers_reach():
    table = predict_local(read_table(RESULTS / "shared_rows.jsonl"))
    assert table["predicted / measured"].between(0.7, 1.4).all()


def test_the_page_has_what_the_model_prints(capsys):
    main()
    page = PAGE.read_text()
    cells = re.findall(r"(?<=\| )\d[\d.e+]*(?= \|)", capsys.readouterr().out)
    assert len(cells) > 8
    assert [cell for cell in cells if cell not in page] == []
