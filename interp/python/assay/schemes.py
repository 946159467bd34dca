"""Schemes: the arithmetic of a target."""
import ctypes as c
import json
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._library import Ref, call, lib, made, take_json, take_text, text
from ._structs import P, Rows
from .errors import InputError
from .tensors import Array, address, int64

SchemeLike = Union[str, "Scheme"]


class Difference(NamedTuple):
    """A parameter in which two schemes differ: its name ("rescale.round"), its values, its meaning, and whether the op reads it."""

    parameter: str
    a: str
    b: str
    doc: str
    read: bool


class Steps:
    """A rescale or a dot product, worked through. text: as `assay scheme try` prints it; report: as it writes JSON."""

    def __init__(self, printed: str, report: Dict[str, Any]) -> None:
        self.text, self.report = printed, report

    def __str__(self) -> str:
        return self.text


def presets() -> List[str]:
    """Names of the shipped schemes, each of a real target."""
    names: List[str] = []
    while (name := lib.assay_scheme_preset(len(names))) is not None:
        names.append(name.decode())
    return names


class Scheme:
    """A target's arithmetic: a preset's name, the path of a .yaml file or of a plugin (.so)."""

    def __init__(self, name_or_path: Any) -> None:
        self._hold(made("assay_scheme_open", os.fsencode(name_or_path)), os.fsdecode(name_or_path))

    def _hold(self, ptr: int, opened: Optional[str] = None) -> None:
        self._ref = Ref(ptr, lib.assay_scheme_free)
        self._record: Optional[Dict[str, Any]] = None
        self._opened = opened

    @classmethod
    def from_text(cls, yaml: str, name: str = "text") -> "Scheme":
        """From the text of a scheme file; `name` stands for the file in messages."""
        data = yaml.encode()
        self = cls.__new__(cls)
        self._hold(made("assay_scheme_from_text", name.encode(), data, len(data)))
        return self

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], name: str = "dict") -> "Scheme":
        """From what to_dict gives: {"scheme": "my-npu", "extends": "npu16", "accumulator": {"bits": 20}, ...}."""
        return cls.from_text(json.dumps(_plain(record)), name)

    def __reduce__(self) -> Any:
        if self._opened is not None and self._opened.endswith(".so"):
            return Scheme, (self._opened,)
        return Scheme.from_text, (self.text, self.name)

    @property
    def name(self) -> str:
        return str(lib.assay_scheme_name(self._ref).decode())

    @property
    def description(self) -> str:
        return (lib.assay_scheme_description(self._ref) or b"").decode()

    @property
    def digest(self) -> str:
        """XXH3-128 of the record, 32 hex digits."""
        return str(lib.assay_scheme_digest(self._ref).decode())

    @property
    def text(self) -> str:
        """A scheme file that states every parameter (a plugin: its own description)."""
        return str(lib.assay_scheme_record(self._ref).decode())

    def to_dict(self) -> Dict[str, Any]:
        """Every parameter, as texts in dicts and lists: d["accumulator"]["bits"] is "32". A copy, to be edited at will."""
        if self._record is None:
            out = P()
            call("assay_scheme_json", self._ref, c.byref(out))
            self._record = take_json(out)
        copied: Dict[str, Any] = json.loads(json.dumps(self._record))
        return copied

    def __getitem__(self, section: str) -> Any:
        return self.to_dict()[section]

    def edit(self, changes: Mapping[str, Any], name: Optional[str] = None) -> "Scheme":
        """Another scheme, with these parameters changed: s.edit({"accumulator": {"bits": 20}}, name="narrow")."""
        record = _merged(self.to_dict(), _plain(changes))
        record["scheme"] = name or record.get("scheme", self.name) + "-edited"
        return Scheme.from_dict(record, record["scheme"])

    def show(self, op: Optional[str] = None, wide: bool = False) -> str:
        """What it does for an op (None: "conv"), on codes of more than 8 bits (wide) or at most 8, as `assay scheme show` prints it: words,
        tables and examples, what it inherits and from which scheme, its record."""
        out = P()
        call("assay_scheme_show", self._ref, text(op), wide, c.byref(out))
        return take_text(out)

    def diff(self, other: SchemeLike, op: str = "conv", wide: bool = False) -> List[Difference]:
        """Parameters that differ for nodes of an op, on codes of more than 8 bits (wide) or at most 8."""
        out = P()
        call("assay_scheme_diff", self._ref, scheme(other)._ref, op.encode(), wide, c.byref(out))
        return [Difference(d["parameter"], d["a"], d["b"], d["doc"], d["read"]) for d in take_json(out)]

    def apply(self, acc: Any, *, scale: Any = None, in_scale: Any = None, weight_scale: Any = None, out_scale: Any = None,
              multiplier: Any = None, shift: Any = None, pre: Any = None, zero_point: Any = None, in_zero_point: Any = None,
              lo: Any = None, hi: Any = None, op: Optional[str] = None, type: Optional[str] = None, wide: bool = False,
              per_tensor: bool = False, refused: bool = False) -> Any:
        """The codes that the target computes from accumulators, int64 of the shape to which all arguments broadcast.

        A row's factor is `scale` (real units a step of the accumulator / real units a code); or in_scale * weight_scale /
        out_scale, computed as on the target; or multiplier and shift as the target stores them. type: of the codes, "i8",
        "u8", "i16", ... (default: the scheme's activations). A row that the target refuses is a SchemeError; with
        refused=True the result is (codes, refused), a bool array, and such a code is 0.
        """
        columns, shape = _columns(
            dict(acc=acc, multiplier=multiplier, shift=shift, pre=pre, zero_point=zero_point, in_zero_point=in_zero_point, lo=lo, hi=hi),
            dict(scale=scale, in_scale=in_scale, weight_scale=weight_scale, out_scale=out_scale))
        out, bad = np.zeros(shape, np.int64), np.zeros(shape, np.uint8)
        rows = Rows(n=out.size, op=text(op), type=text(type), wide=wide, per_tensor=per_tensor,
                    **{name: address(a) for name, a in columns.items()})
        call("assay_scheme_apply", self._ref, c.byref(rows), address(out), address(bad) if refused else None)
        return (out, bad.astype(bool)) if refused else out

    def try_row(self, acc: int, *, scale: Optional[float] = None, in_scale: Optional[float] = None, weight_scale: Optional[float] = None,
                out_scale: Optional[float] = None, multiplier: Optional[int] = None, shift: Optional[int] = None, pre: Optional[int] = None,
                zero_point: int = 0, in_zero_point: int = 0, op: Optional[str] = None, type: Optional[str] = None, wide: bool = False,
                per_tensor: bool = False) -> "Steps":
        """One rescale step by step, as `assay scheme try`; its arguments are as apply() takes them. A scale that the target refuses is a SchemeError."""
        columns, shape = _columns(dict(acc=acc, multiplier=multiplier, shift=shift, pre=pre, zero_point=zero_point, in_zero_point=in_zero_point),
                                  dict(scale=scale, in_scale=in_scale, weight_scale=weight_scale, out_scale=out_scale))
        rows = Rows(n=int(np.prod(shape)), op=text(op), type=text(type), wide=wide, per_tensor=per_tensor,
                    **{name: address(a) for name, a in columns.items()})
        out = [P(), P()]
        call("assay_scheme_try", self._ref, c.byref(rows), *map(c.byref, out))
        return Steps(take_text(out[0]), take_json(out[1]))

    def derive(self, scale: Any, *, op: Optional[str] = None, wide: bool = False) -> Tuple[Array, Array, Array]:
        """Multiplier, shift and pre-shift that encode real scales, as the target stores them: int64 of scale's shape."""
        columns, shape = _columns({}, dict(scale=scale))
        out = [np.zeros(shape, np.int64) for _ in range(3)]
        rows = Rows(n=out[0].size, op=text(op), wide=wide, scale=address(columns["scale"]))
        call("assay_scheme_derive", self._ref, c.byref(rows), *map(address, out), None)
        return out[0], out[1], out[2]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scheme) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<assay.Scheme {self.name}, digest {self.digest}>"


