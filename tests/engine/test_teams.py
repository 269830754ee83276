"""Teams: models that are trained apart and judged, and predict, by their mean."""

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from sklearn.base import clone

from plans import OBJECTIVES, in_pieces, make
from problems import ESTIMATORS, make_problem, predictions
from reference import OBJECTIVES as LOSSES
from reference import problem
from stochgate import GatedClassifier, GatedCox, GatedRegressor, Training
from stochgate.engine import execute, train
from stochgate.engine.cut import bytes_per_model
from stochgate.networks import MLP
from stochgate.objectives import Classification, Cox, Regression
from stochgate.survival import read_survival_target

PLAIN = [
    (Classification(), "binary"),
    (Classification(), "multiclass"),
    (Regression(), "regression"),
    (Regression(), "multioutput"),
    (Cox(), "survival"),
    (Cox(ties="efron"), "entry and strata"),
]
WEIGHED = [
    (Classification(class_weight="balanced"), "binary"),
    (Classification(class_weight={0: 3.0, 1: 0.5}), "binary"),
    (Classification(class_weight={1: 2.0}), "multiclass"),
]
SHRINKS = (0.1, 0.6, 1.0)


def two_teams(objective, kind, n_members=2, **training):
    """Return a plan of four models, or of two teams of two, that differ in lam, seed and weights."""
    settings = Training(**{"n_steps": 12, "n_snapshots": 3, **training})
    plan, design, target = make(objective, kind, settings)
    rng = np.random.default_rng(2)
    test = rng.uniform(0.5, 1.5, size=(2, 24)) * (rng.random(24) < 0.8)
    plan = replace(
        plan.take(torch.tensor([0, 1, 2, 1])),
        test_weights=torch.tensor(test).repeat_interleave(2, 0),  # a team is judged on the same rows
        blocks=torch.arange(24) % 2,
        n_members=n_members,
    )
    return plan, design, target


# ---- what a team is judged by


def scales_of_y(y, weights):
    """Return the mean and the spread of y in each model's eyes, shapes (n_models, 1, n_outputs)."""
    share = (weights / weights.sum(1, keepdim=True))[:, :, None]
    center = (share * y).sum(1, keepdim=True)
    return center, (share * (y - center) ** 2).sum(1, keepdim=True).sqrt()


def regression_by_hand(plan, outputs, y):
    """Return each team's squared error, in units of the spread seen with the mean weights."""
    y = torch.tensor(y).reshape(24, -1)
    center, scale = scales_of_y(y, plan.weights)
    mean = (outputs * scale + center).unflatten(0, (2, 2)).mean(1)
    _, unit = scales_of_y(y, plan.weights.unflatten(0, (2, 2)).mean(1))
    errors = (((mean - y) / unit) ** 2).mean(2)
    test = plan.test_weights[::2]
    return (errors * test).sum(1) / test.sum(1)


def classification_by_hand(plan, outputs, y):
    """Return the cross-entropy of each team's mean logits, one row at a time."""
    losses = []
    for i in range(2):
        loss, total, _ = LOSSES["Classification"](plan.objective, torch.tensor(y), plan.test_weights[2 * i])
        losses.append(loss(outputs[2 * i : 2 * i + 2].mean(0), range(24)) / total)
    return torch.stack(losses)


def cox_by_hand(plan, outputs, y):
    """Return l(all) - l(train) of each team's mean log hazards, one event time at a time."""
    read = read_survival_target(y)
    entry = np.full(24, -np.inf) if read.entry is None else read.entry
    stratum = np.zeros(24) if read.stratum is None else np.unique(read.stratum, return_inverse=True)[1]
    y = tuple(map(torch.tensor, (read.event, read.time, entry, stratum)))
    losses = []
    for i in range(2):
        team = slice(2 * i, 2 * i + 2)
        mean, learns, test = outputs[team].mean(0), plan.weights[team].mean(0), plan.test_weights[2 * i]

        def total_loss(weights, mean=mean):
            rows = torch.nonzero(weights > 0)[:, 0]
            return LOSSES["Cox"](plan.objective, y, weights)[0](mean[rows], rows)

        added = total_loss(learns + test) - total_loss(learns)
        losses.append(added / test[y[0]].sum())
    return torch.stack(losses)


