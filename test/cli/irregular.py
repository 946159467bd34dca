#!/usr/bin/env python3
"""irregular.py ASSAY DATASETS: what is no file stands where a file is wanted.

A pipe without a writer, a device, a folder and a socket, in place of every file that a command reads:
one line that names it, status 2, at once.
"""
import os
import socket
import subprocess
import sys
import tempfile

from support import TAP, check, write

ASSAY, DATA = (os.path.realpath(a) for a in sys.argv[1:3])
LIMIT = 30  # seconds: under sanitizers a refusal takes one, a pipe waits for ever


def assay(*args):
    try:
        run = subprocess.run([ASSAY, *args], capture_output=True, timeout=LIMIT, check=False, text=True,
                             stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return -1, "", "waits"
    return run.returncode, run.stdout, run.stderr


def place(kind, path):
    """Puts a thing of this kind at path."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        os.mkdir(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path)
    else:
        os.symlink("/dev/zero", path)  # a device that never ends


def external():
    """An ONNX network whose weights are in a file beside it, by hand: what protobuf writes."""
    def field(n, value):
        if isinstance(value, int):
            return bytes([n << 3, value])
        return bytes([n << 3 | 2, len(value)]) + value
    def entry(k, v):
        return field(13, field(1, k) + field(2, v))
    weights = field(1, 4) + field(2, 1) + field(8, b"w") + entry(b"location", b"w.bin") + field(14, 1)
    value = field(2, field(1, field(1, 1) + field(2, field(1, field(1, 4)))))
    node = field(1, b"x") + field(1, b"w") + field(2, b"y") + field(4, b"Add")
    graph = (field(1, node) + field(2, b"g") + field(5, weights) + field(11, field(1, b"x") + value)
             + field(12, field(1, b"y") + value))
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


def main():
    net, image = DATA + "/models/plain_cnn.onnx", DATA + "/glyphs/test/0000_A.png"
    status, _, why = assay("profile", net, "-d", DATA + "/glyphs/test", "--limit", "4", "-o", "p.yaml")
    check(status == 0, "a profile", why)
    status, _, why = assay("quantize", net, "-p", "p.yaml", "-s", "tflite", "-o", "net.assay")
    check(status == 0, "a network", why)
    status, _, why = assay("golden", "net.assay", "-s", "tflite", "-i", image, "-o", "golden")
    check(status == 0, "a bundle", why)
    write("ext.onnx", external())
    write("w.bin", bytes(16))
    status, _, why = assay("inspect", "ext.onnx")
    check(status == 0, "a network with its weights beside it", why)
    run = ["run", "net.assay", "-s", "tflite"]
    # What stands at X, and the command that reads it.
    wanted = [("x.onnx", ["inspect", "X"]), ("x.tflite", ["inspect", "X"]), ("x.assay", ["inspect", "X"]),
              ("w.bin", ["inspect", "ext.onnx"]),
              ("x.npy", run + ["-i", "X"]), ("x.png", run + ["-i", "X"]), ("x.bin", run + ["-i", "X"]),
              ("x.yaml", run + ["-i", image, "--preprocess", "X"]),
              ("x.yaml", ["run", "net.assay", "-s", "./X", "-i", image]),
              ("x.so", ["run", "net.assay", "-s", "./X", "-i", image]),
              ("x.yaml", ["scheme", "check", "./X"]), ("x.yaml", ["scheme", "diff", "tflite", "./X"]),
              ("x.yaml", ["quantize", net, "-p", "X", "-s", "tflite", "-o", "out.assay"]),
              ("x.yaml", ["quantize", net, "-p", "p.yaml", "-s", "tflite", "--target", "X", "-o", "out.assay"]),
              ("x.yaml", ["profile", "show", "X"]), ("x.yaml", ["profile", "merge", "X", "-o", "out.yaml"]),
              ("x.json", ["check-proof", "X"]), ("x.json", ["report", "X", "-o", "out.html"]), ("x.npy", ["diff", "X", "X"]),
              ("x.csv", ["eval", "net.assay", "-s", "tflite", "-d", DATA + "/glyphs/test",
                         "--labels", "X"])]
    # A folder of samples is a data set; these are names of files.
    wanted += [(name, ["eval", "net.assay", "-s", "tflite", "-d", "X"]) for name in ("x.npy", "x-images-idx3-ubyte")]
    for kind in ("pipe", "device", "folder", "socket"):
        for name, args in wanted:
            if os.path.lexists(name):
                os.rename(name, "aside")
            place(kind, name)
            status, out, why = assay(*[a.replace("X", name) for a in args])
            check(status == 2 and why.count("\n") == 1 and name in why and not out,
                  f"a {kind} in place of {name}: {' '.join(os.path.basename(a) for a in args)}",
                  (status, out, why))
            (os.rmdir if kind == "folder" else os.unlink)(name)
            if os.path.lexists("aside"):
                os.rename("aside", name)
    TAP.end()


with tempfile.TemporaryDirectory() as here:
    os.chdir(here)
    main()
    os.chdir("/")
