#!/usr/bin/env python3
"""assay blame on faults whose cause is known: blame.py ASSAY SOURCE   (TAP)

A golden bundle of a shipped network; then one node at a time (device.py) with one thing wrong (planted.py). Nothing behind
the node is dumped. Then several causes, other schemes, samples, accumulators alone, clean devices and bad input."""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from asking import ASSAY, blame, dump, make_golden, path_of  # noqa: E402
from device import CODES, Node, read, write  # noqa: E402
from planted import ADD, DEPTHWISE, FAULTS, FULL, NEXT, POINT, POOL, SEED, STEM, SUMS, change, lanes, rescale_floor, stuck, sums_of  # noqa: E402
from tap import Tap  # noqa: E402


# ---- more than one node, more than one cause ----


def several(tap, golden, device):
    floor, noisy = change(rescale=rescale_floor), stuck(1, 1)
    stem, after_stem = Node(golden, STEM), Node(golden, NEXT)

    dump(golden, after_stem, after_stem.codes(), device)
    after_stem.x = lanes(8, 3, 0)(stem)
    write(path_of(device, stem), stem.shape, "|i1", after_stem.x)
    write(path_of(device, after_stem), after_stem.shape, "|i1", after_stem.codes())
    status, said = blame(golden, device)
    verdicts = {n["name"]: n["verdict"] for n in said["nodes"]}
    tap.check(status == 1 and [f["name"] for f in said["faults"]] == [STEM] and verdicts[NEXT] == "inherited", "the node behind a fault inherits it", said["faults"])

    write(path_of(device, after_stem), after_stem.shape, "|i1", noisy(after_stem))
    status, said = blame(golden, device)
    tap.check([(f["name"], f["class"]) for f in said["faults"]] == [(STEM, "lane"), (NEXT, "stuck_bit")], "a fault behind a fault", said["faults"])

    os.remove(path_of(device, stem))
    write(path_of(device, after_stem), after_stem.shape, "|i1", after_stem.codes())
    status, said = blame(golden, device)
    verdicts = {n["name"]: (n["verdict"], n.get("region")) for n in said["nodes"]}
    region = ["/stem/conv/Conv", "/block1/dw/conv/Conv"]
    tap.check([(f["name"], f["class"]) for f in said["faults"]] == [(STEM, "lane")] and verdicts[STEM] == verdicts[NEXT] == ("suspect", region),
              "a fault in a node that was not dumped", said["faults"], verdicts[STEM])

    stem = Node(golden, STEM)
    stem.rescale = rescale_floor
    dump(golden, stem, noisy(stem), device)
    status, said = blame(golden, device)
    tap.check(sorted(f["class"] for f in said["faults"]) == ["rescale.rounding", "stuck_bit"], "two causes in one node", said["faults"])

    stem = Node(golden, STEM)
    mask = [i % 3 != 0 for i in range(len(stem.codes()))]
    dump(golden, stem, [v if m else 77 for v, m in zip(floor(stem), mask)], device)
    write(os.path.join(device, os.path.basename(stem.out["file"])[:-4] + ".mask.npy"), stem.shape, "|b1", mask)
    status, said = blame(golden, device)
    tap.check([(f["class"], f["elements"]) for f in said["faults"]] == [("rescale.rounding", sum(mask))], "a tensor that was observed in part", said["faults"])
    behind_unseen(tap, golden, device, mask)


def behind_unseen(tap, golden, device, mask):
    """What reads a tensor at fault that was observed in part is at fault only where its cause does not say the rest."""
    stem, after = Node(golden, STEM), Node(golden, NEXT)
    for what, codes in (("its cause says the rest", change(rescale=rescale_floor)(stem)), ("nothing explains it", [7 * i * i % 101 for i in range(len(mask))])):
        dump(golden, stem, [v if m else 77 for v, m in zip(codes, mask)], device)
        write(os.path.join(device, os.path.basename(stem.out["file"])[:-4] + ".mask.npy"), stem.shape, "|b1", mask)
        after.x = codes
        write(path_of(device, after), after.shape, "|i1", after.codes())
        status, said = blame(golden, device)
        tap.check([f["name"] for f in said["faults"]] == [STEM], f"behind a tensor that was observed in part: {what}", said["faults"])


