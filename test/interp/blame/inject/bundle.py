"""A golden bundle as arrays, and folders of dumps."""
import json
import os
import shutil

import numpy as np


def settings(text):
    """{section: {key: text}} of a scheme's canonical text, which is indented; sections may hold sections."""
    record = {}
    path = [(-1, record)]
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        key, _, value = line.strip().partition(":")
        while path[-1][0] >= depth:
            path.pop()
        path[-1][1][key] = value.strip()
        if not value:
            path[-1][1][key] = {}
            path.append((depth, path[-1][1][key]))
    return record


def in_force(record, op):
    """The settings of an op: those of all, with its own in their place."""
    own = record.get("ops", {}).get(op, {})
    return {s: {**v, **own.get(s, {})} if isinstance(v, dict) else v for s, v in record.items()}


class Bundle:
    def __init__(self, path):
        self.path = path
        with open(os.path.join(path, "manifest.json")) as f:
            self.manifest = json.load(f)
        self.nodes = self.manifest["nodes"]
        self.record = settings(self.manifest["scheme"]["text"])
        self.constant = {c["name"]: c for c in self.manifest["constants"]}
        self.tensors = [t for t in self.manifest["tensors"] if not t.get("sample")]
        self.tensor = {t["name"]: t for t in self.tensors}
        self.samples = 1 + max(t.get("sample", 0) for t in self.manifest["tensors"])
        self.held = {}

    def entry(self, name):
        return self.tensor.get(name) or self.constant[name]

    def array(self, name, sample=0):
        """As the file has it."""
        if (name, sample) not in self.held:
            e = self.entry(name)
            if sample:
                e = next(t for t in self.manifest["tensors"] if t["name"] == name and t.get("sample") == sample)
            self.held[name, sample] = np.load(os.path.join(self.path, e["file"]))
        return self.held[name, sample]

    def codes(self, name, sample=0):
        a = self.array(name, sample)
        return a if a.dtype == np.float32 else a.astype(np.int64)

    def file_name(self, name):
        return os.path.basename(self.tensor[name]["file"])

    def span(self, name):
        """The least and the greatest code of a value's type."""
        e = self.entry(name)
        b = e["bits"]
        return (0, 2 ** b - 1) if e["dtype"].startswith("u") else (-2 ** (b - 1), 2 ** (b - 1) - 1)


def dump(bundle, folder, values, names, sample=None):
    """The values of those names as .npy in a folder, which is made; sample: that of several."""
    to = folder if sample is None else os.path.join(folder, "s%05d" % sample)
    os.makedirs(to, exist_ok=True)
    for name in names:
        np.save(os.path.join(to, bundle.file_name(name)), np.ascontiguousarray(values[name].astype(bundle.array(name).dtype)))


def empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder
