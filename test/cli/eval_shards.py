#!/usr/bin/env python3
"""eval_shards.py ASSAY SOURCE: eval's shards merge to the bytes of one run, whatever their number and order.

Networks with labels of samples, of pixels, with none, without a twin, with two inputs, and with infinities; shards run by
other engines and threads, of other sizes, again after they were killed; files that lie, miss or double samples.
"""
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile

from support import TAP, check, npy, read, write

ASSAY, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
SEED = int(os.environ.get("ASSAY_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
RANDOM = random.Random(SEED)
N = 23
GLYPHS = ["net.onnx", "-p", "net.yaml", "-s", "tflite", "-d", SOURCE + "/datasets/glyphs/test", "-n", str(N), "-q"]


def assay(*args):
    run = subprocess.run([ASSAY, *args], capture_output=True, timeout=120, check=False)
    return run.returncode, run.stdout, run.stderr


def good(*args):
    status, out, err = assay(*args)
    if status:
        raise SystemExit(f"Bail out! {args}: {err}")
    return out


def refused(name, pattern, *args):
    status, out, err = assay(*args)
    check(status == 2 and err.count(b"\n") == 1 and not out and re.search(pattern, err.decode()), name, (status, err))


def reals(n):
    return [RANDOM.uniform(-1, 1) for _ in range(n)]


def prepare():
    for name in ("pixels", "noise", "two"):
        os.mkdir(name)
        write(f"{name}/preprocess.yaml", b"dtype: f32\n")
    write("pixels.assay", (f"graph pixels {{ input x: f32[1,3,4,4]\n const w: f32[3,3,1,1] = {reals(9)}\n"
                           " y: f32[1,3,4,4] = conv(x, w)\n output y }\n").encode())
    write("two.assay", b"graph two { input a: f32[1,4] input b: f32[1,4]\n s: f32[1,4] = add(a, b)\n output s }\n")
    write("huge.assay", ("graph huge { input x: f32[1,3,4,4]\n const big: f32[1,3,1,1] = [3e38, 3e38, 1]\n"
                         " y: f32[1,3,4,4] = mul(x, big)\n output y }\n").encode())
    npy("pixels/x.npy", "<f4", (N, 3, 4, 4), reals(48 * N))
    npy("maps.npy", "<i4", (N, 4, 4), [RANDOM.choice((0, 1, 2, 255)) for _ in range(16 * N)])
    for which in "ab":
        npy(f"two/{which}.npy", "<f4", (N, 4), reals(4 * N))
    npy("noise/x.npy", "<f4", (N, 3, 4, 4), [RANDOM.choice((0.5, -3, 7, 0.01)) for _ in range(48 * N)])
    write("net.onnx", read(SOURCE + "/datasets/models/plain_cnn.onnx"))
    good("profile", "net.onnx", "-d", SOURCE + "/datasets/glyphs/calibration", "-n", "20", "-q", "-o", "net.yaml")
    good("profile", "pixels.assay", "-d", "pixels/x.npy", "-q", "-o", "pixels.yaml")
    good("profile", "two.assay", "-d", "a=two/a.npy", "-d", "b=two/b.npy", "-q", "-o", "two.yaml")
    good("quantize", "pixels.assay", "-p", "pixels.yaml", "-s", "tflite", "-o", "codes.assay")


def shards(base, n, *more):
    for k in range(1, n + 1):
        good("eval", *base, "--shard", f"{k}/{n}", "-o", f"s{k}of{n}.json", "-j", str(RANDOM.randint(1, 3)), *more)
    return [f"s{k}of{n}.json" for k in range(1, n + 1)]


def merges(name, base, parts=(1, 2, 5, N)):
    """Text, JSON and status of one run are those of the shards."""
    one = assay("eval", *base, "--json", "one.json")
    for n in parts:
        files = shards(base, n)
        RANDOM.shuffle(files)
        got = assay("eval", "merge", *files, "--json", "merged.json")
        check(one[0] == got[0] == 0 and one[1] == got[1] and read("one.json") == read("merged.json"),
              f"{name}: {n} shards give the bytes of one run", one, got, files)
    check(os.path.getsize("one.json") > 60, f"{name}: which says something")


def networks():
    merges("labels", GLYPHS)
    merges("from the 3rd sample on", [*GLYPHS, "--first", "3"], (4,))
    merges("no twin", ["net.onnx", "-d", SOURCE + "/datasets/glyphs/test", "-n", str(N), "-q"], (3,))
    merges("label maps", ["pixels.assay", "-p", "pixels.yaml", "-s", "tflite", "-d", "pixels/x.npy", "--labels", "maps.npy", "-q"])
    merges("pixels without labels", ["pixels.assay", "-p", "pixels.yaml", "-s", "npu16", "-d", "pixels/x.npy", "--class-axis", "1", "-q"], (4,))
    merges("two inputs", ["two.assay", "-p", "two.yaml", "-s", "tflite", "-d", "a=two/a.npy", "-d", "b=two/b.npy", "-q"], (3,))
    merges("infinities", ["codes.assay", "-s", "tflite", "-d", "noise/x.npy", "--float", "huge.assay", "-q"], (3,))


def verdicts():
    files = shards(GLYPHS, 4)
    for option, bound in (("--max-drop", "0"), ("--min-sqnr", "5"), ("--min-sqnr", "400")):
        one, got = assay("eval", *GLYPHS, option, bound), assay("eval", "merge", *files, option, bound)
        check(one == got and one[0] in (0, 1), f"{option} {bound}: status {one[0]} of both", one, got)
    check(assay("eval", "merge", *files, "--min-sqnr", "400")[0] == 1, "which is 1 where noise is above the bound")
    one = good("eval", *GLYPHS)
    by_others = [*shards(GLYPHS, 4, "--engine", "fast")[:2], *shards(GLYPHS, 4)[2:]]
    check(good("eval", "merge", *by_others) == one, "shards of both engines")
    good("eval", *GLYPHS, "--shard", "2/2", "-o", "half.json")
    check(good("eval", "merge", "s1of4.json", "half.json", "s2of4.json") == one, "shards of other sizes")


def killed():
    """A shard that ends early leaves no file, or the one before; it alone is run again."""
    files = shards(GLYPHS, 3)
    whole = good("eval", "merge", *files)
    os.remove(files[1])
    run = subprocess.Popen([ASSAY, "eval", *GLYPHS[:-1], "--shard", "2/3", "-o", files[1], "-j", "1"], stderr=subprocess.PIPE)
    run.stderr.readline()  # progress has begun
    run.send_signal(signal.SIGKILL)
    run.communicate()
    left = os.listdir(".")
    check(files[1] not in left, "a killed shard leaves no file", left)
    refused("which is what merge says", r"cannot open|No such file", "eval", "merge", *files)
    refused("or that samples are missing", r"sample 7 of \[0, 23\) is missing", "eval", "merge", files[0], files[2])
    good("eval", *GLYPHS, "--shard", "2/3", "-o", files[1])
    check(good("eval", "merge", *files) == whole, "run again alone, all is as it was")


def refusals():
    a, b, c = shards(GLYPHS, 3)
    refused("a shard twice", r"sample 7 is in two shards: s2of3.json and s2of3.json", "eval", "merge", a, b, b, c)
    refused("shards that overlap", r"sample 11 is in two shards: s2of3.json and half.json", "eval", "merge", a, b, "half.json")
    refused("the first one missing", r"sample 0 of \[0, 23\) is missing", "eval", "merge", b, c)
    refused("the last one missing", r"sample 15 of \[0, 23\) is missing", "eval", "merge", a, b)
    for what, change, pattern in (
            ("another scheme", ["-s", "npu16"], "scheme is 'npu16' in one and 'tflite' in the other|'tflite'.*'npu16'"),
            ("other weights", ["--per-tensor"], "network is '"), ("another data set", ["-d", SOURCE + "/datasets/glyphs/calibration"], "dataset is '"),
            ("fewer samples", ["-n", "20"], "count is '20' in one and '23'|count is '23' in one and '20'")):
        base = [*GLYPHS]
        if change[0] in base:
            base[base.index(change[0]) + 1] = change[1]
        else:
            base += change
        good("eval", *base, "--shard", "3/3", "-o", "other.json")
        refused(what, pattern, "eval", "merge", a, b, "other.json")
    bare = ["pixels.assay", "-p", "pixels.yaml", "-s", "tflite", "-d", "pixels/x.npy", "-q"]
    refused("no labels to judge by", "--max-drop", "eval", "merge", *shards(bare, 2), "--max-drop", "1")
    refused("--shard without -o", "-o FILE", "eval", *GLYPHS, "--shard", "1/2")
    refused("-o without --shard", "--shard K/N goes with", "eval", *GLYPHS, "-o", "x.json")
    for option in (["--json", "x.json"], ["--max-drop", "1"], ["--min-sqnr", "1"]):
        refused(f"--shard with {option[0]}", f"{option[0]} applies to all samples", "eval", *GLYPHS, "--shard", "1/2", "-o", "x.json", *option)
    for bad in ("0/4", "5/4", "3", "1/24"):
        refused(f"--shard {bad}", "--shard", "eval", *GLYPHS, "--shard", bad, "-o", "x.json")
    check(not os.path.exists("x.json"), "nothing is written then")


def lies():
    """Every part of a file changed to what cannot be: one line, no crash."""
    files = shards(GLYPHS, 2)
    with open(files[0], encoding="utf-8") as f:
        text = f.read()
    sample = json.loads(text)["outputs"][0].split()
    for what, key, value in (("no samples", "outputs", []), ("a sample that is none", "outputs", [7]),
                             ("a short digest", "outputs", [" ".join([sample[0][1:], *sample[1:]])]),
                             ("elements below 0", "outputs", [" ".join([*sample[:4], "-1"])]), ("more behind", "outputs", [" ".join(sample) + " 3"]),
                             ("a negative first", "first", -1), ("a first that is no number", "first", "0"), ("more places than there are", "places", 1 << 62),
                             ("more agreement than places", "agree", 1 << 20), ("no tally", "tally", {}), ("another format", "assay_eval_part", 2),
                             ("more within one than within five", "tally", {"labelled": 3, "top": [2, 1, 1, 1, 1], "classes": 34}),
                             ("more met than labelled", "tally", {"labelled": 3, "top": [1, 1, 1, 1, 4], "classes": 34}),
                             ("no classes", "tally", {"labelled": 0, "top": [0] * 5, "classes": 0}),
                             ("nothing of what", "of", {}), ("a number for it", "of", 3)):
        write("lie.json", json.dumps({**json.loads(text), key: value}).encode())
        refused(what, "lie.json", "eval", "merge", "lie.json", files[1])
        write("lie.json", json.dumps({k: v for k, v in json.loads(text).items() if k != key}).encode())
        refused(f"no {key}", "lie.json", "eval", "merge", files[1], "lie.json")
    write("lie.json", text.encode()[:-40])
    refused("a file cut off", "lie.json:[0-9]+:[0-9]+: not a shard of assay eval", "eval", "merge", files[1], "lie.json")
    damaged = 0
    for _ in range(60):
        bad = bytearray(text.encode())
        for _ in range(RANDOM.randint(1, 3)):
            bad[RANDOM.randrange(len(bad))] = RANDOM.choice(b'0179"[]{},-e ')
        write("lie.json", bytes(bad))
        status, out, err = assay("eval", "merge", "lie.json", files[1])
        damaged += status not in (0, 2) or (status == 2 and (err.count(b"\n") != 1 or out != b""))
    check(damaged == 0, "60 files with changed bytes: taken or one line", damaged)


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        print(f"# ASSAY_SEED={SEED}")
        prepare()
        networks()
        verdicts()
        killed()
        refusals()
        lies()
        os.chdir("/")
    TAP.end()


main()