def schemes(tap, golden, folder):
    other = make_golden("tflite-single", folder)
    status, said = blame(golden, other)
    tap.check(status == 1 and len(said["faults"]) > 5 and all(f["class"] == "scheme" and "tflite-single" in f["detail"] for f in said["faults"]),
              "another scheme on every node", said)
    rng, part = random.Random(SEED), os.path.join(folder, "part")
    for some in (False, True):  # what the host does is not dumped; nor is every third tensor
        shutil.rmtree(part, ignore_errors=True)
        os.makedirs(part)
        for t in json.load(open(os.path.join(other, "manifest.json")))["tensors"]:
            if t["index"] > 1 and not (some and rng.random() < 0.33):
                shutil.copy(os.path.join(other, t["file"]), part)
        status, said = blame(golden, part)
        names = [f["name"] for f in said["faults"]]
        tap.check(status == 1 and len(set(names)) == len(names) > 5 and STEM in names and all(f["class"] == "scheme" and "tflite-single" in f["detail"] for f in said["faults"]),
                  f"another scheme, {'some tensors' if some else 'all but the input'} dumped", said)


def whole_pool(tap, folder):
    """A pool of the whole image, which a target takes for a global one."""
    rng, made = random.Random(SEED), []
    write(os.path.join(folder, "x.npy"), [1, 64, 4, 4], "|u1", [rng.randrange(256) for _ in range(1024)])
    for i, (pool, scheme) in enumerate((("avg_pool(x) {kernel=[4,4], stride=[2,2]}", "tflite"), ("global_avg_pool(x)", "onnxruntime"))):
        file = os.path.join(folder, f"pool{i}.assay")
        with open(file, "w") as f:
            f.write(f"graph main {{\n  input x: u8[1,64,4,4] q(0.023528477,0)\n  y: u8[1,64,1,1] q(0.023528477,0) = {pool} @pool\n  output y\n}}\n")
        made.append(os.path.join(folder, f"pool{i}"))
        subprocess.run([ASSAY, "golden", file, "-s", scheme, "--as-is", "-i", os.path.join(folder, "x.npy"), "-o", made[-1]], check=True, capture_output=True)
    status, said = blame(*made)
    tap.check(status == 1 and "scheme" in said["faults"][0]["classes"], "a pool of the whole image as a global one", said)


def samples(tap, folder, device):
    golden = make_golden("tflite", folder, 3)
    tensors = json.load(open(os.path.join(golden, "manifest.json")))["tensors"]
    for stale in (False, True):
        shutil.rmtree(device, ignore_errors=True)
        for t in tensors:
            to = os.path.join(device, f"s{t.get('sample', 0):05d}")
            os.makedirs(to, exist_ok=True)
            if t["index"] <= 2:
                shutil.copy(os.path.join(golden, t["file"]), to)
        if stale:
            name = os.path.basename(tensors[2]["file"])
            shutil.copy(os.path.join(golden, next(t for t in tensors if t["index"] == 2 and t.get("sample") == 1)["file"]), os.path.join(device, "s00002", name))
        status, said = blame(golden, device)
        tap.check([f["class"] for f in said["faults"]] == ["stale.sample"] * stale, f"three samples, {'one' if stale else 'none'} stale", said["faults"])


# ---- accumulators alone ----


def sums_alone(tap, folder, device):
    golden = make_golden("tflite", folder, 1, "--accumulators")
    tensors = [t for t in json.load(open(os.path.join(golden, "manifest.json")))["tensors"] if "accumulators" in t]
    to = os.path.join(device, "accumulators")

    def fill(node, sums, descr):
        shutil.rmtree(device, ignore_errors=True)
        os.makedirs(to)
        for t in tensors:
            if t["index"] < node.out["index"]:
                shutil.copy(os.path.join(golden, t["accumulators"]["file"]), to)
        write(os.path.join(to, os.path.basename(node.out["file"])), node.shape, descr, sums)

    for k, (name, wanted, fault) in enumerate(SUMS):
        node = Node(golden, name)
        sums = sums_of(change())(node)
        fill(node, sums, "<i8" if k % 2 else "<i4")
        status, said = blame(golden, device)
        tap.check(status == 0 and not said["faults"], f"{node.name}: accumulators as they should be", said)
        node = Node(golden, name)
        fill(node, sums_of(fault)(node), "<i8" if k % 2 else "<i4")
        status, said = blame(golden, device)
        faults = said["faults"] if status == 1 else []
        tap.check([(f["name"], f["class"], f["elements"]) for f in faults] == [(name, wanted, len(sums))], f"{node.name}: accumulators alone: {wanted}", faults or said)
    for what, shape, descr, says in (("a shape", [1, 1, 1, 34], "<i8", ""), ("a type", node.shape, "|i1", "int32 or int64"), ("a shape", [1, 33], "<i8", "int32 or int64")):
        fill(node, [0] * (34 if 33 not in shape else 33), descr)
        write(os.path.join(to, os.path.basename(node.out["file"])), shape, descr, [0] * (33 if 33 in shape else 34))
        status, said = blame(golden, device)
        tap.check((status == 2 and says in said and node.output in said) if says else status == 1, f"accumulators of {what}: {'refused' if says else 'taken'}", said)
    shutil.rmtree(device, ignore_errors=True)
    os.makedirs(to)
    for t in (t for t in tensors if len(t["shape"]) == 4):
        shape, descr, values = read(os.path.join(golden, t["accumulators"]["file"]))
        channels_last(os.path.join(to, os.path.basename(t["file"])[:-4]), "raw bytes, channels last", shape, descr, values)
    status, said = blame(golden, device)
    tap.check(status == 0 and not said["faults"], "accumulators alone, raw bytes, channels last", said)
    fill(node, [0] * 34, "<i8")
    status, said = blame(os.path.join(folder, "tflite-1"), device)  # made before
    tap.check(status == 2 and "--accumulators" in said, "the golden bundle has no accumulators", said)


