"""What the three estimators share."""

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted
from torch import Tensor

from stochgate.backends import NAMES, Backend, trained_on
from stochgate.choice.auto import fit_auto
from stochgate.choice.exact_k import fit_exactly
from stochgate.choice.final import FinalModel, train_at
from stochgate.choice.rules import RULES
from stochgate.choice.tables import train_table
from stochgate.engine import Predictor, Training
from stochgate.engine.checkpoint import open_checkpoint
from stochgate.engine.record import Callback
from stochgate.estimators.export_mixin import ExportMixin
from stochgate.estimators.linear import LinearMixin
from stochgate.estimators.progress import ProgressBar
from stochgate.estimators.reduced import ReducedMixin
from stochgate.estimators.streams import StreamMixin
from stochgate.estimators.warnings_mixin import WarningsMixin
from stochgate.explain.mixin import ExplainMixin
from stochgate.gates import Gate
from stochgate.networks import Network
from stochgate.objectives import Objective
from stochgate.problem.checkpoint import keep_plans
from stochgate.problem.from_estimator import Given
from stochgate.problem.from_stream import make_any_problem
from stochgate.problem.problem import Problem
from stochgate.problem.remarks import find_remarks
from stochgate.problem.validation import refuse_diverged
from stochgate.sources.opening import is_stream
from stochgate.tables.check import check_table
from stochgate.tables.frame import in_memory
from stochgate.tables.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame

_OF_ONE_FIT = (
    "_predictor",
    "_choice",
    "_summary",
    "network_",
    "p_value_",
    "path_",
    "selection_frequency_",
    "source_",
    "remarks_",
    "_is_reduced",
)


