"""The synthetic problems of the paper and of the selection league, each with its true features."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_moons
from sklearn.utils import check_random_state

from stochgate.survival import survival_target

RandomState = int | np.random.RandomState | None


@dataclass(frozen=True)
class Problem:
    """A data set whose relevant features are known.

    Attributes
    ----------
    X : ndarray, shape (n_samples, n_features)
    y : ndarray; for survival a structured array with the fields "event" and "time"
    relevant : ndarray of bool, shape (n_features,)
    strong : ndarray of bool, shape (n_features,), optional
        Those of the relevant ones that the others are made of; None where there are no others.
    """

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray
    strong: np.ndarray | None = None


def make_xor(n_samples: int = 1500, n_noise: int = 10, random_state: RandomState = None) -> Problem:
    """Binary XOR (paper, section 6.2): fair coins in -1/+1, y = [x1 x2 > 0].

    Examples
    --------
    >>> from stochgate.datasets import make_xor
    >>> make_xor(100, n_noise=3, random_state=0).X.shape
    (100, 5)
    """
    rng = check_random_state(random_state)
    X = rng.choice([-1.0, 1.0], size=(n_samples, 2 + n_noise))
    return Problem(X, (X[:, 0] * X[:, 1] > 0).astype(int), _first(2, X))


def make_two_moons(
    n_samples: int = 1000, n_noise: int = 50, noise: float = 0.1**0.5, random_state: RandomState = None
) -> Problem:
    """Two moons (supplement S6.1) with noise of variance 0.1, among standard normal columns."""
    rng = check_random_state(random_state)
    moons, y = make_moons(n_samples, noise=noise, random_state=rng)
    X = np.hstack([moons, rng.normal(size=(n_samples, n_noise))])
    return Problem(X, y, _first(2, X))


def make_ring(
    n_samples: int = 1000, n_features: int = 128, *, xor: bool = False, random_state: RandomState = None
) -> Problem:
    """A ring in two of many uniform columns, where neural selectors are known to fail.

    y = [0.25 < |(x1, x2) - (0.5, 0.5)| < 0.45], or that or (x3 > 0.5) xor (x4 > 0.5) when `xor`.
    """
    rng = check_random_state(random_state)
    X = rng.uniform(size=(n_samples, n_features))
    radius = np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5)
    y = (radius > 0.25) & (radius < 0.45)
    if xor:
        y |= (X[:, 2] > 0.5) ^ (X[:, 3] > 0.5)
    return Problem(X, y.astype(int), _first(4 if xor else 2, X))


def make_friedman(n_samples: int = 600, n_features: int = 500, random_state: RandomState = None) -> Problem:
    """The paper's modified Friedman function (section 6.1), centred and divided by its maximum.

    y = 10 sin(x1 x2)^2 + 20 x3^2 + 10 sign(x4 x5 - 0.2) + N(0, 1), x uniform in [0, 1]
    """
    rng = check_random_state(random_state)
    X = rng.uniform(size=(n_samples, n_features))
    y = 10 * np.sin(X[:, 0] * X[:, 1]) ** 2 + 20 * X[:, 2] ** 2
    y = y + 10 * np.sign(X[:, 3] * X[:, 4] - 0.2) + rng.normal(size=n_samples)
    y = y - y.mean()
    return Problem(X, y / np.abs(y).max(), _first(5, X))


def make_se1(n_samples: int = 1000, random_state: RandomState = None) -> Problem:
    """SE1 of Gregorova et al. (2018): sin((x1 + x3)^2) sin(x7 x8 x9) + 0.1 N(0, 1), 18 columns."""
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_samples, 18))
    y = np.sin((X[:, 0] + X[:, 2]) ** 2) * np.sin(X[:, 6] * X[:, 7] * X[:, 8])
    return Problem(X, y + 0.1 * rng.normal(size=n_samples), np.isin(np.arange(18), [0, 2, 6, 7, 8]))


def make_se2(n_samples: int = 1000, random_state: RandomState = None) -> Problem:
    """SE2 of Gregorova et al. (2018): log((x11 + ... + x15)^2) + 0.1 N(0, 1), 100 columns."""
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_samples, 100))
    y = np.log(X[:, 10:15].sum(axis=1) ** 2) + 0.1 * rng.normal(size=n_samples)
    return Problem(X, y, np.isin(np.arange(100), np.arange(10, 15)))


def make_se3(n_samples: int = 1000, random_state: RandomState = None) -> Problem:
    """SE3 in the manner of Gregorova et al. (2018): 200 hidden normal columns, of each five noisy copies.

    y = 10 r exp(-2 r) + 0.01 N(0, 1) with r = z1^2 + z3^2, where z are the hidden columns; the copies add
    0.1 N(0, 1), so that columns 1 to 5 and 11 to 15 of 1000 are relevant. This definition is unverified,
    since no source was at hand: the response and the numbers of columns are probable, the grouping of the
    copies less so, and the size of their noise is a guess.
    """
    rng = check_random_state(random_state)
    hidden = rng.normal(size=(n_samples, 200))
    X = np.repeat(hidden, 5, axis=1) + 0.1 * rng.normal(size=(n_samples, 1000))
    r = hidden[:, 0] ** 2 + hidden[:, 2] ** 2
    y = 10 * r * np.exp(-2 * r) + 0.01 * rng.normal(size=n_samples)
    return Problem(X, y, np.isin(np.arange(1000) // 5, [0, 2]))


def make_linear(
    n_samples: int = 120,
    n_features: int = 64,
    n_relevant: int = 10,
    rho: float = 0.0,
    random_state: RandomState = None,
) -> Problem:
    """Linear regression (paper, section 7): coefficients +-1, noise of variance 0.5.

    Columns are normal with covariance rho^|i - j|; the relevant ones are drawn at random.
    """
    rng = check_random_state(random_state)
    X = _correlated(rng, n_samples, n_features, rho)
    beta, relevant = _signs(rng, n_features, n_relevant)
    return Problem(X, X @ beta + np.sqrt(0.5) * rng.normal(size=n_samples), relevant)


def make_cox(
    n_samples: int = 500,
    n_features: int = 200,
    n_relevant: int = 10,
    censored: float = 0.5,
    random_state: RandomState = None,
) -> Problem:
    """Cox model with coefficients +-0.7 and exponential times, of which a given share is censored."""
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_samples, n_features))
    beta, relevant = _signs(rng, n_features, n_relevant)
    return Problem(X, _survival(rng, 0.7 * X @ beta, censored), relevant)


def make_cox_nonlinear(
    n_samples: int = 500, n_features: int = 200, censored: float = 0.5, random_state: RandomState = None
) -> Problem:
    """Cox model with the log hazard 2 x1 x2 + x3^2 - 1 + |x4|, drawn as in `make_cox`.

    None of the four has a linear effect.
    """
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_samples, n_features))
    log_hazard = 2 * X[:, 0] * X[:, 1] + X[:, 2] ** 2 - 1 + np.abs(X[:, 3])
    return Problem(X, _survival(rng, log_hazard, censored), _first(4, X))


def make_noise(
    n_samples: int = 300, n_features: int = 200, kind: str = "regression", random_state: RandomState = None
) -> Problem:
    """Pure noise, for the kind "classification", "regression" or "survival": nothing is relevant."""
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_samples, n_features))
    if kind == "survival":
        y = _survival(rng, np.zeros(n_samples), 0.5)
    elif kind == "classification":
        y = rng.randint(2, size=n_samples)
    else:
        y = rng.normal(size=n_samples)
    return Problem(X, y, _first(0, X))


def _first(n_relevant: int, X: np.ndarray) -> np.ndarray:
    return np.arange(X.shape[1]) < n_relevant


def _signs(rng: np.random.RandomState, n_features: int, n_relevant: int) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients +-1 at random places and the mask of those places."""
    relevant = np.zeros(n_features, dtype=bool)
    relevant[rng.choice(n_features, n_relevant, replace=False)] = True
    return relevant * rng.choice([-1.0, 1.0], size=n_features), relevant


def _correlated(rng: np.random.RandomState, n_samples: int, n_features: int, rho: float) -> np.ndarray:
    """Draw a normal autoregressive row: neighbours correlate by rho."""
    X = rng.normal(size=(n_samples, n_features))
    for j in range(1, n_features):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def _survival(rng: np.random.RandomState, log_hazard: np.ndarray, censored: float) -> np.ndarray:
    """Draw exponential times, and exponential censoring times scaled so that a given share is censored."""
    time = rng.exponential(np.exp(-log_hazard))
    censoring = rng.exponential(size=len(time))
    censoring = censoring * np.quantile(time / censoring, 1 - censored)
    return survival_target(time <= censoring, np.minimum(time, censoring))
