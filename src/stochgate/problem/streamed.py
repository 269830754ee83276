"""The rows of a large table as models are trained on them: encoded, shuffled and cut into batches."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stochgate.engine import DenseColumns, Design, Inputs, Plan
from stochgate.engine.batches import Average, Batch
from stochgate.objectives import Objective
from stochgate.sources.numbers import read_block, refuse_infinite
from stochgate.sources.pools import read_ahead, shuffled_blocks
from stochgate.sources.source import Block, Source, join_rows, take_rows
from stochgate.tables.encoding import TableEncoding

POOL_BYTES = 32 << 20  # of columns that are shuffled together,
POOL_ROWS = 1 << 17  # or so many rows


@dataclass(frozen=True, kw_only=True)
class StreamedRows:
    """All rows of a table of which a problem holds a sample.

    Attributes
    ----------
    source : Source
    table : TableEncoding
        How numbers are made of the columns.
    objective : Objective
    facts : dict
        What the objective has learnt of y from the sample: the classes, say.
    n_rows : int
        Rows of weight.
    mean_weight : float
        What weights are divided by: then their mean is that of the weights a model has in the problem.
    sampled : ndarray of int, shape (n_samples,)
        Numbers of the rows that the problem holds.
    sampled_weight : ndarray, shape (n_samples,)
        Their weights as they were given, 1 without any.
    held_out : ndarray of int
        Numbers of rows that no model learns from, in order.
    """

    source: Source
    table: TableEncoding
    objective: Objective
    facts: dict[str, Any]
    n_rows: int
    mean_weight: float
    sampled: np.ndarray
    sampled_weight: np.ndarray
    held_out: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def without(self, held_out: np.ndarray, sample_weight: np.ndarray) -> "StreamedRows":
        """Return the stream without some rows of the sample.

        They are many in the sample and few in the table. A model's total weight is that of the sample, so
        the rows that are left have to weigh as much less as those left in the sample do.

        Parameters
        ----------
        held_out : ndarray of bool, shape (n_samples,)
        sample_weight : ndarray, shape (n_samples,)
            The weights of the sample in the problem.
        """
        total = self.n_rows * self.mean_weight
        left = (total - self.sampled_weight[held_out].sum()) / self.n_rows
        share = sample_weight[~held_out].sum() / sample_weight.sum()
        return replace(self, held_out=np.sort(self.sampled[held_out]), mean_weight=left / share)

    def through(self, inputs: Inputs) -> "NetworkStream":
        """Return the stream as a network takes it."""
        return NetworkStream(self, inputs)


@dataclass(frozen=True)
class NetworkStream:
    """A `RowStream`: batches of all rows, in the columns of one network.

    Attributes
    ----------
    of : StreamedRows
    inputs : Inputs
    n_shards : int
        A batch has as many rows of each shard, which is every so many-th part of the table.
    shard : int or None for all
        The one of which rows are read, where other processes read the others.
    average : callable or None
        Takes the gradients of the models in training and averages them over these processes, in place.
    """

    of: StreamedRows
    inputs: Inputs
    n_shards: int = 1
    shard: int | None = None
    average: Average | None = None

    def share(
        self, n_shards: int, shard: int | None = None, average: Average | None = None
    ) -> "NetworkStream":
        """Return the stream in shards, or one of them."""
        if not self.of.objective.by_row:
            raise ValueError("Rows that are compared with each other cannot be shared by processes.")
        if self.of.source.n_parts < n_shards:
            raise ValueError(
                f"The table has {self.of.source.n_parts} part(s) that can be read on their own, too few "
                f"for {n_shards} processes: write it in more row groups or files."
            )
        return replace(self, n_shards=n_shards, shard=shard, average=average)

    def batches(self, design: Design, plan: Plan, start: int = 0) -> Iterator[Batch]:
        """Yield what each step sees; every row of a shard comes once before any comes again.

        To begin at a later step the rows before it are read and passed over.
        """
        shards = range(self.n_shards) if self.shard is None else [self.shard]
        streams = [self._batches(shard, design, plan, start) for shard in shards]
        return streams[0] if len(streams) == 1 else map(_joined, *streams)

    def _batches(self, shard: int, design: Design, plan: Plan, start: int) -> Iterator[Batch]:
        """Yield what each step sees of one shard."""
        assert plan.training.batch_size is not None
        size = max(1, plan.training.batch_size // self.n_shards)
        reader = _Columns.make(self, design)
        device = plan.weights.device
        make = partial(_pools, reader, plan.data_seed, size, (shard, self.n_shards))
        for number, (X, y, weight, index) in enumerate(_cut(read_ahead(make), size)):
            if number < start:
                continue
            rows = self.of.objective.take(y, index)
            columns = DenseColumns(X.index_select(0, index).to(device), once=True)
            on_device = {name: value.to(device) for name, value in rows.items()}
            shared = weight[index].to(device, plan.weights.dtype)
            yield Batch(columns, on_device, partial(_same_for_all, shared))


def _joined(*batches: Batch) -> Batch:
    """Return the batches of several shards as one."""
    columns = [batch.columns.dense() for batch in batches]
    rows = {name: torch.cat([b.rows[name] for b in batches]) for name in batches[0].rows}
    weights = [batch.weigh for batch in batches]
    return Batch(
        DenseColumns(torch.cat(columns), once=True),
        rows,
        lambda plan: torch.cat([weigh(plan) for weigh in weights], dim=1),
    )


def _same_for_all(weights: Tensor, plan: Plan) -> Tensor:
    return weights.expand(plan.n_models, -1)


Pool = tuple[Tensor, dict[str, Tensor], Tensor, Tensor]  # columns, y, weights, and an order of the rows


def _cut(pools: Iterator[Pool], size: int) -> Iterator[Pool]:
    """Yield each pool once per batch, with the rows of the batch."""
    for X, y, weight, order in pools:
        for index in order.split(size):
            yield X, y, weight, index


@dataclass(frozen=True)
class _Columns:
    """Reads the columns that some gates may open.

    Attributes
    ----------
    of : StreamedRows
    inputs : Inputs
        That make the network's columns of some columns of numbers.
    features : ndarray of int
        The features that these are made of.
    table : TableEncoding
        Of these features.
    taken : ndarray of int, or None for all
        Which columns of numbers of these features are needed.
    dtype : torch.dtype
    """

    of: StreamedRows
    inputs: Inputs
    features: np.ndarray
    table: TableEncoding
    taken: np.ndarray | None
    dtype: torch.dtype

    @classmethod
    def make(cls, stream: NetworkStream, design: Design) -> "_Columns":
        """Find out which features the columns of a design are made of."""
        kept = np.arange(design.n_total) if design.kept is None else design.kept.cpu().numpy()
        needed, inputs = stream.inputs.take(kept)  # columns of numbers
        table, dtype = stream.of.table, design.columns.dtype
        feature_of = table.feature_of()
        if feature_of is None:
            return cls(stream.of, inputs, needed, table.take(needed), None, dtype)
        features = np.unique(feature_of[needed])
        there = np.flatnonzero(np.isin(feature_of, features))
        taken = None if np.array_equal(there, needed) else np.searchsorted(there, needed)
        return cls(stream.of, inputs, features, table.take(features), taken, dtype)

    @property
    def names(self) -> list[Any]:
        names = self.of.source.names
        return self.features.tolist() if names is None else [names[j] for j in self.features]

    def columns(self, block: Block) -> Tensor:
        """Return the network's columns of a block."""
        read = read_block(block.X, set(self.table.levels))
        refuse_infinite(read, block.rows, self.names)
        numbers = self.table.apply(read)
        numbers = numbers if self.taken is None else numbers[:, self.taken]
        return self.inputs.tensor(numbers, self.dtype)

    def weights(self, block: Block) -> np.ndarray:
        """Return the weights of a block's rows, 0 where they are held out."""
        given = np.ones(len(block.rows)) if block.weight is None else block.weight
        own = given / self.of.mean_weight
        held_out = self.of.held_out
        if len(held_out) == 0:
            return own
        place = np.searchsorted(held_out, block.rows).clip(max=len(held_out) - 1)
        return np.where(held_out[place] == block.rows, 0.0, own)


