#!/usr/bin/env python3
"""A bundle's network as the accelerator's program: program.py BUNDLE   (standard output)

A line a layer, in the order of `layer_t`; then the files of weights, bias, multiplier and shift, the name of the
output's dump and its bytes. Quantize and dequantize are the host's; a reshape moves nothing."""
import json
import os
import sys

OPS = {"conv": 0, "fc": 0, "add": 1, "max_pool": 2, "global_avg_pool": 3}


def size_of(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def hex_of(path):
    return path.rsplit(".", 1)[0] + ".hex"


def name_of(tensor):
    return os.path.splitext(os.path.basename(tensor["file"]))[0]


class Program:
    def __init__(self, bundle):
        self.manifest = json.load(open(os.path.join(bundle, "manifest.json")))
        self.tensor = {t["name"]: t for t in self.manifest["tensors"]}
        self.constant = {c["name"]: c for c in self.manifest["constants"]}
        self.address, self.used, self.lines = {}, 0, []

    def place(self, name):
        self.address[name] = self.used
        self.used += size_of(self.tensor[name]["shape"])
        return self.address[name]

    def layer(self, node):
        p, at = node["parameters"], node["attributes"]
        out = self.tensor[node["outputs"][0]]
        zero = p["input_zero_points"]
        files = ["-"] * 4
        shape, to = [(self.tensor[n]["shape"] + [1, 1])[1:4] for n in (node["inputs"][0], out["name"])]
        window = [1, 1, 1, 1, 0, 0]
        if "kernel" in at:
            window = at["kernel"] + at["stride"] + at["pad_begin"]
        elif node["op"] == "global_avg_pool":
            window[:2] = shape[1:]
        if "multiplier" in p:
            files[2:] = [f"{node['parameter_files']}.{k}.hex" for k in ("multiplier", "shift")]
        second = -1
        if OPS[node["op"]] == 0:
            files[:2] = [hex_of(self.constant[n]["file"]) for n in node["inputs"][1:3]]
        elif node["op"] == "add":
            second = self.address[node["inputs"][1]]
        operands = [p.get(k, [0])[0] for k in ("multiplier_1", "shift_1", "multiplier_2", "shift_2", "constants")]
        fields = [OPS[node["op"]], self.address[node["inputs"][0]], second, self.place(out["name"])] + shape + to + window + \
            [at.get("group", 1), zero[0], zero[-1], p["zero_point"][0]] + p["range"] + operands
        self.lines.append(" ".join(map(str, ["layer", out["index"]] + fields + files + [name_of(out), size_of(out["shape"])])))

    def write(self):
        for node in self.manifest["nodes"]:
            out = node["outputs"][0]
            if node["op"] == "quantize":
                self.lines.append(f"load {self.place(out)} {hex_of(self.tensor[out]['file'])}")
            elif node["op"] == "reshape":
                self.address[out] = self.address[node["inputs"][0]]
            elif node["op"] in OPS:
                self.layer(node)
            elif node["op"] != "dequantize":
                sys.exit(f"the accelerator has no {node['op']}")
        return "\n".join(self.lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(Program(sys.argv[1]).write())
