"""A device's dumps beside golden bundles: where they differ, which nodes are to blame."""
import contextlib
import ctypes as c
import os
import re
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

import numpy as np

from ._library import call, take_json, take_text, telling, text, texts
from ._structs import P, BlameFiles, BlameOptions, CompareOptions, Thresholds
from .errors import InputError
from .golden import Golden

_MEASURES = ("max_lsb", "rel", "abs", "cosine", "sqnr")


class Diff:
    """The verdict on two sides. same: within the thresholds; text: as `assay diff` prints it; report: as it writes JSON."""

    def __init__(self, same: bool, printed: str, report: Dict[str, Any]) -> None:
        self.same, self.text, self.report = same, printed, report

    @property
    def first(self) -> Optional[str]:
        """The first tensor in execution order that differs."""
        found: Optional[str] = self.report["first"]
        return found

    @property
    def tensors(self) -> List[Dict[str, Any]]:
        """For each tensor: name, op, verdict, elements, mismatches, max_lsb, max_abs, max_rel, cosine, sqnr_db."""
        rows: List[Dict[str, Any]] = self.report["tensors"]
        return rows

    def __str__(self) -> str:
        return self.text


class Blame:
    """Which nodes are themselves at fault, and why. clean: none is; text: as `assay blame` prints it; report: as it writes JSON."""

    def __init__(self, clean: bool, printed: str, report: Dict[str, Any]) -> None:
        self.clean, self.text, self.report = clean, printed, report

    @property
    def faults(self) -> List[Dict[str, Any]]:
        """Most upstream first; each with its node and cause."""
        found: List[Dict[str, Any]] = self.report["faults"]
        return found

    def __str__(self) -> str:
        return self.text


class Explanation:
    """One output element, worked through. text: as `assay explain` prints it; report: as it writes JSON: node, name, op, element, sample, golden,
    replayed and device (values), trace (steps), cause, counterfactuals."""

    def __init__(self, printed: str, report: Dict[str, Any]) -> None:
        self.text, self.report = printed, report

    def __str__(self) -> str:
        return self.text


class Capsule:
    """A faulty node as a network of its own. path: its folder; text: as `assay capsule` prints it; report: node, class (blame's verdict on
    it), first and end (the part of the output that it holds), elements and differing of them, samples, missing (forms that cannot hold
    it)."""

    def __init__(self, path: str, printed: str, report: Dict[str, Any]) -> None:
        self.path, self.text, self.report = path, printed, report

    def __str__(self) -> str:
        return self.text


@contextlib.contextmanager
def dumps_folder(side: Any, golden: Any) -> Iterator[str]:
    """A path, a bundle, or arrays by tensor name, for which a folder is written."""
    if isinstance(side, Golden):
        yield side.path
    elif isinstance(side, Mapping):
        with tempfile.TemporaryDirectory(prefix="assay-") as path:
            write_dumps(path, side, golden)
            yield path
    else:
        yield os.fsdecode(side)


def write_dumps(path: Any, tensors: Mapping[str, Any], golden: Any = None) -> None:
    """Arrays by tensor name as .npy files, as a device would dump them. golden: the bundle whose file names they get, which no two tensors
    share; a name that is not one of its tensors is an InputError."""
    path = os.fsdecode(path)
    os.makedirs(path, exist_ok=True)
    stems: Dict[str, Optional[str]] = {}
    if golden is not None:
        bundle = golden if isinstance(golden, Golden) else Golden(golden)
        for t in bundle.manifest["tensors"]:
            stems.setdefault(t["name"], os.path.splitext(os.path.basename(t["file"]))[0] if t.get("file") else None)
        unknown = [name for name in tensors if name not in stems]
        if unknown:
            raise InputError(f"{bundle.path}: no tensor of the bundle is called " + ", ".join(f"'{n}'" for n in unknown))
    for name, array in tensors.items():
        stem = stems.get(name) or re.sub(r"[^A-Za-z0-9._-]", "_", name)
        np.save(os.path.join(path, stem + ".npy"), np.asarray(array))


def _limits(values: Mapping[str, Optional[float]]) -> Thresholds:
    unknown = [m for m in values if m not in _MEASURES]
    if unknown:
        raise InputError(f"thresholds are {', '.join(_MEASURES)}, not '{unknown[0]}'")
    return Thresholds(*(-1.0 if values.get(m) is None else float(values[m] or 0) for m in _MEASURES))


