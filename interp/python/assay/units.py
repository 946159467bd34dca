"""Matrix units: dot products of small floats, bit-exactly."""
import ctypes as c
import os
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from ._library import Ref, call, lib, made, take_json, take_text
from ._structs import P, Dots
from .errors import InputError
from .schemes import Steps
from .tensors import Array, address

UnitLike = Union[str, "MatrixUnit"]


class UnitDifference:
    """Two units compared. apart: a dot product was found on which they differ; text: as `assay scheme diff` prints it; report:
    parameters that differ, and the row, as it writes JSON."""

    def __init__(self, apart: bool, printed: str, report: Dict[str, Any]) -> None:
        self.apart, self.text, self.report = apart, printed, report

    def __str__(self) -> str:
        return self.text


def units() -> List[str]:
    """Names of the shipped matrix units."""
    names: List[str] = []
    while (name := lib.assay_matrix_unit_preset(len(names))) is not None:
        names.append(name.decode())
    return names


class MatrixUnit:
    """A unit's arithmetic: a shipped unit's name, or the path of a unit file (.yaml)."""

    def __init__(self, name_or_path: Any) -> None:
        self._ref = Ref(made("assay_matrix_unit_open", os.fsencode(name_or_path)), lib.assay_matrix_unit_free)
        self._opened: Tuple[Any, ...] = (name_or_path,)

    @classmethod
    def from_text(cls, yaml: str, name: str = "text") -> "MatrixUnit":
        """From the text of a unit file; `name` stands for the file in messages."""
        data = yaml.encode()
        self = cls.__new__(cls)
        self._ref = Ref(made("assay_matrix_unit_from_text", name.encode(), data, len(data)), lib.assay_matrix_unit_free)
        self._opened = (yaml, name)
        return self

    def __reduce__(self) -> Any:
        return MatrixUnit if len(self._opened) == 1 else MatrixUnit.from_text, self._opened

    def to_dict(self) -> Dict[str, Any]:
        """{"name", "description", "contract", "multiple", "bits", "mac": {parameter: value}}, as `assay scheme show` writes JSON."""
        out = P()
        call("assay_matrix_unit_json", self._ref, c.byref(out))
        shown: Dict[str, Any] = take_json(out)
        return shown

    @property
    def name(self) -> str:
        return str(self.to_dict()["name"])

    def dot(self, a: Any, b: Any, *, c: Any = None, scale_a: Any = None, scale_b: Any = None) -> Array:
        """Dot products of raw patterns: a and b [n, k], unsigned integers of the narrowest of 8, 16, 32 or 64 bits that holds their format;
        c [n] of the accumulator's format (None: +0); scale_a and scale_b [n, k / block] where the unit has block scales. The result is [n],
        patterns of the unit's results."""
        rows, held = self._rows(a, b, c, scale_a, scale_b)
        out = np.zeros(rows.n, f"u{self.to_dict()['bits']['out'] // 8}")
        call("assay_matrix_unit_dot", self._ref, rows, address(out))
        del held
        return out

    def try_row(self, a: Any, b: Any, *, c: Any = None, scale_a: Any = None, scale_b: Any = None) -> Steps:
        """One dot product step by step: a and b [k], c one pattern, as `assay scheme try`."""
        one = [None if x is None else np.atleast_1d(np.asarray(x))[np.newaxis] for x in (a, b, scale_a, scale_b)]
        rows, held = self._rows(one[0], one[1], None if c is None else [c], one[2], one[3])
        printed, report = P(), P()
        call("assay_matrix_unit_try", self._ref, rows, _by(printed), _by(report))
        del held
        return Steps(take_text(printed), take_json(report))

    def diff(self, other: UnitLike, *, seed: int = 0) -> UnitDifference:
        """Parameters that differ, and a small dot product on which the units do. seed: of the random rows."""
        apart, printed, report = c.c_bool(), P(), P()
        call("assay_matrix_units_diff", self._ref, unit(other)._ref, seed, c.byref(apart), _by(printed), _by(report))
        return UnitDifference(bool(apart.value), take_text(printed), take_json(report))

    def _rows(self, a: Any, b: Any, start: Any, scale_a: Any, scale_b: Any) -> Tuple[Dots, List[Optional[Array]]]:
        """The struct, and the arrays that it points into."""
        shown = self.to_dict()
        bits = shown["bits"]
        left = np.asarray(a)
        if left.ndim != 2:
            raise InputError(f"a is [n, k], not {list(left.shape)}")
        n, k = left.shape
        if "scale" not in bits and (scale_a is not None or scale_b is not None):
            raise InputError(f"{shown['name']} has no block scales")
        block = int(shown["mac"]["scale_block"])
        blocks = (n, k // block if block else 0)
        held = [_column(name, value, bits.get(of), shape) for name, value, of, shape in (
            ("a", a, "a", (n, k)), ("b", b, "b", (n, k)), ("c", start, "acc", (n,)), ("scale_a", scale_a, "scale", blocks),
            ("scale_b", scale_b, "scale", blocks))]
        pointers = [None if x is None else address(x) for x in held]
        return Dots(n=n, k=k, a=pointers[0], b=pointers[1], c=pointers[2], scale_a=pointers[3], scale_b=pointers[4]), held

    def __repr__(self) -> str:
        return f"<assay.MatrixUnit {self.name}>"


def _column(name: str, value: Any, bits: Any, shape: Tuple[int, ...]) -> Optional[Array]:
    """Patterns of so many bits, as the library takes them."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or array.shape != shape:
        raise InputError(f"{name} takes patterns, integers {list(shape)}, not {array.dtype} {list(array.shape)}")
    if array.size and (array.min() < 0 or int(array.max()) >> bits):
        raise InputError(f"{name} holds a value that is not a pattern of {bits} bits")
    return np.ascontiguousarray(array, f"u{bits // 8}")


def _by(out: P) -> Any:
    return c.byref(out)


def unit(u: UnitLike) -> MatrixUnit:
    """A MatrixUnit, or the one that a name or path stands for."""
    return u if isinstance(u, MatrixUnit) else MatrixUnit(u)