def scheme(s: SchemeLike) -> Scheme:
    """A Scheme, or the one that a name or path stands for."""
    return s if isinstance(s, Scheme) else Scheme(s)


def _columns(integers: Mapping[str, Any], reals: Mapping[str, Any]) -> Tuple[Dict[str, Array], Tuple[int, ...]]:
    given = {n: np.asarray(v) for n, v in {**integers, **reals}.items() if v is not None}
    given = {name: int64(a, name) if name in integers else a for name, a in given.items()}
    try:
        shape = np.broadcast_shapes(*(a.shape for a in given.values()))
    except ValueError:
        raise InputError("columns do not fit together: " + ", ".join(f"{name} {list(a.shape)}" for name, a in given.items())) from None
    return {n: np.ascontiguousarray(np.broadcast_to(a, shape), np.int64 if n in integers else np.float64) for n, a in given.items()}, shape


def _plain(x: Any) -> Any:
    """As a scheme file has it: yes, no, numbers as texts."""
    if isinstance(x, Mapping):
        return {str(k): _plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [_plain(v) for v in x]
    return ("yes" if x else "no") if isinstance(x, bool) else str(x)


def _merged(into: Dict[str, Any], changes: Mapping[str, Any]) -> Dict[str, Any]:
    for key, value in changes.items():
        into[key] = _merged(into[key], value) if isinstance(value, Mapping) and isinstance(into.get(key), dict) else value
    return into
