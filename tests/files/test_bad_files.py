"""Whatever a file holds, loading it gives a model or one sentence, and runs no code."""

import io
import json
import os
import pickle
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save as to_safetensors

import stochgate
from fitted_models import fit_automatically, fit_table, make_layers, says
from stochgate import GatedClassifier, GatedCox, GatedRegressor, ModelFileError
from stochgate.files.container import checksum

FUZZ = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# without these a file holds another model, but still one
MAY_BE_MISSING = {"shift", "inputs.reach", "selection_frequency_", "learned.factor", "table.missing_share"}


MODELS = {
    "table": lambda: fit_table(GatedClassifier, "encoded"),
    "team": lambda: fit_automatically(GatedCox),
    "response": lambda: fit_table(GatedRegressor, "deep"),
    "module": lambda: fit_table(GatedRegressor, "module"),
}
KINDS = list(MODELS)


@cache
def content_of(kind):
    """Return a file's content, metadata and arrays."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        stochgate.save(MODELS[kind]()[0], path)
        with safe_open(path, framework="np") as file:
            arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            return path.read_bytes(), file.metadata(), arrays


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def load(path, kind="table"):
    return stochgate.load(path, network=make_layers if kind == "module" else None)


def assert_refused(path, kind="table", match=None):
    """Assert that a file is refused in one sentence that names it."""
    with pytest.raises(ModelFileError, match=match) as caught:
        load(path, kind)
    message = str(caught.value)
    assert message.startswith(f"{path} cannot be loaded: ")
    assert message.endswith(".")
    assert "\n" not in message
    assert type(caught.value) is ModelFileError


def loads_or_is_refused(path, kind):
    """Load a file; any error but ModelFileError fails the test."""
    try:
        return load(path, kind)
    except ModelFileError:
        return None


def write(path, metadata, arrays, *, seal=True):
    """Write a file; sealed, its checksum is right whatever it holds."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    if seal:
        metadata = {**metadata, "sha256": checksum(metadata, arrays)}
    path.write_bytes(to_safetensors(arrays, metadata))


# ---- files of other kinds


