"""Accuracy, and what quantization costs, over samples in arrays."""
import ctypes as c
import json
from typing import Any, Callable, Dict, Optional

import numpy as np

from ._library import LOG, PROGRESS, Labelled, P, TunerOptions, call, take_text
from .errors import InputError
from .networks import Network, quantizer_options
from .profiles import Profile
from .programs import Program
from .schemes import SchemeLike, scheme as scheme_of
from .tensors import stacked


class _Samples:
    """Samples and labels as the library takes them; it holds the arrays."""

    def __init__(self, inputs: Any, labels: Any, network: Network, threads: int) -> None:
        self.arrays, self.n = stacked(inputs, network.inputs)
        self.pointers = (P * len(self.arrays))(*[a.ctypes.data for a in self.arrays])
        self.options = Labelled(count=self.n, input=self.pointers, threads=threads)
        if labels is not None:
            self.labels = np.ascontiguousarray(labels, np.int64)
            if self.labels.shape != (self.n,):
                raise InputError(f"{self.n} samples take as many labels, not {list(self.labels.shape)}")
            self.options.label = self.labels.ctypes.data_as(c.POINTER(c.c_int64))


class Accuracy(Dict[str, Any]):
    """What evaluate() says: as `assay eval --json` writes it. predictions: the best class of each sample, int64, -1 where the output has none."""

    predictions: np.ndarray


def evaluate(program: Program, inputs: Any, labels: Any = None, *, reference: Optional[Program] = None, threads: int = 0) -> Accuracy:
    """Runs a program on samples: {"samples", "outputs" (a digest)}, with labels "top1" and "top5" (per cent), beside a reference, which takes the same
    inputs, its own as "float_top1" and "float_top5", and "sqnr_db", "mse" and "agreement" (per cent) of the first outputs.

    inputs: as Profile.observe takes them; labels: [n] classes, below 0 where a sample has none. threads 0: all cores; nothing depends on it.
    """
    s = _Samples(inputs, labels, program.network, threads)
    predictions, out = np.empty(s.n, np.int64), P()
    call("assay_evaluate", program._ref, reference._ref if reference else None, c.byref(s.options), predictions.ctypes.data, c.byref(out))
    said = Accuracy(json.loads(take_text(out)))
    said.predictions = predictions
    return said


def sensitivity(network: Network, profile: Profile, scheme: SchemeLike, inputs: Any, labels: Any = None, *, threads: int = 0,
                progress: Optional[Callable[[int, int], None]] = None, **options: Any) -> Dict[str, Any]:
    """What each node's quantization costs, as `assay sensitivity --json` writes it: {"output_db", "drop", ..., "nodes": [{"node", "op", "isolated_db" (its
    output when all else is float), "cumulative_db", "alone_db" and "without_db" (the first output, when only it is quantized, or only it is not), ...}]}.
    options: those of Network.quantize."""
    s, out = _Samples(inputs, labels, network, threads), P()
    tell = PROGRESS(lambda _, done, total: progress(done, total)) if progress else PROGRESS()
    call("assay_sensitivity_of", network._ref, profile._ref, scheme_of(scheme)._ref, c.byref(quantizer_options(**options)), c.byref(s.options), tell, None,
         c.byref(out))
    return json.loads(take_text(out))


def tune(network: Network, profile: Profile, scheme: SchemeLike, inputs: Any, labels: Any = None, *, target_drop: float = 0.5, target_sqnr: float = 0.0,
         max_float: int = 4, threads: int = 0, log: Optional[Callable[[str], None]] = None, **options: Any) -> Network:
    """The network quantized with the calibrations, and the nodes in float, that lose no more than target_drop points to the float network, or that reach
    target_sqnr dB; its `report` is as `assay tune --json` writes it: "reached", "reason", "trials", "before", "after", "options", "report".

    max_float: at most so many nodes stay in float; log: gets a line a trial. options: those of Network.quantize.
    """
    s = _Samples(inputs, labels, network, threads)
    note = LOG(lambda _, line: log(line.decode("utf-8", "replace"))) if log else LOG()
    goal = TunerOptions(target_drop=target_drop, target_sqnr=target_sqnr, max_float=max_float, log=note)
    out, report = P(), P()
    call("assay_tune", network._ref, profile._ref, scheme_of(scheme)._ref, c.byref(quantizer_options(**options)), c.byref(s.options), c.byref(goal),
         c.byref(out), c.byref(report))
    return Network(out.value or 0, keep=network._ref, report=json.loads(take_text(report)))
