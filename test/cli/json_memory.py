#!/usr/bin/env python3
"""json_memory.py ASSAY JSON_FAULTS: JSON that a command writes or compares is whole, or the command says that
memory is short (exit status 2) and leaves nothing.

Every allocation of jansson's fails in turn, for golden; one of nine, for the others (which, goes round by command).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from support import TAP, check, npy, read, write

ASSAY = os.path.realpath(sys.argv[1])
FAULTS = os.path.realpath(sys.argv[2])
ENV = dict(os.environ, LD_PRELOAD=FAULTS, ASSAY_JSON_COUNT="count",
           ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0")


def assay(*args, fault=0):
    run = subprocess.run([ASSAY, *args], capture_output=True, timeout=120, check=False,
                         env=dict(ENV, ASSAY_JSON_FAULT=str(fault)))
    return run.returncode, run.stderr.decode(errors="replace")


def prepare():
    write("f.assay", b"graph f {\n input x: f32[1,4]\n"
          b" const w: f32[3,4] = [0.5,-0.25,1,2,0.125,0.75,-1,1,0.5,0.5,0.25,-2]\n const b: f32[3] = [0.5,-0.5,0.25]\n"
          b" y: f32[1,3] = fc(x, w, b)\n z: f32[1,3] = relu(y)\n output z\n}\n")
    npy("d.npy", "<f4", (8, 4), [(i * 7 % 13 - 6) / 3 for i in range(32)])
    assay("profile", "f.assay", "-d", "d.npy", "-q", "-o", "p.yaml")
    assay("quantize", "f.assay", "-p", "p.yaml", "-s", "tflite", "-o", "q.assay")
    for scheme in ("tflite", "tflite-single"):
        assay("golden", "q.assay", "-s", scheme, "-d", "d.npy", "-n", "2", "-o", scheme,
              *(("--as-is",) if scheme != "tflite" else ()))
    shutil.copytree("tflite", "device")
    shutil.rmtree("device/constants")
    os.remove("device/manifest.json")
    for folder, _, files in os.walk("device/tensors"):
        for f in files:
            if "fc" in f:
                data = bytearray(read(os.path.join(folder, f)))
                data[-1] ^= 4
                write(os.path.join(folder, f), data)
    write("device/stranger.npy", read("d.npy"))


def content(path):
    """What a command left at a path, by name; None for nothing."""
    if os.path.isfile(path):
        return read(path)
    return {os.path.relpath(os.path.join(folder, f), path): read(os.path.join(folder, f))
            for folder, _, files in os.walk(path) for f in files} or None


def clear(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def short(name, status, every, *command, skip=0):
    """A command, whose file or folder to write is "out", at one in every so many allocations behind the first few."""
    clear("out")
    found, text = assay(*command)
    whole, allocations = content("out"), int(read("count"))
    check(found == status and (whole is not None) == ("out" in command) and allocations > skip,
          f"{name}: exit status {status}, {allocations} allocations, from {skip} on", (found, text))
    bad, refused = [], 0
    for n in range(skip + 1 + TAP.n % every, allocations + 1, every):
        clear("out")
        found, text = assay(*command, fault=n)
        if found == status:
            good = content("out") == whole
        else:
            refused += 1
            good = found == 2 and text.count("\n") == 1 and "out of memory" in text and content("out") is None
        if not good or any(".partial" in f for f in os.listdir(".")):
            bad.append((n, found, text))
    check(not bad and refused > 0, f"{name}: whole, or out of memory and nothing ({refused} times)", bad[:3])
    clear("out")


def reading(bundle):
    """Allocations that a bundle's manifest takes to read. jansson's reader (2.14) itself leaves out characters for
    want of memory, or ends the program."""
    assay("explain", bundle, "nobody[0]")
    return int(read("count"))


def reads(name, malformed, every, *command):
    """A command that reads JSON, at one in every so many of jansson's allocations: what has no memory is not called malformed. (Its
    reader, 2.14, leaves out characters of long words, or ends the program.)"""
    assay(*command)
    allocations, bad, refused = int(read("count")), [], 0
    tried = range(1, allocations + 1, every)
    for n in tried:
        found, text = assay(*command, fault=n)
        refused += found == 2 and "out of memory" in text
        if re.search(malformed, text):
            bad.append((n, found, text))
    check(not bad and refused > len(tried) / 2,
          f"{name}: {refused} of {len(tried)} times out of memory, never malformed", bad[:3])


def main():
    prepare()
    golden = ("golden", "q.assay", "-s", "tflite", "-d", "d.npy", "-n", "2", "-q", "-o", "out")
    one, two = reading("tflite"), reading("tflite-single")
    measured = ("f.assay", "-p", "p.yaml", "-s", "tflite", "-d", "d.npy", "-q", "--json", "out")
    short("golden", 0, 1, *golden)
    short("golden --format hex --accumulators", 0, 9, *golden, "--format", "hex", "--accumulators")
    short("golden --digests-only", 0, 9, *golden, "--digests-only")
    short("verify", 0, 31, "verify", "tflite", skip=one)
    short("diff of bundles", 0, 9, "diff", "tflite", "tflite-single", "-q", "--json", "out", skip=one + two)
    short("diff with dumps", 1, 9, "diff", "tflite", "device", "-q", "--json", "out", skip=one)
    short("blame", 1, 9, "blame", "tflite", "device", "-q", "--json", "out", skip=one)
    short("explain", 0, 9, "explain", "tflite", "device", "y[0,2]", "--json", "out", skip=one)
    short("report", 0, 9, "report", "tflite", "-o", "out", skip=one)
    short("eval", 0, 9, "eval", *measured)
    short("inspect", 0, 9, "inspect", "q.assay", "--json", "out")
    short("quantize", 0, 9, "quantize", "f.assay", "-p", "p.yaml", "-s", "tflite", "--json", "out")
    short("profile show", 0, 9, "profile", "show", "p.yaml", "--json", "out")
    short("sensitivity", 0, 9, "sensitivity", *measured)
    short("optimize", 0, 9, "optimize", "q.assay", "-s", "tflite", "--prove-to", "out")
    short("scheme diff", 1, 9, "scheme", "diff", "tflite", "tflite-single", "--scale", "0.01", "--acc", "0:99", "--model", "q.assay", "--json", "out")
    short("scheme show", 0, 9, "scheme", "show", "tflite", "--json", "out")
    short("scheme try", 0, 1, "scheme", "try", "tflite", "--acc", "5", "--scale", "0.5", "--json", "out")
    short("scheme list --units", 0, 9, "scheme", "list", "--units", "--json", "out")
    reads("a manifest", r"manifest\.json:-?[0-9]", 7, "explain", "tflite", "nobody[0]")
    assay("optimize", "q.assay", "-s", "tflite", "--prove-to", "proof")
    reads("a certificate", "-?[0-9]+: not a certificate", 1, "check-proof", "proof")
    TAP.end()


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    main()
