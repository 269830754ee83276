"""What the docstrings of the three estimators share, written once."""

import re
from textwrap import indent
from typing import TypeVar

T = TypeVar("T", bound=type)

LAM = """\
lam : "auto" or float, default="auto"
    Strength of the penalty ``lam * sum_g cost_g P(z_g > 0) / n_gates``. "auto" looks for the fewest
    features that predict as well as the best model: several kinds of network and sets of every size are
    judged on held-out rows, and the final model is trained on the chosen features and all rows. What
    transfers between data sets is lam / n_gates."""

PARAMETERS = """\
gate : {"gaussian", "hard-concrete", "deterministic"} or Gate, default="gaussian"
network : {"linear", "mlp", "encoded"} or Network, optional
    By default lam="auto" compares the three kinds, and a given lam takes "mlp".
hidden : tuple of int, optional
    Widths of the MLP's hidden layers, (64, 32) by default; () is a linear model.
activation : {"relu", "tanh", "sigmoid", "selu", "silu"}, optional
    Of the MLP, "relu" by default.
feature_groups : array of labels or mapping, optional
    Features that share one gate: a label per feature, or ``{name: [features]}``.
costs : array or mapping, optional
    What opening a feature costs, 1 by default; a group costs the mean of its features.
always_keep : list of names or positions, or mask, optional
    Features whose gate is open and not penalised. A whole number is a position.
threshold : float, default=0
    A feature is selected when its gate is above; 0.5 is the paper's cutoff for weak signals.
cv : int or splitter, default=5
    Folds of the automatic choice; whatever scikit-learn's `cv` takes. A number of them is drawn three
    times where there are fewer than 200 rows, or groups of rows.
rule : {"auto", "best", "one-se"} or callable, default="auto"
    What the automatic choice takes: the fewest features that predict as well as the best model, the one
    on all columns included; the lowest held-out loss; or the fewest features within one standard error
    of it. A function is given the table `path_` and returns the position of a row, or None for no
    feature.
alpha : float, default=0.05
    Level of the test of signal: noise is selected in at most this share of fits; up to 0.005 the verdict
    is "clear signal", up to alpha "weak signal", beyond it nothing is selected.
n_features_to_select : int, optional
    Select exactly so many gates (a group counts once, `always_keep` counts): the first of the ranking
    that held-out rows find best, by a growing penalty or by backward elimination; also where no signal
    shows.
missing : {"auto", "error"}, default="auto"
    Whether X may have missing values. With "auto" a column of numbers that has some is filled with its
    median, and a second column behind the same gate says where; text has a level of its own for them.
    Where the fit had none a missing number counts as the median, a missing text as the most frequent one.
training : Training, optional
    Steps, step sizes, batches, early stopping.
device : str, default="auto"
    "auto" takes CUDA when it is there.
backend : {"local", "ray"} or Backend, optional
    Where the models of the fit are trained; by default as the surrounding ``with stochgate.backend(...)``
    says, else in this process. "ray" starts Ray on first use and leaves it running until Python ends.
callbacks : list of callables, optional
    Each is called with a `Snapshot` during training.
verbose : int, default=0
    Above 0 shows a progress bar.
random_state : int, RandomState or None, default=None"""

ATTRIBUTES = """\
support_ : ndarray of bool, shape (n_features,)
    ``gates_ > threshold``; a column outside it changes no prediction.
gates_ : ndarray, shape (n_features,)
    The final model's deterministic gates, from 0 (closed) to 1 (open).
open_probability_ : ndarray, shape (n_features,)
    P(z > 0), what the penalty sums.
feature_importances_ : ndarray, shape (n_features,)
    P(z > 0). After an automatic choice the mean of the selection frequency and of P(z > 0) over folds
    and penalties of the chosen network's path (for a given number of features, of the model that
    chose them): it ranks closed features too. Where the residuals on held-out rows clearly depend on one
    that no model was better with, it has up to a half.
lam_ : float
    The penalty of the model, or the one chosen.
network_ : str
    The kind of network chosen (automatic choice only, as the three that follow).
p_value_ : float
    How rarely columns that have nothing to do with y would look as they do; a signal up to `alpha`.
selection_frequency_ : ndarray, shape (n_features,)
    The share of folds in whose set a feature is, made as the chosen set was.
path_ : DataFrame, or list of dict without pandas
    A row for every network and set of features that was judged: how many features a model on all rows
    uses, how many each fold has open (`n_by_fold`), the folds' vote at their last step (`n_at_end`),
    and losses with their spread over the folds. The losses made the choice: they rank, they are not
    an estimate of performance.
remarks_ : list of str
    What a person should look at: columns that give y away, almost or in full, or tell its classes apart
    alone, that number the rows or repeat ids, hold numbers for missing values, codes or too many different
    texts, or have one value only; and whole numbers in y that may be counts.
n_steps_ : int
    The step the model is from.
history_ : dict of ndarray
    "step", "train_loss" and "held_out_loss" at each snapshot.
gate_history_ : dict of ndarray
    The deterministic gates over the training that chose the features: "step" and "lam", the penalty at that
    step, of shape (n_snapshots,), and "gates" of shape (n_snapshots, n_features), float32. With lam given
    it is the training of the model itself; after an automatic choice, of the models that made the chosen
    set: the folds' at their penalty (a mean over folds) or, where the set was made under a growing penalty
    or none was chosen, the models under that penalty on all rows (a mean over seeds). A given number of
    features has the model on all rows that chose them. Where no gate is trained, as when
    `always_keep` names all features, the gates are constant."""


def document(cls: T) -> T:
    """Fill `%(lam)s`, `%(parameters)s` and `%(attributes)s` in the docstring of an estimator."""
    texts = {"lam": LAM, "parameters": PARAMETERS, "attributes": ATTRIBUTES}

    def fill(found: re.Match[str]) -> str:
        return indent(texts[found[2]], found[1])

    cls.__doc__ = re.sub(r"(?m)^( *)%\((\w+)\)s$", fill, cls.__doc__ or "")
    return cls
