"""Small files with the names, keys and types of the real data files, so that loaders run without them."""

import csv
import hashlib

import numpy as np

N_ROWS, N_COLUMNS = 12, 6
DENSE = {  # the types of X
    "allaml": "float32",
    "prostate_ge": "float32",
    "tox171": "float32",
    "lymphoma": "int8",
    "warppie10p": "uint8",
    "yale": "uint8",
    "isolet": "float32",
    "coil20": "float32",
    "madelon": "uint16",
}
SPARSE = {  # the types of the entries
    "basehock": "uint8",
    "relathe": "uint8",
    "pcmac": "uint8",
    "gisette_like": "uint16",
    "rcv1_small": "float32",
    "newsgroups20": "uint16",
    "pbmc_facs": "uint16",
}
REGRESSION = ("rcp_cpu_act", "rel_elevators", "rai_ailerons")
CELLS = np.array(["CD4+/CD25 T Reg", "CD4+/CD45RA+/CD25- Naive T", "CD56+ NK"])
GROUPS = np.array(["comp.graphics", "sci.space", "rec.autos"])


def write_files(folder):
    """Write a small version of every data file and return the sha256 of each, by name."""
    arrays = {
        **{name: dense(dtype) for name, dtype in DENSE.items()},
        **{name: sparse(dtype) for name, dtype in SPARSE.items()},
        **{name: regression() for name in REGRESSION},
        "mnist": mnist(),
        "metabric": metabric(),
        "metabric_deepsurv": metabric_deepsurv(),
        "gaussian_survival": gaussian_survival(),
    }
    arrays["madelon"] |= {"informative": np.array([0, 3], dtype="int16")}
    arrays["pbmc_facs"] |= {"class_names": CELLS, "gene_symbol": names()}
    arrays["newsgroups20"] |= {"class_names": GROUPS, "vocab": names()}
    for name, parts in arrays.items():
        np.savez(folder / f"{name}.npz", **parts)
    write_mice(folder / "mice_protein.csv")
    return {file.stem: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def names():
    return np.array([f"name{j}" for j in range(N_COLUMNS)])


def values(dtype):
    return np.random.default_rng(0).integers(0, 100, (N_ROWS, N_COLUMNS)).astype(dtype)


def labels():
    return (np.arange(N_ROWS) % 3).astype("int8")


def dense(dtype):
    return {"X": values(dtype), "y": labels()}


def sparse(dtype):
    """Return the parts of a CSR matrix with one entry per row, the number of the row."""
    return {
        "format": np.array(b"csr"),
        "shape": np.array([N_ROWS, N_COLUMNS]),
        "data": np.arange(N_ROWS).astype(dtype),
        "indices": np.arange(N_ROWS, dtype="int32") % N_COLUMNS,
        "indptr": np.arange(N_ROWS + 1, dtype="int32"),
        "y": labels(),
    }


def regression():
    return {"X": values("float32"), "y": np.linspace(0, 1, N_ROWS), "feature_names": names()}


def mnist():
    digits = np.tile([3, 8, 5], N_ROWS // 3).astype("uint8")
    images = np.repeat(digits[:, None], 784, axis=1)
    return {"X_train": images, "y_train": digits, "X_test": images[:3], "y_test": digits[:3]}


def metabric():
    return {
        "X": values("float32"),
        "time": np.arange(N_ROWS, dtype="float32"),
        "event": (np.arange(N_ROWS) % 2).astype("int8"),
        "feature_names": names(),
        "feature_group": np.array(["gene"] * 4 + ["clinical"] * 2),
        "is_oncotype": np.arange(N_COLUMNS) == 1,
    }


def metabric_deepsurv():
    return {
        f"{key}_{part}": metabric()[key] for key in ("X", "time", "event") for part in ("train", "test")
    }


def gaussian_survival():
    columns = {"x": values("float32"), **dict.fromkeys("t", np.arange(N_ROWS, dtype="float32"))}
    columns |= {"e": np.ones(N_ROWS, dtype="int32"), "hr": np.zeros(N_ROWS, dtype="float32")}
    return {f"{part}_{key}": v for part in ("train", "valid", "test", "viz") for key, v in columns.items()}


def write_mice(path):
    """Write two proteins, the second missing in the first row, of mice measured three times each."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["MouseID", "BDNF_N", "NR1_N", "Genotype", "Treatment", "Behavior", "class"])
        for i in range(N_ROWS):
            protein = i if i else ""
            writer.writerow(
                [f"m{i // 3}_{i % 3}", 0.5, protein, "Control", "Saline", "C/S", f"c{i // 3 % 2}"]
            )
