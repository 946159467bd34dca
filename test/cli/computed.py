#!/usr/bin/python3
"""computed.py ASSAY: tensors of many elements made of constants alone have no file in a bundle and are computed when they are asked for.

Extents, widths and blocks are drawn; the elements that diff and blame see are NumPy's. A bundle in the form of
earlier versions, with a file of each and lists for parameters, is verified and compares as the same.
"""
import json
import os
import shutil
import tempfile

import numpy as np

from command import assay
from support import TAP, check, write

SEED = int(os.environ.get("ASSAY_SEED", "0")) or int.from_bytes(os.urandom(4), "little")
RNG = np.random.default_rng(SEED)
MANY = 1 << 16  # elements, from which on a tensor made of constants has no file
NAME = "w/real"


def network(name, rows, blocks, block, bits):
    """Floats times weights that nodes make of codes in blocks, or per channel where there is one; the weights."""
    columns = blocks * block
    codes = RNG.integers(0, 1 << bits, (rows, columns)).astype(np.uint8)
    scale = (2.0 ** RNG.integers(-9, -3, (rows, blocks)) * 1.25).astype(np.float32)
    zero = int(RNG.integers(0, 1 << bits))
    os.makedirs(name + ".assay.d", exist_ok=True)
    np.save(f"{name}.assay.d/w.npy", codes)
    numbers = ",".join(map(str, scale.ravel())), ",".join([str(zero)] * scale.size)
    params = f"axis={'1,block=%d' % block if blocks > 1 else 0},[{numbers[0]}],[{numbers[1]}]"
    write(name + ".assay", (f"graph g {{\n input x: f32[3,{columns}]\n const w: u{bits}[{rows},{columns}] q({params}) = file \"w.npy\"\n"
                            f" w/real: f32[{rows},{columns}] = dequantize(w)\n w/low: f32[{rows},{columns}] = neg(w/real)\n"
                            f" m: f32[3,{rows}] = fc(x, w/low)\n y: f32[3,{rows}] = relu(m)\n output y\n}}\n").encode())
    np.save("x.npy", RNG.normal(size=(3, columns)).astype(np.float32))
    return (codes.reshape(rows, blocks, block).astype(np.float32) - zero).reshape(rows, columns) * np.repeat(scale, block, 1)


def manifest(folder):
    with open(f"{folder}/manifest.json", encoding="utf-8") as f:
        return json.load(f)


def entry(folder, name=NAME):
    return next(t for t in manifest(folder)["tensors"] if t["name"] == name)


def earlier(name, real):
    """The bundle as earlier versions wrote it, but for the digest in the manifest's last line."""
    old = name + "-old"
    shutil.copytree(name, old)
    m = manifest(old)
    for t in m["tensors"]:
        if t.pop("of_constants", None):
            digest, stem = t.pop("xxh3"), t["name"].replace("/", "_")
            t.update(xxh3=digest, file=f"tensors/{t['index']:04d}_{t['op']}_{stem}.npy")
            np.save(f"{old}/{t['file']}", real if t["name"] == NAME else -real)
    for n in m["nodes"]:
        for key, given in n.get("parameters", {}).items():
            if isinstance(given, dict):
                n["parameters"][key] = np.load(f"{old}/{given['file']}").tolist()
                os.remove(f"{old}/{given['file']}")
    write(f"{old}/manifest.json", (json.dumps(m, indent=1) + "\n").encode())
    return old, m


def verified(folder, what, faults):
    """Of a bundle whose manifest was edited: what else verify finds."""
    status, text = assay("verify", folder)
    found = [line for line in text.splitlines() if line.startswith("  ") and "the digest in its last line" not in line]
    check(status == 1 and len(found) == faults, what, status, text)


def in_the_form_of_earlier(name, real):
    old, m = earlier(name, real)
    verified(old, f"{name}: a bundle of earlier versions is verified", 0)
    for pair in ((name, old), (old, name)):
        status, text = assay("diff", *pair)
        check(status == 0, f"{name}: diff of the two forms", text)
    lists = next(n for n in m["nodes"] if n["op"] == "dequantize")["parameters"]
    lists["scale_bits"][int(RNG.integers(len(lists["scale_bits"])))] ^= 1
    write(f"{old}/manifest.json", (json.dumps(m, indent=1) + "\n").encode())
    verified(old, f"{name}: another number in a list is found", 1)


def on_a_device(name, real):
    """diff and blame beside a device's dumps: the same weights, and one off."""
    at = tuple(int(RNG.integers(n)) for n in real.shape)
    for off in (False, True):
        shutil.rmtree("device", ignore_errors=True)
        shutil.copytree(f"{name}/tensors", "device")
        dump = real.copy()
        dump[at] += off
        np.save("device/" + NAME.replace("/", "_") + ".npy", dump)
        status, text = assay("diff", name, "device")
        check(status == off and (f"{NAME}[{at[0]},{at[1]}]" in text) == off, f"{name}: diff, {'one element off' if off else 'the same'}", status, text)
        status, text = assay("blame", name, "device")
        check(status == off and ("CLEAN" in text) != off, f"{name}: blame, {'one element off' if off else 'the same'}", status, text)


def one(name, rows, blocks, block, bits):
    real = network(name, rows, blocks, block, bits)
    status, text = assay("golden", name + ".assay", "-s", "onnxruntime", "-i", "x.npy", "-q", "-o", name)
    check(status == 0, f"{name}: a bundle", text)
    e = entry(name)
    if real.size < MANY:
        check("of_constants" not in e and np.array_equal(np.load(f"{name}/{e['file']}"), real), f"{name}: a file of few elements", e)
    else:
        check(e.get("of_constants") is True and "file" not in e and not [f for f in os.listdir(f"{name}/tensors") if "w_" in f],
              f"{name}: no file", e, os.listdir(f"{name}/tensors"))
    check("of_constants" not in entry(name, "m") and "file" in entry(name, "x"), f"{name}: what inputs make has a file")
    status, text = assay("verify", name)
    check(status == 0, f"{name}: verify", text)
    return real


def another_network(name):
    """An entry that says so of what is not made of constants."""
    m = manifest(name)
    e = next(t for t in m["tensors"] if t["name"] == "m")
    os.remove(f"{name}/{e.pop('file')}")
    e["of_constants"] = True
    write(f"{name}/manifest.json", (json.dumps(m, indent=1) + "\n").encode())
    status, text = assay("diff", name, name)
    check(status == 2 and "'m' made of constants alone" in text, f"{name}: an entry that says so of a sum of inputs", status, text)


def main():
    print(f"# ASSAY_SEED={SEED}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        one("few", 255, 16, 16, 4)
        for name, blocks in (("blocks", int(RNG.integers(8, 12))), ("channels", 1)):
            real = one(name, int(RNG.integers(260, 300)), blocks, -(-256 // blocks), int(RNG.integers(3, 9)))
            in_the_form_of_earlier(name, real)
            on_a_device(name, real)
        another_network("blocks")
        os.chdir("/")
    TAP.end()


main()
