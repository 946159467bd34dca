"""Accuracy, and what quantization costs, over samples in arrays."""
import ctypes as c
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from ._library import call, noting, take_json, telling, text, texts
from ._structs import P, Labelled, Shard, TunerOptions
from .errors import InputError
from .networks import Network, quantizer_options
from .profiles import Profile
from .programs import Program
from .schemes import SchemeLike, scheme as scheme_of
from .tensors import Array, address, int64, stacked


class _Samples:
    """Samples and labels as the library takes them; it holds the arrays."""

    def __init__(self, inputs: Any, labels: Any, network: Network, threads: int, class_axis: Optional[int] = None, by: str = "labels",
                 sequence: bool = False) -> None:
        if by not in ("labels", "agreement"):
            raise InputError(f"by is labels or agreement, not '{by}'")
        self.arrays, self.n = stacked(inputs, network.inputs)
        self.pointers = (P * len(self.arrays))(*[a.ctypes.data for a in self.arrays])
        self.options = Labelled(count=self.n, input=self.pointers, threads=threads, by_agreement=by == "agreement", sequence=sequence,
                                class_axis=0 if class_axis is None else class_axis + 1)
        if labels is not None:
            self._label(np.asarray(labels))

    def _label(self, given: Array) -> None:
        self.labels = int64(given, "labels")
        shape = self.labels.shape
        if len(shape) not in (1, 2, 3) or shape[0] != self.n:
            raise InputError(f"labels of {self.n} samples are [{self.n}], by pixel [{self.n},H,W] or by token [{self.n},T]; these are {list(shape)}")
        pointer = self.labels.ctypes.data_as(c.POINTER(c.c_int64))
        if len(shape) == 1:
            self.options.label = pointer
            return
        self.options.label_map = pointer
        if len(shape) == 3:
            self.options.map = (c.c_int64 * 2)(*shape[1:])
        else:
            self.options.tokens = shape[1]


class Accuracy(Dict[str, Any]):
    """What evaluate() says: as `assay eval --json` writes it. predictions: the best class of each sample, int64, -1 where the output has none."""

    predictions: npt.NDArray[np.int64]


def windows(tokens: Any, length: int, *, stride: int = 0, ignore: Optional[int] = None) -> Tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """A stream of tokens, [n] integers, as samples of a language model and their labels: (inputs [w,length], the tokens that follow [w,length]).

    stride: tokens from the start of one window to the next (0: length, so that none overlap). Tokens that an earlier window has judged or
    that no token follows, and the token `ignore`, have the label -1. As `assay eval --dataset tokens.txt` cuts them.
    """
    stream = np.asarray(tokens)
    if stream.ndim != 1 or stream.dtype.kind not in "iu":
        raise InputError(f"a stream of tokens is a row of integers, not {stream.dtype} {list(stream.shape)}")
    stream = int64(stream, "tokens")
    if length < 1 or stride < 0:
        raise InputError(f"windows of {length} tokens, {stride} apart")
    n, missing = c.c_uint64(), -1 if ignore is None else ignore
    call("assay_token_windows", address(stream), stream.size, length, stride, missing, c.byref(n), None, None)
    inputs, labels = np.empty((2, n.value, length), np.int64)
    call("assay_token_windows", address(stream), stream.size, length, stride, missing, c.byref(n), address(inputs), address(labels))
    return inputs, labels


def evaluate(program: Program, inputs: Any, labels: Any = None, *, reference: Optional[Program] = None, threads: int = 0, class_axis: Optional[int] = None,
             sequence: bool = False) -> Accuracy:
    """Runs a program on samples: {"samples", "outputs" (a digest)}, with labels "top1" and "top5" (per cent), beside a reference, which takes the same
    inputs, its own as "float_top1" and "float_top5", and "sqnr_db", "mse" and "agreement" (per cent) of the first outputs.

    inputs: as Profile.observe takes them; labels: integers below 0 where there is none, [n] classes; by pixel [n,H,W] ("pixel_top1",
    "mean_iou"); by token [n,T], the tokens that follow ("token_top1", "perplexity"; windows() makes them). class_axis: the output's axis of
    classes, where the labels do not show it. sequence: the samples are steps, between which state is carried on. threads 0: all cores; the
    result does not depend on it.
    """
    s = _Samples(inputs, labels, program.network, threads, class_axis, sequence=sequence)
    predictions, out = np.empty(s.n, np.int64), P()
    call("assay_evaluate", program._ref, reference._ref if reference else None, c.byref(s.options), address(predictions), c.byref(out))
    said = Accuracy(take_json(out))
    said.predictions = predictions
    return said


