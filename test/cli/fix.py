#!/usr/bin/python3
"""fix.py ASSAY: --fix INPUT=NUMBERS on ONNX's own node tests whose shapes are inputs, against NumPy."""
import os
import shutil
import sys
import tempfile

import numpy as np

import command
from command import assay
from support import TAP, check

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from tap import skip_all  # noqa: E402

NODE = "/usr/share/libonnx-testdata/data/node"
RNG = np.random.default_rng(18)


def fixes(pairs):
    return [word for name, text in pairs for word in ("--fix", f"{name}={text}")]


def gives(test, pairs, x, want):
    np.save("x.npy", x)
    shutil.rmtree("out", ignore_errors=True)
    status, text = assay("run", f"{NODE}/{test}/model.onnx", *fixes(pairs), "-i", "x.npy", "-o", "out")
    files = [f for f in os.listdir("out") if f.endswith(".npy")] if status == 0 else []
    got = np.load(os.path.join("out", files[0])) if files else None
    check(got is not None and got.shape == want.shape and np.array_equal(got, want), f"{test} {pairs}", text)


def refused(name, pattern, *args):
    command.refused(name, pattern, "convert", *args, "-o", "no.assay")


def main():
    if not os.path.isdir(NODE):
        skip_all("ONNX's node tests are missing (apt install libonnx-testdata)")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        x = RNG.normal(size=(20, 10, 5)).astype(np.float32)
        bounds = [("starts", "0,0"), ("ends", "3,10"), ("axes", "0,1"), ("steps", "1,1")]
        gives("test_slice", bounds, x, x[0:3, 0:10])
        gives("test_slice", [("starts", "1,2"), ("ends", "19,9"), ("axes", "0,1"), ("steps", "3,2")], x, x[1:19:3, 2:9:2])
        gives("test_slice_neg_steps", [("starts", "20,10,4"), ("ends", "0,0,1"), ("axes", "0,1,2"), ("steps", "-1,-3,-2")], x,
              x[20:0:-1, 10:0:-3, 4:1:-2])
        y = RNG.normal(size=(2, 3, 4)).astype(np.float32)
        np.save("shape.npy", np.array([4, 2, 3]))
        gives("test_reshape_reordered_all_dims", [("shape", "shape.npy")], y, y.reshape(4, 2, 3))
        z = RNG.normal(size=(3, 1)).astype(np.float32)
        gives("test_expand_dim_changed", [("new_shape", "2,1,6")], z, np.broadcast_to(z, (2, 3, 6)))
        slices = f"{NODE}/test_slice/model.onnx"
        refused("a fraction for an integer", "input 'ends' is int64, which 3.5 is not", slices,
                *fixes([("starts", "0,0"), ("ends", "3.5,10")]))
        refused("too many numbers", r"3 numbers are given for input 'starts', which is \[2\]", slices, *fixes([("starts", "0,0,0")]))
        refused("no input of that name", "no input 'nope'", slices, "--fix", "nope=1")
        refused("no numbers", "takes INPUT=NUMBER", slices, "--fix", "starts")
        refused("no number", "takes INPUT=NUMBER", slices, "--fix", "starts=0,x")
        refused("a file that is missing", "none.npy", slices, "--fix", "starts=none.npy")
        with open("t.assay", "w", encoding="utf-8") as f:
            f.write("graph t { input x: f32[1]\n y: f32[1] = relu(x)\n output y }\n")
        refused("another form of network", "for ONNX models only", "t.assay", "--fix", "x=1")
        os.chdir("/")
    TAP.end()


main()
