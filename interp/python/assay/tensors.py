"""Tensors: their types, and arrays over the library's memory."""
import ctypes as c
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple, TypeVar

import numpy as np
import numpy.typing as npt

from ._structs import Type
from .errors import InputError

Array = npt.NDArray[Any]
T = TypeVar("T")

_INTEGER, _FLOAT, _BOOL = 1, 2, 3
_SMALL = ("f16", "bf16", "tf32", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f6e3m2", "f6e2m3", "f4e2m1", "f8e8m0", "int8mx")  # graph/core/floats.def, from 4 on


class Outputs(Dict[str, T]):
    """Outputs by name, in the network's order. Where only "NAME:f32" is one, the floats of the codes NAME, NAME finds it."""

    def __missing__(self, name: str) -> T:
        floats = f"{name}:f32"
        if floats in self:
            return self[floats]
        raise KeyError(name)


@dataclass(frozen=True)
class TensorType:
    """What a tensor holds. real = scale * (code - zero_point), where it is quantized.

    dtype: of its array; bits: of a code (5-bit codes are in int8); shape: C order; scale, zero_point: None where the tensor
    is not quantized, else arrays of one element, of one for each index of `axis`, or of one for each run of `block`
    indices along it. floats: the name of a small float, "f8e4m3fn", whose patterns the array holds, unsigned; else None.
    """

    dtype: "np.dtype[Any]"
    bits: int
    shape: Tuple[int, ...]
    scale: Optional[Array] = None
    zero_point: Optional[Array] = None
    axis: Optional[int] = None
    block: Optional[int] = None
    floats: Optional[str] = None

    @property
    def is_quantized(self) -> bool:
        return self.scale is not None

    @property
    def range(self) -> Tuple[int, int]:
        """Least and greatest code."""
        if self.dtype.kind == "u":
            return 0, 2 ** self.bits - 1
        return (0, 1) if self.dtype.kind == "b" else (-(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1)

    def dequantize(self, codes: Array) -> Array:
        """Real values of codes of this type, float64."""
        if self.scale is None or self.zero_point is None:
            return np.asarray(codes, np.float64)
        scale, zero = self.scale.astype(np.float64), self.zero_point.astype(np.float64)
        if self.block is not None and self.axis is not None:
            grid = list(self.shape)
            grid[self.axis] = -(-grid[self.axis] // self.block)
            scale, zero = (np.repeat(x.reshape(grid), self.block, self.axis).take(range(self.shape[self.axis]), self.axis)
                           for x in (scale, zero))
        elif scale.size > 1 and self.axis is not None:
            line = [1] * len(self.shape)
            line[self.axis] = -1
            scale, zero = scale.reshape(line), zero.reshape(line)
        return scale * (np.asarray(codes, np.float64) - zero)

    def __str__(self) -> str:
        extent = ",".join(map(str, self.shape))
        kind = self.floats if self.floats else "bool" if self.dtype.kind == "b" else f"{self.dtype.kind}{self.bits}"
        return f"{kind}[{extent}]" + (f" q({self.scale.size} scales)" if self.scale is not None and self.scale.size > 1 else
                                      f" q({float(self.scale[0]):g},{int(self.zero_point[0])})" if self.scale is not None and self.zero_point is not None else "")


def type_of(t: Type) -> TensorType:
    """A type from the library; its parameters are copied."""
    bits = t.elem.bits
    dtype: "np.dtype[Any]"
    if t.elem.kind == _FLOAT:
        dtype = np.dtype(np.float32)
    elif t.elem.kind == _BOOL:
        dtype = np.dtype(np.bool_)
    elif t.elem.kind == _INTEGER:
        size = 1 if bits <= 8 else 2 if bits <= 16 else 4 if bits <= 32 else 8
        dtype = np.dtype(f"{'i' if t.elem.is_signed else 'u'}{size}")
    elif _BOOL < t.elem.kind <= _BOOL + len(_SMALL):
        dtype = np.dtype(f"u{1 if bits <= 8 else 2 if bits <= 16 else 4}")
        return TensorType(dtype, bits, tuple(t.dim[:t.rank]), floats=_SMALL[t.elem.kind - _BOOL - 1])
    else:
        raise InputError("a tensor without elements")
    shape = tuple(t.dim[:t.rank])
    if not t.q.granularity:
        return TensorType(dtype, bits, shape)
    scale = np.ctypeslib.as_array(t.q.scale, (t.q.count,)).copy()
    zero = np.ctypeslib.as_array(t.q.zero_point, (t.q.count,)).copy()
    return TensorType(dtype, bits, shape, scale, zero, t.q.axis if t.q.granularity > 1 else None,
                      t.q.block if t.q.granularity > 2 else None)


class _Memory:
    """Memory of the library that lives as long as any array over it."""

    def __init__(self, ptr: int, t: TensorType, owner: Any, readonly: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "typestr": t.dtype.str, "shape": t.shape, "data": (ptr, readonly)}


def view(ptr: int, t: TensorType, owner: Any, readonly: bool = True) -> Array:
    """An array over it, without a copy; it holds `owner`."""
    if 0 in t.shape:
        return np.empty(t.shape, t.dtype)
    return np.asarray(_Memory(ptr, t, owner, readonly))


def fitting(value: Any, t: TensorType, what: str) -> Array:
    """The array that a tensor of type t can take: floats may be of another width, integers of another container; leading
    dimensions of 1 may be left out."""
    a = np.asarray(value)
    bare = t.shape
    while len(bare) > a.ndim and bare[0] == 1:
        bare = bare[1:]
    if a.shape != t.shape and a.shape != bare:
        raise InputError(f"'{what}' has the shape {list(t.shape)}, not {list(a.shape)}")
    if a.dtype.kind not in {"f": "f", "b": "b"}.get(t.dtype.kind, "iu"):
        raise InputError(f"'{what}' holds {t}, not {a.dtype}")
    if t.dtype.kind in "iu" and a.size and not (t.range[0] <= int(a.min()) and int(a.max()) <= t.range[1]):
        raise InputError(f"'{what}' holds codes from {t.range[0]} to {t.range[1]}; found {int(a.min())} to {int(a.max())}")
    return a.reshape(t.shape)


def by_name(inputs: Any, types: Mapping[str, TensorType]) -> Mapping[str, Any]:
    """Arrays by input: for a network with one input, the array alone is enough."""
    if not isinstance(inputs, Mapping):
        if len(types) != 1:
            raise InputError(f"the network has {len(types)} inputs: give a dict of {', '.join(types)}")
        return {next(iter(types)): inputs}
    missing, extra = [n for n in types if n not in inputs], [n for n in inputs if n not in types]
    if missing or extra:
        raise InputError("; ".join([f"input '{n}' is not given" for n in missing] + [f"there is no input '{n}'" for n in extra]))
    return inputs


def stacked(inputs: Any, types: Mapping[str, TensorType]) -> Tuple[List[Array], int]:
    """Samples of each input, [n, *shape] in the library's storage, and n. Where a shape begins with 1, [n, *shape[1:]] does too."""
    given = by_name(inputs, types)
    arrays: List[Array] = []
    counts: Dict[str, int] = {}
    for name, t in types.items():
        a = np.asarray(given[name])
        if a.ndim == len(t.shape) and t.shape[:1] == (1,) and a.shape[1:] == t.shape[1:]:
            a = a.reshape((a.shape[0], *t.shape))
        if a.ndim != len(t.shape) + 1:
            raise InputError(f"'{name}' takes samples of the shape [n,{','.join(map(str, t.shape))}], not {list(a.shape)}")
        for sample in a:
            fitting(sample, t, name)
        counts[name] = a.shape[0]
        arrays.append(np.ascontiguousarray(a, t.dtype))
    if len(set(counts.values())) != 1:
        raise InputError("as many samples of each input, not " + ", ".join(f"{n} of '{k}'" for k, n in counts.items()))
    return arrays, next(iter(counts.values()))


def int64(value: Any, what: str) -> Array:
    """Integers as the library takes them, C order."""
    a = np.asarray(value)
    if a.dtype.kind not in "iu":
        raise InputError(f"{what}: integers are expected, not {a.dtype}")
    if a.dtype == np.uint64 and a.size and int(a.max()) >> 63:  # NumPy would make it negative
        raise InputError(f"{what}: {int(a.max())} is beyond int64")
    return np.ascontiguousarray(a, np.int64)


def address(a: Array) -> c.c_void_p:
    """Of its elements, C order."""
    return c.c_void_p(a.ctypes.data)
