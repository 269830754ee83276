"""The engine against the plain loop, and the laws of the stack."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from plans import OBJECTIVES, in_pieces, make
from reference import problem, row_batches, train_one
from stochgate.engine import (
    FREE,
    OPEN,
    DenseColumns,
    Design,
    SparseColumns,
    Training,
    execute,
    make_plan,
    train,
)
from stochgate.gates import DeterministicGate, GaussianGate, HardConcreteGate
from stochgate.networks import MLP, ModuleNetwork
from stochgate.objectives import Classification, Regression


class SmallModule:
    """A factory whose name, unlike a function's, is the same in every process."""

    def __call__(self, n_columns, n_outputs):
        return nn.Linear(n_columns, n_outputs)

    def __repr__(self):
        return "SmallModule()"


GATES = [GaussianGate(), GaussianGate(sigma=0.3), HardConcreteGate(), DeterministicGate()]
NETWORKS = [
    MLP(hidden=()),
    MLP(hidden=(8,)),
    MLP(hidden=(4, 3), activation="tanh", skip=True),
    MLP(hidden=(3,), activation="selu", init_std=0.1),
    MLP(hidden=(3,), activation="silu"),
    MLP(hidden=(3,), activation="sigmoid"),
    MLP(hidden=(4,), linear=(1,)),
    MLP(hidden=(4,), skip=True, init_std=0.1, linear=(1, 3)),
    ModuleNetwork(SmallModule()),
]
TRAININGS = [
    Training(n_steps=10),
    Training(n_steps=10, optimizer="sgd", lr=0.1, gate_lr=0.05, lr_decay="constant"),
    Training(n_steps=10, n_draws=3, schedule="warm-up"),
]
HARDEST = Training(n_steps=6, batch_size=7, n_draws=2, schedule="ramp")
WRITTEN_OUT = Training(n_steps=6, batch_size=7, schedule="ramp")  # one draw: a step without autograd