class Trap:
    """Pickled, it makes a folder as soon as it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def zipped():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("data.pkl", "x")
    return content.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"a,b\n1,2\n", b"\x89PNG\r\n\x1a\n" + bytes(50), zipped(), bytes(1000), b"\xff" * 100],
    ids=["empty", "json", "csv", "png", "zip", "zeros", "ones"],
)
def test_files_of_another_kind_are_refused(content, path):
    path.write_bytes(content)
    assert_refused(path, match="safetensors file")


def test_a_pickle_is_refused_and_not_run(path, tmp_path):
    sprung = tmp_path / "sprung"
    trap = pickle.dumps(Trap(sprung))
    path.write_bytes(trap)
    assert_refused(path, match="safetensors file")
    torch.save({"model": Trap(sprung)}, path)
    assert_refused(path, match="safetensors file")
    _, metadata, arrays = content_of("table")
    write(path, {**metadata, "summary": trap.decode("latin-1")}, arrays)
    assert_refused(path, match="no JSON")
    assert not sprung.exists()
    pickle.loads(trap)
    assert sprung.exists()


def test_other_safetensors_files_are_refused(path):
    path.write_bytes(to_safetensors({"weight": np.zeros(3)}, {"format": "pt"}))
    assert_refused(path, match="not one that stochgate.save wrote")
    path.write_bytes(to_safetensors({"weight": np.zeros(3)}))
    assert_refused(path, match="not one that stochgate.save wrote")
    header = json.dumps({"x": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"ab")
    assert_refused(path, match="'x' is of a type that models do not have")


def test_a_file_that_is_not_there_is_python_s_own_error(path):
    with pytest.raises(FileNotFoundError):
        load(path)


# ---- damage


@pytest.mark.parametrize("kind", KINDS)
def test_truncated_files_are_refused(kind, path):
    content = content_of(kind)[0]
    for tenth in range(10):
        path.write_bytes(content[: len(content) * tenth // 10])
        assert_refused(path, kind, match="cut short|safetensors file")
    for more in (content[:-1], content + b"\0"):
        path.write_bytes(more)
        assert_refused(path, kind, match="safetensors file")


def test_flipped_bytes_are_noticed(path):
    content, _, _ = content_of("table")
    model, X = fit_table(GatedClassifier, "encoded")
    expected = says(model, X)
    for place in np.linspace(0, len(content) - 1, 250).astype(int):
        changed = bytearray(content)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        loaded = loads_or_is_refused(path, "table")
        if loaded is not None:  # a space of the header became another space
            assert content[place : place + 1] == b" "
            np.testing.assert_array_equal(loaded.predict_proba(X), expected["predict_proba"])


def test_tampering_is_named(path):
    _, metadata, arrays = content_of("table")
    write(path, {**metadata, "attributes": metadata["attributes"] + " "}, arrays, seal=False)
    assert_refused(path, match="its checksum does not match, so it was changed or damaged")
    write(path, metadata, {**arrays, "base": arrays["base"] + 1}, seal=False)
    assert_refused(path, match="its checksum does not match")


@pytest.mark.parametrize("kind", KINDS)
def test_every_metadata_key_counts(kind, path):
    _, metadata, arrays = content_of(kind)
    for key in metadata:
        without = {name: text for name, text in metadata.items() if name != key}
        write(path, without, arrays, seal=False)
        assert_refused(path, kind)
        for text in ("", "{}", "[]", "3", "null", metadata[key] + " ", metadata[key][:-1]):
            if text != metadata[key]:
                write(path, {**metadata, key: text}, arrays, seal=False)
                assert_refused(path, kind)
    write(path, {**metadata, "extra": "1"}, arrays)
    assert_refused(path, kind, match="unknown section 'extra'")


@pytest.mark.parametrize("kind", KINDS)
def test_sections_that_were_forged_with_a_right_checksum_are_refused(kind, path):
    _, metadata, arrays = content_of(kind)
    sections = sorted(set(metadata) - {"sha256", "stochgate"})
    for key in sections:
        write(path, {name: text for name, text in metadata.items() if name != key}, arrays)
        assert_refused(path, kind)
        for text in ("", "{}", "[]", "3", '"text"', "[" * 100_000, "NaN", "1" * 5000):
            write(path, {**metadata, key: text}, arrays)
            assert_refused(path, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_every_tensor_counts(kind, path):
    _, metadata, arrays = content_of(kind)
    assert len(arrays) > 20
    for name, array in arrays.items():
        rest = {key: value for key, value in arrays.items() if key != name}
        wrong = [
            np.zeros((*array.shape, 2), dtype=array.dtype),
            np.concatenate([array, array]) if array.size else np.zeros(7),
            np.zeros(array.shape, dtype=np.uint8),
        ]
        for other in wrong:
            write(path, metadata, {**rest, name: other})
            assert_refused(path, kind, match="tensor|features|classes|times")
        if name not in MAY_BE_MISSING:
            write(path, metadata, rest)
            assert_refused(path, kind)
    write(path, metadata, {**arrays, "extra": np.zeros(1)})
    assert_refused(path, kind, match="unknown tensor 'extra'")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("table", "features"),
        ("table", "encoding.feature_of"),
        ("module", "module.fed"),
        ("team", "path.features"),
        ("team", "path.counts"),
    ],
)
def test_positions_outside_are_refused(kind, name, path):
    _, metadata, arrays = content_of(kind)
    for place in (-1, 10**6, 2**62):
        changed = arrays[name].copy()
        changed[-1] = place
        write(path, metadata, {**arrays, name: changed})
        assert_refused(path, kind)


@pytest.mark.parametrize(
    "name", ["scale", "base", "parameters.weight_0", "inputs.center", "learned.scale", "table.fill"]
)
def test_numbers_that_are_none_are_refused(name, path):
    _, metadata, arrays = content_of("response")
    write(path, metadata, {**arrays, name: arrays[name] * np.nan})
    assert_refused(path, "response", match="not finite")


# ---- other versions, other classes


@pytest.mark.parametrize("version", ["2", "17"])
def test_newer_files_ask_for_an_update(version, path):
    _, metadata, arrays = content_of("table")
    write(path, {**metadata, "version": version, "stochgate": "9.1", "new": "?"}, arrays)
    assert_refused(path, match=rf"written by a newer stochgate \(9.1\), in file format {version}; update")


@pytest.mark.parametrize("version", ["0", "-1", "1.5", "new", "9" * 30, "²"])
def test_versions_that_are_none_are_refused(version, path):
    _, metadata, arrays = content_of("table")
    write(path, {**metadata, "version": version}, arrays)
    assert_refused(path, match="format version")


def change(metadata, section, edit):
    """Return metadata in whose section something was edited."""
    value = json.loads(metadata[section])
    edit(value)
    return {**metadata, section: json.dumps(value)}


@pytest.mark.parametrize("name", ["os.system", "GatedEstimator", "Pipeline", "builtins.exec", 7, None])
def test_estimators_are_looked_up_and_never_imported(name, path):
    _, metadata, arrays = content_of("table")
    write(path, {**metadata, "estimator": json.dumps(name)}, arrays)
    assert_refused(path, match="holds the estimator")
    made = {"part": name, "parameters": {}}
    write(path, change(metadata, "parameters", lambda value: value["values"].update(network=made)), arrays)
    assert_refused(path, match="has a part named")


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("threshold", "much"),
        ("device", 3),
        ("rule", "no such rule"),
        ("training", {"part": "Training", "parameters": {"n_steps": -1}}),
        ("training", {"part": "Training", "parameters": {"__class__": 1}}),
        ("cv", {"dict": [[{"dict": []}, 1]]}),
        ("cv", {"object": 1}),
        ("__class__", 1),
    ],
)
def test_parameters_are_checked(parameter, value, path):
    _, metadata, arrays = content_of("table")
    write(path, change(metadata, "parameters", lambda p: p["values"].update({parameter: value})), arrays)
    assert_refused(path)


def test_columns_and_classes_must_be_distinct(path):
    _, metadata, arrays = content_of("table")
    edits = {
        "columns": [
            lambda value: value.update(names=["a", "a", "b"]),
            lambda value: value.update(names=["a", "b"]),
            lambda value: value["levels"][0].__setitem__(0, 9),
            lambda value: value["levels"][0].__setitem__(1, ["a", "a"]),
            lambda value: value["levels"].append(value["levels"][0]),
        ],
        "target": [
            lambda value: value.update(labels=["yes", "yes"]),
            lambda value: value.update(labels=["yes"]),
            lambda value: value.update(labels=[["yes"], "no"], are_objects=True),
            lambda value: value.update(labels=["a", "b", "c"]),
        ],
    }
    for section, some in edits.items():
        for edit in some:
            write(path, change(metadata, section, edit), arrays)
            assert_refused(path)


# ---- anything at all


@given(content=st.binary(max_size=400))
@FUZZ
def test_random_bytes_are_refused(content, path):
    path.write_bytes(content)
    assert_refused(path)


@given(header=st.binary(max_size=60), data=st.binary(max_size=20), length=st.integers(0, 2**64 - 1))
@FUZZ
def test_random_headers_are_refused(header, data, length, path):
    for n in (len(header), length):
        path.write_bytes(n.to_bytes(8, "little") + header + data)
        assert_refused(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(metadata=st.dictionaries(st.text(max_size=10), st.text(max_size=20), max_size=5))
@FUZZ
def test_random_metadata_are_refused(metadata, path):
    safe = {
        k.encode("utf-8", "ignore").decode(): v.encode("utf-8", "ignore").decode()
        for k, v in metadata.items()
    }
    write(path, {"format": "stochgate model", "version": "1", **safe}, {"x": np.zeros(2)})
    assert_refused(path)


@given(section=st.sampled_from(["parameters", "columns", "target", "predictor", "attributes"]), value=JSON)
@FUZZ
def test_random_sections_are_refused(section, value, path):
    _, metadata, arrays = content_of("team")
    write(path, {**metadata, section: json.dumps(value)}, arrays)
    assert_refused(path, "team")


def places_of(value, prefix=()):
    """Yield the place of every value inside JSON."""
    yield prefix
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, part in inner:
        yield from places_of(part, (*prefix, key))


@given(data=st.data(), kind=st.sampled_from(KINDS))
@FUZZ
def test_files_with_one_random_value_are_refused_or_load(data, kind, path):
    _, metadata, arrays = content_of(kind)
    sections = sorted(set(metadata) - {"sha256", "stochgate", "format", "version"})
    name = data.draw(st.sampled_from(sections))
    value = json.loads(metadata[name])
    place = data.draw(st.sampled_from([*places_of(value)]))
    changed, inner = data.draw(JSON), value
    if place:
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = changed
    write(path, {**metadata, name: json.dumps(value if place else changed)}, arrays)
    model = loads_or_is_refused(path, kind)
    if model is not None:
        _, X = fit_table(GatedRegressor) if kind != "team" else fit_automatically(GatedCox)
        if hasattr(model, "feature_names_in_") and set(model.feature_names_in_) <= set(X.columns):
            says(model, X)
        if model._summary is not None:
            assert model.summary().text
