#!/usr/bin/python3
"""cache.py ASSAY: caches of keys as codes, from step to step.

A network that hands its cache in and out (the oldest row leaves, the newest comes behind) is profiled and quantized with
its state linked. The cache must be codes of one scale: what a step reads is what the one before assigned, bit for bit, rows
move unchanged, and the first step reads the codes of 0; products are computed here again in integers of any size.
"""
import json
import os
import re
import tempfile

import numpy as np

from command import ASSAY, assay, refused
from support import TAP, check, write

SEED = int(os.environ.get("ASSAY_SEED", "0")) or int.from_bytes(os.urandom(4), "little")
RNG = np.random.default_rng(SEED)
ROWS, WIDTH, STEPS = 7, 4, 10
STATE = ["--state", "past=present"]


def network(path, shift=""):
    def const(name):
        values = ", ".join(f"{x:.6g}" for x in RNG.normal(0, 0.5, WIDTH * WIDTH))
        return f" const {name}: f32[{WIDTH},{WIDTH}] = [{values}]\n"

    row = f"f32[1,1,{WIDTH}]"
    write(path, (f"graph kv {{\n input x: f32[1,{WIDTH}]\n input past: f32[1,{ROWS},{WIDTH}]\n" + const("wk") + const("wq") +
                 f" k: f32[1,{WIDTH}] = fc(x, wk)\n q: f32[1,{WIDTH}] = fc(x, wq)\n"
                 f" k3: {row} = reshape(k) {{shape=[1,1,{WIDTH}]}}\n"
                 f" q3: f32[1,{WIDTH},1] = reshape(q) {{shape=[1,{WIDTH},1]}}\n"
                 f" all: f32[1,{ROWS + 1},{WIDTH}] = concat(past, k3) {{axis=1}}\n"
                 f" s: f32[1,{ROWS + 1},1] = matmul(all, q3)\n{shift}"
                 f" present: f32[1,{ROWS},{WIDTH}] = slice({'moved' if shift else 'all'}) "
                 f"{{begin=[0,1,0], size=[1,{ROWS},{WIDTH}]}}\n output s\n output present\n}}\n").encode())


def golden(net, scheme, *more):
    status, text = assay("golden", net, "-s", scheme, "-d", "x.npy", "--sequence", "-o", "g", "-f", "-q", "--engine", "both", *more)
    check(status == 0 and assay("verify", "g")[0] == 0, f"{net} under {scheme}: a bundle of steps that verify goes through", text)
    steps = []
    for folder in sorted(os.listdir("g/tensors")):
        files = os.listdir(f"g/tensors/{folder}")
        steps.append({re.sub(r"^\d+_(.*)\.npy$", r"\1", f): np.load(f"g/tensors/{folder}/{f}") for f in files if f.endswith(".npy")})
    return steps