BY_HAND = {Regression: regression_by_hand, Classification: classification_by_hand, Cox: cox_by_hand}


@pytest.mark.parametrize(("objective", "kind"), PLAIN, ids=str)
def test_a_teams_loss_is_that_of_its_members_mean(objective, kind):
    plan, design, target = two_teams(objective, kind)
    trained = train(plan, design, target)
    outputs = trained.models.predict(design)
    assert not torch.allclose(outputs[2], outputs[3])
    expected = BY_HAND[type(objective)](plan, outputs, problem(kind)[1])
    assert trained.held_out_loss.shape == trained.train_loss.shape == (3, 2)
    torch.testing.assert_close(trained.held_out_loss[-1], expected, rtol=0, atol=1e-10)


def test_members_of_a_regression_have_other_scales_of_y():
    plan, design, target = two_teams(Regression(), "regression")
    center, scale = scales_of_y(target.rows["y"], plan.weights)
    assert (center[::2] - center[1::2]).abs().min() > 0.01
    assert (scale[::2] - scale[1::2]).abs().min() > 0.01
    trained = train(plan, design, target)
    naive = trained.models.predict(design).unflatten(0, (2, 2)).mean(1)
    teams = trained.models.teams(design, target)
    assert (teams.output - naive).abs().max() > 0.01
    assert torch.equal(plan.objective.read(teams.output, teams.learned).argmax(1), teams.output.argmax(1))


@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_equal_members_are_judged_as_one_of_them(objective, kind):
    plan, design, target = two_teams(objective, kind)
    twice = train(plan.take(torch.tensor([0, 0, 3, 3])), design, target)
    alone = train(replace(plan.take(torch.tensor([0, 3])), n_members=1), design, target)
    for name in ("train_loss", "held_out_loss", "block_loss", "shrunk_loss"):
        torch.testing.assert_close(getattr(twice, name), getattr(alone, name), rtol=0, atol=1e-10)


# ---- how it is trained


@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_members_are_trained_apart(objective, kind):
    team, alone = (train(*two_teams(objective, kind, n_members=n)).models for n in (2, 1))
    torch.testing.assert_close(team.gate_parameter, alone.gate_parameter, rtol=0, atol=1e-10)
    assert team.parameters.keys() == alone.parameters.keys()
    for name, p in team.parameters.items():
        torch.testing.assert_close(p, alone.parameters[name], rtol=0, atol=1e-10)


@pytest.mark.parametrize("n_at_once", [0, 1, 3])
@pytest.mark.parametrize(("objective", "kind"), PLAIN, ids=str)
def test_no_memory_is_too_small_for_a_team(objective, kind, n_at_once):
    plan, design, target = two_teams(objective, kind)
    plan = replace(plan, shrinks=SHRINKS)
    floats = plan.network.floats(design.n_total, 24, target.n_outputs)
    pieces = in_pieces(plan)
    pieces.training.set_params(max_memory=1 + n_at_once * bytes_per_model(plan, design, target, *floats))
    seen = []
    cut, whole = execute(pieces, design, target, (seen.append,)), execute(plan, design, target)
    assert [snapshot.models.tolist() for snapshot in seen] == [[0, 1]] * 3 + [[2, 3]] * 3
    for field in fields(whole):
        if field.name != "models":
            values = getattr(cut, field.name), getattr(whole, field.name)
            torch.testing.assert_close(*values, rtol=0, atol=1e-10)
    torch.testing.assert_close(cut.models.predict(design), whole.models.predict(design), rtol=0, atol=1e-10)
    assert cut.models.plan.n_members == 2


def test_members_of_a_team_stop_together():
    plan, design, target = two_teams(Regression(), "regression")
    training = clone(plan.training).set_params(n_steps=60, n_snapshots=30, patience=2, lr=0.3)
    trained = train(replace(plan, training=training), design, target)
    first, second = trained.step.view(-1, 2).unbind(1)
    assert torch.equal(first, second)
    ended = trained.held_out_loss.isfinite().sum(0)
    assert (ended < 30).all()
    best = trained.shrunk_loss[:, :, 0].nan_to_num(nan=torch.inf).amin(2).argmin(0)
    assert torch.equal(trained.steps[best], first)


