#!/usr/bin/python3
"""assay probe and assay infer DIR OUTPUTS: devices that are known are found again, faults are none, bad answers are said.

  probes.py ASSAY PLUGIN        TAP; PLUGIN: a scheme's shared object

Two kinds of devices: presets and edited presets, run by `assay golden` on the probes' own networks (which tries the search, not
the arithmetic), and two that share no code with it, written here from their formulas: a doubling multiplier as gemmlowp's
(MultiplyByQuantizedMultiplier) and one float32 scale rounded half to even (fbgemm, XNNPACK)."""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from tap import Tap  # noqa: E402

ASSAY, PLUGIN = (os.path.realpath(path) for path in sys.argv[1:])
TAP = Tap()
check = TAP.check


def assay(*words):
    r = subprocess.run([ASSAY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return r.returncode, r.stdout, r.stderr


def networks(probes):
    with open(os.path.join(probes, "probe.json"), encoding="utf-8") as f:
        return json.load(f)["networks"]


def golden(network, probes, scheme, file, to):
    """The bundle of a probe under a scheme; None: the scheme refuses it."""
    words = []
    for value in network["inputs"]:
        words += ["--input", "%s=%s" % (value["name"], os.path.join(probes, value["file"]))]
    status = assay("golden", file, "-s", scheme, "--as-is", "-q", "-o", to, *words)[0]
    return to if status == 0 else None


def dump(bundle, network, to):
    os.makedirs(to)
    wanted = {v["name"] for v in network["outputs"]}
    with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as f:
        for t in json.load(f)["tensors"]:
            if t["name"] in wanted:
                shutil.copy(os.path.join(bundle, t["file"]), os.path.join(to, t["name"] + ".npy"))


def device_of(scheme, probes, outputs, form="assay"):
    """A device of that scheme; returns the ops that it takes."""
    shutil.rmtree(outputs, ignore_errors=True)
    taken = []
    for network in networks(probes):
        op = network["op"]
        bundle = golden(network, probes, scheme, os.path.join(probes, op, op + "." + form), "bundle")
        if bundle:
            dump(bundle, network, os.path.join(outputs, op))
            shutil.rmtree(bundle)
            taken.append(op)
    return taken


def infer(probes, outputs, *more):
    status, out, err = assay("infer", probes, outputs, "-o", "found.yaml", "--json", "found.json", *more)
    with open("found.json", encoding="utf-8") as f:
        return status, json.load(f), out + err


def gives(scheme, probes, outputs):
    """Whether a scheme file gives all the answers: by `assay diff` on each network."""
    for network in networks(probes):
        op = network["op"]
        if not os.path.isdir(os.path.join(outputs, op)):
            continue
        bundle = golden(network, probes, scheme, os.path.join(probes, op, op + ".assay"), "again")
        same = bundle and assay("diff", bundle, os.path.join(outputs, op))[0] == 0
        shutil.rmtree("again", ignore_errors=True)
        if not same:
            return False
    return True


def try_preset(name, probes, at_least):
    taken = device_of(name, probes, "out")
    status, found, said = infer(probes, "out")
    ops = {o["op"]: o for o in found["ops"]}
    check(status == 1 and found["verdict"] == "class" and name in found["presets"] and len(taken) >= at_least and set(ops) == set(taken),
          "%s: found among those that agree, of %d ops" % (name, len(taken)), said)
    if len(taken) < 10:
        check(gives("found.yaml", probes, "out"), "%s: the scheme found gives its answers" % name, open("found.yaml").read())


EDITED = """scheme: edited
extends: %s
%s
"""


def try_edited(what, base, text, op, probes, wanted):
    with open("edited.yaml", "w", encoding="utf-8") as f:
        f.write(EDITED % (base, text))
    device_of("./edited.yaml", probes, "out")
    status, found, said = infer(probes, "out")
    o = next(o for o in found["ops"] if o["op"] == op)
    check(status == 1 and o["verdict"] == "class" and not o["presets"] and o["given"] == o["elements"],
          "%s: no scheme that is shipped has it, one with a change does" % what, said)
    if wanted:
        values = [o["changes"].get(wanted[0])] + o["open"].get(wanted[0], [])
        check(wanted[1] in values, "%s: %s is %s or may be" % (what, *wanted), json.dumps(o, indent=1))
    check(gives("./found.yaml", probes, "out"), "%s: the scheme found gives its answers" % what, open("found.yaml").read())


# ---- devices of their own ----

def doubling(acc, ratio):
    """gemmlowp: ratio as a Q31 multiplier and a shift; twice the product's high word, then a rounding shift."""
    fraction, exponent = math.frexp(ratio)
    multiplier = int(math.floor(fraction * (1 << 31) + 0.5))
    if multiplier == 1 << 31:
        multiplier, exponent = multiplier // 2, exponent + 1
    left, right = max(exponent, 0), max(-exponent, 0)
    product = (acc << left) * multiplier
    nudge = 1 << 30 if product >= 0 else 1 - (1 << 30)
    high = abs(product + nudge) >> 31
    high = high if product + nudge >= 0 else -high
    mask = (1 << right) - 1
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0))


