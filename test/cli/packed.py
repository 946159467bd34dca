#!/usr/bin/python3
"""packed.py ASSAY: files of many codes of fewer than 8 bits hold them without gaps, and are read in both forms.

Widths, signs and counts are drawn; NumPy takes the bits apart again.
"""
import glob
import json
import os
import shutil
import tempfile

import numpy as np

from command import assay
from support import TAP, check, read, write

SEED = int(os.environ.get("ASSAY_SEED", "0")) or int.from_bytes(os.urandom(4), "little")
RNG = np.random.default_rng(SEED)
MANY = 1 << 16  # codes, from which on a file is packed


def drawn(bits, signed, shape):
    least = -(1 << bits - 1) if signed else 0
    return RNG.integers(least, least + (1 << bits), shape).astype(np.int8 if signed else np.uint8)


def apart(packed, bits, signed, shape):
    """The codes that MANIFEST.md says these bytes are, and whether what is behind the last is zero."""
    stream = np.unpackbits(packed, bitorder="little")
    count = int(np.prod(shape))
    codes = stream[:count * bits].reshape(count, bits).astype(np.int16) @ (1 << np.arange(bits))
    codes = np.where(codes >> (bits - 1) & signed, codes - (1 << bits), codes)
    return codes.reshape(shape), not stream[count * bits:].any()


def network(name, kind, codes):
    """fc with these codes, which come from a file: one code a byte, as NumPy has them."""
    rows, columns = codes.shape
    os.makedirs(name + ".assay.d", exist_ok=True)
    np.save(f"{name}.assay.d/w.npy", codes)
    write(name + ".assay", (f"graph g {{\n input x: i8[1,{columns}] q(0.5,1)\n const w: {kind}[{rows},{columns}] q(0.25,0) = file \"w.npy\"\n"
                            f" y: i8[1,{rows}] q(64,3) = fc(x, w)\n output y\n}}\n").encode())


def constant(folder):
    with open(f"{folder}/manifest.json", encoding="utf-8") as f:
        return json.load(f)["constants"][0]


def one_bundle(name, bits, signed, shape):
    codes, kind = drawn(bits, signed, shape), f"{'i' if signed else 'u'}{bits}"
    network(name, kind, codes)
    np.save("x.npy", drawn(8, True, (1, shape[1])))
    what = f"{kind}{list(shape)}"
    status, text = assay("golden", name + ".assay", "-s", "tflite", "--as-is", "-i", "x.npy", "-q", "--format", "npy,raw", "-o", name)
    check(status == 0, f"{what}: a bundle", text)
    entry = constant(name)
    stored = np.load(os.path.join(name, entry["file"]))
    if codes.size < MANY:
        check("packed" not in entry and np.array_equal(stored, codes), f"{what}: one code a byte", entry, stored.shape)
    else:
        found, clean = apart(stored, bits, signed, shape)
        check(entry.get("packed") is True and stored.dtype == np.uint8 and stored.shape == (-(-codes.size * bits // 8),) and clean and
              np.array_equal(found, codes), f"{what}: packed", entry, stored.shape)
    raw = np.frombuffer(read(os.path.join(name, entry["file"][:-4] + ".bin")), codes.dtype)
    check(np.array_equal(raw, codes.ravel()), f"{what}: the raw form has a code a byte")
    check(entry["shape"] == list(shape) and entry["dtype"] == codes.dtype.name, f"{what}: its entry is of the codes", entry)
    status, text = assay("verify", name)
    check(status == 0, f"{what}: verify", text)
    status, text = assay("diff", name, name)
    check(status == 0, f"{what}: diff", text)
    return codes, os.path.join(name, entry["file"])


def damaged(name, codes, path):
    """What stands in a packed file in place of its codes is found."""
    good = np.load(path)
    bad = good.copy()
    bad[int(RNG.integers(bad.size - 1))] ^= 1
    for what, array in (("another code", bad), ("a code a byte, where the manifest says packed", codes), ("a byte less", good[:-1])):
        np.save(path, array)
        status, text = assay("verify", name)
        check(status == 1 and os.path.basename(path) + ": " in text, f"verify: {what}", status, text)
    if codes.size * 3 % 8:
        bad = good.copy()
        bad[-1] |= 0x80
        np.save(path, bad)
        status, text = assay("verify", name)
        check(status == 1 and "after the last" in text, "verify: a bit after the last code", status, text)
    np.save(path, good)


def dumped(name, codes, path):
    """A device's dumps of a constant, in either form: the same, and found where one code is another."""
    other = codes.copy()
    other[3, 5] ^= 1
    packed = np.load(path)
    turned = packed.copy()
    turned[1] ^= 4
    for what, array, good in (("packed", packed, True), ("a byte each", codes, True), ("packed, one code off", turned, False),
                              ("a byte each, one code off", other, False)):
        shutil.rmtree("device", ignore_errors=True)
        shutil.copytree(os.path.join(name, "tensors"), "device/tensors")
        os.makedirs("device/constants")
        np.save("device/constants/" + os.path.basename(path), array)
        status, text = assay("diff", name, "device")
        check(status == (0 if good else 1) and ("constant" in text) and (good or " 1 " in text), f"diff: {what}", status, text)


def quantized():
    """What quantize writes; the same network with its files in a byte a code runs to the same bits."""
    np.save("w.npy", RNG.normal(size=(300, 257)).astype(np.float32))
    os.makedirs("f.assay.d", exist_ok=True)
    shutil.move("w.npy", "f.assay.d/w.npy")
    write("f.assay", b"graph f {\n input x: f32[1,257]\n const w: f32[300,257] = file \"w.npy\"\n y: f32[1,300] = fc(x, w)\n output y\n}\n")
    np.save("f.npy", RNG.normal(size=(4, 1, 257)).astype(np.float32))
    np.save("one.npy", RNG.normal(size=(1, 257)).astype(np.float32))
    write("four.yaml", b"scheme: four\nextends: tflite\ntypes: {weight_bits: 4}\n")
    for args in (("profile", "f.assay", "-d", "f.npy", "-q", "-o", "p.yaml"),
                 ("quantize", "f.assay", "-p", "p.yaml", "-s", "./four.yaml", "-o", "q.assay"),
                 ("run", "q.assay", "-s", "./four.yaml", "-i", "one.npy", "-o", "packed-out")):
        status, text = assay(*args)
        check(status == 0, args[0], text)
    (path,) = glob.glob("q.assay.d/*.npy")
    stored = np.load(path)
    check(stored.dtype == np.uint8 and stored.shape == (300 * 257 // 2,), "weights of 4 bits in half a byte", stored.shape)
    np.save(path, apart(stored, 4, True, (300, 257))[0].astype(np.int8))
    status, text = assay("run", "q.assay", "-s", "./four.yaml", "-i", "one.npy", "-o", "plain-out")
    outs = [read(glob.glob(f"{d}/*.npy")[0]) for d in ("packed-out", "plain-out")]
    check(status == 0 and outs[0] == outs[1], "a code a byte, as earlier versions wrote it", text)


def main():
    print(f"# ASSAY_SEED={SEED}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for bits in range(2, 8):
            one_bundle(f"net{bits}", bits, bool(RNG.integers(2)), (int(RNG.integers(256, 300)), int(RNG.integers(256, 300))))
        one_bundle("exact", 4, True, (256, 256))
        one_bundle("few", 4, False, (255, 257))
        codes, path = one_bundle("three", 3, True, (257, 259))
        damaged("three", codes, path)
        dumped("three", codes, path)
        quantized()
        os.chdir("/")
    TAP.end()


main()
