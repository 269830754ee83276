"""Select features on a real data set with planted noise columns.

The Wisconsin breast cancer data (569 tumours, 30 measurements, bundled with scikit-learn) gets 100
columns of pure noise. The gates must let measurements through and keep the noise out.
"""

import time

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from stochgate import GatedClassifier

N_NOISE = 100


def split_rows(random_state: int) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray, np.ndarray]:
    """Return the columns and the kinds of tumour, of 70 % of the rows to learn from and of the others."""
    data = load_breast_cancer()
    noise = np.random.default_rng(0).normal(size=(len(data.data), N_NOISE))
    X = pd.DataFrame(
        np.hstack([data.data, noise]),
        columns=[*data.feature_names.tolist(), *(f"noise {j}" for j in range(N_NOISE))],
    )
    y = data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, random_state=random_state, stratify=y
    )
    return X_train, X_test, y_train, y_test


def main() -> None:
    """Fit with gates and with all columns, and print what was chosen and how a forest does."""
    X_train, X_test, y_train, y_test = split_rows(0)
    n_columns = X_train.shape[1]
    start = time.perf_counter()
    model = GatedClassifier(random_state=0).fit(X_train, y_train)
    seconds = time.perf_counter() - start
    everything = GatedClassifier(lam=0, always_keep=range(n_columns), random_state=0)
    everything.fit(X_train, y_train)
    forest = RandomForestClassifier(500, random_state=0).fit(X_train, y_train)

    chosen = np.flatnonzero(model.get_support())
    n_noise = int((chosen >= n_columns - N_NOISE).sum())
    print(f"{len(y_train)} tumours to learn from, 30 measurements + {N_NOISE} noise columns\n")
    print(model.summary())
    print(f"\nchosen: {len(chosen)} of {n_columns} columns, {n_noise} of them noise")
    print(f"test accuracy with them:        {model.score(X_test, y_test):.3f}")
    print(f"test accuracy with all columns: {everything.score(X_test, y_test):.3f}")
    print(f"random forest on all columns:   {forest.score(X_test, y_test):.3f}")
    print(f"seconds: {seconds:.1f}")


if __name__ == "__main__":
    main()
