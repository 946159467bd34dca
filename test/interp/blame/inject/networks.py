"""The golden bundles: shipped networks, three of ../shared/models, two random ones, under several schemes."""
import os
import subprocess

import numpy as np

import mixed

SHIPPED = [("res_dsconv", s) for s in ("tflite", "onnxruntime", "npu16", "narrow", "tflite-single", "nvdla", "vta-rounded", "qnnpack")] + [
    ("plain_cnn", s) for s in ("tflite", "gemmlowp", "narrow", "glow-interp", "vta", "nvdla")]
TFLITE = [("kws_ref_model", [1, 49, 10, 1], np.int8), ("pretrainedResnet_quant", [1, 32, 32, 3], np.int8),
          ("ad01_int8", [1, 640], np.int8), ("mobilenet_v1_0.25_128_quant", [1, 128, 128, 3], np.uint8)]
DRAWN = [(1, "tflite"), (2, "tflite-single"), (3, "narrow"), (1, "tflite", 1, "attention"), (2, "cmsis-nn", 1, "attention"),
         (3, "onnxruntime", 1, "attention_plain"), (4, "xnnpack-qs8", 1, "attention_plain"), (1, "tflite", 1, "picture"),
         (2, "tflite-single", 1, "picture"), (3, "tosa-double", 1, "picture_plain"), (4, "onnxruntime", 1, "picture_plain")]
RECURRENT = [(1, "tflite", 4, "recurrent"), (2, "onnxruntime", 4, "recurrent"), (3, "tflite-single", 4, "recurrent")]
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

    def written(self, text, shape, *more):
        """The bundle of a network in text for tflite, on random codes of i8."""
        file, array = os.path.join(self.folder, "net.assay"), os.path.join(self.folder, "x.npy")
        with open(file, "w") as f:
            f.write(text)
        np.save(array, np.random.RandomState(3).randint(-128, 128, shape).astype(np.int8))
        return self.golden("net", file, "-s", "tflite", "-i", array, *more)

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

    def drawn(self, seed, scheme, samples=1, kind="convolutional"):
        text, shape = getattr(mixed, kind)(seed)
        file = os.path.join(self.folder, f"{kind}{seed}.assay")
        with open(file, "w") as f:
            f.write(text)
        inputs = []
        for i in range(samples):
            array = os.path.join(self.folder, f"{kind}{seed}-{i}.npy")
            np.save(array, np.random.RandomState(seed + 100 * i).randint(-128, 128, shape).astype(np.int8))
            inputs += ["-i", array]
        more = ["--sequence"] if kind == "recurrent" and samples > 1 else []
        return self.golden(f"{kind}{seed}-{scheme}-{samples}", file, "-s", self.scheme(scheme), *inputs, *more)
