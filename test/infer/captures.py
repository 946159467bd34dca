#!/usr/bin/python3
"""assay infer --model NET --dumps DIR: dumps of any network, all of its tensors or some.

  captures.py ASSAY SOURCE        TAP"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from tap import Tap  # noqa: E402

ASSAY = os.path.realpath(sys.argv[1])
SOURCE = os.path.realpath(sys.argv[2])
IMAGES = os.path.join(SOURCE, "datasets", "glyphs", "test")
TAP = Tap()
check = TAP.check


def assay(*words):
    r = subprocess.run([ASSAY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return r.returncode, r.stdout, r.stderr


def infer(*words):
    status, out, err = assay("infer", *words, "--json", "said.json", "-o", "found.yaml")
    with open("said.json", encoding="utf-8") as f:
        return status, json.load(f), out + err


def dumps(scheme, model, to, keep=lambda number: True, images=("0000_A.png",)):
    """A device of a scheme: its tensors whose numbers are kept."""
    inputs = []
    for image in images:
        inputs += ["-i", os.path.join(IMAGES, image)]
    status, out, err = assay("golden", model, "-s", scheme, "--as-is", "-q", "-f", "-o", "golden", *inputs)
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree("golden/tensors", to)
    for folder, _, files in os.walk(to):
        for name in files:
            if not keep(int(name[:4])):
                os.remove(os.path.join(folder, name))
    return status == 0


def refused(name, words, *command):
    status, out, err = assay("infer", *command)
    check(status == 2 and words in err and err.count("\n") == 1, "refused: " + name, "status %d\n%s%s" % (status, out, err))


def try_whole():
    dumps("cmsis-nn", "net.assay", "d")
    status, said, text = infer("--model", "net.assay", "--dumps", "d")
    check(status == 1 and said["verdict"] == "class" and "cmsis-nn" in said["presets"] and not said["stretches"] and
          {o["op"] for o in said["ops"]} == {"quantize", "conv", "depthwise", "add", "global_avg_pool", "fc", "dequantize"},
          "every tensor: the preset is named, nothing lies between dumps", text)
    check("tflite-single" not in said["presets"] and "onnxruntime" not in said["presets"], "another arithmetic is not", said["presets"])
    as_bundle = infer("golden", "golden")[1]
    check(as_bundle["ops"] == said["ops"], "a bundle says the same op by op", json.dumps(as_bundle["ops"])[:400])
    dumps("cmsis-nn", "net.assay", "d", images=("0000_A.png", "0001_B.png"))
    status, two, text = infer("--model", "net.assay", "--dumps", "d")
    check([o["elements"] for o in two["ops"]] == [2 * o["elements"] for o in said["ops"]], "two samples have twice the elements", text)


def try_part():
    dumps("cmsis-nn", "net.assay", "d", lambda n: n in (0, 5, 6, 12, 13, 20, 26))
    status, said, text = infer("--model", "net.assay", "--dumps", "d")
    check(status == 1 and said["verdict"] == "class" and "cmsis-nn" in said["presets"] and
          "tflite-single" not in said["presets"] and len(said["stretches"]) == 4, "some tensors: the preset is named all the same", text)
    check([(o["op"], o["nodes"]) for o in said["ops"]] == [("conv", 1), ("depthwise", 1)], "what was not given to a node is not asked of it", text)
    name = next(n for n in os.listdir("d") if n.startswith("0012"))
    codes = numpy.load(os.path.join("d", name))
    codes.reshape(-1)[77] ^= 1
    numpy.save(os.path.join("d", name), codes)
    status, said, text = infer("--model", "net.assay", "--dumps", "d")
    bad = [s for s in said["stretches"] if s["contradictions"]]
    check(status == 1 and said["verdict"] == "none" and bad and
          bad[0]["given"] == bad[0]["elements"] - 1 and len(bad[0]["contradictions"]) == 1, "a wrong element behind what was not dumped: none, and it is the one", text)
    dumps("cmsis-nn", "net.assay", "d", lambda n: n == 26)
    status, said, text = infer("--model", "net.assay", "--dumps", "d", "-i", os.path.join(IMAGES, "0000_A.png"))
    check(status == 1 and "cmsis-nn" in said["presets"] and not said["ops"] and len(said["stretches"]) == 1, "the output alone, its input given", text)


def try_edited():
    with open("edited.yaml", "w", encoding="utf-8") as f:
        f.write("scheme: edited\nextends: tflite\nops: {conv: {rescale: {round: [31 half-up, floor]}}}\n")
    dumps("./edited.yaml", "net.assay", "d", lambda n: n != 4)
    status, said, text = infer("--model", "net.assay", "--dumps", "d")
    conv = next(o for o in said["ops"] if o["op"] == "conv")
    check(status == 1 and said["verdict"] == "class" and not said["presets"] and conv["changes"].get("rescale.round") == "[31 half-up, floor]" and
          all(s["as_found"] for s in said["stretches"]) and said["stretches"],
          "an edited device: what was found op by op gives all, between dumps too", text)
    with open("found.yaml", encoding="utf-8") as f:
        check("conv:" in f.read(), "found.yaml has the change under the op")


def try_bad():
    dumps("tflite", "net.assay", "d", lambda n: n > 0)
    refused("no input", "no dump of input", "--model", "net.assay", "--dumps", "d")
    refused("no dumps named", "must be given together", "--model", "net.assay")
    refused("no model named", "must be given together", "--dumps", "d")
    refused("both ways", "not both", "golden", "d", "--model", "net.assay", "--dumps", "d")
    refused("an input without a model", "--input applies to --model", "golden", "d", "-i", "x.npy")
    refused("a float network", "float", "--model", os.path.join(SOURCE, "datasets", "models", "res_dsconv.onnx"), "--dumps", "d")
    refused("no such network", "nothing.assay", "--model", "nothing.assay", "--dumps", "d")
    refused("no such folder", "nowhere", "--model", "net.assay", "--dumps", "nowhere")
    dumps("tflite", "net.assay", "d")
    name = next(n for n in os.listdir("d") if n.startswith("0005"))
    codes = numpy.load(os.path.join("d", name))
    numpy.save(os.path.join("d", name), codes[:, :-1])
    refused("too few codes", "tensor", "--model", "net.assay", "--dumps", "d")
    numpy.save(os.path.join("d", name), codes.astype(numpy.int16))
    refused("wider codes", "tensor", "--model", "net.assay", "--dumps", "d")
    check(not [n for n in os.listdir(os.environ["TMPDIR"]) if n.startswith("assay-infer")], "no folder is left behind", os.listdir(os.environ["TMPDIR"]))


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    os.environ["TMPDIR"] = work
    try:
        network = os.path.join(SOURCE, "datasets", "models", "res_dsconv.onnx")
        assay("profile", network, "--dataset", os.path.join(SOURCE, "datasets", "glyphs", "calibration"), "-n", "32", "-q", "-o", "profile.yaml")
        assay("quantize", network, "--profile", "profile.yaml", "--scheme", "tflite", "-o", "net.assay")
        try_whole()
        try_part()
        try_edited()
        try_bad()
    finally:
        shutil.rmtree(work)
    TAP.end()


main()
