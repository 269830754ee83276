"""Published accuracies of an SVM on the best 50 and 100 features, in percent.

Their protocol differs from ours: one split of the rows, the ISOLET of 7,797 rows (ours has 1,560 of them)
and all 60,000 training images of MNIST (ours: 10,000).
"""

from collections.abc import Sequence

import pandas as pd

from experiments.study import to_markdown

_SETS = ("isolet", "coil20", "basehock", "mnist", "pcmac", "relathe", "madelon")


def _row(*accuracies: float) -> dict[str, float]:
    return dict(zip(_SETS, accuracies, strict=False))


# NeuroFS (Atashgahi et al., TMLR 2023), Table 7
AT_50 = {
    "all features": _row(96.03, 100.0, 91.98, 97.92),
    "STG": _row(85.82, 99.32, 85.12, 93.20),
    "LassoNet": _row(84.90, 97.16, 87.18, 94.46),
    "NeuroFS": _row(92.62, 98.78, 89.06, 95.30),
    "QuickSelection": _row(89.78, 96.52, 87.22, 93.62),
    "Fisher score": _row(67.40, 74.00, 90.20, 81.90),
    "RFS": _row(91.50, 95.80, 85.00),
}
# "Unveiling the Power of Sparse Neural Networks for Feature Selection" (Atashgahi et al., ECAI 2024),
# Table 4, and the best of any method in its Table 6
AT_100 = {
    "lasso": _row(91.47, 94.10, 87.72, 78.27, 66.07, 80.77, 58.67),
    "STG": _row(93.44, 95.49, 82.66, 87.54, 87.12, 78.15, 62.50),
    "LassoNet": _row(92.30, 95.03, 94.24, 86.83, 90.18, 83.64, 77.12),
    "SET-Attr": _row(95.53, 98.02, 94.34, 96.24, 87.89, 82.10, 76.63),
    "best there": _row(95.53, 99.06, 94.34, 96.24, 90.18, 83.64, 84.42),
}


def published_table(accuracies: dict[str, dict[str, float]], sets: Sequence[str]) -> str:
    """Return published accuracies in percent, methods by sets, as Markdown.

    Examples
    --------
    >>> from experiments.paper.parts.top_k_published import AT_50, published_table
    >>> print(published_table({"RFS": AT_50["RFS"]}, ["isolet", "mnist"]))
    |  | isolet | mnist |
    | --- | --- | --- |
    | RFS | 91.5 | - |
    """
    rows = {
        method: {name: f"{of_set[name]:.1f}" if name in of_set else "-" for name in sets}
        for method, of_set in accuracies.items()
    }
    return to_markdown(pd.DataFrame.from_dict(rows, orient="index"))
