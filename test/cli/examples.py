#!/usr/bin/env python3
"""examples.py ASSAY SOURCE: every example of every --help runs, on files of the names that it uses.

The examples are read from the help texts, so that a new one is tried too: it names a file that
`prepare` makes, or one that an example before it wrote.
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from support import TAP, check, npy

ASSAY, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
COMMANDS = ["scheme", "inspect", "profile", "profile merge", "profile show", "quantize", "sensitivity", "tune", "convert",
            "optimize", "check-proof", "run", "golden", "verify", "diff", "eval", "eval merge"]
# Where two differ, or a goal is not met, the status is 1 and an answer.
MAY_DIFFER = ("diff", "tune", "eval", "scheme diff", "quantize", "verify")


def text(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.write(lines)


def make(command):
    run = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=False,
                         env={**os.environ, "PATH": os.path.dirname(ASSAY) + ":" + os.environ["PATH"]})
    if run.returncode != 0:
        raise SystemExit(f"Bail out! {command}: {run.stdout}{run.stderr}")


def values(n, step=0.01):
    return [((7 * i) % 41 - 20) * step for i in range(n)]


def networks():
    models = os.path.join(SOURCE, "datasets/models")
    shutil.copy(os.path.join(models, "res_dsconv.onnx"), "net.onnx")
    text("two.assay", "graph two { input a: f32[1,4] input b: f32[1,4]\n s: f32[1,4] = add(a, b)\n"
         " y: f32[1,4] = relu(s)\n output y }\n")
    text("pixels.assay", "graph pixels { input x: f32[1,3,4,4]\n const w: f32[2,3,1,1] = [1,2,-1,0.5,-2,1]\n"
         " y: f32[1,2,4,4] = conv(x, w)\n output y }\n")
    text("gpt.assay", "graph gpt { input ids: i64[1,4]\n const table: f32[3,3] = [3,1,-2, 0,2,1, -1,0,4]\n"
         " y: f32[1,4,3] = gather(table, ids)\n output y }\n")
    text("tokens.txt", "0 1 2 0 2 2 1 0 1 1 2 0 0\n")
    text("total.assay", "graph total { input x: i8[1,2] q(0.5,0)\n var total: i8[1,2] q(0.5,0)\n"
         " before: i8[1,2] q(0.5,0) = read(total)\n"
         " sum: i8[1,2] q(0.5,0) = add(x, before)\n done: i8[1,2] q(0.5,0) = assign(total, sum)\n"
         " output sum }\n")


def samples():
    glyphs = os.path.join(SOURCE, "datasets/glyphs")
    shutil.copy(os.path.join(glyphs, "preprocess.yaml"), "preprocess.yaml")
    for folder, origin, every in (("test", "test", 90), ("train", "test", 120), ("calibration", "calibration", 16)):
        os.mkdir(folder)
        lines = []
        labels = os.path.join(glyphs, origin, "labels.txt")
        with open(labels, encoding="utf-8") as f:
            lines = [line for line in f if not line.startswith("#")][::every]
        for line in lines:
            shutil.copy(os.path.join(glyphs, origin, line.rsplit(None, 1)[0]), folder)
        text(f"{folder}/labels.txt", "".join(lines))
    shutil.copy(os.path.join("test", sorted(n for n in os.listdir("test") if n.endswith(".png"))[0]), "cat.png")


def prepare():
    networks()
    samples()
    for part in (1, 2, 3):
        make(f"assay profile net.onnx -d calibration -q --shard {part}/3 -o part{part}.yaml")
    make("assay profile net.onnx -d calibration -q -o profile.yaml")
    for part in (1, 2, 3):
        make(f"assay eval net.onnx -p profile.yaml -s tflite -d test -q --shard {part}/3 -o shard{part}.json")
    make("assay quantize net.onnx -p profile.yaml -s tflite -o net-int8.assay")
    make("assay convert net-int8.assay -o net-qdq.onnx && cp net-qdq.onnx net-qlinear.onnx")
    make("assay convert net.onnx -o net-float.tflite && assay convert net-int8.assay -o net-int8.tflite")
    make("assay quantize net.onnx -p profile.yaml -s tflite --integer-io -o codes.assay")
    make("assay convert codes.assay -o net.tflite")
    make("assay convert two.assay -o two.onnx && assay convert total.assay -o streaming.tflite")
    make("assay convert gpt.assay -o gpt.onnx && assay profile gpt.onnx -d tokens.txt -q -o gpt.yaml")
    make("assay convert pixels.assay -o segment.onnx && cp segment.onnx denoiser.onnx")
    arrays()
    make("assay profile segment.onnx -d images -q -o segment.yaml && cp segment.yaml denoiser.yaml")
    make("assay profile two.onnx -d a=pairs/a.npy -d b=pairs/b.npy -q -o two.yaml")
    os.mkdir("golden-out")
    make("assay golden net-int8.assay -s tflite -i cat.png -o golden-out/tflite")
    make("assay golden net.onnx -p profile.yaml -s npu16 -i cat.png -o golden-out/npu16")
    make("assay golden net-qdq.onnx -s onnxruntime -i cat.png -o golden-out/onnxruntime")
    make("cp -r golden-out/tflite device-delivery && cp -r golden-out/npu16/tensors device-dumps")
    text("device.yaml", "target: device\nops:\n  conv: {types: [i8]}\n  fc: {types: [i8]}\nothers: {types: [i8]}\n")
    text("w4.yaml", "scheme: w4\nextends: tflite\ntypes:\n  weight_bits: 4\n")


def arrays():
    """Samples of networks that are no images, and what `scheme apply` and `derive` read."""
    for k in range(2):
        npy(f"a{k}.npy", "<f4", (1, 4), values(4, 0.1))
        npy(f"b{k}.npy", "<f4", (1, 4), values(4, -0.1))
    os.mkdir("pairs")
    text("pairs/preprocess.yaml", "dtype: f32\n")
    npy("pairs/a.npy", "<f4", (3, 4), values(12, 0.1))
    npy("pairs/b.npy", "<f4", (3, 4), values(12, -0.1))
    for k in range(3):
        npy(f"t{k}.npy", "|i1", (1, 2), [k + 1, -k])
    for folder in ("images", "noisy", "maps"):
        os.mkdir(folder)
        text(f"{folder}/preprocess.yaml", "dtype: f32\n")
    for k in range(4):
        npy(f"images/{k}.npy", "<f4", (1, 3, 4, 4), values(48, 0.05 * (k + 1)))
        npy(f"maps/{k}.npy", "<i4", (4, 4), [(i + k) % 2 for i in range(16)])
        shutil.copy(f"images/{k}.npy", f"noisy/{k}.npy")
    npy("x.npy", "<f4", (1, 1, 32, 32), values(1024))
    npy("codes.npy", "<f4", (3, 32, 32, 1), values(3072))
    npy("labels.npy", "<i4", (3,), [1, 2, 3])
    npy("reference.npy", "<f4", (4, 4), values(16))
    npy("device.npy", "<f4", (4, 4), [v + 1e-6 for v in values(16)])
    npy("left.npy", "|u1", (2, 32), [i % 100 for i in range(64)])
    npy("right.npy", "|u1", (2, 32), [i % 90 for i in range(64)])
    npy("A.npy", "<i4", (5,), [0, 1, -1, 1000, -100000])
    npy("S.npy", "<f4", (5,), [0.01, 0.02, 0.003, 0.5, 0.25])
    npy("Z.npy", "<i4", (5,), [0, 1, -1, 5, 7])
    with open("train-images-idx3-ubyte", "wb") as f:
        f.write(struct.pack(">HBBIII", 0, 8, 3, 4, 32, 32) + bytes((5 * i) % 256 for i in range(4 * 1024)))


def examples(command):
    run = subprocess.run([ASSAY, *command.split(), "--help"], capture_output=True, text=True, timeout=60, check=True)
    return [line.strip() for line in run.stdout.split("\nexamples:\n")[1].splitlines()]


def try_example(line):
    env = {**os.environ, "PATH": os.path.dirname(ASSAY) + ":" + os.environ["PATH"]}
    run = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=120, check=False, env=env)
    may_differ = line.startswith(tuple("assay " + c for c in MAY_DIFFER))
    check(run.returncode == 0 or (run.returncode == 1 and may_differ), line,
          f"status {run.returncode}: {run.stderr}{run.stdout[:500]}")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        prepare()
        for command in COMMANDS:
            lines = examples(command)
            check(len(lines) > 0 and all(line.startswith(f"assay {command.split()[0]}") for line in lines),
                  f"{command}: has examples", lines)
            for line in lines:
                try_example(line)
        os.chdir("/")
    TAP.end()


main()
