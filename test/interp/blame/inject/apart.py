#!/usr/bin/python3
"""What would tell two explanations of a node apart, on ops without weights: apart.py ASSAY SOURCE   (TAP)

Rounded otherwise, a node of few elements has several explanations. For an op of two operands the input that is named
goes through the device of device.py, which is at fault: it gives one of the two codes that were foretold."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

import faults
import faults_output
import faults_rows
from bundle import Bundle, dump, empty
from device import Device
from drawing import Text
from networks import Shop

WORDS = {"add": r"input codes? -?\d+", "mul": r"input codes? -?\d+", "sigmoid": r"input code", "avg_pool": r"window('s| of) codes",
         "matmul": r"product of"}
ROUNDED = {"add": faults.last_rounding, "mul": faults.last_rounding, "avg_pool": faults_output.other_pool_rounding, "matmul": faults_rows.row_rounding}


def network():
    t = Text(9)
    x = ("x", [1, 2, 3, 3], 0.02, 3)
    y = t.put(x[1], x[2] * 0.9, 5, f"mul({x[0]}, {x[0]})", False)
    z = t.put(x[1], 0.031, -4, f"add({x[0]}, {y[0]})", False)
    p = t.put([1, 2, 1, 1], z[2], z[3], f"avg_pool({z[0]}) {{kernel=[3,3]}}", False)
    m = t.put(x[1], 0.05, -5, f"matmul({z[0]}, {y[0]})", False)
    text, shape = t.network("x", x, m)
    return text.replace(f"output {m[0]}", f"output {m[0]}, {p[0]}"), shape


def foretold(device, index, fault, seed, codes):
    """The faulty node's code of those inputs."""
    node = device.node(index)
    node.x = [np.full(x.shape, c) for x, c in zip(node.x, codes)]
    return int(fault(random.Random(seed), node).reshape(-1)[0])


def main():
    assay, source = (os.path.realpath(a) for a in sys.argv[1:3])
    text, shape = network()
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(assay, source, folder)
        bundle = Bundle(shop.written(text, shape))
        device = Device(bundle)
        for number, (index, node) in enumerate(enumerate(bundle.nodes), 1):
            said, right = [], True
            for seed in range(12):
                fault, golden = ROUNDED[node["op"]], device.node(index).codes()
                codes = fault(random.Random(seed), device.node(index))
                if codes is None or np.array_equal(codes, golden):
                    continue
                values = dict(device.golden, **{node["outputs"][0]: codes})
                to = os.path.join(folder, "device")
                dump(bundle, empty(to), values, [n for n in values if n == node["outputs"][0] or n in node["inputs"]])
                done = subprocess.run([assay, "blame", bundle.path, to, "--json", "-"], capture_output=True, text=True, check=False)
                for line in (a for f in json.loads(done.stdout)["faults"] for a in f["apart"]):
                    said.append(line)
                    told = re.match(r"the input codes (-?\d+) and (-?\d+) would tell it \(code (-?\d+)\).*\(code (-?\d+)\)$", line)
                    if told:
                        a, b, one, other = map(int, told.groups())
                        right = right and foretold(device, index, fault, seed, [a, b]) in (one, other)
            good = right and any(re.search(WORDS[node["op"]], line) for line in said)
            print(f"{'ok' if good else 'not ok'} {number} - {node['op']}: {len(said)} said")
            if not good:
                print("#", right, said[:3])
    print(f"1..{len(bundle.nodes)}")


if __name__ == "__main__":
    main()
