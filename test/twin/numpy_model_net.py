#!/usr/bin/python3
"""Writes a float network in text form that has every kind of node that numpy_model.py knows, and
samples for it: NET.assay, its constants in NET.assay.d/, NET.npy.

    numpy_model_net.py NET
"""
import os
import sys

import numpy as np

NODES = """
a: f32[1,8,13,11] = conv(x, {8,6,3,3}, {8}) {pad_begin=[1,1], pad_end=[1,1]}
ar: f32[1,8,13,11] = relu(a)
b: f32[1,8,13,11] = conv(ar, {8,1,3,3}, {8}) {group=8, pad_begin=[2,2], pad_end=[2,2], dilation=[2,2]}
c: f32[1,8,13,11] = conv(ar, {8,4,1,1}) {group=2}
sum: f32[1,8,13,11] = add(b, c)
sumr: f32[1,8,13,11] = relu(sum)
diff: f32[1,8,13,11] = sub(b, c)
diffc: f32[1,8,13,11] = clip(diff) {lo=-0.5, hi=0.75}
prod: f32[1,8,13,11] = mul(sumr, diffc)
shifted: f32[1,8,13,11] = add(prod, {8,1,1})
near: f32[1,8,13,11] = lrn(shifted) {size=4, alpha=1.5, beta=0.75, bias=1.25}
mp: f32[1,8,7,6] = max_pool(near) {kernel=[3,3], stride=[2,2], pad_begin=[1,1], pad_end=[1,1]}
ap: f32[1,8,7,6] = avg_pool(shifted) {kernel=[3,3], stride=[2,2], pad_begin=[1,1], pad_end=[1,1]}
ai: f32[1,8,7,6] = avg_pool(shifted) {kernel=[3,2], stride=[2,2], pad_begin=[1,1], pad_end=[1,0], count_include_pad=true}
cat: f32[1,24,7,6] = concat(mp, ap, ai) {axis=1}
up: f32[1,6,15,12] = conv_transpose(cat, {24,6,3,2}, {6}) {stride=[2,2], output_padding=[1,1], pad_begin=[0,0], pad_end=[1,1]}
ug: f32[1,6,17,14] = conv_transpose(up, {6,2,3,3}, {6}) {group=3}
line: f32[1,6,238] = reshape(ug) {shape=[1,6,238]}
l1: f32[1,5,78] = conv(line, {5,6,5}, {5}) {stride=[3]}
l2: f32[1,4,157] = conv_transpose(l1, {5,4,3}, {4}) {stride=[2]}
gram: f32[1,4,4] = matmul(l2, l2) {transpose_b=true}
same: f32[1,157,157] = matmul(l2, l2) {transpose_a=true}
mean: f32[1,157] = reduce_mean(same) {axes=[2], keepdims=false}
total: f32[1,4] = reduce_sum(gram) {axes=[1], keepdims=false}
wide: f32[1,24,1,1] = global_avg_pool(cat)
flat: f32[1,24] = reshape(wide) {shape=[1,24]}
one: f32[1,1] = fc(flat, {1,24}, {1})
many: f32[1,7] = fc(mean, {7,157}, {7})
all: f32[1,36] = concat(total, flat, one, many) {axis=1}
y: f32[1,10] = fc(all, {10,36}, {10})
"""


def main(net):
    rng = np.random.default_rng(20261121)
    os.makedirs(net + ".assay.d", exist_ok=True)
    constants, lines = [], []
    for line in NODES.strip().splitlines():
        while "(" in line and "{" in line[:line.index(")")]:
            begin, end = line.index("{"), line.index("}")
            shape = [int(n) for n in line[begin + 1:end].split(",")]
            fan = np.prod(shape[1:]) if len(shape) > 1 else 4
            name = f"c{len(constants)}"
            data = (rng.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)
            np.save(f"{net}.assay.d/{name}.npy", data)
            constants.append(name)
            lines.append(f'  const {name}: f32[{",".join(map(str, shape))}] = file "{name}.npy"')
            line = line[:begin] + name + line[end + 1:]
        lines.append("  " + line)
    with open(net + ".assay", "w") as f:
        f.write("graph every_kind {\n  input x: f32[1,6,13,11]\n" + "\n".join(lines) +
                "\n  output y\n}\n")
    np.save(net + ".npy", rng.standard_normal((8, 6, 13, 11)).astype(np.float32))


if __name__ == "__main__":
    main(sys.argv[1])
