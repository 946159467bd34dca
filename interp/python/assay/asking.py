"""Which arithmetic a device has: probes for it, its answers, its rows."""
import ctypes as c
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._library import call, take_json, take_text, telling, text, texts
from ._structs import ASK, P, AnswersOptions, InferDotOptions, InferOptions, ProbeOptions, pair
from .devices import dumps_folder
from .golden import Golden
from .networks import load
from .schemes import Scheme
from .tensors import Array, stacked
from .units import MatrixUnit

Rows = Dict[str, Array]
Oracle = Union[str, Callable[[Rows], Any]]
_VERDICTS = ("unique", "class", "none")


class Inference:
    """What answers reveal. verdict: "unique", "class" or "none" (of rows), "explained" or "unexplained" (of a network's answers);
    text: as `assay infer` prints it; report: as it writes JSON; scheme_text: the record found, a scheme file."""

    def __init__(self, verdict: str, printed: str, report: Dict[str, Any], scheme_text: str) -> None:
        self.verdict, self.text, self.report, self.scheme_text = verdict, printed, report, scheme_text

    @property
    def presets(self) -> List[str]:
        """Shipped schemes that agree with every answer."""
        found: List[str] = self.report["presets"]
        return found

    def scheme(self) -> Scheme:
        """The record found."""
        return Scheme.from_text(self.scheme_text, "found")

    def __str__(self) -> str:
        return self.text


class DotInference(Inference):
    """What dot products reveal: as Inference; the record found is a matrix unit."""

    @property
    def presets(self) -> List[str]:
        """Shipped units that agree with every answer."""
        found: List[str] = self.report["units"]
        return found

    def scheme(self) -> Scheme:
        raise TypeError("dot products reveal a matrix unit, not a scheme: use unit()")

    def unit(self) -> MatrixUnit:
        """The unit found."""
        return MatrixUnit.from_text(self.scheme_text, "found")


def probe(path: Any, *, types: str = "s8s8", ops: Sequence[str] = (), scheme: Optional[str] = None, formats: Sequence[str] = (), seed: int = 1) -> None:
    """Writes small networks that reveal a device's arithmetic, op by op, with their inputs, to the new folder `path`. types: of activations
    and weights, "s8s8", "u8s8", "u8u8" or "s16s8"; formats: of "text", "onnx", "tflite"; seed: of the random values, below 2**63."""
    o = ProbeOptions(types=text(types), ops=text(",".join(ops) or None), scheme=text(scheme), formats=text(",".join(formats) or None), seed=seed)
    call("assay_probe", text(path), c.byref(o))


def infer_answers(path: Any, outputs: Any, *, schemes: Sequence[Any] = (), only: bool = False, hex_bits: int = 0, next: Any = None) -> Inference:
    """What a device's outputs reveal: path was written by probe(), with outputs/OP/NAME.npy; or a golden bundle, with the device's dumps of
    it. schemes: considered in addition to the shipped ones, or (only) instead of them. next: a new folder for the smallest probe that
    distinguishes the remaining records."""
    o = AnswersOptions(schemes=texts(schemes), n_schemes=len(schemes), only=only, hex_bits=hex_bits, next=text(next))
    return _answered("assay_infer_answers", text(path.path if isinstance(path, Golden) else path), text(outputs), options=o)


def infer_dumps(model: Any, dumps: Any, inputs: Any = None, *, schemes: Sequence[Any] = (), only: bool = False, hex_bits: int = 0) -> Inference:
    """What a device's dumps of a quantized network reveal: model is its file, dumps a folder of any of its tensors, or a dict of arrays by
    tensor name. inputs: samples as Profile.observe takes them, where they were not dumped. schemes, only and hex_bits are as
    infer_answers() takes them."""
    o = AnswersOptions(schemes=texts(schemes), n_schemes=len(schemes), only=only, hex_bits=hex_bits)
    arrays, n = stacked(inputs, load(model).inputs) if inputs is not None else ([], 0)
    pointers = (P * max(len(arrays), 1))(*[a.ctypes.data for a in arrays])
    with dumps_folder(dumps, None) as folder:
        return _answered("assay_infer_dumps", text(model), text(folder), n, pointers, options=o)


def _answered(function: str, *args: Any, options: AnswersOptions) -> Inference:
    explained, out = c.c_bool(), [P(), P(), P()]
    call(function, *args, c.byref(options), c.byref(explained), *map(c.byref, out))
    printed, report, found = take_text(out[0]), take_json(out[1]), take_text(out[2])
    return Inference("explained" if explained.value else "unexplained", printed, report, found)