def reference_of(plan, design, target, i):
    """Train model i of a plan by the plain loop; return its gates and outputs."""
    rows = target.rows
    if "label" in rows:
        y = rows["label"]
    elif "y" in rows:
        y = rows["y"]
    else:  # blocks count back from the latest time of a stratum
        n_blocks = len(target.facts["times"]) + 1
        until = rows.get("until", rows["block"] // n_blocks * n_blocks + n_blocks - 1)
        time, entry = n_blocks - rows["block"] % n_blocks, n_blocks - until % n_blocks
        y = rows["event"], time, entry, rows["block"] // n_blocks
    X = design.columns.dense()
    return train_one(
        X,
        y,
        plan.weights[i],
        gate=plan.gate,
        network=plan.network,
        objective=plan.objective,
        training=plan.training,
        lam=plan.lam[i],
        seed=int(plan.seed[i]),
        costs=plan.costs,
        keep=plan.fixed[i] == OPEN,
        batches=(list(plan.turns) * plan.training.n_steps)[: plan.training.n_steps]
        or row_batches(len(X), plan.training.batch_size, plan.training.n_steps, plan.data_seed),
    )


@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
@pytest.mark.parametrize("network", NETWORKS, ids=str)
@pytest.mark.parametrize("gate", GATES, ids=str)
def test_stack_equals_plain_loop(gate, network, objective, kind):
    check_against_plain_loop(*make(objective, kind, HARDEST, gate, network))
    check_against_plain_loop(*make(objective, kind, WRITTEN_OUT, gate, network))


@pytest.mark.parametrize("training", TRAININGS, ids=str)
@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_every_way_of_training_equals_plain_loop(objective, kind, training):
    check_against_plain_loop(*make(objective, kind, training))


@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_rows_that_take_turns_equal_plain_loop(objective, kind):
    plan, design, target = make(objective, kind, Training(n_steps=7))
    first, second, third = torch.randperm(24, generator=torch.Generator().manual_seed(0)).split(8)
    turns = tuple(map(torch.cat, ([first, second], [second, third], [third, first])))
    check_against_plain_loop(replace(plan, turns=turns), design, target)


def check_against_plain_loop(plan, design, target):
    models = train(plan, design, target).models
    outputs = models.predict(design)
    for i in range(plan.n_models):
        z, output = reference_of(plan, design, target, i)
        torch.testing.assert_close(models.gates()[i], z, rtol=0, atol=1e-10)
        assert_same_output(outputs[i], output, plan)


def assert_same_output(output, expected, plan):
    if not plan.objective.intercept:  # log hazards are defined up to a constant
        output, expected = output - output.mean(0), expected - expected.mean(0)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_a_model_does_not_know_its_neighbours(objective, kind):
    plan, design, target = make(objective, kind, Training(n_steps=40, batch_size=10))
    stack = train(plan, design, target).models.gate_parameter
    for rows in ([2], [1, 0], [2, 2, 0, 1]):
        others = train(plan.take(torch.tensor(rows)), design, target).models.gate_parameter
        torch.testing.assert_close(others, stack[rows], rtol=0, atol=1e-10)


def test_float32_stack_equals_each_model_alone():
    for n_steps in (50, 600):
        training = Training(n_steps=n_steps)
        plan, design, target = make(Classification(), "binary", training, dtype=torch.float32)
        stack = train(plan, design, target).models
        for i in range(plan.n_models):
            alone = train(plan.take(torch.tensor([i])), design, target).models
            if n_steps == 50:
                torch.testing.assert_close(
                    alone.gate_parameter[0], stack.gate_parameter[i], rtol=0, atol=1e-5
                )
            assert torch.equal(alone.gates()[0] > 0, stack.gates()[i] > 0)


@pytest.mark.parametrize("network", [MLP(hidden=(4,)), ModuleNetwork(SmallModule())], ids=str)
@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_weight_0_equals_the_row_removed(objective, kind, network):
    X, y = problem(kind)
    keep = np.ones(len(X), dtype=bool)
    keep[[7, 9, 15, 20]] = False
    X[7] = 1e3  # a held-out outlier must not touch the scaling

    def fit(X, y, weights):
        design = Design(DenseColumns(torch.tensor(X)), None, X.shape[1])
        target = objective.encode(y)
        plan = make_plan(
            GaussianGate(),
            network,
            objective,
            Training(n_steps=40),
            lam=0.3,
            seed=1,
            weights=torch.tensor(weights)[None],
            n_gates=X.shape[1],
        )
        models = train(plan, design, target).models
        return models.gates(), models.predict(design)[0], models.learned, plan

    gates, output, learned, plan = fit(X, y, keep.astype(float))
    gates_kept, output_kept, learned_kept, _ = fit(X[keep], y[keep], np.ones(keep.sum()))
    torch.testing.assert_close(gates, gates_kept, rtol=0, atol=1e-10)
    assert_same_output(output[torch.tensor(keep)], output_kept, plan)
    for name in learned:
        torch.testing.assert_close(learned[name], learned_kept[name], rtol=0, atol=1e-10)


def test_sparse_equals_dense_without_centring():
    from scipy import sparse

    X, y = problem("binary")
    X[np.abs(X) < 1] = 0
    objective = Classification()
    target = objective.encode(y)
    columns = [
        DenseColumns(torch.tensor(X)),
        SparseColumns(sparse.csr_array(X), torch.float64, torch.device("cpu")),
    ]
    for size in (None, 7):
        plan, _, _ = make(objective, "binary", Training(n_steps=20, batch_size=size, standardize=False))
        dense, csr = (train(plan, Design(c, None, 5), target).models for c in columns)
        torch.testing.assert_close(dense.gates(), csr.gates(), rtol=0, atol=1e-10)


def test_groups_share_one_gate():
    """A column cut into two halves behind one gate, each with the same weights, is the column itself."""

    class Doubled(MLP):
        def initial(self, seeds, n_columns, base, intercept):
            parameters = super().initial(seeds, n_columns // 2, base, intercept)
            parameters["weight_0"] = parameters["weight_0"].repeat(1, 1, 2) / 2**0.5
            return parameters

    training = Training(n_steps=30, optimizer="sgd", lr=0.1, gate_lr=0.1)
    plan, design, target = make(Classification(), "binary", training, network=MLP(hidden=(4,)))
    X = design.columns.dense()
    twice = Design(DenseColumns(torch.cat([X, X], dim=1)), torch.arange(5).repeat(2), 5)
    one = train(plan, design, target).models

    class Rescaled(Doubled):  # two columns of 1 / sqrt(2) and weights of 1 / sqrt(2) make the one column
        def forward(self, parameters, columns, scale, shift):
            return super().forward(parameters, columns, scale / 2**0.5, shift)

    two = train(replace(plan, network=Rescaled(hidden=(4,))), twice, target).models
    torch.testing.assert_close(two.gates(), one.gates(), rtol=0, atol=1e-10)
    torch.testing.assert_close(two.predict(twice), one.predict(design), rtol=0, atol=1e-10)


def test_a_networks_own_penalty_is_minimised():
    class Shrunk(MLP):
        def penalty(self, parameters):
            return parameters["weight_0"].square().sum((1, 2))

    plan, design, target = make(Classification(), "binary", Training(n_steps=50))
    free = train(plan, design, target).models.parameters["weight_0"]
    shrunk = train(replace(plan, network=Shrunk(hidden=(4,))), design, target).models.parameters["weight_0"]
    assert (shrunk.square().sum((1, 2)) < 0.8 * free.square().sum((1, 2))).all()


def test_chunks_change_nothing():
    plan, design, target = make(Regression(), "regression", Training(n_steps=30, n_snapshots=3))
    whole = execute(plan, design, target)
    pieces = execute(in_pieces(plan), design, target)
    torch.testing.assert_close(
        whole.models.gate_parameter, pieces.models.gate_parameter, rtol=0, atol=1e-10
    )
    torch.testing.assert_close(whole.gate_path, pieces.gate_path, rtol=0, atol=1e-10)
    assert pieces.models.plan.n_models == plan.n_models


def with_held_out(patience, n_steps=200):
    training = Training(n_steps=n_steps, n_snapshots=20, lr=0.05)
    plan, design, target = make(Regression(), "regression", training)
    training.set_params(patience=patience)
    return replace(plan, test_weights=(plan.weights == 0).double() + 0.1), design, target


def test_early_stopping_returns_each_models_best_snapshot():
    stopped = train(*with_held_out(patience=3))
    plan, design, target = with_held_out(patience=None)
    full = train(plan, design, target)
    free = (full.models.fixed == FREE) * plan.costs
    penalty = (plan.gate.open_probability(full.gate_path) * free).sum(2) / design.n_gates
    judged = full.held_out_loss + plan.lam * penalty  # (n_snapshots, n_models)
    stopped_at = []
    for i in range(plan.n_models):
        best, since, last = 0, 0, len(judged) - 1
        for s in range(1, len(judged)):
            best, since = (s, 0) if judged[s, i] < judged[best, i] else (best, since + 1)
            if since == 3:
                last = s
                break
        stopped_at.append(last)
        assert int(stopped.step[i]) == int(full.steps[best])
        torch.testing.assert_close(
            stopped.models.gate_parameter[i], full.gate_path[best, i], rtol=0, atol=1e-10
        )
        assert stopped.held_out_loss[last + 1 :, i].isnan().all()
    assert len(set(stopped_at)) > 1  # models stopped at different times, so the stack shrank
    assert max(stopped_at) == len(stopped.steps) - 1


def test_a_model_without_held_out_rows_trains_to_the_end():
    plan, design, target = with_held_out(patience=1)
    plan.test_weights[1] = 0
    trained = train(plan, design, target)
    assert int(trained.step[1]) == plan.training.n_steps
    assert trained.held_out_loss[:, 1].isnan().all()


def test_patience_needs_held_out_rows():
    with pytest.raises(ValueError, match="held-out rows"):
        make(Regression(), "regression", Training(patience=2))


def test_chunks_with_early_stopping_change_nothing_and_keep_the_models_numbers():
    seen = []
    whole = execute(*with_held_out(patience=3))
    plan, design, target = with_held_out(patience=3)
    pieces = execute(in_pieces(plan), design, target, callbacks=(seen.append,))
    torch.testing.assert_close(whole.models.gate_parameter, pieces.models.gate_parameter)
    torch.testing.assert_close(whole.held_out_loss, pieces.held_out_loss, equal_nan=True)
    assert {int(snapshot.models[0]) for snapshot in seen} == {0, 1, 2}


def test_recorded_held_out_loss_is_that_of_the_held_out_rows():
    plan, design, target = with_held_out(patience=None, n_steps=20)
    trained = train(plan, design, target)
    output = trained.models.predict(design)
    learned = trained.models.learned
    expected = plan.objective.mean_loss(output, target.rows, plan.test_weights, learned)
    torch.testing.assert_close(trained.held_out_loss[-1], expected)


@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_a_blocks_loss_is_that_of_its_rows_alone(objective, kind):
    plan, design, target = make(objective, kind, Training(n_steps=6, n_snapshots=2))
    rng = np.random.default_rng(2)
    test = torch.tensor(rng.uniform(0.5, 1.5, size=plan.weights.shape) * (rng.random(24) < 0.8))
    blocks = torch.arange(24) % 3
    trained = train(replace(plan, test_weights=test, blocks=blocks), design, target)
    assert trained.block_loss.shape == (2, 3, 3)
    for block in range(3):
        alone = train(replace(plan, test_weights=test * (blocks == block)), design, target)
        torch.testing.assert_close(trained.block_loss[:, :, block], alone.held_out_loss)
        assert alone.block_loss.shape == (2, 3, 0)
    pieces = execute(in_pieces(replace(plan, test_weights=test, blocks=blocks)), design, target)
    torch.testing.assert_close(pieces.block_loss, trained.block_loss)


def test_a_block_without_held_out_rows_is_not_judged():
    plan, design, target = with_held_out(patience=2, n_steps=20)
    plan.test_weights[1, :8] = 0
    blocks = torch.arange(24) // 8
    trained = train(replace(plan, blocks=blocks), design, target)
    missing = trained.block_loss[0].isnan()
    assert missing.nonzero().tolist() == [[1, 0]]
    unblocked = train(plan, design, target)  # blocks judge besides: they stop no model
    assert torch.equal(trained.models.gate_parameter, unblocked.models.gate_parameter)


@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_a_batch_without_weight_adds_zero(objective, kind):
    X, y = problem(kind)
    target = objective.encode(y)
    weights = torch.ones(2, len(X), dtype=torch.float64)
    learned = objective.learn(target.rows, weights)
    weights[0, :] = 0  # in this batch
    output = torch.zeros(2, len(X), target.n_outputs, dtype=torch.float64, requires_grad=True)
    loss = objective.loss(output, target.rows, weights, learned)
    loss.sum().backward()
    assert loss[0] == 0
    assert (output.grad[0] == 0).all()
    assert output.grad[1].isfinite().all()


def test_callbacks_see_every_snapshot():
    plan, design, target = make(Classification(), "binary", Training(n_steps=10, n_snapshots=5))
    seen = []
    train(plan, design, target, callbacks=(seen.append,))
    assert [snapshot.step for snapshot in seen] == [2, 4, 6, 8, 10]
    assert seen[-1].gates.shape == (3, 5)


def test_same_seed_gives_the_same_bits():
    runs = [train(*make(Classification(), "binary", Training(n_steps=30))) for _ in range(2)]
    assert torch.equal(runs[0].models.gate_parameter, runs[1].models.gate_parameter)


def test_a_column_constant_for_one_model_is_closed_for_it_alone():
    plan, design, target = make(Classification(), "binary", Training(n_steps=10))
    X = design.columns.dense().clone()
    X[:, 0] = 0
    X[8, 0] = 1
    weights = torch.ones_like(plan.weights)
    weights[0, 8] = 0
    plan = replace(plan, weights=weights)
    gates = train(plan, Design(DenseColumns(X), None, 5), target).models.gates()
    assert gates[0, 0] == 0
    assert (gates[1:, 0] > 0).all()


def test_a_model_that_diverges_keeps_its_best_snapshot():
    plan, design, target = make(Regression(), "regression", Training(n_steps=40))

    def explode(progress):
        return 1.0 if progress < 0.5 else float("nan")

    training = Training(n_steps=40, n_snapshots=40, patience=5, schedule=explode)
    judged = replace(plan, training=training, test_weights=torch.ones_like(plan.weights))
    trained = train(judged, design, target)
    assert (trained.step <= 20).all()
    assert trained.models.predict(design).isfinite().all()
    assert trained.held_out_loss.isinf().any()