Rows = tuple[Tensor, Any, np.ndarray]  # columns, y and weights


def _pools(reader: _Columns, seed: int, size: int, shard: tuple[int, int]) -> Iterator[Pool]:
    """Yield pools of rows for ever, each of whole batches; what is left over begins the next one.

    A pool ends where all rows were read, so that each row comes once before any comes again.
    """
    n_bytes = max(1, len(reader.inputs.center)) * reader.dtype.itemsize
    most = max(4 * size, min(POOL_ROWS, POOL_BYTES // n_bytes)) // size * size
    rest: list[Rows] = []
    for number, parts in enumerate(_read_pools(reader, seed, most, shard)):
        n_first = sum(len(part[0]) for part in rest)
        X, y, weight = _join([*rest, *parts])
        order = n_first + _shuffled(len(X) - n_first, [seed, number])
        order = torch.cat([torch.arange(n_first), order])
        n_used = len(X) // size * size
        left = order[n_used:]
        rest = [(X[left], take_rows(y, left.numpy()), weight[left.numpy()])]
        if n_used:
            rows = reader.of.objective.encode_more(y, reader.of.facts)
            yield X, rows, torch.from_numpy(weight), order[:n_used]


def _read_pools(reader: _Columns, seed: int, most: int, shard: tuple[int, int]) -> Iterator[list[Rows]]:
    """Yield about `most` rows at a time, fewer at the end of the table, which is read again and again."""
    for epoch in count():
        parts: list[Rows] = []
        n_read = 0
        for block in shuffled_blocks(reader.of.source, reader.features, [seed, epoch], shard):
            parts.append((reader.columns(block), block.y, reader.weights(block)))
            n_read += len(block.rows)
            if sum(len(part[0]) for part in parts) >= most:
                yield parts
                parts = []
        if parts:
            yield parts
        if n_read == 0:
            raise ValueError("A part of the table that is read on its own has no rows of weight.")


def _join(parts: list[Rows]) -> Rows:
    X, y, weight = zip(*parts, strict=True)
    return torch.cat(X), join_rows(list(y)), np.concatenate(weight)


def _shuffled(n_rows: int, seed: list[int]) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).permutation(n_rows))
