"""Rows and networks that tell schemes apart, and what rows that someone has let live."""
import ctypes as c
from typing import Any, Dict, Optional, Sequence, Tuple

from ._library import P, VectorsOptions, call, take_json, take_text, text
from .schemes import SchemeLike, scheme


class Vectors:
    """What rows tell. whole: all schemes are told apart, or no mutant that differs anywhere lives; text: as the command prints it; report: as it
    writes JSON."""

    def __init__(self, whole: bool, printed: str, report: Dict[str, Any]) -> None:
        self.whole, self.text, self.report = whole, printed, report

    def __str__(self) -> str:
        return self.text


def vectors(schemes: Sequence[SchemeLike], *, op: Optional[str] = None, kind: Optional[str] = None, type: Optional[str] = None, wide: bool = False,
            acc: Optional[Tuple[int, int]] = None, seed: int = 17, path: Any = None) -> Vectors:
    """The least rows, or the nodes of a small network, on which each two of the schemes differ; of one scheme, rows that tell it from all its
    mutants. kind: rows of "multiplier" or "scale"; type: of the output, "i8", ...; acc: the accumulators that count. path: a new folder for the
    rows (.npy, .hex, .h), the networks and the answers."""
    held = [scheme(s) for s in schemes]
    pointers = (P * max(len(held), 1))(*[s._ref._as_parameter_ for s in held])
    return _asked("assay_scheme_vectors", pointers, len(held), options=_options(op, kind, type, wide, acc, seed, path))


def lint_vectors(path: Any, of: SchemeLike, *, op: Optional[str] = None, kind: Optional[str] = None, type: Optional[str] = None, wide: bool = False,
                 acc: Optional[Tuple[int, int]] = None, seed: int = 17) -> Vectors:
    """Which mutants of a scheme the rows of path, a folder of .npy columns or a .csv file, let live; the other arguments are as vectors() takes
    them."""
    return _asked("assay_vectors_lint", scheme(of)._ref, text(path), options=_options(op, kind, type, wide, acc, seed, None))


def _options(op: Any, kind: Any, type: Any, wide: bool, acc: Any, seed: int, path: Any) -> VectorsOptions:
    return VectorsOptions(op=text(op), kind=text(kind), type=text(type), wide=wide, has_acc=acc is not None, acc=(c.c_int64 * 2)(*(acc or (0, 0))),
                          has_seed=True, seed=seed, dir=text(path))


def _asked(function: str, *args: Any, options: VectorsOptions) -> Vectors:
    whole, out = c.c_bool(), [P(), P()]
    call(function, *args, c.byref(options), c.byref(whole), *map(c.byref, out))
    return Vectors(bool(whole.value), take_text(out[0]), take_json(out[1]))
