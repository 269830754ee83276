"""Objects with tensors as bytes and arrays, so that large numbers travel without a copy."""

import io
import pickle
import warnings
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor


class Packed(NamedTuple):
    """An object without its large numbers, and these.

    Attributes
    ----------
    head : bytes
    arrays : tuple of ndarray of bytes
        A sender that knows arrays hands them over as they are.
    """

    head: bytes
    arrays: tuple[np.ndarray, ...]

    @property
    def n_bytes(self) -> int:
        """How many bytes travel."""
        return len(self.head) + sum(array.nbytes for array in self.arrays)


def pack(thing: Any, pickler: Any = pickle.Pickler) -> Packed:
    """Take an object apart.

    Parameters
    ----------
    thing : object
    pickler : class
        `cloudpickle.Pickler`, or one like it, also packs functions that are defined in place.

    Examples
    --------
    >>> import torch
    >>> from stochgate.backends.packing import pack, unpack
    >>> packed = pack({"x": torch.eye(50)[:2]})
    >>> packed.n_bytes < 1000, unpack(packed)["x"].shape
    (True, torch.Size([2, 50]))
    """

    class Pickler(pickler):
        def reducer_override(self, value: Any) -> Any:
            if type(value) is Tensor and value.device.type == "cpu" and value.layout is torch.strided:
                return to_tensor, (_dense(value.detach()),)
            inherited = getattr(super(), "reducer_override", None)
            return NotImplemented if inherited is None else inherited(value)

    buffers: list[pickle.PickleBuffer] = []
    file = io.BytesIO()
    Pickler(file, protocol=5, buffer_callback=buffers.append).dump(thing)
    return Packed(file.getvalue(), tuple(np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers))


def unpack(packed: Packed, copy: bool = False) -> Any:
    """Put an object together again, its tensors on the memory of the arrays, or on copies.

    Tensors on memory that may not be written to must only be read.
    """
    arrays = [bytearray(array) for array in packed.arrays] if copy else packed.arrays
    return pickle.loads(packed.head, buffers=arrays)


def to_tensor(array: np.ndarray) -> Tensor:
    """Return a tensor on the memory of an array."""
    if array.flags.writeable:
        return torch.from_numpy(array)
    with warnings.catch_warnings():  # nothing writes into the data of a training
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


def _dense(value: Tensor) -> np.ndarray:
    """Return a tensor as an array by row or by column, whichever it is; of a view its own part alone."""
    array = value.numpy()
    return array if array.flags.c_contiguous or array.flags.f_contiguous else np.ascontiguousarray(array)
