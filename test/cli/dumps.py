#!/usr/bin/env python3
"""dumps.py ASSAY: what devices write of 4-bit codes, in all the ways that diff reads.

Codes 1 7 -8 -1 0 3 -6 are packed and printed here by hand, from interp/golden/README.md: raw bytes of the
container or packed nibbles, $readmemh words of every width, with addresses, comments and padding.
"""
import json
import os
import shutil
import struct
import tempfile

from command import ASSAY, assay
from support import TAP, check, write

CODES = [1, 7, -8, -1, 0, 3, -6]
BITS = sum((c & 15) << 4 * i for i, c in enumerate(CODES))


def diff(name, content, *more):
    """Status of comparing the bundle with a folder of one dump beside the output's."""
    shutil.rmtree("dump", ignore_errors=True)
    os.mkdir("dump")
    write("dump/y.bin", bytes(max(c, 0) for c in CODES))
    write("dump/" + name, content if isinstance(content, bytes) else content.encode())
    return assay("diff", "golden", "dump", *more)


def words(width):
    """Words of `width` bits: as many codes as fit whole, or a code in several."""
    digits = (width + 3) // 4
    if width < 4:
        each = [c >> s & (1 << width) - 1 for c in CODES for s in range(0, 4, width)]
    else:
        per = width // 4
        each = [BITS >> 4 * i & (1 << 4 * per) - 1 for i in range(0, len(CODES), per)]
    return [f"{w:0{digits}x}" for w in each]


def single():
    """One code fills a byte of its container and a byte when it is packed: both are taken, nothing else."""
    write("one.assay", b"graph one {\n  input x: i4[1] q(0.5,0)\n  y: i4[1] q(0.5,0) = neg(x)\n  output y\n}\n")
    write("one.bin", b"\xfd")
    status, out = assay("golden", "one.assay", "-s", "tflite", "--as-is", "-i", "one.bin", "-o", "one")
    check(status == 0, "a bundle of one 4-bit code", out)
    for name, byte, want in (("a byte with copies of the sign", 0xfd, 0), ("packed, zeros above", 0x0d, 0),
                             ("another code", 0x0c, 1), ("a positive one", 0x05, 1), ("other bits above", 0x1d, 2),
                             ("signs above a positive one", 0xf5, 2)):
        os.makedirs("single", exist_ok=True)
        write("single/x.bin", bytes([byte]))
        write("single/y.bin", b"\x03")
        status, out = assay("diff", "one", "single")
        check(status == want, f"one code: {name}: {want}", (status, out))


def strangers():
    """Files that are of no tensor are named; where all are of none, nothing was compared."""
    shutil.rmtree("dump", ignore_errors=True)
    os.makedirs("dump/s00007")
    os.makedirs("dump/layers")
    raw = bytes(c & 255 for c in CODES)
    for name in ("x.bin", "x.mask.bin", "z.bin", "s00007/x.bin", "layers/x.bin"):
        write("dump/" + name, raw)
    write("dump/y.bin", bytes(max(c, 0) for c in CODES))
    names = ["'layers'", "'s00007/x.bin'", "'z.bin'"]
    for verb in ("diff", "blame"):
        status, out = assay(verb, "golden", "dump", "--json", verb + ".json")
        line = [s for s in out.split("\n") if s.startswith("not compared")]
        check(status == 0 and len(line) == 1 and all(n in line[0] for n in names) and "'x.bin'" not in line[0],
              f"{verb} names what is of no tensor", (status, out))
        with open(verb + ".json", encoding="utf-8") as f:
            left = json.load(f)["not_compared"]
        check(sorted(left) == ["layers", "s00007/x.bin"] + ["x.mask.bin"] * (verb == "diff") + ["z.bin"], f"{verb}: in JSON", left)
    os.remove("dump/y.bin")
    status, out = assay("blame", "golden", "dump")
    check(status == 2 and "nothing was compared" in out and out.count("\n") == 1, "blame: of inputs alone", (status, out))
    status, out = assay("diff", "golden", "dump")
    check(status == 2 and "nothing judged" in out and out.count("\n") == 1, "diff: inputs alone are no device's result", (status, out))
    write("dump/x.bin", raw[:-1] + bytes([raw[-1] ^ 1]))
    status, out = assay("diff", "golden", "dump")
    check(status == 1 and "first at #0 'x' (input)" in out, "diff: other inputs are a difference", (status, out))
    os.remove("dump/x.bin")
    for verb in ("diff", "blame"):
        status, out = assay(verb, "golden", "dump")
        check(status == 2 and out.count("\n") == 1, f"{verb}: nothing in common is trouble", (status, out))
    write("t.txt", b"no dump\n")
    for verb in ("diff", "blame"):
        status, out = assay(verb, "golden", "t.txt")
        check(status == 2 and "t.txt" in out and "golden:" not in out, f"{verb} names the side that is at fault", out)