def single(acc, ratio):
    """One float32 product, rounded half to even."""
    return int(numpy.rint(numpy.float32(acc) * numpy.float32(ratio)))


def convolutions(probes, rescale, formation, outputs):
    """Every convolution of one cell (`rescales*`) of the conv probe, by a rescale; R formed by `formation`."""
    base = os.path.join(probes, "conv")
    with open(os.path.join(base, "golden", "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    constants = {c["name"]: c for c in manifest["constants"]}
    tensors = {t["name"]: t for t in manifest["tensors"]}
    os.makedirs(os.path.join(outputs, "conv"))
    x = numpy.load(os.path.join(base, "inputs", "x.npy")).astype(object).reshape(16, 2) - tensors["x"]["zero_point"]
    for i in range(5):
        t = tensors["rescales%d" % i]
        w, b = (constants[n + str(i)] for n in ("weights", "bias"))
        weights = numpy.load(os.path.join(base, "golden", w["file"])).astype(object).reshape(-1, 2)
        bias = numpy.load(os.path.join(base, "golden", b["file"]))
        scale = numpy.broadcast_to(numpy.float32(w["scale"]), (len(bias),))
        out = numpy.empty((16, len(bias)), dtype=numpy.int8)
        for c in range(len(bias)):
            ratio = formation(numpy.float32(tensors["x"]["scale"]), scale[c], numpy.float32(t["scale"]))
            for k in range(16):
                acc = int(bias[c]) + int(x[k] @ weights[c])
                out[k, c] = min(127, max(-128, rescale(acc, ratio) + t["zero_point"]))
        numpy.save(os.path.join(outputs, "conv", "rescales%d.npy" % i), out.reshape(1, 4, 4, -1))


def try_own():
    assay("probe", "-o", "conv", "--op", "conv")
    for name, rescale, formation, wanted, not_wanted in [
        ("doubling multiplier", doubling, lambda i, w, o: float(i) * float(w) / float(o), "tflite", "tflite-single"),
        ("float32 scale", single, lambda i, w, o: numpy.float32(numpy.float32(i * w) / o), "xnnpack-qs8", "onnx-ref"),
    ]:
        shutil.rmtree("own", ignore_errors=True)
        convolutions("conv", rescale, formation, "own")
        status, found, said = infer("conv", "own")
        presets = found["ops"][0]["presets"]
        check(status == 1 and wanted in presets and not_wanted not in presets, "%s of its own: %s, not %s" % (name, wanted, not_wanted), said)


# ---- what is no record ----

def try_faults(probes):
    device_of("tflite", probes, "out")
    path = os.path.join("out", "add", "add1.npy")
    good = numpy.load(path)
    numpy.save(path, good | 4)
    status, found, said = infer(probes, "out")
    o = next(o for o in found["ops"] if o["op"] == "add")
    check(status == 1 and found["verdict"] == "none" and o["verdict"] == "none" and o["contradictions"] and "add1[" in o["contradictions"][0],
          "a stuck bit: none, with elements that contradict", said)
    check(all(p["verdict"] == "class" for p in found["ops"] if p["op"] != "add"), "the other ops are found all the same", said)
    bad = good.copy()
    bad.reshape(-1)[4711] += 1
    numpy.save(path, bad)
    status, found, said = infer(probes, "out")
    o = next(o for o in found["ops"] if o["op"] == "add")
    check(o["verdict"] == "none" and len(o["contradictions"]) == 1 and
          "add1[%d,%d]" % divmod(4711, good.shape[1]) in o["contradictions"][0], "one element: none, and it is the one", said)
    numpy.save(path, good[:, :-1])
    check_refused("too few codes", "add1", "infer", probes, "out")
    numpy.save(path, good.astype(numpy.float32))
    check_refused("floats for codes", "add1", "infer", probes, "out")
    os.makedirs("empty", exist_ok=True)
    check_refused("no answers", "no answers", "infer", probes, "empty")
    check_refused("no folder of answers", "nowhere", "infer", probes, "nowhere")
    check_refused("answers to nothing", "neither probes nor a bundle", "infer", "empty", "out")
    check_refused("which outputs", "OUTPUTS is missing", "infer", probes)
    check_refused("rows and answers", "--kind is for", "infer", probes, "out", "--kind", "multiplier")
    check_refused("among nothing", "--among", "infer", probes, "out", "--among", ",")
    check_refused("among an unknown scheme", "nobody", "infer", probes, "out", "--among", "tflite,nobody")
    check_refused("among a plugin", "has no record", "infer", probes, "out", "--among", PLUGIN)


def try_among():
    """Schemes that probes are written with are those that answers are held against, and those of the next probe."""
    probes = "chosen"
    status, _, said = assay("probe", "-o", probes, "--op", "mul", "--among", "tosa-double,tosa-single")
    device_of("tosa-double", probes, "out")
    status, found, said = infer(probes, "out", "--next", "chosen-next")
    check(status == 1 and "tosa-double" in found["presets"] and set(found["presets"]) <= {"tosa-double", "tosa-single"}, "among two schemes, as the probes say", said)
    if os.path.exists("chosen-next"):
        with open("chosen-next/probe.json", encoding="utf-8") as f:
            check(json.load(f)["among"] == "tosa-double,tosa-single", "the next probe is among them, too")
    status, found, said = infer(probes, "out", "--among", "all")
    check(status == 1 and len(found["presets"]) > 2, "among all, whatever the probes say", said)
    os.mkdir(os.path.join("out", "add"))
    assay("probe", "-o", "pair", "--op", "add,mul", "--among", "tosa-double,tosa-single")
    status, found, said = infer("pair", "out")
    check(status == 1 and found["not_answered"] == ["add"] and "tosa-double" in found["presets"], "an op whose folder is empty is not answered", said)
    check_refused("probes among an unknown scheme", "nobody", "probe", "-o", "none", "--op", "mul", "--among", "tflite,nobody")


def try_next_of_two():
    """What is asked of one op does not hang on what was asked of another: each network counts its own nodes."""
    probes = "both0"
    assay("probe", "-o", probes, "--op", "add,mul")
    for i in range(1, 4):
        device_of("ruy", probes, "out")
        status, _, said = infer(probes, "out", "--next", "both%d" % i)
        check(status == 1 and "next:" in said, "next of two ops, %d" % i, said)
        if not os.path.exists("both%d" % i):
            break
        probes = "both%d" % i


def try_next():
    """The next probe is smaller, is answered as the first was, and leaves less; when it cannot, it says so."""
    assay("probe", "-o", "next0", "--op", "tanh")
    probes, left = "next0", None
    for i in range(1, 5):
        device_of("ruy", probes, "out")
        other = "next%d" % i
        status, found, said = infer(probes, "out", "--next", other)
        ops = {o["op"]: o for o in found["ops"]}
        check(status == 1 and found["verdict"] == "class" and set(ops) == {"tanh"}, "next, %d: all that was answered is gone by" % i, said)
        check("ruy" in ops["tanh"]["presets"], "next, %d: what is so is never left out" % i, said)
        now = sum(len(values) for o in found["ops"] for values in o["open"].values())
        if not os.path.exists(other):
            check("nothing is asked" in said and "networks tried distinguishes" in said, "next, %d: nothing parts what is left" % i, said)
            break
        asked = sum(v["shape"][0] for n in networks(other) for v in n["outputs"])
        check(0 < asked and all(n["op"] in ops for n in networks(other)), "next, %d: it asks" % i, said)
        left, probes = left or now, other
    check(left is not None and now < left, "next: less is open in the end", "%s, then %s" % (left, now))
    check_refused("a next probe that is there", "exists", "infer", probes, "out", "--next", "empty")
    check_refused("a next probe of a bundle", "a next probe is made from a first one", "infer", "next0/tanh/golden", "next0/tanh/golden", "--next", "x")
    os.mkdir("pipe")
    os.mkfifo("pipe/probe.json")
    check_refused("a next probe of a pipe", "a next probe is made from a first one", "infer", "pipe", "pipe", "--next", "x")
    check_refused("a next probe of rows", "--next is for", "infer", "--oracle", "true", "--kind", "multiplier", "--type", "i8", "--next", "x")


def check_refused(name, words, *command):
    status, out, err = assay(*command)
    check(status == 2 and not out and words in err and err.count("\n") == 1, "refused: " + name, "status %d\n%s%s" % (status, out, err))


def try_writing():
    check_refused("a folder that is there", "exists", "probe", "-o", "empty")
    check_refused("the same beside JSON", "exists", "probe", "-o", "empty", "--json", "-")
    check_refused("no folder", "--output", "probe")
    check_refused("unknown types", "s8s8, u8s8, u8u8, s16s8", "probe", "-o", "x", "--types", "s4s4")
    check_refused("an unknown op", "there are conv", "probe", "-o", "x", "--op", "conv,convolution")
    check_refused("an unknown form", "--format", "probe", "-o", "x", "--format", "onnx,pb")
    check(not os.path.exists("x") and not [n for n in os.listdir(".") if "partial" in n], "nothing is left of what was refused", os.listdir("."))
    sizes = []
    for types in ("s8s8", "u8s8", "u8u8", "s16s8"):
        status, out, err = assay("probe", "-o", types, "--types", types)
        check(status == 0 and len(networks(types)) == (23 if types == "s16s8" else 29), "%s: all networks are written" % types, out + err)
        for network in networks(types):
            folder = os.path.join(types, network["op"])
            sizes += [os.path.getsize(os.path.join(folder, n)) for n in os.listdir(folder) if n.startswith(network["op"])]
            missing = {"ONNX": "onnx", "TFLite": "tflite"}
            for form, ending in missing.items():
                there = os.path.exists(os.path.join(folder, network["op"] + "." + ending))
                if there == (form in network["not_in"]):
                    check(False, "%s/%s: %s is there or said not to be" % (types, network["op"], ending))
    check(max(sizes) < 4 << 20, "every network is below 4 MB", max(sizes))
    assay("probe", "-o", "again1", "--op", "conv,add", "--seed", "7")
    assay("probe", "-o", "again2", "--op", "conv,add", "--seed", "7")
    same = subprocess.run(["diff", "-r", "again1", "again2"], stdout=subprocess.PIPE).returncode == 0
    check(same, "one seed, the same bytes")


def try_forms():
    """What is exported asks the same: run from .tflite and .onnx it gives what the text form gives."""
    for form, scheme, types in (("tflite", "tflite", "s8s8"), ("onnx", "onnxruntime", "few-u8")):
        device_of(scheme, types, "out")
        shutil.move("out", "plain")
        taken = device_of(scheme, types, "out", form)
        same = [op for op in taken if subprocess.run(["diff", "-r", "plain/" + op, "out/" + op], stdout=subprocess.PIPE).returncode == 0]
        shutil.rmtree("plain")
        check(same == taken and len(taken) >= 7, "%s: %d networks give what the text form gives" % (form, len(taken)), set(taken) - set(same))


def try_floats():
    """A device that leaves a network's op in floats, as the preset says: it is that, and the op is no contradiction."""
    assay("probe", "-o", "floats", "--op", "conv,conv_transpose", "--types", "u8s8")
    device_of("onnxruntime", "floats", "out", "onnx")
    status, found, said = infer("floats", "out")
    verdicts = {o["op"]: o["verdict"] for o in found["ops"]}
    check(status == 1 and "onnxruntime" in found["presets"] and found["verdict"] == "class" and verdicts == {"conv": "class", "conv_transpose": "float"},
          "an op in floats beside one in integers", said)


def try_bundle():
    """Any golden bundle and its dumps."""
    device_of("tosa-double", "s8s8", "out")
    status, found, said = infer("s8s8/softmax/golden", "s8s8/softmax/golden")
    check(status == 1 and "tflite" in found["presets"], "a bundle against itself", said)
    os.makedirs("a \"folder\"", exist_ok=True)
    with open("a \"folder\"/own.yaml", "w", encoding="utf-8") as f:
        f.write("scheme: own\nextends: tosa-double\n")
    status, found, said = infer("s8s8/fc/golden", "out/fc", "--among", "a \"folder\"/own.yaml")
    shutil.copy("found.yaml", "a \"folder\"/found.yaml")
    status, out, err = assay("scheme", "diff", "a \"folder\"/found.yaml", "tosa-double")
    check(status == 0, "among a file: what was found stands wherever it is read from", out + err + open("found.yaml").read())
    status, found, said = infer("s8s8/fc/golden", "out/fc", "--among", "tosa-double,tosa-single,npu16")
    check(status == 1 and found["presets"] == ["tosa-double"], "a bundle's dumps, among three schemes", said)


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    try:
        os.makedirs("empty")
        try_writing()
        try_own()
        try_among()
        few = "conv,fc,matmul,avg_pool,rescale,leaky_relu,quantize"
        assay("probe", "-o", "few", "--op", few)
        assay("probe", "-o", "few-u8", "--op", few, "--types", "u8s8")
        for name, types, least in (("tflite", "s8s8", 29), ("onnxruntime", "few-u8", 7), ("tosa-single", "few", 4), ("xnnpack-qs8", "few", 7),
                                   ("npu16", "few", 4)):
            try_preset(name, types, least)
        assay("probe", "-o", "two", "--op", "conv,add")
        try_edited("an accumulator of 19 bits that saturates", "tflite", "accumulator: {bits: 19, overflow: saturate-each-step}", "conv", "two", ("accumulator.bits", "19"))
        try_edited("another shift of ADD", "tflite", "add: {bits: 18}", "add", "two", ("add.bits", "18"))
        try_edited("another rounding", "tflite-single", "rescale: {round: [half-zero]}", "conv", "two", ("rescale.round", "[half-zero]"))
        try_edited("a multiplier of 12 bits", "npu16", "rescale: {multiplier_bits: 12}", "conv", "two", ("rescale.multiplier_bits", "12"))
        assay("probe", "-o", "three", "--op", "conv,add,quantize")
        try_faults("three")
        try_next()
        try_next_of_two()
        try_forms()
        try_floats()
        try_bundle()
    finally:
        shutil.rmtree(work)
    TAP.end()


main()
