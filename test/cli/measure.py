#!/usr/bin/env python3
"""measure.py ASSAY: eval, sensitivity and tune by labels, label maps, noise and agreement.

A network of pixels (1x1 convolution of 3 channels) and one without classes; what assay prints is
compared with the definitions, computed here from the tensors that `assay run` and `golden` give.
"""
import json
import math
import os
import random
import re
import shutil
import struct
import tempfile
import zlib

from command import ASSAY, assay, refused
from support import FORMATS, TAP, check, npy, write

SEED = int(os.environ.get("ASSAY_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
RANDOM = random.Random(SEED)
N, H, W, C = 6, 4, 5, 3


def load(path):
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<H", data[8:10])[0]
    kind = re.search(r"'descr': '([^']*)'", data[10:10 + size].decode()).group(1)
    item = struct.calcsize(FORMATS[kind])
    body = data[10 + size:]
    return struct.unpack(f"<{len(body) // item}{FORMATS[kind]}", body)


def png(path, rows, palette=False, depth=8):
    """A gray PNG, or of a palette whose colours say nothing of the indices."""
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    raw = b""
    for row in rows:
        bits = "".join(format(v, f"0{depth}b") for v in row)
        bits += "0" * (-len(bits) % 8)
        raw += b"\0" + bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), depth, 3 if palette else 0, 0, 0, 0)
    colours = chunk(b"PLTE", bytes((37 * i + 11) % 256 for i in range(3 << depth))) if palette else b""
    write(path, b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + colours +
          chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def numbers(n):
    return [round(RANDOM.uniform(-1, 1), 4) for _ in range(n)]


def network(path, name, layout):
    shape, weight = (f"1,{C},{H},{W}", "3,3,1,1") if layout == "nchw" else (f"1,{H},{W},{C}", "3,1,1,3")
    attrs = "" if layout == "nchw" else " {layout=nhwc}"
    write(path, (f"graph {name} {{\n input x: f32[{shape}]\n const w: f32[{weight}] = {numbers(9)}\n"
                 f" const b: f32[3] = {numbers(3)}\n y: f32[{shape}] = conv(x, w, b){attrs}\n"
                 " output y\n}\n").encode())


def outputs(model, sample, *more):
    shutil.rmtree("out", ignore_errors=True)
    status, text = assay("run", model, "-i", sample, "-o", "out", *more)
    files = [f for f in sorted(os.listdir("out")) if f.endswith(".npy")] if status == 0 else []
    if len(files) != 1:
        raise SystemExit(f"Bail out! run {model}: {text}")
    return load(os.path.join("out", files[0]))


def best(values, pixel, layout):
    at = [c * H * W + pixel if layout == "nchw" else pixel * C + c for c in range(C)]
    scores = [values[i] for i in at]
    return scores.index(max(scores))


def mean_iou(chosen, truth):
    ratios = []
    for c in range(C):
        both = sum(p == c == t for p, t in zip(chosen, truth))
        either = sum((p == c or t == c) and t != 255 for p, t in zip(chosen, truth))
        if either:
            ratios.append(both / either)
    return 100 * sum(ratios) / len(ratios)


def expect(floats, others, layout, truth):
    """What eval --json says, from all outputs of both networks."""
    pixels = [(s, p) for s in range(N) for p in range(H * W)]
    chosen = [[best(side[s], p, layout) for s, p in pixels] for side in (floats, others)]
    judged = [i for i, t in enumerate(truth) if t != 255]
    noise = sum((a - b) ** 2 for f, o in zip(floats, others) for a, b in zip(f, o))
    signal = sum(a * a for f in floats for a in f)
    return {"agreement": 100 * sum(a == b for a, b in zip(*chosen)) / len(pixels),
            "mse": noise / (N * C * H * W), "sqnr_db": 10 * math.log10(signal / noise),
            "pixel_top1": 100 * sum(chosen[1][i] == truth[i] for i in judged) / len(judged),
            "mean_iou": mean_iou(chosen[1], truth), "float_mean_iou": mean_iou(chosen[0], truth),
            "samples": len(judged)}


def evaluated(*args):
    if os.path.exists("j.json"):
        os.remove("j.json")
    status, text = assay("eval", *args, "--json", "j.json")
    if not os.path.exists("j.json"):
        return status, text, {}
    with open("j.json", encoding="utf-8") as f:
        return status, text, json.load(f)


def near(got, want, keys):
    return all(isinstance(got.get(k), (int, float)) and
               abs(got[k] - want[k]) <= 1e-5 * max(1, abs(want[k])) for k in keys)


NOISE = ["agreement", "mse", "sqnr_db"]
LABELS = ["pixel_top1", "mean_iou", "float_mean_iou", "samples"]


def put_maps(truth):
    maps = [[truth[s * H * W + y * W:s * H * W + (y + 1) * W] for y in range(H)] for s in range(N)]
    for folder in ("gray", "palette", "arrays", "four"):
        os.mkdir(folder)
    for s, rows in enumerate(maps):
        png(f"gray/{s}.png", rows)
        png(f"palette/{s}.png", rows, palette=True)
        png(f"four/{s}.png", [[15 if v == 255 else v for v in row] for row in rows], True, 4)
        npy(f"arrays/{s}.npy", "<i4", (1, H, W), [v for row in rows for v in row])
    npy("all.npy", "<i4", (N, H, W), truth)


def measure_pixels(layout):
    """One network of pixels in one layout, by every form of label maps and by none."""
    model, shape = f"{layout}.assay", (C, H, W) if layout == "nchw" else (H, W, C)
    network(model, "pixels", layout)
    values = [numbers(C * H * W) for _ in range(N)]
    data = f"{layout}.npy"
    npy(data, "<f4", (N, *shape), [v for s in values for v in s])
    for s, sample in enumerate(values):
        npy(f"in{s}.npy", "<f4", (1, *shape), sample)
    assay("profile", model, "-d", data, "-q", "-o", "p.yaml")
    common = ["-p", "p.yaml", "-s", "tflite", "--precision", "*=i5"]
    floats = [outputs(model, f"in{s}.npy") for s in range(N)]
    others = [outputs(model, f"in{s}.npy", *common) for s in range(N)]
    truth = [RANDOM.choice([0, 1, 2, 2, 255]) for _ in range(N * H * W)]
    truth[:3] = [0, 1, 2]
    want = expect(floats, others, layout, truth)
    if not os.path.isdir("gray"):
        put_maps(truth)
        globals()["TRUTH"] = truth
    want = expect(floats, others, layout, TRUTH)
    base = [model, *common, "-d", data, "-q"]

    for labels, more in (("gray", []), ("palette", []), ("arrays", []), ("all.npy", []),
                         ("four", ["--ignore-label", "15"]), ("gray", ["-j", "3"])):
        status, text, got = evaluated(*base, "--labels", labels, *more)
        check(status == 0 and near(got, want, NOISE + LABELS) and "mean IoU" in text,
              f"{layout}: label maps {labels} {' '.join(more)}", (status, text, got, want))
    status, text = assay("eval", *base)
    check(status == 0 and "agreement" not in text and "top-1" not in text,
          f"{layout}: without labels pixels are no classes", text)
    status, text, got = evaluated(*base, "--class-axis", "1" if layout == "nchw" else "3")
    check(status == 0 and near(got, want, NOISE) and f"of {N * H * W} pixels" in text,
          f"{layout}: agreement by pixel, no labels", (text, got, want))
    for command, word in (("sensitivity", "points of mean IoU"), ("tune", "points of mean IoU")):
        status, text = assay(command, *base, "--labels", "gray")
        check(status in (0, 1) and word in text, f"{layout}: {command} by mean IoU", text)
    status, text = assay("sensitivity", *base)
    check(status == 0 and "drop" not in text.split("the whole")[1] and " MSE " in text.replace("(MSE", " MSE"),
          f"{layout}: sensitivity by noise alone", text)
    refused(f"{layout}: tune has nothing to judge by", "--target-sqnr", "tune", *base)
    status, text = assay("tune", *base, "--target-sqnr", "1")
    check(status == 0 and "target 1)" in text, f"{layout}: tune by noise", text)
    status, text = assay("tune", *base, "--target-sqnr", "900", "--max-float", "0")
    check(status == 1, f"{layout}: a noise that is not reached", text)
    return base


def refusals(base):
    refused("labels of samples are needed by --max-drop", "--max-drop.*--labels", "eval", *base,
            "--max-drop", "1")
    refused("neither labels nor a twin", "no float twin.*--labels PATH.*--float", "eval", base[0], "-d", "nchw.npy")
    os.mkdir("few")
    png("few/0.png", [[0] * W] * H)
    refused("too few maps", "label maps for 6 samples", "eval", *base, "--labels", "few")
    npy("small.npy", "<i4", (N, H, W - 1), [0] * (N * H * (W - 1)))
    refused("maps of another size", r"label maps are 4x4 .*\[1,3,4,5\]", "eval", *base, "--labels", "small.npy")
    npy("high.npy", "<i4", (N, H, W), [7] * (N * H * W))
    refused("a label beyond the classes", "label 7, but the network has 3 classes", "eval", *base, "--labels", "high.npy")
    npy("real.npy", "<f4", (N, H, W), [0.0] * (N * H * W))
    refused("maps that are no integers", "expected one class per pixel", "eval", *base, "--labels", "real.npy")
    npy("minus.npy", "<i4", (N, H, W), [-1] * (N * H * W))
    refused("a label below 0", "row 0, column 0 is -1", "eval", *base, "--labels", "minus.npy")
    refused("an axis that is none", "axis 7 cannot be that of the classes|takes a number", "eval", *base, "--class-axis", "7")
    refused("an axis of one", "its axis 0 cannot be that of the classes", "eval", *base, "--class-axis", "0")
    status, text = assay("eval", *base, "--labels", "minus.npy", "--ignore-label", "0")
    check(status == 2, "all labels are refused, whatever is ignored", text)


def lists():
    """One list of classes without labels: noise and agreement; --min-sqnr."""
    write("list.assay", f"graph list {{\n input x: f32[1,4]\n const w: f32[5,4] = {numbers(20)}\n"
          " y: f32[1,5] = fc(x, w)\n output y\n}\n".encode())
    values = [numbers(4) for _ in range(N)]
    npy("list.npy", "<f4", (N, 4), [v for s in values for v in s])
    assay("profile", "list.assay", "-d", "list.npy", "-q", "-o", "list.yaml")
    base = ["list.assay", "-p", "list.yaml", "-s", "tflite", "-d", "list.npy", "-q"]
    status, text = assay("eval", *base)
    check(status == 0 and re.search(r"SQNR \d+\.\d+ dB  MSE \S+  agreement \S+ %  \(\d of 6\)", text),
          "classes without labels", text)
    status, text = assay("eval", *base, "--min-sqnr", "200")
    check(status == 1 and re.search(r"^FAILED: an SQNR of \d+\.\d+ dB, --min-sqnr asks for 200$", text, re.M), "too much noise", text)
    check(assay("eval", *base, "--min-sqnr", "5")[0] == 0, "noise that is allowed")
    refused("a noise with nothing to compare with", "needs a float twin", "eval", "list.assay", "-d",
            "list.npy", "--min-sqnr", "5")


def main():
    print(f"# ASSAY_SEED={SEED}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        base = measure_pixels("nchw")
        refusals(base)
        measure_pixels("nhwc")
        lists()
        os.chdir("/")
    TAP.end()


main()
