"""The league's tasks as research sees them: training rows only."""

import numpy as np
from stochgate import datasets as d


def tasks():
    return {
        "xor10": lambda s: d.make_xor(450, 10, random_state=s),
        "xor50": lambda s: d.make_xor(450, 50, random_state=s),
        "xor200": lambda s: d.make_xor(450, 200, random_state=s),
        "moons50": lambda s: d.make_two_moons(300, 50, random_state=s),
        "ring": lambda s: d.make_ring(1000, 128, random_state=s),
        "ringxor": lambda s: d.make_ring(1000, 128, xor=True, random_state=s),
        "friedman": lambda s: d.make_friedman(500, 500, random_state=s),
        "madelon": lambda s: d.make_madelon(500, 495, random_state=s),
        "se2": lambda s: d.make_se2(1000, random_state=s),
        "lin60": lambda s: d.make_linear(60, random_state=s),
        "lin120": lambda s: d.make_linear(120, random_state=s),
        "cox": lambda s: d.make_cox(500, 200, random_state=s),
        "cmadelon": lambda s: d.make_madelon(1500, 480, 15, random_state=s),
        "se1": lambda s: d.make_se1(1000, random_state=s),
        "noise_c": lambda s: d.make_noise(kind="classification", random_state=s),
        "noise_r": lambda s: d.make_noise(kind="regression", random_state=s),
        "noise_s": lambda s: d.make_noise(kind="survival", random_state=s),
    }