POOL = """graph image {
  input x: f32[1,2,3,4]
  "x:q": i8[1,2,3,4] q(0.5,0) = quantize(x)
  y: i8[1,2,3,4] q(0.5,0) = max_pool("x:q") {kernel=[1,1]}
  z: i8[1,2,1,2] q(0.5,0) = max_pool(y) {kernel=[3,3]}
  "y:f32": f32[1,2,3,4] = dequantize(y)
  "z:f32": f32[1,2,1,2] = dequantize(z)
  output "y:f32"
  output "z:f32"
}
"""


def exported():
    """Outputs that are images: a TFLite file has them channels last, under the names that they have here."""
    write("image.assay", POOL.encode())
    write("image.bin", struct.pack("<24f", *(i % 7 - 3 for i in range(24))))
    run = ("-s", "tflite", "--as-is", "-i", "image.bin", "-q", "-o")
    check(assay("golden", "image.assay", *run, "here")[0] == 0, "a bundle of images")
    for form, same in (("onnx", 0), ("tflite", 1)):
        status, out = assay("convert", "image.assay", "-o", "image." + form)
        check(status == 0, f"images as {form}", out)
        check(assay("golden", "image." + form, *run, form)[0] == 0, f"a bundle of images from {form}")
        status, out = assay("blame", "here", form)
        check(status == 0 and "(parameters)" not in out, f"blame reads the outputs of {form} in its layout", (status, out))
        status, out = assay("diff", "here", form)
        named = [s.split() for s in out.split("\n") if ":f32 " in s]
        check(status == same and "(parameters)" not in out and len(named) == 2 and all(s[4:5] == ["0"] for s in named),
              f"diff compares the floats of {form} in the network's layout", (status, out))


def put(name, shape, numbers):
    """A .npy file of int8."""
    head = str({"descr": "|i1", "fortran_order": False, "shape": tuple(shape)}).encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    write(name, b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head + struct.pack(f"{len(numbers)}b", *numbers))


def permuted(shape, numbers, axes):
    """Shape and elements with axis i of the result axis axes[i] of these."""
    to = [shape[a] for a in axes]
    found = []
    for k in range(len(numbers)):
        at = {}
        for a, extent in reversed(list(zip(axes, to))):
            at[a], k = k % extent, k // extent
        flat = 0
        for a, extent in enumerate(shape):
            flat = flat * extent + at[a]
        found.append(numbers[flat])
    return to, found


