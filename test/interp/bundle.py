#!/usr/bin/env python3
"""bundle.py ASSAY: golden bundles under tampering, odd names, links; a device's dumps in every form; what --force replaces.

Every leaf of a manifest and every file of a bundle in all forms is changed in turn, and verify must
see each; what a run can know, it must see even where the manifest's digest of itself is not asked.
"""
import copy
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from bundle_case import assay, chain, files_below, raw_input, read, write  # noqa: E402
from tap import Tap  # noqa: E402

TAP = Tap()
check = TAP.check
SEED = int(os.environ.get("ASSAY_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
RANDOM = random.Random(SEED)


def leaves(o, path=()):
    if isinstance(o, dict):
        for k in o:
            yield from leaves(o[k], path + (k,))
        if not o:
            yield path
    elif isinstance(o, list):
        for i, v in enumerate(o):
            yield from leaves(v, path + (i,))
        if not o:
            yield path
    else:
        yield path


def get(o, path):
    for p in path:
        o = o[p]
    return o


def changed(v):
    if isinstance(v, bool):
        return not v
    if isinstance(v, (int, float)):
        return v + 1
    if isinstance(v, str):
        if re.fullmatch("[0-9a-f]{32}", v):
            return "0" * 32
        return v[:-1] + ("b" if v.endswith("a") else "a")
    return 1 if v is None else [1]


def faults(out):
    n = re.search(r"(\d+) bad files?, (\d+) tensors? that a fresh run gives otherwise(?:, (\d+) other)?", out)
    return [int(g or 0) for g in n.groups()] if n else None


# What no run can know: only the manifest's digest of itself speaks for it.
ORIGIN = [("assay",), ("model", "file"), ("preprocessing",), ("xxh3",)]


def is_origin(path):
    return path in ORIGIN or (path[0] == "inputs" and path[-1] == "file")


def every_leaf(bundle):
    path = os.path.join(bundle, "manifest.json")
    whole = read(path)
    manifest = json.loads(whole)
    seen, slipped, blind = 0, [], []
    for leaf in leaves(manifest):
        for kind in ("change", "drop"):
            m = copy.deepcopy(manifest)
            holder = get(m, leaf[:-1])
            if kind == "change":
                holder[leaf[-1]] = changed(holder[leaf[-1]])
            else:
                del holder[leaf[-1]]
            write(path, json.dumps(m, indent=1).encode())
            status, out = assay("verify", bundle)
            seen += 1
            if status == 0:
                slipped.append((leaf, kind))
            # one fault is the manifest's own digest; a run or the files must find another
            n = faults(out)
            if status == 1 and n and sum(n) < 2 and not is_origin(leaf):
                blind.append((leaf, kind, out))
    write(path, whole)
    check(not slipped, f"verify sees each of {seen} changes of the manifest's leaves", slipped)
    check(not blind, "and sees what a run can know without the manifest's own digest", blind[:5])
    m = dict(manifest, tensors=[])
    write(path, json.dumps(m, indent=1).encode())
    check(assay("verify", bundle)[0] == 1, "an empty list of tensors is no good bundle")
    check(assay("verify", "--files-only", bundle)[0] == 1, "nor is it for --files-only")
    write(path, whole)


def every_file(bundle):
    slipped = []
    files = files_below(bundle)
    for option in ([], ["--files-only"]):
        for name in files:
            path = os.path.join(bundle, name)
            whole = read(path)
            at = RANDOM.randrange(len(whole))
            for data in (whole[:at] + bytes([whole[at] ^ 1 << RANDOM.randrange(8)]) + whole[at + 1:],
                         whole[:RANDOM.randrange(len(whole))], whole + b"\n", None):
                if data is None:
                    os.unlink(path)
                else:
                    write(path, data)
                if assay("verify", bundle, *option)[0] == 0:
                    slipped.append((name, at, option))
            write(path, whole)
    check(not slipped, f"verify sees every one of {len(files)} files flipped, cut, longer, gone (seed {SEED})",
          slipped[:10])
    path = os.path.join(bundle, [name for name in files if name.endswith(".hex")][0])
    whole = read(path)
    write(path, whole + b"0\n")
    status, out = assay("verify", bundle)
    check(status == 1 and faults(out) == [1, 0, 0] and "a fresh run:" not in out,
          "a fault that no run meets is one fault, and the run has none to say", out)
    write(path, whole)
    path = os.path.join(bundle, "tensors/0000_input_in.npy")
    whole = read(path)
    write(path, whole + b"0")
    status, out = assay("verify", "--files-only", bundle)
    check(status == 1 and out.count("tensors/0000_input_in.npy") == 1, "a file at fault is named once", out)
    write(path, whole)
    write(os.path.join(bundle, "tensors", "0099_conv_more.npy"), b"more")
    status, out = assay("verify", bundle)
    check(status == 1 and "tensors/0099_conv_more.npy: does not belong to the bundle" in out, "a file too many is said", out)
    os.unlink(os.path.join(bundle, "tensors", "0099_conv_more.npy"))
    check(assay("verify", bundle)[0] == 0, "and all is well again")


def tampering():
    chain("odd.assay")
    raw_input("in.bin")
    status, out = assay("golden", "odd.assay", "-s", "tflite", "-i", "in.bin", "--accumulators", "--format",
                        "npy,raw,hex,c", "--hex-bits", "12", "-o", "all")
    check(status == 0, "a bundle in all forms of tensors with odd names", out)
    names = files_below("all")
    check(all(any(n.endswith(f"{part}.{e}") for n in names) for part in ("_w", "_b", "_c.multiplier", "_c.zero_point")
              for e in ("hex", "h", "bin")), "constants, biases, multipliers and zero points in all forms", names)
    status, out = assay("verify", "all")
    check(status == 0, "verifies", out)
    check(assay("diff", "all", "all")[0] == 0, "and equals itself")
    manifest = json.loads(read("all/manifest.json"))
    check([t["name"] for t in manifest["tensors"]][2:] ==
          ["x..y", "a/b", "a_b", "long" * 60, "\\xff\\xfe non UTF-8", "\u00fc \\x41"],
          "names come back, bytes that are no UTF-8 as \\xHH", [t["name"] for t in manifest["tensors"]])
    every_leaf("all")
    every_file("all")
    for i in (1, 2, 3):
        raw_input(f"in{i}.bin", i)
    status, _ = assay("golden", "odd.assay", "-s", "tflite", *sum((["-i", f"in{i}.bin"] for i in (1, 2, 3)), []),
                      "-o", "three")
    check(status == 0 and assay("verify", "three")[0] == 0, "three samples verify")


def tiny_numbers():
    """Constants and parameters: of two bundles, and where a device dumps them, under either name."""
    net = """graph g {{ input x: i8[1,4] q(0.1,3)
      const w: i8[2,4] q(axis=0,[0.01,0.02],[0,0]) = [1,2,3,4,-5,6,-7,{w}]
      const b: i32[2] q(axis=0,[0.001,0.002],[0,0]) = [100000,{b}]
      y: i8[1,2] q(0.05,-4) = fc(x, w, b)
      output y }}"""
    write("tiny.bin", bytes([1, 2, 3, 4]))
    write("more.yaml", b"scheme: more\nextends: tflite\nrescale: {multiplier_bits: 24}\n")
    def bundle(to, w=8, b=-50000, scheme="tflite"):
        write("tiny.assay", net.format(w=w, b=b).encode())
        assay("golden", "tiny.assay", "-s", scheme, "-i", "tiny.bin", "--format", "npy,hex", "-f", "-o", to)
    bundle("n"), bundle("nb", b=-50001), bundle("nw", w=7), bundle("ns", scheme="./more.yaml")
    for other, words in (("nb", "b (constant)[1]  -50000 != -50001"), ("nw", "w (constant)[1,3]  8 != 7")):
        status, out = assay("diff", "n", other)
        check(status == 1 and words in out, f"constants of two bundles: {words}", out)
    status, out = assay("diff", "n", "nb", "--max-lsb", "1")
    check(status == 0 and "b (constant)" in out, "with a threshold they are shown", out)
    status, out = assay("diff", "n", "ns")
    check(status == 0 and "multiplier[0]: 1374389504 != 10737418, under another scheme" in out,
          "parameters of another scheme are shown, and decide nothing", out)
    many = "graph g {{ input x: i8[1,32] q(0.1,3)\n const w: i8[1,32] q(0.01,0) = [{w}]\n" \
           " y: i8[1,1] q(0.05,-4) = fc(x, w)\n output y }}"
    write("many.bin", bytes(range(32)))
    for to, w, scheme in (("m", 1, "tflite"), ("mw", 3, "./more.yaml")):
        write("many.assay", many.format(w=",".join([str(w)] * 32)).encode())
        assay("golden", "many.assay", "-s", scheme, "-i", "many.bin", "-f", "-o", to)
    lines = [line.strip() for line in assay("diff", "m", "mw")[1].splitlines()]
    check("first at #1 'y' (fc)" in lines[0] and lines[1].startswith("y[0,0]  ") and
          sum(line.startswith("w (constant)[") for line in lines) == 19,
          "elements of the tensor that is named first stand before constants that are only shown", lines)
    shutil.rmtree("device", ignore_errors=True)
    for folder in ("tensors", "constants", "parameters"):
        os.makedirs("device/" + folder)
    shutil.copy("n/tensors/0001_fc_y.npy", "device/tensors")
    shutil.copy("nb/constants/c0001_b.hex", "device/constants/b.hex")
    status, out = assay("diff", "n", "device")
    check(status == 1 and "b (constant)[1]  -50000 != -50001" in out, "a dumped bias that differs", out)
    os.unlink("device/constants/b.hex")
    shutil.copy("ns/parameters/0001_fc_y.multiplier.hex", "device/parameters/y.multiplier.hex")
    shutil.copy("n/parameters/0001_fc_y.shift.hex", "device/parameters")
    status, out = assay("diff", "n", "device")
    check(status == 1 and "y (multiplier)[0]  1374389504 != 10737418" in out and "y (shift) " in out,
          "dumped multipliers that differ, and shifts that do not", out)
    os.unlink("device/parameters/y.multiplier.hex")
    write("called.assay", net.format(w=8, b=-50000).replace("fc(x, w, b)", "fc(x, w, b) @layer/fc").encode())
    assay("golden", "called.assay", "-s", "tflite", "-i", "tiny.bin", "--format", "npy,hex", "-f", "-o", "called")
    for name in ("0001_fc_y", "0001_fc_layer_fc", "layer_fc"):
        shutil.rmtree("device/parameters")
        os.makedirs("device/parameters")
        shutil.copy("ns/parameters/0001_fc_y.multiplier.hex", f"device/parameters/{name}.multiplier.hex")
        status, out = assay("diff", "called", "device")
        check(status == 1 and "layer/fc (multiplier)[0]  1374389504 != 10737418" in out,
              f"a node's parameters, where its output is called otherwise: {name}", out)
    shutil.rmtree("device/parameters")
    os.makedirs("device/parameters")
    write("device/parameters/y.thing.hex", b"00000000\n")
    status, out = assay("diff", "n", "device")
    check(status == 0 and "'parameters/y.thing.hex'" in out, "a list that no node has is named", out)


def dumps():
    """A device's dumps in every form and layout that a bundle has, and what differs in two bundles."""
    def laid(folder, keep):
        shutil.rmtree("device", ignore_errors=True)
        for f in files_below(folder):
            to = keep(f)
            if to:
                os.makedirs(os.path.dirname("device/" + to), exist_ok=True)
                shutil.copyfile(os.path.join(folder, f), "device/" + to)
        return assay("diff", folder, "device")
    for bits in (0, 4, 12, 24, 128):
        more = ["--hex-bits", str(bits)] if bits else []
        assay("golden", "odd.assay", "-s", "tflite", "-i", "in.bin", "--accumulators", "--format", "hex,raw", *more,
              "-f", "-o", "forms")
        for e in ("npy", "bin", "hex"):
            status, out = laid("forms", lambda f, e=e: f if f.endswith(e) else None)
            numbers = sum(f.endswith(e) and f.startswith(("constants/", "parameters/")) for f in files_below("forms"))
            check(status == 0 and f"SAME: {9 + numbers} tensors" in out and "not compared" not in out and numbers > 1,
                  f"dumps laid out like a bundle, .{e}, words of {bits}", out)
            status, out = laid("forms", lambda f, e=e: f[8:] if f.endswith(e) and f.startswith("tensors/") else None)
            check(status == 0 and "SAME: 8 tensors" in out, f"a flat folder, .{e}, words of {bits}", out)
    status, out = laid("three", lambda f: f[8:] if f.startswith("tensors/") else None)
    check(status == 0 and "SAME: 24 tensors" in out, "samples in folders", out)
    status, out = laid("three", lambda f: f[15:] if f.startswith("tensors/s00000") else None)
    check(status == 0 and "SAME: 8 tensors" in out and "16 not in the second" in out, "a flat folder is one sample", out)
    status, out = laid("forms", lambda f: "a_b.npy" if "0005_relu_long" not in f and f.endswith("_a_b.npy") else None)
    check(status == 0 and "SAME: 1 tensor compared" in out, "a_b.npy is the dump of 'a_b', not of 'a/b'", out)
    shutil.rmtree("other", ignore_errors=True)
    shutil.copytree("all", "other")
    sums = "other/" + json.loads(read("all/manifest.json"))["tensors"][1]["accumulators"]["file"]
    data = bytearray(read(sums))
    data[-8] ^= 1
    write(sums, bytes(data))
    status, out = assay("diff", "all", "other")
    check(status == 1 and "(accumulators)" in out, "accumulators are compared", out)
    shutil.rmtree("other")
    shutil.copytree("all", "other")
    m = json.loads(read("other/manifest.json"))
    m["nodes"][0]["parameters"]["multiplier"][0] += 1
    write("other/manifest.json", json.dumps(m).encode())
    status, out = assay("diff", "all", "other")
    check(status == 1 and "multiplier[0]: " in out, "and parameters", out)
    tiny_numbers()
    os.mkdir("same")
    for name, q in (("one", "0.5,3"), ("two", "0.25,3"), ("three_points", "0.5,4")):
        write(name + ".assay", f"graph g {{ input x: i8[1,32] q({q})\n y: i8[1,32] q({q}) = relu(x)\n output y }}\n".encode())
        assay("golden", name + ".assay", "-s", "tflite", "-i", "in.bin", "-f", "-o", "same/" + name)
    for name, words in (("two", "scale: 0.5 != 0.25"), ("three_points", "zero_point: 3 != 4")):
        status, out = assay("diff", "same/one", "same/" + name)
        check(status == 1 and words in out, f"and what codes stand for: {words}", out)


def strangers():
    """What a stranger's bundle names outside itself is never opened; what is no file is not waited for."""
    secret = os.path.abspath("secret.npy")
    shutil.copyfile("three/tensors/s00000/0000_input_in.npy", secret)
    def tampered(change):
        shutil.rmtree("bad", ignore_errors=True)
        shutil.copytree("all", "bad", symlinks=True)
        change()
        start = time.time()
        runs = [assay("verify", "bad"), assay("verify", "bad", "--files-only"), assay("diff", "bad", "all")]
        return runs, time.time() - start
    def link(name, to):
        os.unlink("bad/" + name)
        os.symlink(to, "bad/" + name)
    def rewrite(edit):
        m = json.loads(read("bad/manifest.json"))
        edit(m)
        write("bad/manifest.json", json.dumps(m).encode())
    tensor = "tensors/0000_input_in.npy"
    def link_folder():
        os.rename("bad/tensors", "elsewhere")
        os.symlink(os.path.abspath("elsewhere"), "bad/tensors")
    for name, change in (
            ("a tensor that is a link", lambda: link(tensor, secret)),
            ("a constant that is a link", lambda: link("constants/c0000_w.npy", os.path.abspath("all/constants/c0000_w.npy"))),
            ("a network that is a link", lambda: link("graph.assay", os.path.abspath("all/graph.assay"))),
            ("a folder that is a link", link_folder),
            ("a path upwards", lambda: rewrite(lambda m: m["tensors"][0].update(file="../secret.npy"))),
            ("an absolute path", lambda: rewrite(lambda m: m["tensors"][0].update(file=secret))),
            ("a pipe", lambda: (os.unlink("bad/" + tensor), os.mkfifo("bad/" + tensor))),
            ("a pipe as the network", lambda: (os.unlink("bad/graph.assay"), os.mkfifo("bad/graph.assay"))),
            ("a scheme that extends a file",
             lambda: rewrite(lambda m: m["scheme"].update(text="scheme: x\nextends: " + secret + "\n")))):
        runs, took = tampered(change)
        good = all(status > 0 for status, _ in runs[:2]) and took < 30
        if "scheme" not in name and name not in ("a constant that is a link", "a network that is a link",
                                                 "a pipe as the network"):
            good = good and runs[2][0] == 2
        check(good, f"{name} is not followed", runs)
    os.mkfifo("fifo.assay")
    check(assay("inspect", "fifo.assay")[0] == 2, "nor is a pipe waited for as a model")


def twice():
    """A manifest that has one name twice is refused by whoever opens it, in the same line."""
    for part, more in (("tensors", {}), ("constants", {}), ("tensors", {"op": "relu", "index": 3})):
        shutil.rmtree("bad", ignore_errors=True)
        shutil.copytree("all", "bad")
        m = json.loads(read("bad/manifest.json"))
        m[part].append(dict(m[part][0], **more))
        write("bad/manifest.json", json.dumps(m).encode())
        line = f'assay: bad/manifest.json: "{part}" lists \'{m[part][0]["name"]}\' twice\n'
        runs = [assay(*a) for a in (("verify", "bad"), ("verify", "--files-only", "bad"), ("diff", "bad", "all"), ("diff", "all", "bad"),
                                    ("blame", "bad", "all"), ("blame", "all", "bad"), ("report", "bad", "-o", "r.html"),
                                    ("explain", "bad", "all", "c[0,0,0,0]"), ("capsule", "bad", "all", "c", "-o", "cap"))]
        check(all(r == (2, line) for r in runs), f"{part} that have {m[part][0]['name']} twice are refused", runs)


def force():
    """--force replaces a golden bundle and nothing else."""
    def again(where):
        return assay("golden", "odd.assay", "-s", "tflite", "-i", "in2.bin", "-f", "-o", where)
    os.makedirs("home/music")
    write("home/music/song", b"la")
    os.mkdir("empty")
    write("file", b"text")
    shutil.copytree("three", "mixed")
    write("mixed/tensors/s00001/notes.txt", b"mine")
    os.symlink("three", "link")
    os.makedirs("faked")
    write("faked/manifest.json", b'{"tensors": []}')
    write("faked/thesis.tex", b"mine")
    for where, names in (("home", "golden bundle"), ("empty", "golden bundle"), ("file", "not a folder"),
                         ("mixed", "tensors/s00001/notes.txt"), ("link", "not a folder"),
                         ("faked", "thesis.tex")):
        before = files_below(where)
        status, out = again(where)
        check(status == 2 and names in out and files_below(where) == before and out.count("\n") == 1,
              f"--force leaves {where} alone and says why", out)
        status, out = assay("golden", "odd.assay", "-s", "tflite", "-i", "in2.bin", "-o", where)
        check(status == 2 and "exists already" in out and "--force" not in out and files_below(where) == before,
              f"and without --force it is not named for {where}", out)
    status, out = assay("golden", "odd.assay", "-s", "tflite", "-i", "in2.bin", "-o", "three")
    check(status == 2 and "three: exists already; --force replaces it" in out, "it is for a bundle", out)
    for where in ("three/.", "three/tensors/.."):
        before = files_below("three")
        status, out = again(where)
        check(status == 2 and out.endswith(": nothing can be moved there; name the folder itself\n") and
              files_below("three") == before, f"{where} is not how a bundle that is replaced is called", out)
    status, out = again("three/")
    check(status == 0 and assay("verify", "three")[0] == 0, "and replaces a bundle", out)
    check(not [f for f in os.listdir(".") if ".partial" in f or ".old" in f], "with nothing left behind",
          os.listdir("."))


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    try:
        tampering()
        dumps()
        strangers()
        twice()
        force()
    finally:
        os.chdir("/")
        shutil.rmtree(work, ignore_errors=True)
    TAP.end()


main()
