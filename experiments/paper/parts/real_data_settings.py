"""The nine data sets of the paper's Table 1: their files, their splits and the settings of networks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Range = tuple[float, float]
FOLDS, SHARE, GIVEN = "five folds", "a tenth of the rows trains", "the split that comes with the data"
XOR_NET = (476, 490, 14)
# the penalty times lr and steps that closes a useless gate
CLOSES = {"stg": 0.75, "hc": 11.0, "hc-scaled": 2.3}
REACH = 60.0


@dataclass(frozen=True, kw_only=True)
class RealSettings:
    """One data set.

    Attributes
    ----------
    file : str
        A name in `stochgate.datasets.REAL`, or "mnist".
    split : {FOLDS, SHARE, GIVEN}
    hidden, activation, lr, batch_size : as printed in the paper
    n_steps : int
        Steps of the training.
    lams_printed : (float, float), optional
        The smallest and the largest penalty of STG, where the paper prints them.
    table : (columns, training rows, test rows, classes)
        As printed in Table 1.
    printed_steps : int
        Of the paper's epochs, on its rows.
    scale : float, default=1.0
        By which the columns are divided.
    standardize : bool, default=True
        Whether columns are scaled to mean 0 and variance 1.
    n_penalties : int, default=8
    """

    file: str
    split: str
    hidden: tuple[int, ...]
    lr: float
    batch_size: int
    n_steps: int
    table: tuple[int, int, int, int]
    printed_steps: int
    activation: str = "tanh"
    scale: float = 1.0
    n_penalties: int = 8
    lams_printed: Range | None = None
    standardize: bool = True

    def lams(self, method: str, n_penalties: int | None = None) -> list[float]:
        """Return the penalties of a method per gate, evenly spaced in their logarithm.

        They are not printed, but for PBMC: here from what closes a useless gate within the steps on, which
        for STG is about 0.75 / (lr n_steps), to `REACH` times that. HC's gates need larger ones.
        """
        smallest = CLOSES[method] / (self.lr * self.n_steps)
        ends = smallest, REACH * smallest
        if method == "stg" and self.lams_printed is not None:
            ends = self.lams_printed
        return [float(f"{lam:.4g}") for lam in np.geomspace(*ends, n_penalties or self.n_penalties)]

    def network(self, method: str, n_penalties: int | None = None) -> dict[str, Any]:
        """Return the settings of `GatedNetwork`."""
        return {
            "hidden": self.hidden,
            "activation": self.activation,
            "lr": self.lr,
            "batch_size": self.batch_size,
            "n_epochs": self.n_steps,  # at least a step each
            "max_steps": self.n_steps,
            "lams": self.lams(method, n_penalties),
            "penalty": "sum",
            "standardize": self.standardize,
        }


_PBMC: dict[str, Any] = {
    "file": "pbmc",
    "hidden": (27, 10, 383),
    "lr": 0.0036,
    "batch_size": 1000,
    "n_steps": 12_000,
    "printed_steps": 24_000,
    "lams_printed": (0.001, 0.11),
    "table": (17126, 2074, 18666, 2),
    "n_penalties": 12,
}
SETTINGS: dict[str, RealSettings] = {
    "basehock": RealSettings(
        file="basehock",
        split=FOLDS,
        hidden=(500, 105, 25),
        lr=0.5,
        batch_size=50,
        n_steps=8000,
        printed_steps=64_000,
        table=(7862, 1594, 398, 2),
    ),
    "relathe": RealSettings(
        file="relathe",
        split=FOLDS,
        hidden=(500, 200, 10),
        lr=0.1,  # 0.008 is printed, for 36 times as many steps
        batch_size=40,
        n_steps=8000,
        printed_steps=290_000,
        table=(4322, 1141, 285, 2),
    ),
    "rcv1": RealSettings(
        file="rcv1_small",
        split=SHARE,
        hidden=(500, 100),
        lr=0.5,
        batch_size=500,
        n_steps=3250,
        printed_steps=3250,
        table=(47236, 2320, 20882, 2),
    ),
    "pcmac": RealSettings(
        file="pcmac",
        split=FOLDS,
        hidden=(109, 25, 455),
        lr=0.5,
        batch_size=450,
        n_steps=8000,
        printed_steps=24_000,
        table=(3289, 1554, 388, 2),
    ),
    "isolet": RealSettings(
        file="isolet",
        split=FOLDS,
        hidden=XOR_NET,
        lr=0.1,
        batch_size=40,
        n_steps=10_000,
        printed_steps=128_000,
        table=(617, 1248, 312, 26),
    ),
    "gisette": RealSettings(
        file="gisette_like",
        split=FOLDS,
        hidden=XOR_NET,
        lr=0.2,
        batch_size=1000,
        n_steps=2000,
        printed_steps=120_000,
        table=(5000, 5600, 1400, 2),
        scale=999.0,
    ),
    "coil20": RealSettings(
        file="coil20",
        split=FOLDS,
        hidden=(32, 438, 158, 20),
        lr=0.12,
        batch_size=150,
        n_steps=10_000,
        printed_steps=80_000,
        table=(1024, 1152, 288, 20),
    ),
    "mnist": RealSettings(
        file="mnist",
        split=GIVEN,
        hidden=(300, 100),
        activation="relu",
        lr=0.1,
        batch_size=200,
        n_steps=6000,
        printed_steps=75_000,
        table=(784, 60000, 10000, 10),
        scale=255.0,
        standardize=False,
    ),
    "pbmc": RealSettings(split=SHARE, **_PBMC),
    # not in the paper, whose tenth of the cells are 2,074: ours are 41, so four fifths of the cells too
    "pbmc-folds": RealSettings(split=FOLDS, **_PBMC),
}
OF_PAPER = [name for name in SETTINGS if name != "pbmc-folds"]