def orders():
    """Dumps that are golden's but for the order of their axes: the verdict is that they differ, and names the order."""
    shape = [1, 2, 3, 4]
    write("order.assay", b"graph o {\n  input x: i8[1,2,3,4] q(0.5,0)\n  y: i8[1,2,3,4] q(0.5,0) = relu(x)\n  z: i8[1,2,3,4] q(0.5,0) = neg(y)\n"
                         b"  output z\n}\n")
    x = [(7 * i) % 24 + 1 for i in range(24)]
    write("order.bin", bytes(x))
    status, out = assay("golden", "order.assay", "-s", "tflite", "--as-is", "-i", "order.bin", "-o", "order")
    check(status == 0, "a bundle whose layout is at stake", out)
    minus = [-c for c in x]
    for axes, name in (([0, 2, 3, 1], "as channels last"), ([0, 3, 1, 2], "as channels first"), ([0, 1, 3, 2], "with axes 0,1,3,2"), ([0, 3, 2, 1], "with axes 0,3,2,1")):
        for form in ("npy", "bin"):
            shutil.rmtree("dump", ignore_errors=True)
            os.mkdir("dump")
            for tensor, numbers in (("y", x), ("z", minus)):
                to, found = permuted(shape, numbers, axes)
                if form == "npy":
                    put(f"dump/{tensor}.npy", to, found)
                else:
                    write(f"dump/{tensor}.bin", struct.pack("24b", *found))
            status, out = assay("diff", "order", "dump", "--json", "order.json")
            want = f"2 of these equal the first's {name}"
            lines = [s for s in out.split("\n") if s.startswith(want)]
            check(status == 1 and len(lines) == 1 and ("'assay blame'" in lines[0]) == ("channels" in name), f"{form}, {name}: the verdict says so", out)
            with open("order.json", encoding="utf-8") as f:
                said = {t["name"]: t.get("axes") for t in json.load(f)["tensors"]}
            check((said["y"], said["z"]) == (axes, axes), "JSON has the axes", said)
            if "channels" in name:
                check(assay("blame", "order", "dump")[0] == 0, "and blame finds no fault")
    to, found = permuted(shape, minus, [0, 2, 3, 1])
    put("dump/z.npy", to, found[:-1] + [found[-1] ^ 1])
    put("dump/y.npy", [2, 12], x)
    status, out = assay("diff", "order", "dump")
    check(status == 1 and "1 of these equals the first's in another shape\n" in out and "the shapes differ" in out,
          "an element that differs in another layout is no equality; another shape of the same order is", out)


def majority():
    """A tensor that several orders fit is counted under the one that the others have: [1,4,1,1] is channels last and first, [2,4,3] is both by name."""
    write("most.assay", b"graph m {\n  input x: i8[1,2,3,4] q(0.5,0)\n  input v: i8[1,4,1,1] q(0.5,0)\n  input u: i8[2,4,3] q(0.5,0)\n"
                        b"  y: i8[1,2,3,4] q(0.5,0) = relu(x)\n  z: i8[1,2,3,4] q(0.5,0) = relu(x)\n  w: i8[1,4,1,1] q(0.5,0) = relu(v)\n"
                        b"  t: i8[2,4,3] q(0.5,0) = relu(u)\n  output y\n  output z\n  output w\n  output t\n}\n")
    x = [(7 * i) % 24 + 1 for i in range(24)]
    tensors = {"y": ([1, 2, 3, 4], x), "z": ([1, 2, 3, 4], x), "w": ([1, 4, 1, 1], x[:4]), "t": ([2, 4, 3], x)}
    write("most.bin", bytes(x))
    write("few.bin", bytes(x[:4]))
    status, out = assay("golden", "most.assay", "-s", "tflite", "--as-is", "-i", "x=most.bin", "-i", "v=few.bin", "-i", "u=most.bin", "-o", "most")
    check(status == 0, "a bundle with tensors of several orders", out)
    for axes, name in (([0, 2, 3, 1], "as channels last"), ([0, 3, 1, 2], "as channels first"), ([0, 3, 2, 1], "with axes 0,3,2,1")):
        layout = "channels" in name
        shutil.rmtree("dump", ignore_errors=True)
        os.mkdir("dump")
        for tensor, (shape, numbers) in tensors.items():
            put(f"dump/{tensor}.npy", *permuted(shape, numbers, axes if len(shape) == 4 else [0, 2, 1]))
        if not layout:
            os.remove("dump/t.npy")
        status, out = assay("diff", "most", "dump", "--json", "most.json")
        lines = [s for s in out.split("\n") if "the first's" in s]
        check(status == 1 and len(lines) == 1 and lines[0].startswith(f"{4 if layout else 3} of these equal the first's {name}"), f"{name}: one line for all", out)
        with open("most.json", encoding="utf-8") as f:
            said = {t["name"]: t.get("axes") for t in json.load(f)["tensors"]}
        check(said["w"] == axes and said["t"] == ([0, 2, 1] if layout else None), "JSON has those axes", said)
    shutil.rmtree("dump")
    os.mkdir("dump")
    put("dump/w.npy", *permuted(*tensors["w"], [0, 2, 3, 1]))
    status, out = assay("diff", "most", "dump")
    check(status == 1 and "1 of these equals the first's as channels last" in out, "alone it is channels last", out)


