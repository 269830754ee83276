"""MADELON, with and without redundant columns: by the design of 2003, and by scikit-learn's function."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.utils import check_random_state

from stochgate.datasets.synthetic import Problem, RandomState


def make_madelon(
    n_samples: int = 600, n_noise: int = 495, n_redundant: int = 0, random_state: RandomState = None
) -> Problem:
    """MADELON by the NIPS 2003 design: the 32 vertices of a cube in 5 dimensions, labelled at random.

    Half of the vertices (at +-2, noise N(0, 1)) belong to each class; redundant columns are random
    linear combinations of the 5 plus N(0, 1); 1 % of the labels are flipped; columns are standardised.
    Redundant columns count as relevant; where there are some, the 5 are the strong ones.
    """
    rng = check_random_state(random_state)
    vertices = np.array(np.meshgrid(*[[-2.0, 2.0]] * 5)).reshape(5, -1).T  # (32, 5)
    label = rng.permutation(np.repeat([0, 1], 16))
    which = rng.randint(32, size=n_samples)
    informative = vertices[which] + rng.normal(size=(n_samples, 5))
    redundant = informative @ rng.uniform(-1, 1, size=(5, n_redundant))
    redundant = redundant + rng.normal(size=redundant.shape)
    X = np.hstack([informative, redundant, rng.normal(size=(n_samples, n_noise))])
    y = label[which] ^ (rng.uniform(size=n_samples) < 0.01)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Problem(X, y.astype(int), *_masks(n_noise, n_redundant))


def make_madelon_sklearn(
    n_samples: int = 600, n_noise: int = 495, n_redundant: int = 0, random_state: RandomState = None
) -> Problem:
    """MADELON by scikit-learn's `make_classification`, which the paper names, with 16 clusters per class.

    With as many clusters as vertices that function labels them in turn, so a vertex's class is the sign of
    its fifth coordinate. The fifth column agrees with the label in about 80 % of the rows; the other four
    add a few points of accuracy, by the shapes of the clusters alone. `make_madelon` labels the vertices at
    random, as the design says; use that one unless this very function is asked for.

    Vertices lie at +-1, each cluster has its own covariance, redundant columns have no noise of their own,
    and 1 % of the labels are drawn anew.
    """
    rng = check_random_state(random_state)
    X, y = make_classification(
        n_samples,
        5 + n_redundant + n_noise,
        n_informative=5,
        n_redundant=n_redundant,
        n_clusters_per_class=16,
        flip_y=0.01,
        shuffle=False,  # so that the relevant columns come first
        random_state=rng,
    )
    order = rng.permutation(n_samples)
    return Problem(X[order], y[order], *_masks(n_noise, n_redundant))


def _masks(n_noise: int, n_redundant: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return which columns are relevant and which of these are strong."""
    column = np.arange(5 + n_redundant + n_noise)
    return column < 5 + n_redundant, column < 5 if n_redundant else None
