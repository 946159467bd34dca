#!/usr/bin/env python3
"""inputs.py ASSAY: data sets of a network with two inputs, from profile to tune."""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

from support import TAP, check, npy, read, write

ASSAY = os.path.realpath(sys.argv[1])
# The row of a table that an index picks, and what is added to it: the greatest element is the index.
NET = b"""graph two {
  const table: f32[4,4] = [8,0,0,0, 0,8,0,0, 0,0,8,0, 0,0,0,8]
  input ids: i64[1]
  input x: f32[1,4]
  row: f32[1,4] = gather(table, ids)
  y: f32[1,4] = add(row, x)
  output y
}
"""
SAMPLES = 6
BOTH = ("-d", "ids=ids.npy", "-d", "x=x.npy")


def assay(*arguments):
    return subprocess.run([ASSAY, *arguments], capture_output=True, text=True)


def runs(name, *arguments, status=0):
    done = assay(*arguments)
    check(done.returncode == status, name, done.stderr)
    return done.stdout


def refuses(name, words, *arguments):
    done = assay(*arguments)
    lines = done.stderr.splitlines()
    check(done.returncode == 2 and len(lines) == 1 and words in lines[0], name, (done.returncode, lines))


def evaluated(name, *arguments):
    runs(name, "eval", *arguments, "-q", "--json", "result.json")
    return json.loads(read("result.json"))


def files():
    write("two.assay", NET)
    ids = [k % 4 for k in range(SAMPLES)]
    npy("ids.npy", "<i8", (SAMPLES, 1), ids)
    npy("ids_labels.npy", "<i8", (SAMPLES,), ids)
    npy("x.npy", "<f4", (SAMPLES, 4), [(k % 5) / 2 for k in range(4 * SAMPLES)])
    npy("wrong.npy", "<i8", (SAMPLES,), [(k + 1) % 4 for k in ids])
    npy("less.npy", "<f4", (SAMPLES - 1, 4), 4 * (SAMPLES - 1) * [0])


def used():
    runs("profile", "profile", "two.assay", *BOTH, "-q", "-o", "two.yaml")
    text = read("two.yaml").decode()
    check("ids.npy, x.npy" in text, "which names both", text)
    trial = ("two.assay", "-p", "two.yaml", "-s", "tflite")
    result = evaluated("eval", *trial, *BOTH)
    check(result["top1"] == 100 and result["float_top1"] == 100 and result["sqnr_db"] > 30, "labels beside the first", result)
    result = evaluated("labels given", *trial, *BOTH, "--labels", "wrong.npy")
    check(result["top1"] == 0, "are of all inputs", result)
    result = evaluated("the other one first", *trial, *BOTH[2:], *BOTH[:2])
    check("top1" not in result and result["agreement"] == 100, "has no labels beside it", result)
    runs("sensitivity", "sensitivity", *trial, *BOTH)
    runs("tune", "tune", *trial, *BOTH, "--target-drop", "1")
    runs("golden", "golden", *trial, *BOTH, "-q", "-o", "golden")
    runs("verify", "verify", "golden")
    for k in range(SAMPLES):
        npy("one_ids.npy", "<i8", (1,), [k % 4])
        npy("one_x.npy", "<f4", (1, 4), [((4 * k + i) % 5) / 2 for i in range(4)])
        runs("sample %d alone" % k, "golden", *trial, "-i", "ids=one_ids.npy", "-i", "x=one_x.npy", "-f", "-o", "one")
        name = [f for f in sorted(os.listdir("one/tensors")) if f.endswith("_y.npy")][0]
        check(read(f"one/tensors/{name}") == read(f"golden/tensors/s{k:05}/{name}"), "has the bits of the data set's", name)


def widths():
    """Floats of other widths are float32: float16 is widened, float64 rounded to nearest even."""
    values = [1 / 3, 1e-46, 1 + 2**-24, 1 + 3 * 2**-24, 0.1, 1e300, -2.5, 7.0]
    near = [struct.unpack("<f", struct.pack("<f", v))[0] if abs(v) < 1e38 else math.inf for v in values]
    write("copy.assay", b"graph copy {\n input x: f32[1,4]\n y: f32[1,4] = reshape(x) {shape = [1,4]}\n output y\n}\n")
    npy("f64.npy", "<f8", (2, 4), values)
    npy("f32.npy", "<f4", (2, 4), near)
    for name in ("f64", "f32"):
        runs(f"{name} data", "golden", "copy.assay", "-d", f"{name}.npy", "-q", "-o", name)
    runs("float64 data are the float32 data", "diff", "f32", "f64", "-q")
    os.mkdir("wide")
    for k in range(2):
        os.mkdir(f"wide/s{k:05}")
        npy(f"wide/s{k:05}/y.npy", "<f8", (1, 4), values[4 * k:4 * k + 4])
    runs("float64 dumps are compared as float32", "diff", "f32", "wide")
    npy("wide/s00001/y.npy", "<f8", (1, 4), [0.1, 1e300, -2.5, 7 + 2**-20])
    runs("and differ where their float32 does", "diff", "f32", "wide", status=1)
    halves = [0.5, -1.25, 3.0, 65504.0]
    npy("f32.npy", "<f4", (1, 4), halves)
    npy("f16.npy", "<f2", (1, 4), halves)
    for name in ("f16", "f32"):
        runs(f"{name} data", "golden", "copy.assay", "-d", f"{name}.npy", "-q", "-f", "-o", name)
    runs("float16 data are the float32 data", "diff", "f32", "f16", "-q")


def twin():
    """A network of codes beside its float twin, which takes the codes' real values."""
    runs("a network of codes", "quantize", "two.assay", "-p", "two.yaml", "-s", "tflite", "--integer-io", "-o", "codes.assay")
    npy("codes.npy", "|i1", (SAMPLES, 4), [10 * (k % 5) - 128 for k in range(4 * SAMPLES)])
    result = evaluated("its float twin", "codes.assay", "-s", "tflite", "-d", "x=codes.npy", "-d", "ids=ids.npy",
                       "--labels", "ids_labels.npy", "--float", "two.assay")
    check(result["float_top1"] == 100 and result["sqnr_db"] > 30, "takes what codes stand for", result)


def refused():
    refuses("an input without a data set", "input 'x' has no data set", "profile", "two.assay", "-d", "ids=ids.npy")
    refuses("one for both", "2 inputs; a data set feeds one", "profile", "two.assay", "-d", "x.npy")
    refuses("no such input", "no input 'z'", "profile", "two.assay", *BOTH, "-d", "z=x.npy")
    refuses("an input twice", "'x' has a data set, x.npy", "profile", "two.assay", *BOTH, "-d", "x=less.npy")
    refuses("fewer samples", "5 samples, but ids.npy has 6", "profile", "two.assay", *BOTH[:2], "-d", "x=less.npy")
    refuses("the other's kind", "input 'x' takes f32", "profile", "two.assay", *BOTH[:2], "-d", "x=ids.npy")
    refuses("--raw of two", "--raw describes one data set, but there are 2", "profile", "two.assay", *BOTH, "--raw", "u8:4")


def main():
    files()
    used()
    widths()
    twin()
    refused()
    TAP.end()


with tempfile.TemporaryDirectory() as here:
    os.chdir(here)
    main()
    os.chdir("/")