def evaluate_shard(path: Any, program: Program, inputs: Any, labels: Any = None, *, first: int, all: int, reference: Optional[Program] = None,
                   threads: int = 0, class_axis: Optional[int] = None, by: str = "labels", dataset: str = "", preprocessing: str = "") -> None:
    """The measures of a part of the samples, those from number `first` on of `all` (both whole numbers of samples), in the file `path`, as `assay eval
    --shard` writes it. dataset, preprocessing: what the samples are, in words that all parts share. The rest as evaluate()."""
    s = _Samples(inputs, labels, program.network, threads, class_axis, by)
    o = Shard(first=first, all=all, dataset=text(dataset), preprocessing=text(preprocessing))
    call("assay_evaluate_shard", program._ref, reference._ref if reference else None, c.byref(s.options), c.byref(o), text(path))


def evaluate_merge(paths: Sequence[Any]) -> Dict[str, Any]:
    """What one evaluation of all samples says, from the files of its shards, in any order, with the name of the "scheme"."""
    out = P()
    call("assay_evaluate_merge", texts(paths), len(paths), c.byref(out))
    said: Dict[str, Any] = take_json(out)
    return said


def sensitivity(network: Network, profile: Profile, scheme: SchemeLike, inputs: Any, labels: Any = None, *, threads: int = 0,
                class_axis: Optional[int] = None, by: str = "labels", progress: Optional[Callable[[int, int], None]] = None, **options: Any) -> Dict[str, Any]:
    """What each node's quantization costs, as `assay sensitivity --json` writes it: {"output_db", "drop", ..., "nodes": [{"node", "op", "isolated_db" (its
    output when all else is float), "cumulative_db", "alone_db" and "without_db" (the first output, when only it is quantized, or only it is not), ...}]}.
    labels, class_axis: as of evaluate(); by: "labels", or "agreement" with float, is what is lost. options: those of Network.quantize."""
    s, out = _Samples(inputs, labels, network, threads, class_axis, by), P()
    tell = telling(progress)
    call("assay_sensitivity_of", network._ref, profile._ref, scheme_of(scheme)._ref, c.byref(quantizer_options(**options)), c.byref(s.options), tell, None,
         c.byref(out))
    said: Dict[str, Any] = take_json(out)
    return said


def tune(network: Network, profile: Profile, scheme: SchemeLike, inputs: Any, labels: Any = None, *, target_drop: float = 0.5, target_sqnr: float = 0.0,
         max_float: int = 4, wide: Optional[str] = None, threads: int = 0, class_axis: Optional[int] = None, by: str = "labels",
         log: Optional[Callable[[str], None]] = None, **options: Any) -> Network:
    """The network quantized with the calibrations, and the nodes in float, that lose no more than target_drop points to the float network, or that reach
    target_sqnr dB; its `report` is as `assay tune --json` writes it: "reached", "reason", "trials", "before", "after", "options", "report".

    wide: a wider type ("i16") for a small set of nodes that reaches the target, before any is kept in float; max_float: at most so many nodes stay in float; log: gets a line a trial. labels, class_axis, by: as of sensitivity(). options: those of Network.quantize.
    """
    s = _Samples(inputs, labels, network, threads, class_axis, by)
    note = noting(log)
    goal = TunerOptions(target_drop=target_drop, target_sqnr=target_sqnr, max_float=max_float, log=note, wide=text(wide) if wide else None)
    out, report = P(), P()
    call("assay_tune", network._ref, profile._ref, scheme_of(scheme)._ref, c.byref(quantizer_options(**options)), c.byref(s.options), c.byref(goal),
         c.byref(out), c.byref(report))
    return Network(out.value or 0, keep=network._ref, report=take_json(report))
