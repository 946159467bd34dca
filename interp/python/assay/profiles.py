"""Profiles: what the values of a float network were observed to hold."""
import ctypes as c
import os
import tempfile
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

from ._library import Ref, call, lib, made, take_json, telling, text
from ._structs import P, ShowOptions
from .errors import InputError
from .networks import Network, quantizer_options
from .schemes import SchemeLike, scheme as scheme_of
from .tensors import stacked


class Profile:
    """Histograms of every value, over any number of samples; the same whatever their order and the number of threads."""

    def __init__(self, ptr: int, network: Optional[Network] = None) -> None:
        self._ref = Ref(ptr, lib.assay_profile_free)
        self._network = network

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            path = os.path.join(folder, "profile.yaml")
            self.save(path)
            with open(path, "rb") as f:
                return _again, (f.read(), self._network)

    @classmethod
    def of(cls, network: Network, *, preprocessing: Optional[str] = None, dataset: Optional[str] = None, whole: int = 0,
           per_channel: Optional[str] = None) -> "Profile":
        """An empty one. preprocessing, dataset: recorded in the file; they must be equal in profiles that are merged; whole: how many
        samples all parts have together (a profile with a part missing is refused by quantize). per_channel: a pattern of values, "*" for
        all, which also get a histogram per channel."""
        self = cls(made("assay_profile_new", network._ref), network)
        call("assay_profile_describe", self._ref, text(preprocessing), text(dataset), whole)
        if per_channel is not None:
            call("assay_profile_by_channel", self._ref, network._ref, text(per_channel))
        return self

    @classmethod
    def load(cls, path: Any) -> "Profile":
        """From a file of this class's save, or of `assay profile`."""
        return cls(made("assay_profile_read", text(path)))

    def save(self, path: Any) -> None:
        """YAML; whole or not at all."""
        call("assay_profile_write", self._ref, text(path))

    def observe(self, inputs: Any, *, first: Optional[int] = None, threads: int = 0, network: Optional[Network] = None, sequence: bool = False,
                progress: Optional[Callable[[int, int], None]] = None) -> None:
        """Runs the float network on samples and adds what every value holds.

        inputs: for each input, by name, an array [n, *shape] of n samples (of a single input the array alone); where the input's shape
        begins with 1, [n, *shape[1:]] does too. first: the number of the first sample; each may be observed once (default: behind those
        that were). network: needed for a profile from a file. sequence: the samples are the steps of one sequence, of a network with state. threads 0: all
        cores.
        """
        g = network or self._network
        if g is None:
            raise InputError("a profile from a file needs network=... to observe")
        arrays, n = stacked(inputs, g.inputs)
        pointers = (P * len(arrays))(*[a.ctypes.data for a in arrays])
        tell = telling(progress)
        start = self.samples if first is None else first
        if sequence:
            call("assay_profile_observe_steps", self._ref, g._ref, start, n, pointers, tell, None)
            return
        call("assay_profile_observe", self._ref, g._ref, start, n, pointers, threads, tell, None)

    def merge(self, other: "Profile") -> None:
        """Adds the other, of other samples of the same network; otherwise refused, with nothing changed."""
        call("assay_profile_merge", self._ref, other._ref)

    def to_dict(self) -> Dict[str, Any]:
        """{"samples", "model", "graph", "preprocessing", "dataset", "values": [{"name", "min", "max", "finite", "nan", "inf", "lowest", "step",
        "counts"}]}: counts[i] elements were in [lowest + i * step, lowest + (i + 1) * step), in real units."""
        out = P()
        call("assay_profile_json", self._ref, c.byref(out))
        seen: Dict[str, Any] = take_json(out)
        return seen

    def show(self, *, value: Optional[str] = None, channels: bool = False, scheme: Optional[SchemeLike] = None, type: Optional[str] = None,
             symmetry: Optional[str] = None, qparams_method: Optional[str] = None, calibration: Sequence[str] = (), svg: Any = None, html: Any = None,
             name: Optional[str] = None) -> Dict[str, Any]:
        """What codes would represent of what was seen, as `assay profile show` writes JSON: {"model", "dataset", "samples", "values": [{"value",
        "channel", "min", "max", "elements", "nan", "inf", "type", "scale", "zero_point", "from", "to", "beyond", "note"}]}, in real units; beyond: the share
        of the elements outside of from .. to.

        value: a pattern; channels: also of each channel, where they were profiled; scheme: whose activations the codes are (None: i8,
        asymmetric); type: of the codes; symmetry, qparams_method, calibration: as Network.quantize takes them. svg, html: files for the histograms,
        which are titled `name`.
        """
        o = ShowOptions(name=text(name), value=text(value), channels=channels, type=text(type), svg=text(svg), html=text(html),
                        choices=c.pointer(quantizer_options(symmetry=symmetry, qparams_method=qparams_method, calibration=calibration)))
        held = None if scheme is None else scheme_of(scheme)
        if held is not None:
            o.scheme = held._ref._as_parameter_
        out = P()
        call("assay_profile_show", self._ref, c.byref(o), c.byref(out))
        shown: Dict[str, Any] = take_json(out)
        return shown

    @property
    def samples(self) -> int:
        return int(self.to_dict()["samples"])

    @property
    def ranges(self) -> Mapping[str, Any]:
        """Smallest and largest element of each value, as (min, max)."""
        return {v["name"]: (v["min"], v["max"]) for v in self.to_dict()["values"]}

    def __repr__(self) -> str:
        d = self.to_dict()
        return f"<assay.Profile {len(d['values'])} values over {d['samples']} samples>"


def _again(saved: bytes, network: Optional[Network]) -> Profile:
    """A profile from what it was pickled as."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = os.path.join(folder, "profile.yaml")
        with open(path, "wb") as f:
            f.write(saved)
        made = Profile.load(path)
    made._network = network
    return made
