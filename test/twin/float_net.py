#!/usr/bin/python3
"""Writes two float networks in text form, with random constants, and an input of each: a transformer
encoder of two layers, ENCODER.assay, and a ResNet-8, RESNET.assay, in FOLDER; inputs are .npy.

    float_net.py FOLDER
"""
import os
import sys

import numpy as np

TOKENS, WIDTH, HEADS, HIDDEN = 20, 48, 3, 80
rng = np.random.default_rng(20261125)


class Net:
    def __init__(self, folder, name, input_shape):
        self.folder, self.name, self.lines, self.constants = folder, name, [], 0
        self.shape = {"x": list(input_shape)}
        os.makedirs(f"{folder}/{name}.assay.d", exist_ok=True)
        np.save(f"{folder}/{name}.npy", rng.standard_normal(input_shape).astype(np.float32))
        self.begin = f"graph {name} {{\n  input x: f32[{','.join(map(str, input_shape))}]\n"

    def constant(self, shape, spread, mean=0.0):
        name = f"c{self.constants}"
        self.constants += 1
        data = (mean + spread * rng.standard_normal(shape)).astype(np.float32)
        np.save(f"{self.folder}/{self.name}.assay.d/{name}.npy", data)
        self.lines.append(f'  const {name}: f32[{",".join(map(str, shape))}] = file "{name}.npy"')
        return name

    def node(self, name, shape, op, inputs, attributes=""):
        self.shape[name] = list(shape)
        self.lines.append(f'  {name}: f32[{",".join(map(str, shape))}] = {op}({", ".join(inputs)}) {attributes}'.rstrip())
        return name

    def close(self, output):
        with open(f"{self.folder}/{self.name}.assay", "w") as f:
            f.write(self.begin + "\n".join(self.lines) + f"\n  output {output}\n}}\n")


def encoder(folder):
    n = Net(folder, "encoder", (1, TOKENS, WIDTH))
    flat, heads = (1, TOKENS, WIDTH), (1, HEADS, TOKENS, WIDTH // HEADS)

    def fc(name, x, k, o):
        w, b = n.constant((o, k), k ** -0.5), n.constant((o,), 0.1)
        return n.node(name, (1, TOKENS, o), "fc", (x, w, b))

    def split(name, x):
        r = n.node(name + "_r", (1, TOKENS, HEADS, WIDTH // HEADS), "reshape", (x,), f"{{shape=[1,{TOKENS},{HEADS},{WIDTH // HEADS}]}}")
        return n.node(name + "_t", heads, "transpose", (r,), "{perm=[0,2,1,3]}")

    def norm(name, x):
        g, b = n.constant((WIDTH,), 0.2, 1.0), n.constant((WIDTH,), 0.1)
        return n.node(name, flat, "layer_norm", (x, g, b), "{axis=2}")

    def rms_norm(name, x):
        square, shape = n.node(name + "_square", flat, "square", (x,)), (1, TOKENS, 1)
        mean = n.node(name + "_mean", shape, "reduce_mean", (square,), "{axes=[2]}")
        root = n.node(name + "_rsqrt", shape, "rsqrt", (n.node(name + "_shifted", shape, "add", (mean, n.constant((1,), 0, 1e-6))),))
        return n.node(name, flat, "mul", (n.node(name + "_normed", flat, "mul", (x, root)), n.constant((WIDTH,), 0.2, 1.0)))

    x = "x"
    for i in range(2):
        p = f"l{i}_"
        h = norm(p + "norm1", x)
        q, k, v = (split(p + s, fc(p + s, h, WIDTH, WIDTH)) for s in "qkv")
        scores = n.node(p + "scores", (1, HEADS, TOKENS, TOKENS), "matmul", (q, k), "{transpose_b=true}")
        scale = n.constant((1,), 0, (WIDTH // HEADS) ** -0.5)
        scores = n.node(p + "scaled", (1, HEADS, TOKENS, TOKENS), "mul", (scores, scale))
        p_ = n.node(p + "probs", (1, HEADS, TOKENS, TOKENS), "softmax", (scores,))
        c = n.node(p + "context", heads, "matmul", (p_, v))
        c = n.node(p + "context_t", (1, TOKENS, HEADS, WIDTH // HEADS), "transpose", (c,), "{perm=[0,2,1,3]}")
        c = n.node(p + "context_r", flat, "reshape", (c,), f"{{shape=[1,{TOKENS},{WIDTH}]}}")
        x = n.node(p + "sum1", flat, "add", (x, fc(p + "out", c, WIDTH, WIDTH)))
        h = fc(p + "up", (rms_norm if i else norm)(p + "norm2", x), WIDTH, HIDDEN)
        h = n.node(p + "gelu", (1, TOKENS, HIDDEN), "gelu", (h,), "" if i else "{approximate=tanh}")
        x = n.node(p + "sum2", flat, "add", (x, fc(p + "down", h, HIDDEN, WIDTH)))
    n.close(norm("y", x))


def resnet(folder):
    n = Net(folder, "resnet", (1, 3, 32, 32))

    def conv(name, x, channels, size, stride):
        c, extent = n.shape[x][1], -(-n.shape[x][2] // stride)
        pads = max((extent - 1) * stride + size - n.shape[x][2], 0)
        w, b = n.constant((channels, c, size, size), (c * size * size / 2) ** -0.5), n.constant((channels,), 0.1)
        attributes = f"{{stride=[{stride},{stride}], pad_begin=[{pads // 2},{pads // 2}], pad_end=[{pads - pads // 2},{pads - pads // 2}]}}"
        return n.node(name, (1, channels, extent, extent), "conv", (x, w, b), attributes)

    def relu(x):
        return n.node(x + "_relu", n.shape[x], "relu", (x,))

    x = relu(conv("stem", "x", 16, 3, 1))
    for i, (channels, stride) in enumerate(((16, 1), (32, 2), (64, 2))):
        y = relu(conv(f"s{i}a", x, channels, 3, stride))
        y = conv(f"s{i}b", y, channels, 3, 1)
        short = x if stride == 1 else conv(f"s{i}c", x, channels, 1, stride)
        x = relu(n.node(f"s{i}", n.shape[y], "add", (y, short)))
    x = n.node("pool", (1, 64, 1, 1), "global_avg_pool", (x,))
    x = n.node("flat", (1, 64), "reshape", (x,), "{shape=[1,64]}")
    x = n.node("logits", (1, 10), "fc", (x, n.constant((10, 64), 0.2), n.constant((10,), 0.1)))
    n.close(n.node("y", (1, 10), "softmax", (x,)))


if __name__ == "__main__":
    encoder(sys.argv[1])
    resnet(sys.argv[1])
