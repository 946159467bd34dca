#!/usr/bin/env python3
"""manifest.py ASSAY SOURCE: the keys of interp/golden/manifest.def against manifests that are written.

Bundles of every kind that has keys of its own: each key in them is listed, of the kind that is said, and there
always where that is said; each key that is listed is in one of them. A node's parameters are those that units list.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ASSAY, SOURCE = (os.path.realpath(a) for a in sys.argv[1:3])
sys.path[:0] = [os.path.join(SOURCE, "interp/howto"), os.path.join(SOURCE, "test/cli")]
import pages  # noqa: E402
from support import TAP, check, npy, write  # noqa: E402

pages.SOURCE = SOURCE
LINES = pages.manifest_list()
KEYS = {}
for macro, a in LINES:
    if macro == "KEY":
        KEYS.setdefault(a[0], {})[a[1]] = a[2:4]
PARAMETERS = {a[0] for macro, a in LINES if macro == "PARAMETER"}
SUFFIXES = [a[0] for macro, a in LINES if macro == "SUFFIX"]
HELD = {"TEXT": str, "NUMBER": int, "NUMBERS": (int, float, list), "ARRAY": (int, float, list, dict), "TRUE": bool, "LIST": list, "OBJECT": dict, "DIGEST": str}

CONV = """graph conv {
  input x: i8[1,4,4,2] q(0.5,3)
  const w: i8[2,3,3,2] q(axis=0,[0.01,0.02],[0,0]) = [%s]
  const b: i32[2] q(axis=0,[0.005,0.01],[0,0]) = [7,-9]
  c: i8[1,4,4,2] q(0.1,-4) = conv(x, w, b) {layout=nhwc, kernel=[3,3], stride=[1,1], dilation=[1,1], pad_begin=[1,1], pad_end=[1,1]}
  y: i8[1,4,4,2] q(0.1,-4) = add(c, c)
  output y
}
""" % ",".join(str(i % 17 - 8) for i in range(36))
BLOCKS = """graph blocks {
  input x: i8[1,64] q(0.5,0)
  const w: i8[2,64] q(axis=1,block=32,[0.5,0.25,0.125,1],[0,0,0,0]) = [%s]
  y: i8[1,2] q(4,0) = fc(x, w)
  output y
}
""" % ",".join(str(i % 17 - 8) for i in range(128))
MANY = """graph many {
  input x: i8[1,64] q(0.5,0)
  const w: i8[130,64] q(axis=1,block=16,[%s],[%s]) = [%s]
  y: i8[1,130] q(4,0) = fc(x, w)
  output y
}
"""


def many(zero):
    """Weights of 520 blocks, with zero points of which `zero` is every 7th."""
    return (MANY % (",".join(str(0.5 ** (i % 5)) for i in range(520)), ",".join(str(zero if i % 7 == 3 else 0) for i in range(520)),
                    ",".join(str(i % 17 - 8) for i in range(130 * 64)))).encode()


# As many codes as are packed.
WIDE = """graph wide {
  input x: i8[1,256] q(0.5,0)
  const w: u4[256,256] q(0.25,0) = [%s]
  y: i8[1,256] q(64,0) = fc(x, w)
  output y
}
""" % ",".join(str(i * i % 16) for i in range(65536))

OF_CONSTANTS = """graph of_constants {
  input x: f32[1,256]
  const w: u4[256,256] q(0.25,0) = [%s]
  r: f32[256,256] = dequantize(w)
  y: f32[1,256] = fc(x, r)
  output y
}
""" % ",".join(str(i * i % 16) for i in range(65536))

SMALL = """graph small {
  input x: f8e4m3fn[2,4]
  input s: f32[2,1]
  const w: f8e4m3fn[2,4] = [1,2,3,4,5,6,7,8]
  y: f32[2,4] = float_decode(x, s) {block=[1,4]}
  z: f32[2,4] = float_decode(w, s) {block=[1,4]}
  o: f32[2,4] = add(y, z)
  output o
}
"""
FLOATS = """graph floats {
  input x: f32[1,4]
  const w: f32[3,4] = [1,2,3,4,-1,-2,-3,-4,0.5,1,2,4]
  y: f32[1,3] = fc(x, w)
  output y
}
"""
with open(os.path.join(SOURCE, "test/cli/total.assay"), encoding="utf-8") as net:
    STATE = net.read()
CHANNELS = """graph channels {
  input x: f32[1,2]
  q: i8[1,2] q(axis=1,[0.5,0.25],[0,0]) = quantize(x)
  y: f32[1,2] = dequantize(q)
  output y
}
"""


def assay(*args):
    return subprocess.run([ASSAY, *args], capture_output=True, timeout=60, check=False, text=True)


def bundle(name, *args):
    """The manifest of a bundle that is written with these arguments."""
    run = assay("golden", *args, "-q", "-o", name)
    check(run.returncode == 0, f"a bundle: {name}", run.stdout + run.stderr)
    with open(f"{name}/manifest.json", encoding="utf-8") as f:
        return json.load(f)


def bundles():
    for name, text in (("conv", CONV), ("blocks", BLOCKS), ("floats", FLOATS), ("small", SMALL), ("total", STATE), ("channels", CHANNELS), ("wide", WIDE),
                       ("of-constants", OF_CONSTANTS)):
        write(name + ".assay", text.encode())
    write("many.assay", many(0))
    write("zeros.assay", many(2))
    for name, size in (("x32.bin", 32), ("y32.bin", 32), ("x64.bin", 64), ("x256.bin", 256), ("x2.bin", 2), ("x8.bin", 8)):
        write(name, bytes(range(size)))
    write("x1024.bin", bytes(1024))
    npy("x.npy", "<f4", (2, 4), range(8))
    npy("pixels.npy", "|u1", (2, 4), range(8))
    write("scale.yaml", b"scale: 0.25\n")
    check(assay("convert", "total.assay", "-o", "total.tflite").returncode == 0, "a TFLite model")
    check(assay("profile", "floats.assay", "-d", "x.npy", "-q", "-o", "p.yaml").returncode == 0, "a profile")
    write("by-block.yaml", b"scheme: by-block\nextends: tflite\nblocks: {kind: multiplier, size: 32}\n")
    return [bundle("all", "conv.assay", "-s", "tflite", "-i", "x32.bin", "-i", "y32.bin", "--accumulators", "--format",
                   "npy,raw,hex,c", "--hex-bits", "16"),
            bundle("digests", "conv.assay", "-s", "tflite", "-i", "x32.bin", "--accumulators", "--digests-only"),
            bundle("float", "floats.assay", "-d", "pixels.npy", "--preprocess", "scale.yaml"),
            bundle("quantized", "floats.assay", "-p", "p.yaml", "-s", "tflite", "-d", "x.npy"),
            bundle("sequence", "total.tflite", "-s", "tflite", "-i", "x2.bin", "-i", "x2.bin"),
            bundle("outside", "conv.assay", "-s", "npu16", "--as-is", "-i", "x32.bin"),
            bundle("by-block", "blocks.assay", "-s", "./by-block.yaml", "--as-is", "-i", "x64.bin"),
            bundle("many-blocks", "many.assay", "-s", "./by-block.yaml", "--as-is", "-i", "x64.bin", "--format", "npy,hex"),
            bundle("zeros", "zeros.assay", "-s", "./by-block.yaml", "--as-is", "-i", "x64.bin"),
            bundle("wide", "wide.assay", "-s", "tflite", "--as-is", "-i", "x256.bin"),
            bundle("of-constants", "of-constants.assay", "-s", "tflite", "-i", "x1024.bin"),
            bundle("small", "small.assay", "-s", "hopper-fp8", "-i", "x8.bin", "-i", "x8.bin"),
            bundle("by-channel", "channels.assay", "-s", "onnxruntime", "--as-is", "-i", "x8.bin")]


def objects(m):
    """(what it is, the object) of all objects of a manifest that KEYs describe."""
    yield "manifest", m
    for name in ("model", "scheme", "contract", "graph"):
        if m.get(name):
            yield name, m[name]
    for name in ("input", "node", "constant", "tensor"):
        for o in m[name + "s"]:
            yield name, o
            if "accumulators" in o:
                yield "accumulators", o["accumulators"]
            for value in [o.get("scale"), o.get("zero_point"), *o.get("parameters", {}).values()]:
                if isinstance(value, dict):
                    yield "array", value


def faults_of(name, o):
    """What of an object is not as it is listed."""
    listed = KEYS[name]
    for key, value in o.items():
        if key not in listed:
            yield f"{name}: {key} is not listed"
        elif value is None:
            if "null" not in listed[key][1]:
                yield f"{name}: {key} is null"
        elif not isinstance(value, HELD[listed[key][0]]) or (listed[key][0] == "DIGEST" and not re.fullmatch("[0-9a-f]{32}", value)):
            yield f"{name}: {key} is no {listed[key][0]}: {value!r}"
    for key, (_, when) in listed.items():
        if when == "ALWAYS" and key not in o and not (name == "graph" and not o):
            yield f"{name}: {key} is missing"


def parameter_of(name):
    """The listed parameter and suffix that a name is made of, or None."""
    if name in PARAMETERS:
        return name
    for suffix in SUFFIXES:
        ending = re.escape(suffix).replace("N", r"\d+") + "$"
        if re.search(ending, name) and re.sub(ending, "", name) in PARAMETERS:
            return name
    return None


def units_list():
    """The names in the sources of all that units list."""
    text = ""
    for path in glob.glob(SOURCE + "/schemes/derive/*.c") + glob.glob(SOURCE + "/schemes/prepare/*.c"):
        with open(path, encoding="utf-8") as f:
            text += f.read()
    return set(re.findall(r'(?:derive_unit_array|name_of)\([^,()]*,\s*"([a-z0-9_]+)"', text))


def kinds_of_add():
    """The kinds of ADD that read constants."""
    with open(SOURCE + "/schemes/record/record.def", encoding="utf-8") as f:
        return set(re.findall(r'VALUE\(ADD_\w+, "([a-z-]+)"', f.read())) - {"plain", "separate"}


def main():
    manifests = bundles()
    seen, faults, strange = {}, set(), set()
    for m in manifests:
        for name, o in objects(m):
            seen.setdefault(name, set()).update(o)
            faults.update(faults_of(name, o))
        strange.update(p for n in m["nodes"] for p in n.get("parameters", {}) if not parameter_of(p))
    check(not faults, "every key is listed, of its kind, and there where it always is", "\n".join(sorted(faults)))
    left = sorted(f"{name}.{key}" for name, keys in KEYS.items() for key in keys if key not in seen.get(name, ()))
    check(not left, "every key that is listed is written", left)
    check(not strange, "every parameter of these nodes is listed", sorted(strange))
    check(units_list() == PARAMETERS, "every parameter that units list, and no other", units_list() ^ PARAMETERS)
    told = {a[1] for macro, a in LINES if macro == "CONSTANTS" and a[0].startswith("add,")}
    check(kinds_of_add() == told, "constants of every kind of ADD", kinds_of_add() ^ told)
    TAP.end()


with tempfile.TemporaryDirectory() as here:
    os.chdir(here)
    main()
    os.chdir("/")
