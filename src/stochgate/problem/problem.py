"""The problem: parts and data of one fit, checked and ready, from which plans are made."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.base import clone
from torch import Tensor

from stochgate.engine import CLOSED, FREE, OPEN, Design, Inputs, Plan, Trained, Training, make_plan
from stochgate.engine.data import learn_scaling
from stochgate.engine.record import Callback
from stochgate.engine.runner import Runner, current_runner
from stochgate.gates import Gate
from stochgate.networks import Network
from stochgate.objectives import Objective, Target
from stochgate.objectives.base import Learned
from stochgate.problem.features import GateMap
from stochgate.problem.rows import JUDGES, LEARNS
from stochgate.problem.streamed import StreamedRows
from stochgate.tables.encoding import TableEncoding

LARGEST_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is to be fitted: the parts, and the data as one network takes them.

    Attributes
    ----------
    gate, network, objective, training : the parts
    networks : dict of Network
        The networks to choose from by name, simple ones first; `network` is one of them.
    X : ndarray or csr_array, shape (n_samples, n_columns)
        The features as numbers; rows of weight 0 are gone.
    table : TableEncoding
        How X was made of what was given.
    target : Target
        The encoded y, on the device.
    sample_weight : ndarray, shape (n_samples,)
        1 on average.
    gates : GateMap
        Which gate serves which feature, what it costs and whether it stays open.
    inputs, design : Inputs, Design
        How the network's columns are made of X, and the columns, on the device.
    draw_in : bool
        Whether values that lie far out in their column are drawn in (`Inputs.reach`).
    device : torch.device
    random_state : RandomState
        Seeds are drawn from it.
    seed : int
        From which the models' own seeds count.
    blocks : ndarray of int, shape (n_samples,)
        Parts of the rows; each judges the models of the folds that hold it out.
    callbacks : tuple of callables
    runner : Runner or None
        What trains the plans; None for the current one (`current_runner`).
    stream : StreamedRows, or None
        All rows, where those of X are a sample.
    labels : dict of int to ndarray of str or None
        The columns of text as they were read, by feature.
    """

    gate: Gate
    network: Network
    networks: dict[str, Network]
    objective: Objective
    training: Training
    X: Any
    table: TableEncoding
    target: Target
    sample_weight: np.ndarray
    gates: GateMap
    inputs: Inputs
    design: Design
    device: torch.device
    random_state: np.random.RandomState
    blocks: np.ndarray
    draw_in: bool = False
    seed: int = 0
    callbacks: tuple[Callback, ...] = ()
    runner: Runner | None = None
    stream: StreamedRows | None = None
    labels: dict[int, np.ndarray] = field(default_factory=dict)

    @cached_property
    def gated_network(self) -> Network:
        """The network whose gates are trained; the network itself is trained on what they leave open.

        It may be another one where the choice of networks is ours (`Network.for_gates`).
        """
        return self.network.for_gates() if len(self.networks) > 1 else self.network

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.sample_weight)

    @cached_property
    def weights(self) -> Tensor:
        """The weights of the rows in the dtype and on the device of the training, shape (n_samples,)."""
        return torch.from_numpy(self.sample_weight).to(self.device, getattr(torch, self.training.dtype))

    @cached_property
    def fixed(self) -> Tensor:
        """Which gates stay open, int8 of shape (n_gates,), on the device of the training."""
        kept = torch.from_numpy(self.gates.keep)
        return torch.where(kept, OPEN, FREE).to(self.device, torch.int8)

    @property
    def strata(self) -> np.ndarray:
        """The kind of each row (its class, or whether there was an event), shape (n_samples,)."""
        return self.objective.strata(self.target.rows).cpu().numpy()

    def draw_seed(self) -> int:
        """Draw a seed from the random state."""
        return int(self.random_state.randint(LARGEST_SEED))

    def seen_by(self, network: Network, *, draw_in: bool = False) -> "Problem":
        """Return the problem with another network, and its data made anew as that network takes them."""
        if network is self.network and draw_in == self.draw_in:
            return self
        if not (self.inputs.encoding or network.encodes) and draw_in == self.draw_in:
            return replace(self, network=network)  # the columns are the same
        rounded = self.stream is not None
        data = make_columns(self.X, self.gates, network, self.training, self.device, draw_in, rounded)
        return replace(self, network=network, draw_in=draw_in, **data)

    def with_linear(self, gates: np.ndarray) -> "Problem":
        """Return the problem whose network takes the columns of some gates past its hidden layers."""
        if not gates.any():
            return self
        of_column = self.design.spread(torch.from_numpy(gates).to(self.device)[None])[0]
        network = self.network.with_linear(torch.nonzero(of_column)[:, 0].tolist())
        assert network is not None  # only such networks are given linear features
        return replace(self, network=network)

    def plan(
        self,
        lam: Any,
        seed: Any,
        weights: Tensor,
        fixed: Tensor,
        *,
        training: dict[str, Any] | None = None,
        network: Network | None = None,
        **others: Any,
    ) -> Plan:
        """Plan models, one for each row of weights, shape (n_models, n_samples).

        Parameters
        ----------
        lam, seed, weights, fixed, others : as in `make_plan`
        training : dict, optional
            What differs from the problem's training. Models do not stop early unless it says so: they are
            judged at every snapshot.
        network : Network, optional
            By default the one whose gates are trained.
        """
        return make_plan(
            self.gate,
            self.gated_network if network is None else network,
            self.objective,
            clone(self.training).set_params(**{"patience": None, **(training or {})}),
            lam=lam,
            seed=seed,
            weights=weights,
            n_gates=self.design.n_gates,
            costs=torch.from_numpy(self.gates.costs),
            fixed=fixed,
            data_seed=self.seed,
            **others,
        )

    def execute(self, plan: Plan, stream: StreamedRows | None = None) -> tuple[Trained, Design]:
        """Train a plan on the columns that some of its models may use; return these columns too.

        Steps see the rows of the problem, or those of a stream.
        """
        used = (plan.fixed != CLOSED).any(0)
        narrow = bool(used.any()) and not bool(used.all())
        design = self.design.narrow(used) if narrow else self.design
        rows = None if stream is None else stream.through(self.inputs)
        runner = current_runner() if self.runner is None else self.runner
        return runner.run(plan, design, self.target, self.callbacks, rows), design

    def fold_weights(self, folds: np.ndarray, n_cells: int = 1) -> tuple[Tensor, Tensor]:
        """Return the weights models learn from and are judged by, shape (n_cells * n_folds, n_samples)."""
        roles = torch.from_numpy(folds).to(self.device).repeat(n_cells, 1)
        return self.weights * (roles == LEARNS), self.weights * (roles == JUDGES)

    def block_tensor(self) -> Tensor:
        """Return the block of every row."""
        return torch.from_numpy(self.blocks).to(self.device)

    def base_output(self, weights: Tensor) -> tuple[Tensor, Learned]:
        """Return the outputs of models without features, and what each learns from y with its weights.

        Parameters
        ----------
        weights : Tensor, shape (n_models, n_samples)

        Returns
        -------
        output : Tensor, shape (n_models, n_samples, n_outputs)
        learned : as returned by `Objective.learn`
        """
        learned = self.objective.learn(self.target.rows, weights)
        base = self.objective.base(self.target.rows, weights, learned)
        return base.unsqueeze(1).expand(-1, weights.shape[1], -1), learned

    def base_residual(self, weights: Tensor) -> Tensor:
        """Return minus the gradient of each row's loss in models without features, shaped like outputs."""
        base, learned = self.base_output(weights)
        return -self.objective.slope(self.target.rows, weights, learned)(base)

    def empty_losses(self, folds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the held-out loss of the model without features: (n_folds,) and (n_folds, n_blocks)."""
        weights, test = self.fold_weights(folds)
        base, learned = self.base_output(weights)
        parts = [test] + [test * (self.block_tensor() == b) for b in range(self.blocks.max() + 1)]
        losses = to_numpy(
            self.objective.held_out_losses(
                base, self.target.rows, weights, torch.stack(parts, dim=1), learned
            )
        )
        return losses[:, 0], losses[:, 1:]

    def without(self, gates: np.ndarray) -> "Problem":
        """Return the problem with the columns of some gates blank, so that no model opens them."""
        columns = torch.nonzero(torch.from_numpy(gates).to(self.device)[self.design.gate_of_column()])[:, 0]
        return replace(self, design=replace(self.design, columns=self.design.columns.blank(columns)))

    def constant_gates(self) -> np.ndarray:
        """Return which gates' columns have one value only, shape (n_gates,)."""
        scaling = learn_scaling(self.design.columns, self.weights[None], standardize=False)
        return np.asarray(self.design.all_columns(scaling.scale == 0)[0].cpu().numpy())

    def constant_features(self) -> np.ndarray:
        """Return the positions of the features that have one value only, as has all of their group."""
        return np.flatnonzero(self.gates.spread(self.constant_gates()))

    def table_with_medians(self, columns: np.ndarray) -> TableEncoding:
        """Return how tables are encoded, with medians to stand for missing values of some columns of X."""
        table, X = self.table, self.X
        feature_of = table.feature_of()
        features = columns if feature_of is None else feature_of[columns]
        plain = np.array([not table.masked[j] and j not in table.levels for j in features], dtype=bool)
        if sparse.issparse(X) or not plain.any():
            return table
        return table.with_fill(features[plain], np.median(X[:, columns[plain]], axis=0))


def make_columns(
    X: Any,
    gates: GateMap,
    network: Network,
    training: Training,
    device: torch.device,
    draw_in: bool = False,
    rounded: bool = False,
) -> dict[str, Any]:
    """Return the `inputs` and the `design` of a problem: checked X as the network takes it."""
    inputs = Inputs.learn(X, network, raw=not training.standardize, draw_in=draw_in)
    inputs = inputs.rounded() if rounded else inputs
    of_column = inputs.gate_of(gates.of_columns())
    gate_of = None if of_column is None else torch.from_numpy(of_column).to(device)
    columns = inputs.apply(X, getattr(torch, training.dtype), device)
    return {"inputs": inputs, "design": Design(columns, gate_of, gates.n_gates)}


def to_numpy(values: Tensor) -> np.ndarray:
    """Return a tensor as an array of doubles."""
    return values.detach().double().cpu().numpy()