def diff(reference: Any, other: Any, *, max_lsb: Optional[float] = None, rel: Optional[float] = None, abs: Optional[float] = None,
         cosine: Optional[float] = None, sqnr: Optional[float] = None, tensors: Mapping[str, Mapping[str, float]] = {},
         hex_bits: int = 0, junit: Any = None) -> Diff:
    """Compares a device with a reference, tensor by tensor in execution order.

    reference: a bundle (Golden or folder) or a .npy file; other: a bundle, a folder of dumps, a .npy file, or a dict of arrays by
    tensor name. Without thresholds codes must be equal. max_lsb: codes may differ by so much; rel, abs: real values; cosine, sqnr (dB): of
    the whole tensor; tensors: {"logits": {"rel": 0.01}} for a tensor with thresholds of its own. junit: a file to write,
    JUnit XML with a test case per tensor.
    """
    general = _limits(dict(max_lsb=max_lsb, rel=rel, abs=abs, cosine=cosine, sqnr=sqnr))
    special = (Thresholds * (len(tensors) + 1))(*(_limits(v) for v in tensors.values()))
    o = CompareOptions(limits=c.pointer(general), tensor=texts(tensors), special=special, n_tensors=len(tensors), hex_bits=hex_bits, junit=text(junit))
    same, printed, report = c.c_bool(), P(), P()
    with dumps_folder(reference, None) as a, dumps_folder(other, reference) as b:
        call("assay_compare_folders", text(a), text(b), c.byref(o), c.byref(same), c.byref(printed), c.byref(report))
    return Diff(bool(same.value), take_text(printed), take_json(report))


def blame(golden: Any, device: Any, *, rel: Optional[float] = None, schemes: Sequence[Any] = (), threads: int = 0, hex_bits: int = 0,
          html: Any = None, junit: Any = None, progress: Optional[Callable[[int, int], None]] = None) -> Blame:
    """Which nodes of a device are themselves at fault: each is replayed from the device's own inputs, and causes are tried to the bit.

    golden: a bundle; device: a folder of dumps, a bundle, or a dict of arrays by tensor name. rel: floats may differ by so much. schemes:
    tried in addition to the shipped ones. hex_bits: width of a word in .hex dumps (0: as the dumps state). html, junit: files to write, a
    page, and JUnit XML in which a node at fault is a failure. progress is told (steps done, of all).
    """
    files = BlameFiles(html=text(html), junit=text(junit), hex_bits=hex_bits, progress=telling(progress))
    o = BlameOptions(rel=-1.0 if rel is None else rel, schemes=texts(schemes), n_schemes=len(schemes), threads=threads)
    faults, printed, report = c.c_int(), P(), P()
    with dumps_folder(golden, None) as a, dumps_folder(device, golden) as b:
        call("assay_blame_pages", text(a), text(b), c.byref(o), c.byref(files), c.byref(faults), c.byref(printed), c.byref(report))
    said = take_text(printed)
    if isinstance(device, Mapping) and not isinstance(device, Golden):  # a command on its folder, which is gone by now
        said = "".join(line for line in said.splitlines(True) if b not in line)
    return Blame(faults.value == 0, said, take_json(report))


def explain(golden: Any, element: str, device: Any = None, *, sample: Optional[int] = None, rel: Optional[float] = None) -> Explanation:
    """One output element of a node step by step in the scheme's arithmetic, "conv1[0,3,5,7]", and, with a device, where the device
    departs from it.

    golden: a bundle; device: a folder of dumps, a bundle, or a dict of arrays by tensor name: then a node's name alone is its first
    element that differs. sample: its number (None: the first in which the element differs). rel: floats may differ by so much.
    """
    o = BlameOptions(rel=-1.0 if rel is None else rel)
    printed, report = P(), P()
    with dumps_folder(golden, None) as a, contextlib.nullcontext(None) if device is None else dumps_folder(device, golden) as b:
        call("assay_explain", text(a), text(b), text(element), -1 if sample is None else sample, c.byref(o), c.byref(printed), c.byref(report))
    return Explanation(take_text(printed), take_json(report))


def capsule(golden: Any, device: Any, node: str, path: Any, *, rel: Optional[float] = None) -> Capsule:
    """Writes a faulty node as the smallest network that still shows the fault to the new folder `path`, with the bundle and the device's
    tensors of that part. golden, device and rel are as blame() takes them."""
    o = BlameOptions(rel=-1.0 if rel is None else rel)
    printed, report = P(), P()
    with dumps_folder(golden, None) as a, dumps_folder(device, golden) as b:
        call("assay_capsule", text(a), text(b), text(node), text(path), c.byref(o), c.byref(printed), c.byref(report))
    return Capsule(os.fsdecode(path), take_text(printed), take_json(report))
