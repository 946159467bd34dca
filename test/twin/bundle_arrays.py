"""Golden bundles as numpy arrays: what the models of numpy_model.py and record_model.py look at."""
import json
import math
import os

import numpy as np

f32 = np.float32


def half_away(x):
    return math.floor(x + 0.5) if x >= 0 else -math.floor(-x + 0.5)


class Bundle:
    def __init__(self, path):
        self.path = path
        with open(os.path.join(path, "manifest.json")) as f:
            self.manifest = json.load(f)
        self.entry = {t["name"]: t for t in self.manifest["constants"] + self.manifest["tensors"]}

    def load(self, name):
        return np.load(os.path.join(self.path, self.entry[name]["file"])).astype(np.int64)

    def accumulators(self, name):
        sub = self.entry[name].get("accumulators")
        return np.load(os.path.join(self.path, sub["file"])) if sub else None

    def numbers(self, name, key, dtype):
        """A number, a list of them, or the array in a file that stands for a long one."""
        given = self.entry[name][key]
        return np.asarray(np.load(os.path.join(self.path, given["file"])) if isinstance(given, dict) else given, dtype=dtype)

    def scale(self, name):
        return self.numbers(name, "scale", f32)

    def zero(self, name):
        return self.numbers(name, "zero_point", np.int64)

    def quantized(self, name):
        return "scale" in self.entry[name] and self.entry[name]["dtype"] != "float32"


def bounds(bundle, node, name):
    t = bundle.entry[name]
    bits, unsigned = t["bits"], t["dtype"].startswith("u")
    lo, hi = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    s, z = float(bundle.scale(name)), int(bundle.zero(name))
    a = node["attributes"]
    if "act_lo" in a:
        lo = max(lo, z + half_away(float(f32(f32(a["act_lo"]) / f32(s)))))
    if "act_hi" in a:
        hi = min(hi, z + half_away(float(f32(f32(a["act_hi"]) / f32(s)))))
    return lo, hi


def windows(attributes, rank):
    """Kernel, stride, dilation, begin and end padding, with the defaults filled in."""
    def get(name, default):
        return list(attributes.get(name) or [default] * rank)
    return (attributes["kernel"], get("stride", 1), get("dilation", 1), get("pad_begin", 0),
            get("pad_end", 0))


def strided(starts, counts, strides):
    return tuple(slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(starts, counts, strides))


def each(function, *arrays):
    """The function of corresponding elements, computed once for each distinct tuple."""
    arrays = np.broadcast_arrays(*arrays)
    table = {}
    codes = []
    for p in zip(*(a.flat for a in arrays)):
        if p not in table:
            table[p] = function(*(int(v) for v in p))
        codes.append(table[p])
    return np.array(codes, np.int64).reshape(arrays[0].shape)


def compare(found, want):
    bad = np.argwhere(found != want)
    if len(bad) == 0:
        return ""
    at = tuple(int(i) for i in bad[0])
    return f"{len(bad)} of {found.size} codes differ, first at {at}: {found[at]}, expected {want[at]}"
