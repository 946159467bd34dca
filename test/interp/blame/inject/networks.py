"""The golden bundles: shipped networks, three of ../shared/models, two random ones, under several schemes."""
import os
import random
import subprocess

import numpy as np

SHIPPED = [("res_dsconv", s) for s in ("tflite", "onnxruntime", "npu16", "narrow", "tflite-single")] + [
    ("plain_cnn", s) for s in ("tflite", "gemmlowp", "narrow")]
TFLITE = [("kws_ref_model", [1, 49, 10, 1], np.int8), ("pretrainedResnet_quant", [1, 32, 32, 3], np.int8),
          ("ad01_int8", [1, 640], np.int8), ("mobilenet_v1_0.25_128_quant", [1, 128, 128, 3], np.uint8)]
DRAWN = [(1, "tflite"), (2, "tflite-single"), (3, "narrow")]
NARROW = """scheme: narrow
description: tflite with a narrow accumulator that saturates at each step
extends: tflite
accumulator:
  bits: 17
  overflow: saturate-each-step
"""


class Shop:
    """Makes bundles in a folder, each once."""

    def __init__(self, assay, source, folder):
        self.assay, self.source, self.folder = assay, source, folder
        self.shared = os.environ.get("ASSAY_SHARED", os.path.join(source, "..", "shared"))
        with open(os.path.join(folder, "narrow.yaml"), "w") as f:
            f.write(NARROW)

    def run(self, *command):
        done = subprocess.run([self.assay, *command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.returncode}\n{done.stderr}")

    def scheme(self, name):
        return os.path.join(self.folder, "narrow.yaml") if name == "narrow" else name

    def golden(self, to, *command):
        to = os.path.join(self.folder, to)
        if not os.path.exists(to):
            self.run("golden", *command, "-q", "-o", to)
        return to

    def shipped(self, model, scheme, samples=1, quantized_for=None):
        """quantized_for: run what was quantized for that scheme under another."""
        models, images = os.path.join(self.source, "datasets", "models"), os.path.join(self.source, "datasets", "glyphs")
        profile = os.path.join(self.folder, model + ".yaml")
        if not os.path.exists(profile):
            self.run("profile", f"{models}/{model}.onnx", "--dataset", f"{images}/calibration", "-n", "64", "-q", "-o", profile)
        files = [f for f in sorted(os.listdir(f"{images}/test")) if f.endswith(".png")][7:7 + samples]
        inputs = [a for f in files for a in ("-i", f"{images}/test/{f}")]
        network, more = f"{models}/{model}.onnx", ["-p", profile]
        if quantized_for:
            network, more = os.path.join(self.folder, f"{model}-{quantized_for}.assay"), []
            if not os.path.exists(network):
                self.run("quantize", f"{models}/{model}.onnx", "-p", profile, "-s", quantized_for, "-o", network)
        return self.golden(f"{model}-{quantized_for or ''}{scheme}-{samples}", network, *more, "-s", self.scheme(scheme), *inputs)

    def tflite(self, model, shape, kind, scheme="tflite"):
        file = os.path.join(self.shared, "models", model + ".tflite")
        if not os.path.exists(file):
            return None
        array = os.path.join(self.folder, model + ".npy")
        limits = np.iinfo(kind)
        np.save(array, np.random.RandomState(7).randint(limits.min, limits.max + 1, shape).astype(kind))
        return self.golden(f"{model}-{scheme}", file, "-s", scheme, "-i", array)

    def drawn(self, seed, scheme, samples=1):
        text, shape = network_text(seed)
        file = os.path.join(self.folder, f"drawn{seed}.assay")
        with open(file, "w") as f:
            f.write(text)
        inputs = []
        for i in range(samples):
            array = os.path.join(self.folder, f"drawn{seed}-{i}.npy")
            np.save(array, np.random.RandomState(seed + 100 * i).randint(-128, 128, shape).astype(np.int8))
            inputs += ["-i", array]
        return self.golden(f"drawn{seed}-{scheme}-{samples}", file, "-s", self.scheme(scheme), *inputs)


# ---- random networks ----

def ints(values):
    return "[" + ",".join(str(int(v)) for v in values) + "]"


class Text:
    """The text of a network under work; a value is (name, shape, scale, zero)."""

    def __init__(self, seed):
        self.rng, self.draw = random.Random(seed), np.random.RandomState(seed)
        self.lines, self.count = [], 0

    def put(self, shape, scale, zero, text, fused=True):
        self.count += 1
        name = f"v{self.count}"
        bounds = f" codes[{max(zero, -120)},{self.rng.randint(90, 127)}]" if fused and self.rng.random() < 0.4 else ""
        self.lines.append(f"{name}: i8{ints(shape)} q({scale:.9g},{zero}) = {text}{bounds}")
        return name, shape, scale, zero

    def parameters(self, x, width, depth, shape):
        """Weights and bias of a node that is to come, and the output's scale."""
        scales = self.draw.uniform(0.004, 0.012, width)
        w = self.draw.randint(-127, 128, shape)
        unit = x[2] * scales.mean() * depth ** 0.5 * 5000
        b = self.draw.randint(-3000, 3000, width) * max(1, int(depth ** 0.5) // 2)
        zeros = ints([0] * width)
        spread = ",".join(f"{s:.9g}" for s in scales)
        wide = ",".join(f"{np.float32(s) * np.float32(x[2]):.9g}" for s in scales)
        self.lines.append(f"const w{self.count}: i8{ints(shape)} q(axis=0,[{spread}],{zeros}) = {ints(w.flat)}")
        self.lines.append(f"const b{self.count}: i32[{width}] q(axis=0,[{wide}],{zeros}) = {ints(b)}")
        return f"w{self.count}, b{self.count}", unit / 60

    def conv(self, x):
        n, c, h, w = x[1]
        depthwise = self.rng.random() < 0.4
        width, kernel, stride = (c if depthwise else self.rng.choice([8, 12, 16])), self.rng.choice([1, 3, 3]), self.rng.choice([1, 1, 2])
        kernel = 3 if depthwise else kernel
        stride = stride if min(h, w) >= 8 else 1
        pad = kernel // 2
        out = [n, width, (h + 2 * pad - kernel) // stride + 1, (w + 2 * pad - kernel) // stride + 1]
        own = 1 if depthwise else c
        names, scale = self.parameters(x, width, own * kernel * kernel, [width, own, kernel, kernel])
        return self.put(out, scale, self.rng.randint(-40, 40), f"conv({x[0]}, {names}) {{kernel=[{kernel},{kernel}], stride=[{stride},{stride}], "
                        f"pad_begin=[{pad},{pad}], pad_end=[{pad},{pad}], group={c if depthwise else 1}}}")

    def pool(self, x, op):
        return self.put(x[1], x[2], x[3], f"{op}({x[0]}) {{kernel=[3,3], pad_begin=[1,1], pad_end=[1,1]}}", False)

    def pair(self, x, op):
        y = self.conv1(x)
        scale = {"add": max(x[2], y[2]) * 1.3, "sub": max(x[2], y[2]) * 1.3, "mul": x[2] * y[2] * 60}[op]
        return self.put(x[1], scale, self.rng.randint(-30, 30), f"{op}({x[0]}, {y[0]})")

    def conv1(self, x):
        names, scale = self.parameters(x, x[1][1], x[1][1], [x[1][1], x[1][1], 1, 1])
        return self.put(x[1], scale, self.rng.randint(-40, 40), f"conv({x[0]}, {names}) {{kernel=[1,1]}}")

    def tabled(self, x, op):
        return self.put(x[1], 1 / 256 if op == "sigmoid" else 1 / 128, -128 if op == "sigmoid" else 0, f"{op}({x[0]})", False)

    def joined(self, x):
        y = self.pool(x, "max_pool")
        return self.put([x[1][0], 2 * x[1][1]] + x[1][2:], x[2], x[3], f"concat({x[0]}, {y[0]}) {{axis=1}}", False)

    def ending(self, x):
        n, c, h, w = x[1]
        x = self.put([n, c, 1, 1], x[2], x[3], f"global_avg_pool({x[0]})", False)
        x = self.put([n, c], x[2], x[3], f"reshape({x[0]}) {{shape={ints([n, c])}}}", False)
        names, scale = self.parameters(x, 10, c, [10, c])
        return self.put([n, 10], scale, self.rng.randint(-20, 20), f"fc({x[0]}, {names})")


def network_text(seed):
    text = Text(seed)
    shape = [1, 4, 14, 12]
    x = text.conv(("x", shape, 0.02, 3))
    kinds = [text.conv, text.conv, lambda v: text.pool(v, "avg_pool"), lambda v: text.pool(v, "max_pool"), lambda v: text.pair(v, "add"),
             lambda v: text.pair(v, "sub"), lambda v: text.pair(v, "mul"), lambda v: text.tabled(v, "sigmoid"), lambda v: text.tabled(v, "tanh"),
             text.joined]
    text.rng.shuffle(kinds)
    for kind in kinds:
        x = kind(x)
    x = text.ending(x)
    body = "\n  ".join([f"input x: i8{ints(shape)} q(0.02,3)"] + text.lines)
    return f"graph drawn {{\n  {body}\n  output {x[0]}\n}}\n", shape