# ---- clean devices ----

def channels_last(name, form, shape, descr, values):
    n, c, h, w = shape
    moved = [values[k * h * w + i] for i in range(h * w) for k in range(c)]
    if form == "channels last":
        write(name + ".npy", [n, h, w, c], descr, moved)
        return
    data = struct.pack(f"<{len(moved)}{CODES[descr]}", *moved)
    size = len(data) // len(moved)
    with open(name + (".bin" if form.startswith("raw") else ".hex"), "wb") as f:
        f.write(data if form.startswith("raw") else b"".join(data[i:i + size][::-1].hex().encode() + b"\n" for i in range(0, len(data), size)))


def clean(tap, golden, device):
    rng = random.Random(SEED)
    tensors = json.load(open(os.path.join(golden, "manifest.json")))["tensors"]
    forms = ("some tensors", "raw bytes", "raw bytes, channels last", "hex, channels last", "channels last", "under their own names")
    for form in forms:
        shutil.rmtree(device, ignore_errors=True)
        os.makedirs(device)
        for t in tensors:
            file = os.path.join(golden, t["file"])
            shape, descr, values = read(file)
            name = os.path.basename(file)[:-4]
            if form == "some tensors":
                if rng.random() < 0.4:
                    shutil.copy(file, device)
            elif form == "raw bytes":
                with open(os.path.join(device, name + ".bin"), "wb") as f:
                    f.write(struct.pack(f"<{len(values)}{CODES[descr]}", *values))
            elif form.endswith("channels last") and len(shape) == 4:
                channels_last(os.path.join(device, name), form, shape, descr, values)
            elif form == "under their own names":
                shutil.copy(file, os.path.join(device, t["name"].replace("/", "_").replace(":", "_") + ".npy"))
        status, said = blame(golden, device)
        tap.check(status == 0 and not said["faults"] and said["verdict"] == "clean", f"clean: {form}", said)


MASKED = (("raw bytes", "raw bytes"), ("raw bytes, channels last", "raw bytes, channels last"), ("hex, channels last", "raw bytes, channels last"),
          ("raw bytes, channels last", "hex, channels last"), ("channels last", "raw bytes, channels last"),
          ("channels last", "hex, channels last"))


def put_form(name, form, shape, descr, values):
    if form.endswith("channels last"):
        channels_last(name, form, shape, descr, values)
        return
    with open(name + ".bin", "wb") as f:
        f.write(struct.pack(f"<{len(values)}{CODES[descr]}", *values))


def masked(tap, golden, device):
    """Every tensor of four axes in part, in every form of dump and mask: what is left out is never blamed, what is seen is."""
    rng = random.Random(SEED)
    tensors = [t for t in json.load(open(os.path.join(golden, "manifest.json")))["tensors"] if len(t["shape"]) == 4]
    last = next(t["index"] for t in tensors if t["name"] == POINT)
    for dumps, masks in MASKED:
        for faulty in (False, True):
            shutil.rmtree(device, ignore_errors=True)
            os.makedirs(device)
            for t in tensors:
                shape, descr, values = read(os.path.join(golden, t["file"]))
                name = os.path.join(device, os.path.basename(t["file"])[:-4])
                seen = [rng.random() < 0.7 for _ in values]
                if faulty and t["index"] > last:
                    continue
                if faulty and t["index"] == last:
                    values = [v | 1 for v in values]
                put_form(name, dumps, shape, descr, [v if s else 77 for v, s in zip(values, seen)])
                put_form(name + ".mask", masks, shape, "|i1", seen)
            status, said = blame(golden, device)
            found = [(f["name"], f["class"]) for f in said["faults"]] if status < 2 else said
            tap.check(found == ([(POINT, "stuck_bit")] if faulty else []), f"dumps: {dumps}; masks: {masks}; {'a stuck bit' if faulty else 'clean'}", found)


