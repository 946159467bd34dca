"""Data sets: samples of a network's input from files, as the command reads them."""
import ctypes as c
import os
from typing import Any, Iterator, Optional, Union, overload

import numpy as np
import numpy.typing as npt

from ._library import Ref, call, lib, made, text
from ._structs import LoaderOptions
from .errors import InputError
from .networks import Network
from .tensors import Array, address


class Dataset:
    """A data set for an input of a network: a folder of PNGs or .npy, IDX, CIFAR-10, .npy, .npz, raw samples or a stream of tokens, as
    `assay eval --dataset` takes them. len(d) samples; d[i] is one, preprocessed, as the input takes it; d[i:j] several, [n, *shape]."""

    def __init__(self, path: Any, network: Network, *, input: Optional[str] = None, labels: Any = None, raw: Optional[str] = None,
                 preprocess: Any = None, array: Optional[str] = None, stride: int = 0, next_tokens: bool = False) -> None:
        """input: its name (None: the only one); labels: a file or folder, where they are not beside the data; raw: type and shape of raw
        samples, "u8:32x32x3"; preprocess: a file (None: preprocess.yaml beside the data); array: its name in an .npz file (None: the
        input's name); stride: of windows of tokens; next_tokens: an input of one integer takes a stream's tokens one at a
        time."""
        names = list(network.inputs)
        if input is None and len(names) != 1:
            raise InputError(f"the network has {len(names)} inputs: give input=, the one that the data is for")
        name = names[0] if input is None else input
        if name not in names:
            raise InputError(f"the network has no input '{name}'")
        self.type = network.inputs[name]
        self.path = os.fsdecode(path)
        o = LoaderOptions(labels=text(labels), raw=text(raw), preprocess=text(preprocess), array=text(array), stride=stride,
                          next_tokens=next_tokens)
        self._ref = Ref(made("assay_loader_open", text(path), network._ref, names.index(name), c.byref(o)), lib.assay_loader_close, network._ref)

    def __len__(self) -> int:
        return int(lib.assay_loader_count(self._ref))

    @overload
    def __getitem__(self, i: int) -> Array: ...
    @overload
    def __getitem__(self, i: slice) -> Array: ...

    def __getitem__(self, i: Union[int, slice]) -> Array:
        if isinstance(i, slice):
            picked = range(*i.indices(len(self)))
            out = np.empty((len(picked), *self.type.shape), self.type.dtype)
            for k, at in enumerate(picked):
                call("assay_loader_read", self._ref, at, address(out[k:k + 1]))
            return out
        at = i + len(self) if i < 0 else i
        if not 0 <= at < len(self):
            raise IndexError(f"{self.path}: {len(self)} samples")
        one = np.empty(self.type.shape, self.type.dtype)
        call("assay_loader_read", self._ref, at, address(one))
        return one

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    @property
    def labels(self) -> Optional[npt.NDArray[np.int64]]:
        """The class of each sample, int64 [n], -1 where it has none; None: no sample has one."""
        found = np.array([lib.assay_loader_label(self._ref, i) for i in range(len(self))], np.int64)
        return found if (found >= 0).any() else None

    def maps(self, first: int = 0, end: Optional[int] = None, *, ignore: int = 255) -> Optional[npt.NDArray[np.int64]]:
        """The class of each pixel of samples first to end (None: all), int64 [n, h, w], -1 where the map holds `ignore`; None: it has no label maps."""
        extent = (c.c_int64 * 2)()
        lib.assay_loader_map(self._ref, extent)
        if extent[0] == 0:
            return None
        picked = range(*slice(first, end).indices(len(self)))
        out = np.empty((len(picked), extent[0], extent[1]), np.int64)
        for k, at in enumerate(picked):
            call("assay_loader_read_map", self._ref, at, ignore, address(out[k]))
        return out

    @property
    def preprocessing(self) -> str:
        """In words, as Profile.of(preprocessing=...) records it."""
        return str(lib.assay_loader_preprocessing(self._ref).decode())

    def __repr__(self) -> str:
        return f"<assay.Dataset {self.path}, {len(self)} samples of {self.type}>"
