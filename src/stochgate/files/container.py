"""The file itself: arrays as safetensors, everything else as JSON in its metadata, and a checksum."""

import hashlib
import json
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from stochgate.atomic import write_atomically
from stochgate.files.errors import Fault, ModelFileError
from stochgate.optional import require

FORMAT, VERSION = "stochgate model", 1
DTYPES = {"BOOL", "F32", "F64", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64"}
_CHECKSUM = "sha256"
_HEAD = ("format", "version", "stochgate", _CHECKSUM)
_MOST_HEADER = 100_000_000  # bytes of metadata that safetensors reads


def write_file(
    path: str | os.PathLike[str], sections: dict[str, Any], arrays: dict[str, np.ndarray]
) -> None:
    """Write sections (what JSON can hold) and arrays to a file, as a whole or not at all."""
    library = _safetensors("Saving a model")
    texts = {name: json.dumps(section, allow_nan=False) for name, section in sections.items()}
    metadata = {"format": FORMAT, "version": str(VERSION), "stochgate": _library_version(), **texts}
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    metadata[_CHECKSUM] = checksum(metadata, arrays)
    content = library.numpy.save(arrays, metadata)
    if int.from_bytes(content[:8], "little") > _MOST_HEADER:
        raise ModelFileError(
            "The names and texts of the model take over 100 MB, more than a file can hold."
        )
    write_atomically(path, content)


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the sections and arrays of a file, once its format, version and checksum are right."""
    metadata, arrays = _read_safetensors(path)
    if metadata.get("format") != FORMAT:
        raise Fault("it is a safetensors file, but not one that stochgate.save wrote")
    _refuse_newer(metadata)
    if metadata.get(_CHECKSUM) != checksum(metadata, arrays):
        raise Fault("its checksum does not match, so it was changed or damaged after it was written")
    return {name: _parse(name, text) for name, text in metadata.items() if name not in _HEAD}, arrays


def checksum(metadata: dict[str, str], arrays: dict[str, np.ndarray]) -> str:
    """Return the SHA-256 of all names, texts and numbers, in hexadecimal.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.files.container import checksum
    >>> checksum({"a": "1"}, {"x": np.zeros(2)}) == checksum({"a": "1"}, {"x": np.zeros(3)})
    False
    """
    found = hashlib.sha256()
    texts = {name: text for name, text in metadata.items() if name != _CHECKSUM}
    shapes = {name: [array.dtype.str, array.shape] for name, array in arrays.items()}
    found.update(json.dumps([texts, shapes], sort_keys=True).encode())
    for name in sorted(arrays):
        found.update(arrays[name].tobytes())
    return found.hexdigest()


def _read_safetensors(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    library = _safetensors("Loading a model")
    path = Path(path)
    with open(path, "rb") as file:  # a file that is not there, or must not be read, says so
        start = file.read(8)
    try:
        with library.safe_open(path, framework="np") as file:
            types = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118
            strange = [name for name, dtype in types.items() if dtype not in DTYPES]
            if strange:
                raise Fault(f"the tensor {strange[0]!r} is of a type that models do not have")
            return file.metadata() or {}, {name: file.get_tensor(name) for name in types}
    except library.SafetensorError as error:
        whole = 8 + int.from_bytes(start, "little")
        if len(start) == 8 and path.stat().st_size < whole <= _MOST_HEADER:
            raise Fault("it is cut short, or no safetensors file") from error
        raise Fault(f"it is no complete safetensors file ({error})") from error


def _refuse_newer(metadata: dict[str, str]) -> None:
    written = metadata.get("version", "")
    number = int(written) if written.isascii() and written.isdigit() and len(written) < 10 else 0
    if number > VERSION:
        by = metadata.get("stochgate", "of unknown version")[:20]
        what = f"it was written by a newer stochgate ({by}), in file format {number}"
        raise Fault(what, f"update stochgate, which reads formats up to {VERSION} here")
    if number < 1:
        raise Fault(f"its format version is {written[:20]!r}, but versions are whole numbers from 1 on")


def _parse(name: str, text: str) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise Fault(f"its section {name!r} is no JSON") from None


def _safetensors(needed_by: str) -> Any:
    parts = {"package": "safetensors", "needed_by": needed_by, "extra": "files"}
    require("safetensors.numpy", **parts)
    return require("safetensors", **parts)


def _library_version() -> str:
    try:
        return version("stochgate")
    except PackageNotFoundError:  # a source folder that is not installed
        return "0+source"