class GatedEstimator(
    LinearMixin,
    ReducedMixin,
    StreamMixin,
    ExportMixin,
    ExplainMixin,
    WarningsMixin,
    SelectorMixin,
    BaseEstimator,
):
    """Selects features and trains the model that uses them, in one fit."""

    _parameter_constraints = {
        "lam": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "hidden": [tuple, list, None],
        "threshold": [Interval(Real, 0, 1, closed="left")],
        "rule": [StrOptions(set(RULES)), callable],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), None],
        "training": [Training, None],
        "missing": [StrOptions({"auto", "error"})],
        "device": [str],
        "backend": [StrOptions(set(NAMES)), Backend, None],
        "callbacks": [tuple, list, None],
        "verbose": ["verbose", Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        lam: float | str = "auto",
        *,
        gate: str | Gate = "gaussian",
        network: str | Network | None = None,
        hidden: tuple[int, ...] | None = None,
        activation: str | None = None,
        feature_groups: Any = None,
        costs: Any = None,
        always_keep: Any = None,
        threshold: float = 0.0,
        cv: Any = 5,
        rule: Any = "auto",
        alpha: float = 0.05,
        n_features_to_select: int | None = None,
        missing: str = "auto",
        training: Training | None = None,
        device: str = "auto",
        backend: str | Backend | None = None,
        callbacks: Any = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.lam = lam
        self.gate = gate
        self.network = network
        self.hidden = hidden
        self.activation = activation
        self.feature_groups = feature_groups
        self.costs = costs
        self.always_keep = always_keep
        self.threshold = threshold
        self.cv = cv
        self.rule = rule
        self.alpha = alpha
        self.n_features_to_select = n_features_to_select
        self.missing = missing
        self.training = training
        self.device = device
        self.backend = backend
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state

    def _make_objective(self, training: Training) -> Objective:
        """Return the estimator's objective."""
        raise NotImplementedError

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        checkpoint: Any = None,
    ) -> Self:
        """Select features and train the model.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix, shape (n_samples, n_features)
            A LazyFrame of polars is collected.
            Or a table that is read block by block (docs/out-of-core.md): a path, a pyarrow dataset, an
            array of Zarr or HDF5, blocks (X, y), or a `Stream` of one of them.
        y : the target; see the class
            Of a table on disk the name of its column, or their names; of blocks None.
        sample_weight : array, shape (n_samples,), or the name of a column, optional
            Weights of the rows inside the loss; 0 equals the row removed.
        groups : array, shape (n_samples,), or the name of a column, optional
            Which rows belong together (patients, batches): folds keep them together, and there is no second
            look at residuals, which takes rows for independent.
        checkpoint : str or path, optional
            A folder, new or empty, that keeps what is trained. When the process ends before the fit does,
            the same call goes on from there, to the same bits on a CPU; callbacks do not see again what was
            trained before. A folder of another fit is refused (docs/checkpoints.md).

        Returns
        -------
        self
        """
        for name in _OF_ONE_FIT:  # whatever fails below leaves no older model behind
            self.__dict__.pop(name, None)
        self._validate_params()
        k = self.n_features_to_select
        if k is not None and self.lam != "auto":
            raise ValueError("Give either lam or n_features_to_select: a number has its own lam.")
        with (
            trained_on(self.backend),
            ProgressBar(self.verbose) as bar,
            open_checkpoint(checkpoint) as saved,
        ):
            generator = None if saved is None else saved.random_state(self.random_state)
            problem, groups = self._make_problem(X, y, sample_weight, groups, bar.callbacks, generator)
            problem = keep_plans(problem, saved, self, groups)
            names = self._names()
            remarks = find_remarks(problem, names)
            if self.lam != "auto":
                final = train_at(problem, float(self.lam))
            elif k is None:
                final = fit_auto(problem, self.cv, groups, self.rule, self.alpha, names)
            else:
                final = fit_exactly(problem, self.cv, groups, k, self.alpha, names)
        refuse_diverged(final.trained)
        self._warn_of_columns(remarks)
        self._keep(final)
        return self

    def path(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, lams: Any = None
    ) -> "DataFrame | Any":
        """Train the path of penalties on all folds and return its table, without choosing.

        Parameters
        ----------
        X, y, sample_weight, groups : as in `fit`
        lams : array, optional
            The penalties; by default those of the automatic choice.

        Returns
        -------
        DataFrame, or list of dict without pandas; as `path_`
        """
        model: Any = clone(self).set_params(lam="auto")
        model._validate_params()
        with trained_on(self.backend), ProgressBar(self.verbose) as bar:
            problem, groups = model._make_problem(X, y, sample_weight, groups, bar.callbacks)
            return train_table(problem, self.cv, groups, lams, model._names())

    def _names(self) -> list[Any]:
        """Return what the features are called: their names, or their positions."""
        return getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist()

    def _make_problem(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        callbacks: tuple[Callback, ...] = (),
        generator: np.random.RandomState | None = None,
    ) -> tuple[Problem, Any]:
        """Check parameters and data; return the problem, and the groups of the rows that count.

        Random numbers come from a generator, by default that of `random_state`.
        """
        generator = check_random_state(self.random_state) if generator is None else generator
        training = Training() if self.training is None else self.training
        objective = self._make_objective(training)
        given = Given(in_memory(X), in_memory(y), sample_weight, groups)
        return make_any_problem(self, objective, training, generator, given, callbacks)

    def _keep(self, final: FinalModel) -> None:
        """Set the fitted attributes from a trained team."""
        models, problem, choice = final.trained.models, final.problem, final.choice
        spread = problem.gates.spread
        gates = models.gates()  # (n_members, n_gates); members have the same gates, all open or closed
        self.gates_ = spread(gates[0].double().cpu().numpy())
        self.support_ = self.gates_ > self.threshold
        self.open_probability_ = spread(models.open_probability()[0].double().cpu().numpy())
        self.n_steps_ = int(final.trained.step[0])
        self.history_ = {
            "step": final.trained.steps.numpy(),
            "train_loss": final.trained.train_loss[:, 0].double().cpu().numpy(),
            "held_out_loss": final.trained.held_out_loss[:, 0].double().cpu().numpy(),
        }
        self.gate_history_ = final.gate_history.per_feature(spread)
        self.lam_, self._choice, self._summary = final.lam, choice, None
        self.feature_importances_ = self.open_probability_.copy()
        if choice is not None:
            self.network_, self.path_, self.p_value_ = choice.network, choice.table, choice.signal.p
            self.selection_frequency_ = spread(choice.frequency)
            self.feature_importances_ = spread(choice.importance)
        gates = torch.where(gates > self.threshold, gates, 0)[:1]
        self._predictor = Predictor.make(models, final.design, problem.inputs, gates, final.shrink)
        self._table = problem.table_with_medians(self._predictor.features)
        self._objective = models.plan.objective
        self._learned = self._predictor.common()
        self._facts = problem.target.facts
        self._learn_from_rows(problem)
        self._warn_if_nothing()

    def _learn_from_rows(self, problem: Problem) -> None:
        """Learn what predictions need besides the network, from all rows of the fit."""

    def _outputs(self, X: Any) -> Tensor:
        """Return the network's outputs, shape (1, n_samples, n_outputs)."""
        check_is_fitted(self)
        if is_stream(X):
            return self._outputs_of_blocks(X)
        outputs, n_missing = self._outputs_and_missing(X)
        self._warn_of_missing(n_missing, outputs.shape[1])
        return outputs

    def _outputs_and_missing(self, X: Any) -> tuple[Tensor, np.ndarray]:
        """Return the outputs, and how many values of each feature are missing, shape (n_features,)."""
        if self.n_features_in_ == 0:  # a reduced model that selected nothing
            nothing = np.empty((_num_samples(in_memory(X)), 0))
            return self._predictor.outputs(nothing).double(), np.zeros(0, dtype=np.int64)
        table = self._read_table(X)
        return self._predictor.outputs(self._table.apply(table)).double(), table.n_missing

    def _read_table(self, X: Any) -> Table:
        """Check an X to predict from, of which a reduced model takes its own columns."""
        texts = set(self._table.levels)
        return check_table(self, self._own_columns(X), texts=texts, allow_missing=self.missing == "auto")

    def _read(self, X: Any) -> np.ndarray:
        """Return predictions as the objective reads them, shape (n_samples, ...)."""
        outputs = self._outputs(X)
        return self._objective.read(outputs, self._learned)[0].numpy()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_predictor")

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "auto"
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