def types(path):
    """Type, scale and zero point of each value."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    found = re.findall(r'^ *(?:var |input )?"?([\w/:]+)"?: (\w+)\[[^\]]*\](?: q\(([^)]*)\))?', text, re.M)
    return {name: (kind, q) for name, kind, q in found}


def coded(scheme, kind):
    out = f"{scheme}.assay"
    status, text = assay("quantize", "kv.assay", *STATE, "-p", "p.yaml", "-s", scheme, "-o", out)
    check(status == 0 and ", 0 in float" in text, f"{scheme}: nothing stays in float", text)
    t = types(out)
    cache = ["past/state", "past", "all", "present", "past/next", "k3"]
    check(all(t[v] == t["past"] for v in cache) and t["past"][0] == kind, f"{scheme}: the cache has one scale and is {kind}", t)
    steps = golden(out, scheme)
    zero = int(t["past"][1].split(",")[1])
    before = np.full((1, ROWS, WIDTH), zero)
    good = len(steps) == STEPS
    for s in steps:
        both = np.concatenate([s["read_past"], s["reshape_k3"]], axis=1)
        good &= np.array_equal(s["read_past"], before) and np.array_equal(s["concat_all"], both)
        before = s["slice_present"]
        good &= np.array_equal(before, both[:, 1:])
    check(good, f"{scheme}: a step reads what the one before assigned, the first the codes of 0", [sorted(s) for s in steps[:1]])
    return out, steps, t


def scores(steps, t):
    """s again: exact sums, and the real value within half a step and what a rounding before the last shift adds."""
    scale = {v: float(t[v][1].split(",")[0]) for v in ("all", "q3", "s")}
    zero = {v: int(t[v][1].split(",")[1]) for v in ("all", "q3", "s")}
    r = scale["all"] * scale["q3"] / scale["s"]  # a right shift by k has half of 2^-k at most before it, and 2^-k <= 2 r
    worst = 0.0
    for s in steps:
        a, b = (s[f].astype(np.int64) - zero[v] for f, v in (("concat_all", "all"), ("reshape_q3", "q3")))
        real = (a @ b) * r + zero["s"]
        worst = max(worst, np.abs(np.clip(real, -128, 127) - s["matmul_s"]).max())
    check(worst < 0.501 + r, "products of the cache are those of its codes", worst)


def sqnr(*args):
    status, text = assay("eval", "kv.assay", *STATE, "-p", "p.yaml", "-s", "tflite", "-d", "x.npy", "--sequence", "-q", "--json",
                         "j.json", *args)
    with open("j.json", encoding="utf-8") as f:
        return json.load(f)["sqnr_db"] if status == 0 else text


def one_step(net, steps):
    """A bundle of step t alone, whose network begins with the state of t - 1: the files of the whole, and verify finds them good."""
    for t in (1, STEPS - 1):
        status, text = assay("golden", net, "-s", "tflite", "-d", "x.npy", "--sequence", "--after", str(t), "--limit", str(t + 1), "-o", "one",
                             "-f", "-q")
        files = {re.sub(r"^\d+_(.*)\.npy$", r"\1", f): np.load(f"one/tensors/{f}") for f in os.listdir("one/tensors")}
        check(status == 0 and files.keys() == steps[t].keys() and all(np.array_equal(files[f], steps[t][f]) for f in files),
              f"step {t} alone", (text, sorted(files)))
        status, text = assay("verify", "one")
        check(status == 0, "which verify runs again", text)
    inputs = []
    for k, x in enumerate(np.load("x.npy")[:3]):
        np.save(f"x{k}.npy", x[None])
        inputs += ["-i", f"x{k}.npy"]
    status, text = assay("golden", net, "-s", "tflite", *inputs, "--after", "1", "-o", "two")
    check(status == 0 and sorted(os.listdir("two/tensors")) == ["s00001", "s00002"], "the steps behind the first, of --input files", text)
    refused("as many steps as there are", "from 0 to 2, not '3'", "golden", net, "-s", "tflite", *inputs, "--after", "3", "-o", "no")
    refused("no sequence", "--after is for a network with state", "golden", net, "-s", "tflite", "-d", "x.npy", "--after", "1", "-o", "no")
    write("body.assay", b"graph g {\n input x: f32[2]\n input c: bool[]\n graph yes {\n  input a: f32[2]\n  var h: f32[2] = [0,0]\n"
          b"  r: f32[2] = read(h)\n  s: f32[2] = add(a, r)\n  t: f32[2] = assign(h, s)\n  output s\n }\n"
          b" graph no {\n  input a: f32[2]\n  s: f32[2] = relu(a)\n  output s\n }\n y: f32[2] = if(c, x)\n output y\n}\n")
    np.save("v.npy", np.ones(2, np.float32))
    np.save("c.npy", np.array(True))
    twice = ["-i", "x=v.npy", "-i", "x=v.npy", "-i", "c=c.npy", "-i", "c=c.npy"]
    refused("state within a body", "a body of the network has state of its own", "golden", "body.assay", *twice, "--after", "1", "-o", "no")


def floats():
    """State that stays in float, and why."""
    for what, args, reason in (("on request", ["--keep-float", "read"], "kept in float on request"),
                               ("what is assigned is float", ["--keep-float", "k*", "--keep-float", "all", "--keep-float", "present"],
                                "some of what it keeps")):
        status, text = assay("quantize", "kv.assay", *STATE, "-p", "p.yaml", "-s", "tflite", "-o", "f.assay", *args)
        t = types("f.assay")
        check(status == 0 and reason in text and t["past/state"][0] == "f32", f"state in float: {what}", (text, t))
        golden("f.assay", "tflite")
    write("u.yaml", b"scheme: u\nextends: npu16\ntypes:\n  activation_signed: no\n")
    status, text = assay("quantize", "kv.assay", *STATE, "-p", "p.yaml", "-s", "./u.yaml", "-o", "f.assay")
    t = types("f.assay")
    check(status == 0 and "to unsigned codes" in text and t["past/state"][0] == "f32", "signs that data decide", (text, t))
    codes, reals = sqnr(), sqnr("--keep-float", "read")
    check(isinstance(codes, float) and codes > 25 and codes > reals - 3, "a cache of codes is as near to float", (codes, reals))
    shift = f" const one: f32[1] = [0.25]\n moved: f32[1,{ROWS + 1},{WIDTH}] = mul(all, one)\n"
    network("kv.assay", shift)
    assay("profile", "kv.assay", *STATE, "-d", "x.npy", "--sequence", "-o", "p.yaml", "-q")
    status, text = assay("quantize", "kv.assay", *STATE, "-p", "p.yaml", "-s", "tflite", "-o", "decay.assay")
    t = types("decay.assay")
    check(status == 0 and t["present"] == t["past"] == t["past/state"], "a cache that decays: what is assigned has its scale", (text, t))
    golden("decay.assay", "tflite")


def narrow():
    """The cache in 4 bits, what is computed from it in 8: rows in the cache stay as they are, the newest is rounded once."""
    status, text = assay("quantize", "kv.assay", *STATE, "-p", "p.yaml", "-s", "tflite", "--precision", "past*=i4", "-o", "i4.assay")
    t = types("i4.assay")
    check(status == 0 and ", 0 in float" in text, "a cache in 4 bits: nothing stays in float", text)
    check(t["past/state"] == t["past"] == t["past/next"] and t["past"][0] == "i4" and t["all"][0] == "i8", "it has one scale", t)
    (step, zero), (fine, middle) = ((float(q) for q in t[v][1].split(",")) for v in ("past", "k3"))
    steps, worst = golden("i4.assay", "tflite"), 0.0
    good = (steps[0]["read_past"] == zero).all()
    for before, after in zip(steps, steps[1:]):
        good &= np.array_equal(before["read_past"][:, 1:], after["read_past"][:, :-1])
        real = np.clip((before["reshape_k3"] - middle) * fine / step + zero, -8, 7)
        worst = max(worst, np.abs(real - after["read_past"][:, -1:]).max())
    check(good, "a step reads the rows of the one before, which stay as they are")
    check(worst < 0.501 + fine / step, "and one more, rounded to 4 bits", worst)
    wide, four = sqnr(), sqnr("--precision", "past*=i4")
    check(isinstance(four, float) and 10 < four < wide, "which costs, but not all", (wide, four))


def main():
    print(f"# ASSAY_SEED={SEED}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        network("kv.assay")
        np.save("x.npy", RNG.normal(0, 1, (STEPS, WIDTH)).astype(np.float32))
        status, text = assay("profile", "kv.assay", *STATE, "-d", "x.npy", "--sequence", "-o", "p.yaml", "-q")
        check(status == 0, "profile of a sequence", text)
        out, steps, t = coded("tflite", "i8")
        scores(steps, t)
        one_step(out, steps)
        coded("tflite-int16x8", "i16")
        status, text = assay("convert", out, "-o", "kv.tflite")
        check(status == 0, "as TFLite", text)
        back = golden("kv.tflite", "tflite")
        check(all(np.array_equal(a["matmul_s"], [v for k, v in b.items() if k.endswith("matmul_s") or k.endswith("_s")][0]) for a, b in zip(steps, back)),
              "which gives the same bits", sorted(back[0]))
        narrow()
        floats()
        os.chdir("/")
    TAP.end()


main()
