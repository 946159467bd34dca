#!/usr/bin/python3
"""Capsules of ops over whole rows and images: each is a small part that shows the fault: capsules.py ASSAY SOURCE   (TAP)

The device is golden's but for one node, whose output has its top bits flipped."""
import json
import os
import subprocess
import sys
import tempfile

import rescales
from bundle import Bundle, dump, empty
from drawing import Text
from networks import Shop


def turned(t, x, width):
    """conv_transpose of stride 2."""
    depth = x[1][1]
    names, scale = t.parameters(x, width, depth * 4, [depth, width, 3, 3])
    names = names.split(", ")[0]
    t.lines = [line for line in t.lines if not line.startswith("const b")]
    t.lines[-1] = t.lines[-1].replace(t.lines[-1][t.lines[-1].index("q("):t.lines[-1].index(" =")], "q(0.005,0)")
    n, _, h, w = x[1]
    return t.put([n, width, 2 * h, 2 * w], scale, 4, f"conv_transpose({x[0]}, {names}) {{kernel=[3,3], stride=[2,2], pad_begin=[1,1], "
                 "pad_end=[1,1], output_padding=[1,1]}", False)


def network():
    """The text, the input's shape, and the nodes whose capsules are looked at: {op: most elements}."""
    t = Text(5)
    x = ("x", [2, 6, 7, 9], 0.02, 3)
    y = turned(t, x, 8)
    t.put([2, 8, 1, 1], y[2], y[3], f"global_avg_pool({y[0]})", False)
    t.put([2, 14], y[2], y[3], f"reduce_mean({y[0]}) {{axes=[1,3], keepdims=false}}", False)
    t.put(y[1], 1 / 256, -128, f"softmax({y[0]})", False)
    z = t.put([2, 8, 14, 14], y[2] * y[2] * 200, -5, f"matmul({y[0]}, {y[0]}) {{transpose_b=true}}", False)
    text, shape = t.network("x", x, z)
    outputs = ", ".join(line.split(":")[0] for line in t.lines if line.startswith("v") and "conv_transpose" not in line)
    return text.replace(f"output {z[0]}", f"output {outputs}"), shape, {"conv_transpose": 4, "global_avg_pool": 4, "reduce_mean": 4,
                                                                        "softmax": 18, "matmul": 4}


def main():
    assay, source = (os.path.realpath(a) for a in sys.argv[1:3])
    text, shape, max_elements = network()
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(assay, source, folder)
        bundle = Bundle(shop.written(text, shape))
        for number, node in enumerate(bundle.nodes, 1):
            values = {t["name"]: bundle.codes(t["name"]) for t in bundle.tensors}
            output = node["outputs"][0]
            values[output] = rescales.wrap(values[output] ^ 128, 8)
            names = [n for n in values if n == output or n in node["inputs"]]
            device, to = os.path.join(folder, "device"), os.path.join(folder, f"capsule{number}")
            dump(bundle, empty(device), values, names)
            done = subprocess.run([assay, "capsule", bundle.path, device, node["name"], "-o", to], capture_output=True, text=True, check=False)
            said, whole = {}, values[output].size
            if done.returncode == 0:
                said = json.loads(subprocess.run([assay, "blame", to + "/golden", to + "/device", "--json", "-"], capture_output=True,
                                                 text=True, check=False).stdout)
            faults = said.get("faults") or [{"elements": whole, "classes": []}]
            good = faults[0]["elements"] <= max_elements[node["op"]] and "sign" in faults[0]["classes"]
            print(f"{'ok' if good else 'not ok'} {number} - {node['op']}: {faults[0]['elements']} of {whole} elements")
            if not good:
                print("#", done.stderr.strip(), faults)
    print(f"1..{len(bundle.nodes)}")


if __name__ == "__main__":
    main()
