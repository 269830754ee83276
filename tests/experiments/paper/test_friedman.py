"""The Friedman function with more columns than rows: errors, where less is better."""

import numpy as np
import pandas as pd
import pytest

from experiments.claims import FAILS, HOLDS
from experiments.paper.friedman import FRIEDMAN, REGRESSORS, run_cell


@pytest.mark.parametrize("method", ["stg", "lasso", "dnn"])
def test_a_cell_says_what_was_found(method):
    record = run_cell("friedman", method, 1, n_features=10, max_steps=20, n_lams=2)
    assert record["rmse"] > 0
    assert np.isfinite([record["test_score"], record["median_rank"], record["f1"]]).all()


def test_a_support_vector_classifier_is_no_regressor():
    assert "svc" not in REGRESSORS
    assert FRIEDMAN.cells(seeds=[1000])[0].task == "friedman"


@pytest.mark.parametrize(("rmse", "verdict"), [(0.1, HOLDS), (0.3, FAILS)])
def test_the_smaller_error_wins(rmse, verdict):
    table = pd.DataFrame(
        [
            {"task": "friedman", "method": m, "seed": 1000, "rmse": rmse if m == "stg" else 0.2}
            for m in REGRESSORS
        ]
    )
    assert FRIEDMAN.paper.claims[2].judge(table).final_verdict == verdict
