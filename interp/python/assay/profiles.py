"""Profiles: what the values of a float network were seen to hold."""
import ctypes as c
import json
from typing import Any, Callable, Dict, Mapping, Optional

from ._library import P, PROGRESS, Ref, call, lib, made, take_text, text
from .errors import InputError
from .networks import Network
from .tensors import stacked


class Profile:
    """Histograms of every value, over any number of samples; the same whatever their order and the number of threads."""

    def __init__(self, ptr: int, network: Optional[Network] = None) -> None:
        self._ref = Ref(ptr, lib.assay_profile_free)
        self._network = network

    @classmethod
    def of(cls, network: Network, *, preprocessing: Optional[str] = None, dataset: Optional[str] = None, whole: int = 0) -> "Profile":
        """An empty one. preprocessing, dataset: noted in the file, and to be the same in profiles that are merged; whole: how many samples
        all parts have together (a profile with a part missing is refused by quantize)."""
        self = cls(made("assay_profile_new", network._ref), network)
        call("assay_profile_describe", self._ref, text(preprocessing), text(dataset), whole)
        return self

    @classmethod
    def load(cls, path: Any) -> "Profile":
        """From a file of this class's save, or of `assay profile`."""
        return cls(made("assay_profile_read", text(path)))

    def save(self, path: Any) -> None:
        """YAML; whole or not at all."""
        call("assay_profile_write", self._ref, text(path))

    def observe(self, inputs: Any, *, first: Optional[int] = None, threads: int = 0, network: Optional[Network] = None,
                progress: Optional[Callable[[int, int], None]] = None) -> None:
        """Runs the float network on samples and adds what every value holds.

        inputs: for each input, by name, an array [n, *shape] of n samples (of a single input the array alone); where the input's shape
        begins with 1, [n, *shape[1:]] does too. first: the number of the first sample; each may be observed once (default: behind those
        that were). network: needed for a profile from a file. threads 0: all cores.
        """
        g = network or self._network
        if g is None:
            raise InputError("a profile from a file observes with network=...")
        arrays, n = stacked(inputs, g.inputs)
        pointers = (P * len(arrays))(*[a.ctypes.data for a in arrays])
        tell = PROGRESS(lambda _, done, total: progress(done, total)) if progress else PROGRESS()
        start = self.samples if first is None else first
        call("assay_profile_observe", self._ref, g._ref, start, n, pointers, threads, tell, None)

    def merge(self, other: "Profile") -> None:
        """Adds the other, which is of other samples of the same network; refused, and nothing changed, otherwise."""
        call("assay_profile_merge", self._ref, other._ref)

    def to_dict(self) -> Dict[str, Any]:
        """{"samples", "model", "graph", "preprocessing", "dataset", "values": [{"name", "min", "max", "finite", "nan", "inf", "lowest", "step",
        "counts"}]}: counts[i] elements were in [lowest + i * step, lowest + (i + 1) * step), in real units."""
        out = P()
        call("assay_profile_json", self._ref, c.byref(out))
        return json.loads(take_text(out))

    @property
    def samples(self) -> int:
        return int(self.to_dict()["samples"])

    @property
    def ranges(self) -> Mapping[str, Any]:
        """Least and greatest element by value, as (min, max)."""
        return {v["name"]: (v["min"], v["max"]) for v in self.to_dict()["values"]}

    def __repr__(self) -> str:
        d = self.to_dict()
        return f"<assay.Profile {len(d['values'])} values over {d['samples']} samples>"