def main():
    write("net.assay", b"graph four {\n  input x: i4[1,7] q(0.5,0)\n  y: i4[1,7] q(0.5,0) = relu(x)\n  output y\n}\n")
    write("x.bin", bytes(c & 255 for c in CODES))
    status, out = assay("golden", "net.assay", "-s", "tflite", "--as-is", "-i", "x.bin", "-o", "golden")
    check(status == 0, "a bundle of 4-bit codes", out)
    packed = BITS.to_bytes(4, "little")
    wrong = (BITS ^ 1 << 4).to_bytes(4, "little")
    cases = [("bytes of the container", "x.bin", bytes(c & 255 for c in CODES), 0),
             ("packed codes", "x.bin", packed, 0), ("packed codes, one other", "x.bin", wrong, 1),
             ("packed codes, a byte short", "x.bin", packed[:3], 2),
             ("packed codes, a byte more", "x.bin", packed + b"\0", 2),
             ("packed codes, padding not zero", "x.bin", packed[:3] + bytes([packed[3] | 0xa0]), 2)]
    for width in (2, 4, 8, 12, 16, 24, 28, 32, 64):
        cases.append((f"words of {width} bits", "x.hex", "\n".join(words(width)) + "\n", 0, "--hex-bits", str(width)))
    w = words(4)
    cases += [("an address at the front", "x.hex", "@0\n" + "\n".join(w), 0),
              ("addresses that go on", "x.hex", "\n".join(w[:3]) + "\n@3\n" + "\n".join(w[3:]), 0),
              ("a first address that is not 0", "x.hex", "@100\n" + "\n".join(w), 0),
              ("a gap between addresses", "x.hex", "\n".join(w[:3]) + "\n@4\n" + "\n".join(w[3:]), 2),
              ("addresses backwards", "x.hex", "\n".join(w[:3]) + "\n@1\n" + "\n".join(w[3:]), 2),
              ("comments and words in a line", "x.hex", "// codes\n" + " ".join(w[:4]) + " /* rest\n */ " + " ".join(w[4:]), 0),
              ("capitals and _", "x.hex", "\n".join("_".join(x.upper()) for x in w), 0),
              ("x of an undriven wire", "x.hex", "\n".join(["x"] + w[1:]), 2),
              ("z of an undriven wire", "x.hex", "\n".join(["Z"] + w[1:]), 2),
              ("a word short", "x.hex", "\n".join(w[:6]), 2), ("a word more", "x.hex", "\n".join(w + ["0"]), 2),
              ("one code that differs", "x.hex", "\n".join(["2"] + w[1:]), 1),
              ("copies of the sign above every code", "x.hex", "\n".join(f"{c & 255:02x}" for c in CODES), 0, "--hex-bits", "6"),
              ("zeros above every code", "x.hex", "\n".join(f"{c & 15:02x}" for c in CODES), 0, "--hex-bits", "6"),
              ("other bits above a code", "x.hex", "\n".join(f"{c & 15 | 0x10:02x}" for c in CODES), 2, "--hex-bits", "6"),
              ("words that are no hex", "x.hex", "0g\n" * 7, 2), ("an empty file", "x.hex", "", 2)]
    for name, file, content, want, *more in cases:
        status, out = diff(file, content, *more)
        check(status == want and (status < 2 or out.count("\n") == 1), f"{name}: {want}", (status, out))
    strangers()
    single()
    exported()
    orders()
    majority()
    TAP.end()


with tempfile.TemporaryDirectory() as here:
    os.chdir(here)
    main()
    os.chdir("/")