def infer(oracle: Oracle, *, kind: str, type: str, budget: int = 20000, acc_bits: int = 32, timeout: float = 60.0,
          multiplier: Optional[Tuple[int, int]] = None, shift: Optional[Tuple[int, int]] = None,
          progress: Optional[Callable[[int, int], None]] = None) -> Inference:
    """Which rescale a device has, by asking it rows.

    oracle: a function that gets a dict of arrays, one row per element (acc, zp, and multiplier and shift, or in_scale, weight_scale and
    out_scale; lo and hi where rows have bounds), and returns the codes, or (codes, refused); or a shell command that reads and writes
    such .npy files. kind: "multiplier" or "scale"; type: of the codes, "i8", "u8" or "i16". multiplier, shift: the ranges to ask about.
    progress is told (rows asked, budget).
    """
    widest, far = (-(2 ** 32), 2 ** 32), (-1100, 1100)
    o = InferOptions(kind=text(kind), type=text(type), budget=budget, acc_bits=acc_bits, timeout=timeout, progress=telling(progress))
    if multiplier or shift:
        o.has_domain = True
        o.multiplier, o.shift = pair(c.c_int64, multiplier or widest, "multiplier"), pair(c.c_int32, shift or far, "shift")
    return Inference(*_asked("assay_infer_oracle", o, oracle))


def infer_dot(oracle: Oracle, *, a: str, b: str, acc: str, k: int, out: Optional[str] = None, scale: Optional[str] = None, scale_block: int = 0,
              budget: int = 20000, timeout: float = 60.0, seconds: float = 60.0, progress: Optional[Callable[[int, int], None]] = None) -> DotInference:
    """Which matrix unit a device has, by asking it dot products of k elements.

    oracle: a function that gets a dict of arrays of raw patterns (a and b [n, k], c [n], and where the unit has block scales scale-a and
    scale-b [n, k / scale_block]) and returns the results' patterns [n], unsigned and as wide as their format; or a shell command, as infer()
    takes it. a, b, acc, out (None: acc), scale: formats as unit files name them, "f16", "e4m3fn", ... seconds: processor time for the
    search. progress is told (rows asked, budget).
    """
    o = InferDotOptions(a=text(a), b=text(b), acc=text(acc), out=text(out), scale=text(scale), scale_block=scale_block, k=k, budget=budget,
                        timeout=timeout, seconds=seconds, progress=telling(progress))
    return DotInference(*_asked("assay_infer_dot", o, oracle))


def _asked(function: str, o: Union[InferOptions, InferDotOptions], oracle: Oracle) -> Tuple[str, str, Dict[str, Any], str]:
    """Verdict, text, report and the file found."""
    failed: List[BaseException] = []

    def ask(_: Any, inside: bytes, outside: bytes, err: Any) -> int:
        try:
            _answer(oracle, os.fsdecode(inside), os.fsdecode(outside))  # type: ignore[arg-type]
        except BaseException as e:  # noqa: B036: nothing may pass through the library
            failed.append(e)
            err.contents.status, err.contents.text = 1, b"the oracle raised an exception"
            return 1
        return 0

    if isinstance(oracle, str):
        o.oracle = text(oracle)
    else:
        o.ask = ASK(ask)
    verdict, out = c.c_int(), [P(), P(), P()]
    try:
        call(function, c.byref(o), c.byref(verdict), *map(c.byref, out))
    except Exception:
        if failed:
            raise failed.pop()  # the frames hold the list: a cycle that ctypes hides
        raise
    return _VERDICTS[verdict.value], take_text(out[0]), take_json(out[1]), take_text(out[2])


def _answer(oracle: Callable[[Rows], Any], inside: str, outside: str) -> None:
    rows = {name[:-4]: np.load(os.path.join(inside, name)) for name in sorted(os.listdir(inside)) if name.endswith(".npy")}
    answer = oracle(rows)
    codes, refused = answer if isinstance(answer, tuple) else (answer, None)
    codes = np.asarray(codes)
    np.save(os.path.join(outside, "out.npy"), codes if codes.dtype.kind == "u" else codes.astype(np.int64))
    if refused is not None:
        np.save(os.path.join(outside, "errors.npy"), np.asarray(refused).astype(np.uint8))
