"""A small checkpointed fit, to be killed: ``python fit_to_kill.py FOLDER`` prints a hash of its result."""

import hashlib
import sys

import numpy as np
import torch

from stochgate import GatedClassifier, Training
from stochgate.engine.checkpoint import state


def hash_of(model, X):
    """Return a hash of all that a fit found."""
    found = hashlib.sha256()
    numbers = [model.predict_proba(X), model.gates_, model.selection_frequency_, model.support_]
    numbers += [*model.history_.values(), *model.gate_history_.values()]
    for values in numbers:
        found.update(np.ascontiguousarray(values).tobytes())
    rows = model.path_.to_dict("records")  # a float is written with all its digits
    found.update(repr(rows).encode())
    return found.hexdigest()


def fit(folder):
    """Return a hash of the fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=80) > 0).astype(int)
    training = Training(n_steps=40, n_snapshots=3)
    model = GatedClassifier(cv=3, training=training, random_state=0)
    return hash_of(model.fit(X, y, checkpoint=folder), X)


if __name__ == "__main__":
    torch.set_num_threads(1)
    state.SECONDS = 0.0  # the state is kept at every snapshot
    print("begin", flush=True)
    print(fit(sys.argv[1] if len(sys.argv) > 1 else None), flush=True)
