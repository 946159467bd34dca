"""Where schemes differ, rows and networks that distinguish them, and which mutants given rows let survive."""
import ctypes as c
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ._library import call, take_json, take_text, text
from ._structs import P, SchemeQuestion, VectorsOptions, pair
from .networks import Network
from .schemes import Scheme, SchemeLike, scheme


Scales = Union[float, Tuple[float, float, int]]


class Comparison:
    """Two schemes compared, decided rather than sampled. differ: whether they differ anywhere; undecided: how many scales or nodes are not
    decided; text: as `assay scheme diff` prints it; report: as it writes JSON."""

    def __init__(self, differ: bool, undecided: int, printed: str, report: Dict[str, Any]) -> None:
        self.differ, self.undecided, self.text, self.report = differ, undecided, printed, report

    def __str__(self) -> str:
        return self.text


class Matrix:
    """Many schemes compared. text: as `assay scheme matrix` prints it; tables: as it writes JSON."""

    def __init__(self, printed: str, tables: List[Dict[str, Any]]) -> None:
        self.text, self.tables = printed, tables

    def __str__(self) -> str:
        return self.text


def compare(a: SchemeLike, b: SchemeLike, *, scale: Optional[Scales] = None, network: Optional[Network] = None, op: Optional[str] = None,
            type: Optional[str] = None, wide: bool = False, acc: Optional[Tuple[int, int]] = None, zero_point: int = 0, in_zero_point: int = 0,
            as_is: bool = False) -> Comparison:
    """Where two schemes differ: their parameters (op: those that it reads); rescales by one scale, or by (first, last, how many), for every
    accumulator; the nodes of a quantized network, for every accumulator that its weights can reach or all operands. as_is: also nodes that
    a scheme's types do not admit."""
    differ, undecided, out = c.c_bool(), c.c_int(), [P(), P()]
    q = _question(scale, network, op, type, wide, acc, zero_point, in_zero_point, as_is)
    call("assay_scheme_compare", scheme(a)._ref, scheme(b)._ref, c.byref(q), c.byref(differ), c.byref(undecided), *map(c.byref, out))
    return Comparison(bool(differ.value), undecided.value, take_text(out[0]), take_json(out[1]))


def matrix(schemes: Sequence[SchemeLike], *, scale: Scales = (0.001, 0.5, 40), network: Optional[Network] = None, op: Optional[str] = None,
           type: Optional[str] = "i8", wide: bool = False, acc: Tuple[int, int] = (-4096, 4096), zero_point: int = 0, as_is: bool = False) -> Matrix:
    """How often each pair of schemes disagrees, over scales or (network) node by node; the arguments are as compare() takes them."""
    held, out = [scheme(s) for s in schemes], [P(), P()]
    q = _question(None if network else scale, network, op, type, wide, acc, zero_point, 0, as_is)
    call("assay_scheme_matrix", _pointers(held), len(held), c.byref(q), *map(c.byref, out))
    return Matrix(take_text(out[0]), take_json(out[1]))


def _pointers(schemes: Sequence[Scheme]) -> Any:
    return (P * max(len(schemes), 1))(*[s._ref._as_parameter_ for s in schemes])


def _question(scale: Optional[Scales], network: Optional[Network], op: Any, type: Any, wide: bool, acc: Any, zero: int, in_zero: int,
              as_is: bool) -> SchemeQuestion:
    first, last, n = scale if isinstance(scale, tuple) else (scale or 0.0, scale or 0.0, int(scale is not None))
    return SchemeQuestion(op=text(op), type=text(type), wide=wide, as_is=as_is, scales=n, scale=pair(c.c_double, (first, last), "scale"), has_acc=acc is not None,
                          acc=pair(c.c_int64, (0, 0) if acc is None else acc, "acc"), zero_point=zero, in_zero_point=in_zero, graph=network._ref._as_parameter_ if network else None)


class Vectors:
    """What rows distinguish. whole: all schemes are distinguished, or no mutant that differs anywhere survives; text: as the command prints
    it; report: as it writes JSON."""

    def __init__(self, whole: bool, printed: str, report: Dict[str, Any]) -> None:
        self.whole, self.text, self.report = whole, printed, report

    def __str__(self) -> str:
        return self.text


def vectors(schemes: Sequence[SchemeLike], *, op: Optional[str] = None, kind: Optional[str] = None, type: Optional[str] = None, wide: bool = False,
            acc: Optional[Tuple[int, int]] = None, seed: int = 17, path: Any = None) -> Vectors:
    """The fewest rows, or the nodes of a small network, on which each pair of the schemes differs; for one scheme, rows that distinguish
    it from all its mutants. kind: rows of "multiplier" or "scale"; type: of the output, "i8", ...; acc: the accumulators to consider; seed: of the random ones, below 2**63. path: a new folder
    for the rows (.npy, .hex, .h), the networks and the answers. A row's multiplier and shift mean multiplier / 2^shift under every scheme;
    Scheme.apply() takes a shift as the target itself writes it."""
    held = [scheme(s) for s in schemes]
    return _asked("assay_scheme_vectors", _pointers(held), len(held), options=_options(op, kind, type, wide, acc, seed, path))


def lint_vectors(path: Any, of: SchemeLike, *, op: Optional[str] = None, kind: Optional[str] = None, type: Optional[str] = None, wide: bool = False,
                 acc: Optional[Tuple[int, int]] = None, seed: int = 17) -> Vectors:
    """Which mutants of a scheme the rows of path, a folder of .npy columns or a .csv file, let survive; the other arguments are as
    vectors() takes them."""
    return _asked("assay_vectors_lint", scheme(of)._ref, text(path), options=_options(op, kind, type, wide, acc, seed, None))


def _options(op: Any, kind: Any, type: Any, wide: bool, acc: Any, seed: int, path: Any) -> VectorsOptions:
    return VectorsOptions(op=text(op), kind=text(kind), type=text(type), wide=wide, has_acc=acc is not None, acc=pair(c.c_int64, (0, 0) if acc is None else acc, "acc"),
                          has_seed=True, seed=seed, dir=text(path))


def _asked(function: str, *args: Any, options: VectorsOptions) -> Vectors:
    whole, out = c.c_bool(), [P(), P()]
    call(function, *args, c.byref(options), c.byref(whole), *map(c.byref, out))
    return Vectors(bool(whole.value), take_text(out[0]), take_json(out[1]))
