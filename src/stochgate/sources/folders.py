"""From a file, or a folder of files, to a dataset of pyarrow."""

from pathlib import Path
from typing import Any

from stochgate.optional import require

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".csv": "csv",
    ".orc": "orc",
}


def open_dataset(path: Path) -> Any:
    """Return the pyarrow dataset of a file or of a folder of files; hidden files (".x", "_x") are left out.

    Where files differ in the type of a column it gets one that holds both: whole numbers become numbers.
    """
    ds = require(
        "pyarrow.dataset", package="pyarrow", needed_by="Reading tables from files", extra="streams"
    )
    files = [path] if path.is_file() else _files_in(path)
    if not files:
        raise ValueError(f"{path} holds no table; a folder of Parquet files is expected.")
    formats = sorted({FORMATS.get(file.suffix.lower(), "") for file in files})
    if "" in formats:
        known = ", ".join([*FORMATS, ".npy", ".zarr"])
        raise ValueError(f"{path} has the ending {path.suffix!r}; endings that are read: {known}.")
    if len(formats) > 1:
        raise ValueError(f"{path} holds files of several formats ({', '.join(formats)}); keep one.")
    options: dict[str, Any] = {"format": _csv() if formats == ["csv"] else formats[0]}
    if path.is_dir():
        options |= {"partitioning": ds.partitioning(flavor="hive"), "partition_base_dir": str(path)}
    names = [str(file) for file in files]
    try:
        dataset = ds.dataset(names, **options)
    except ValueError as error:  # pyarrow's own
        raise ValueError(f"{path} cannot be read as a table: {error}") from error
    if len(files) == 1:
        return dataset
    return ds.dataset(names, schema=_unify(dataset, path), **options)


def _files_in(folder: Path) -> list[Path]:
    found = (file for file in folder.rglob("*") if file.suffix.lower() in FORMATS and file.is_file())
    return sorted(file for file in found if not _is_hidden(file.relative_to(folder)))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) and "=" not in part for part in path.parts)


def _csv() -> Any:
    """Return how CSV is read: an empty field is a missing value, of text too."""
    from pyarrow.csv import ConvertOptions
    from pyarrow.dataset import CsvFileFormat

    return CsvFileFormat(convert_options=ConvertOptions(strings_can_be_null=True))


def _unify(dataset: Any, path: Path) -> Any:
    """Return the schema that holds what all files hold."""
    import pyarrow as pa

    schemas = [dataset.schema, *(fragment.physical_schema for fragment in dataset.get_fragments())]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as error:
        raise ValueError(f"The files of {path} differ in the type of a column ({error}).") from error
