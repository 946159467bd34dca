"""Golden bundles: every tensor of a run, hashed, in a folder."""
import ctypes as c
import os
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from ._library import Ref, call, lib, made, noting, take_json, text
from ._structs import P, Stored, Verified
from .programs import engine_options
from .tensors import Array, TensorType, type_of, view


class Verification(NamedTuple):
    """What verification found; good: no fault. faults: one line per fault."""

    good: bool
    tensors: int
    files_bad: int
    replay_bad: int
    entries_bad: int
    faults: List[str]


class Golden(Mapping[str, Array]):
    """A golden bundle, read lazily: golden["logits"] reads that tensor of the first sample. Nothing outside its folder is opened."""

    def __init__(self, path: Any) -> None:
        self.path = os.fsdecode(path)
        self._ref = Ref(made("assay_bundle_open", text(path)), lib.assay_bundle_close)
        self._at: Dict[Tuple[int, str], int] = {}
        self._samples: List[int] = []
        self._stored: List[Stored] = []
        self._manifest: Optional[Dict[str, Any]] = None
        for i in range(lib.assay_bundle_count(self._ref)):
            s = Stored()
            call("assay_bundle_get", self._ref, i, c.byref(s))
            self._stored.append(s)
            self._at[s.sample, s.name.decode()] = i
            if s.sample not in self._samples:
                self._samples.append(s.sample)

    def __reduce__(self) -> Any:
        return Golden, (os.path.abspath(self.path),)

    @property
    def manifest(self) -> Dict[str, Any]:
        """What ran and what came out (interp/golden/MANIFEST.md)."""
        if self._manifest is None:
            out = P()
            call("assay_bundle_manifest", self._ref, c.byref(out))
            self._manifest = take_json(out)
        return self._manifest

    @property
    def samples(self) -> List[int]:
        """Numbers of the samples."""
        return list(self._samples)

    def read(self, name: str, sample: Optional[int] = None, accumulators: bool = False) -> Array:
        """A tensor of a sample (default: the first), or the int64 sums before its rescale."""
        i = self._at[self._samples[0] if sample is None else sample, name]
        data = P()
        call("assay_bundle_read", self._ref, i, accumulators, c.byref(data))
        t = type_of(self._stored[i].type.contents)
        if accumulators:
            t = TensorType(np.dtype(np.int64), 64, t.shape)
        return view(data.value or 0, t, Ref(data.value or 0, lib.assay_free))

    def __getitem__(self, name: str) -> Array:
        return self.read(name)

    def __iter__(self) -> Iterator[str]:
        return (name for sample, name in self._at if sample == self._samples[0])

    def __len__(self) -> int:
        return sum(sample == self._samples[0] for sample, _ in self._at)

    def type(self, name: str) -> TensorType:
        return type_of(self._stored[self._at[self._samples[0], name]].type.contents)

    def digest(self, name: str, sample: Optional[int] = None) -> str:
        """XXH3-128 of a tensor's elements, little-endian, 32 hex digits."""
        i = self._at[self._samples[0] if sample is None else sample, name]
        return str(self._stored[i].digest.decode())

    def has_data(self, name: str) -> bool:
        """False: the bundle holds only digests."""
        return bool(self._stored[self._at[self._samples[0], name]].has_data)

    def verify(self, *, replay: bool = True, engine: str = "ref", threads: int = 1) -> Verification:
        """Checks files against the manifest and, with replay, the manifest against a fresh run of the bundle's own network and scheme."""
        faults: List[str] = []
        found = Verified()
        note = noting(faults.append)
        options = engine_options(engine, threads)
        call("assay_verify", text(self.path), c.byref(options) if replay else None, note, None, c.byref(found))
        bad = found.files_bad + found.replay_bad + found.entries_bad
        return Verification(not bad, found.tensors, found.files_bad, found.replay_bad, found.entries_bad, faults)

    def __repr__(self) -> str:
        return f"<assay.Golden {self.path}: {len(self)} tensors of {len(self._samples)} samples>"