# ---- shrinks


@pytest.mark.parametrize("n_members", [1, 2])
@pytest.mark.parametrize(("objective", "kind"), [*PLAIN, *WEIGHED], ids=str)
def test_a_shrunk_loss_is_that_of_outputs_nearer_to_the_base_rate(objective, kind, n_members):
    plan, design, target = two_teams(objective, kind, n_members)
    plan = replace(plan, shrinks=SHRINKS)
    trained = train(plan, design, target)
    models = trained.models
    weights, test = (w.unflatten(0, (-1, n_members)).mean(1) for w in (plan.weights, plan.test_weights))
    learned = objective.learn(target.rows, weights)
    output, _ = objective.average(models.predict(design), models.learned, n_members, learned)
    base, _ = objective.average(models.base.unsqueeze(1), models.learned, n_members, learned)
    assert trained.shrunk_loss.shape == (3, 4 // n_members, 3, 3)
    for part, rows in enumerate([torch.ones(24), plan.blocks == 0, plan.blocks == 1]):
        for at, t in enumerate(SHRINKS):
            nearer = base + t * (output - base)
            expected = objective.held_out_loss(nearer, target.rows, weights, test * rows, learned)
            torch.testing.assert_close(trained.shrunk_loss[-1, :, part, at], expected, rtol=0, atol=1e-10)
    assert torch.equal(trained.shrunk_loss[..., 0, -1], trained.held_out_loss)
    assert torch.equal(trained.shrunk_loss[..., 1:, -1], trained.block_loss)


def test_shrinks_change_no_model():
    plan, design, target = two_teams(Classification(), "binary")
    plain, shrunk = (train(replace(plan, shrinks=s), design, target) for s in ((1.0,), SHRINKS))
    assert torch.equal(plain.models.gate_parameter, shrunk.models.gate_parameter)
    assert torch.equal(plain.held_out_loss, shrunk.held_out_loss)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize(("objective", "kind"), [*OBJECTIVES, *WEIGHED], ids=str)
def test_losses_of_many_parts_equal_a_loop(objective, kind, dtype):
    target = objective.encode(problem(kind)[1])
    rng = np.random.default_rng(0)
    weights = torch.tensor(rng.uniform(0.1, 2, size=(3, 24)), dtype=dtype)
    parts = torch.tensor(rng.uniform(0.1, 2, size=(3, 4, 24)) * (rng.random((3, 4, 24)) < 0.7), dtype=dtype)
    parts[1, 2] = 0  # a model without held-out rows in a part
    output = torch.tensor(rng.normal(size=(3, 24, target.n_outputs)), dtype=dtype)
    learned = objective.learn(target.rows, weights)
    losses = objective.held_out_losses(output, target.rows, weights, parts, learned)
    loop = [objective.held_out_loss(output, target.rows, weights, parts[:, i], learned) for i in range(4)]
    torch.testing.assert_close(losses, torch.stack(loop, dim=1), equal_nan=True)
    assert losses.isnan().nonzero().tolist() == [[1, 2]]


# ---- how it predicts


FAST = {"network": MLP(hidden=(4,)), "cv": 3, "random_state": 0}
TRAINING = Training(n_steps=60, lr=0.05, n_snapshots=5, dtype="float64")


@pytest.fixture(scope="module", params=ESTIMATORS, ids=lambda estimator: estimator.__name__)
def fitted(request):
    """Return a model chosen automatically, its shrink changed so that it matters, and X and y."""
    X, y = make_problem(request.param, n_samples=80)
    y = 100 * y + 1000 if request.param is GatedRegressor else y
    model = request.param(training=TRAINING, **FAST).fit(X, y)
    model._predictor = replace(model._predictor, shrink=0.6)
    return model, X, y


def mean_by_hand(model, X):
    """Return the shrunk mean of the members' outputs, on the scale of y in regression."""
    parts = model._predictor
    columns = (X[:, parts.features] - parts.inputs.center) / parts.inputs.scale
    outputs, bases = [], []
    for i in range(len(parts.base)):
        theta = {name: p[i].numpy() for name, p in parts.parameters.items()}
        x = (columns - parts.shift[i].numpy()) * parts.scale[i].numpy()
        h = np.maximum(x @ theta["weight_0"].T + theta["bias_0"], 0)
        own = np.stack([h @ theta["weight_1"][0] + theta.get("bias_1", [0.0])[0], parts.base[i].expand(80)])
        if "scale" in parts.learned:
            own = own * parts.learned["scale"][i].item() + parts.learned["center"][i].item()
        outputs.append(own[0])
        bases.append(own[1])
    base = np.mean(bases, axis=0)
    return base + parts.shrink * (np.mean(outputs, axis=0) - base)


def test_a_fitted_model_is_the_shrunk_mean_of_its_members(fitted):
    model, X, _ = fitted
    assert len(model._predictor.base) == 16
    by_hand = mean_by_hand(model, X)
    if isinstance(model, GatedClassifier):
        by_hand = np.column_stack([1 / (1 + np.exp(by_hand)), 1 / (1 + np.exp(-by_hand))])
    np.testing.assert_allclose(predictions(model, X), by_hand, rtol=1e-9, atol=1e-9)


def test_members_of_a_fitted_model_differ(fitted):
    parts = fitted[0]._predictor
    assert len(parts.parameters["weight_0"].unique(dim=0)) == 16
    assert (parts.scale.std(0) > 0).all()  # each sees the rows with weights of its own


def test_a_linear_model_is_single():
    X, y = make_problem(GatedRegressor, n_samples=80)
    model = GatedRegressor(network="linear", cv=3, training=TRAINING, random_state=0).fit(X, y)
    assert len(model._predictor.base) == 1


def test_a_shrink_brings_predictions_nearer_to_the_base_rate(fitted):
    model, X, _ = fitted
    parts = model._predictor
    full, half, none = (replace(parts, shrink=t).outputs(X) for t in (1.0, 0.5, 0.0))
    torch.testing.assert_close(half, (full + none) / 2)
    torch.testing.assert_close(none, none[:, :1].expand_as(none))
    assert full.std() > 0.1


def test_a_team_of_a_regression_predicts_on_the_scale_of_y():
    X, y = make_problem(GatedRegressor, n_samples=80)
    small, large = (
        GatedRegressor(training=TRAINING, **FAST).fit(X, scale * y + shift)
        for scale, shift in ((1, 0), (100, 1000))
    )
    assert large.score(X, 100 * y + 1000) > 0.9
    # a linear model's bias has gradient 0, and Adam makes steps of its rounding
    distance = large.predict(X) - (100 * small.predict(X) + 1000)
    assert np.abs(distance).max() < 0.01 * np.std(100 * y)
    np.testing.assert_allclose(distance, distance[0], rtol=0, atol=1e-9)


def test_a_team_without_features_predicts_the_base_rate(fitted):
    model, X, y = fitted
    parts = model._predictor
    closed = replace(parts, scale=torch.zeros_like(parts.scale))
    read = model._objective.read(closed.outputs(X), closed.common()).double()
    if isinstance(model, GatedCox):
        assert (read == 0).all()
        return
    expected = y.mean()
    assert read.shape[:2] == (1, 80)
    assert abs(read[0, :, -1].mean() - expected) < 0.05 * y.std()  # the members' weights add up to 1


def test_unselected_columns_change_no_prediction(fitted):
    model, X, _ = fitted
    assert 0 < model.support_.sum() < X.shape[1]
    other = np.where(model.support_, X, 1e6)
    assert np.array_equal(predictions(model, other), predictions(model, X))


def test_pickling_keeps_a_team(fitted):
    model, X, _ = fitted
    again = pickle.loads(pickle.dumps(model))
    assert again._predictor.shrink == 0.6
    assert np.array_equal(predictions(again, X), predictions(model, X))