# ---- bad input ----

def bad(tap, golden, device):
    stem = Node(golden, STEM)
    file = os.path.basename(stem.out["file"])

    def refused(what, says, spoil):
        dump(golden, stem, stem.codes(), device)
        spoil(os.path.join(device, file))
        status, said = blame(golden, device)
        tap.check(status == 2 and says in str(said) and str(said).count("\n") == 1, f"refused: {what}", status, said)

    refused("another shape", STEM, lambda f: write(f, [1, 16, 32, 31], "|i1", [0] * (16 * 32 * 31)))
    refused("16 bits", STEM, lambda f: write(f, stem.shape, "<i2", [0] * (16 * 1024)))
    refused("a truncated file", file, lambda f: os.truncate(f, 1000))
    refused("NaN", "image", lambda f: write(os.path.join(device, "0000_input_image.npy"), [1, 1, 32, 32], "<f4", [float("nan")] * 1024))
    shutil.rmtree(device)
    os.makedirs(device)
    status, said = blame(golden, device)
    tap.check(status == 2 and "nothing to blame" in str(said), "refused: an empty folder", said)


# ---- what a scheme refuses ----

def refusing(tap, folder):
    """A fault after which the scheme refuses a sum of the node behind it: named, and that node is not judged."""
    net, scheme, x = (os.path.join(folder, f) for f in ("sum.assay", "refusing.yaml", "x.npy"))
    golden, device = os.path.join(folder, "refusing"), os.path.join(folder, "refused")
    with open(net, "w") as f:
        f.write("graph net {\n input x: i8[1,1,8] q(1,0)\n h: i8[1,1,8] q(1,3) = rescale(x)\n"
                " y: i8[1,1,1] q(1,0) = reduce_sum(h) {axes=[2], keepdims=true}\n output y\n}\n")
    with open(scheme, "w") as f:
        f.write("scheme: refusing\ndescription: takes sums of 9 bits\nrescale: {input_bits: 9}\n")
    write(x, [1, 1, 8], "|i1", [20, 9, 11, -5, 17, 3, 2, 1])
    subprocess.run([ASSAY, "golden", net, "-s", scheme, "-i", x, "-q", "-o", golden], check=True, capture_output=True)
    files = {t["name"]: os.path.basename(t["file"]) for t in json.load(open(os.path.join(golden, "manifest.json")))["tensors"]}
    for y in (None, 127, 5):
        shutil.rmtree(device, ignore_errors=True)
        os.makedirs(device)
        write(os.path.join(device, files["h"]), [1, 1, 8], "|i1", [a | 64 for a in [23, 12, 14, -2, 20, 6, 5, 4]])
        if y is not None:
            write(os.path.join(device, files["y"]), [1, 1, 1], "|i1", [y])
        status, said = blame(golden, device)
        verdicts = [n["verdict"] for n in said["nodes"]] if status == 1 else said
        good = status == 1 and [(f["name"], f["class"]) for f in said["faults"]] == [("h", "stuck_bit")]
        tap.check(good and verdicts == ["own", "not_dumped" if y is None else "inherited"], f"a sum that is refused behind a fault: {y}", said)


def main():
    tap = Tap()
    print(f"# seed {SEED}")
    with tempfile.TemporaryDirectory() as folder:
        golden, device = make_golden("tflite", folder), os.path.join(folder, "device")
        for name in (STEM, DEPTHWISE, POINT, ADD, FULL, POOL):
            node = Node(golden, name)
            dump(golden, node, node.codes(), device)
            status, said = blame(golden, device)
            tap.check(status == 0 and said["verdict"] == "clean" and not said["faults"], f"{node.name} as it should be is clean", said)
        for name, wanted, fault in FAULTS:
            node = Node(golden, name)
            dump(golden, node, fault(node), device)
            status, said = blame(golden, device)
            faults = said["faults"] if status == 1 else []
            good = len(faults) == 1 and faults[0]["name"] == name and faults[0]["class"] == wanted
            what = {k: faults[0][k] for k in ("name", "class", "classes", "detail", "explained", "differing")} if faults else said
            tap.check(good, f"{node.name}: {wanted}", what)
        several(tap, golden, device)
        schemes(tap, golden, folder)
        whole_pool(tap, folder)
        samples(tap, folder, device)
        sums_alone(tap, folder, device)
        refusing(tap, folder)
        clean(tap, golden, device)
        masked(tap, golden, device)
        bad(tap, golden, device)
    tap.end()


if __name__ == "__main__":
    main()
