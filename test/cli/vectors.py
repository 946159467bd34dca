#!/usr/bin/env python3
"""vectors.py ASSAY: rows that tell schemes apart and kill mutants; what `vectors lint` says of others' rows.

The expected codes are computed here, from TFLite's and the single-rounding formula. A mutant's verdict is tried by a
scheme file of its own with `scheme apply`: one that is killed differs on its row, one that is equal on none of many.
"""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from support import TAP, check, npy, read, write

ASSAY = os.path.realpath(sys.argv[1])
SEED = int(os.environ.get("ASSAY_SEED", "17"))
RANDOM = random.Random(SEED)
TRIED = 25  # mutants of each verdict


def assay(*args):
    run = subprocess.run([ASSAY, *map(str, args)], capture_output=True, text=True, timeout=120, check=False)
    return run.returncode, run.stdout, run.stderr


def load(path):
    data = read(path)
    (length,) = struct.unpack_from("<H", data, 8)
    kind = re.search(rb"'descr': '([^']*)'", data).group(1).decode()
    letter = {"|i1": "b", "|u1": "B", "<i4": "i", "<i8": "q", "<f4": "f"}[kind]
    body = data[10 + length:]
    return list(struct.unpack(f"<{len(body) // struct.calcsize(letter)}{letter}", body))


def wrap32(x):
    return (x + (1 << 31)) % (1 << 32) - (1 << 31)


def double_rounding(acc, m, shift, zp):
    """TFLite's MultiplyByQuantizedMultiplier: 31 bits half up, then the rest half away from zero."""
    left, right = max(31 - shift, 0), max(shift - 31, 0)
    x = (wrap32(acc << left) * m + (1 << 30)) >> 31
    if right:
        sign = -1 if x < 0 else 1
        x = sign * ((abs(x) + (1 << (right - 1))) >> right)
    return max(-128, min(127, wrap32(x + zp)))


def single_rounding(acc, m, shift, zp):
    """TFLite's single-rounding form: all bits at once, half up."""
    return max(-128, min(127, wrap32(((acc * m) + (1 << (shift - 1)) >> shift) + zp)))


def rows(folder):
    return list(zip(*(load(f"{folder}/{c}.npy") for c in ("acc", "multiplier", "shift", "zp"))))


def pairs():
    status, out, err = assay("scheme", "vectors", "tflite", "tflite-single", "-o", "two")
    check(status == 0 and "1 of 1 pairs" in out, "two schemes are told apart", out + err)
    a, b, asked = load("two/out.tflite.npy"), load("two/out.tflite-single.npy"), rows("two")
    check(len(asked) == 1 and a != b, "by one row", (asked, a, b))
    check([double_rounding(*r) for r in asked] == a and [single_rounding(*r) for r in asked] == b,
          "with both sides' codes", (asked, a, b))
    hexed = [int(w, 16) for w in read("two/acc.hex").decode().split()]
    check([wrap32(w) for w in hexed] == load("two/acc.npy"), "the same in $readmemh", hexed)
    status, out, err = assay("scheme", "vectors", "tflite", "cmsis-nn")
    check(status == 1 and "tflite and cmsis-nn are equal: conv reads no parameter" in out,
          "two records that read alike are said to be equal", out + err)
    status, out, err = assay("scheme", "vectors", "tflite", "tflite-single", "xnnpack-qs8", "gemmlowp", "-o", "four")
    cases = json.loads(read("four/vectors.json"))["cases"]
    codes = {s: load(f"four/out.{s}.npy") for s in ("tflite", "tflite-single", "xnnpack-qs8", "gemmlowp")}
    good = all(codes[c["a"]][c["row"]] != codes[c["b"]][c["row"]] for c in cases)
    check(status == 0 and len(cases) == 6 and good, "four schemes, each two on their row", out + err)


def only(folder, op):
    (name,) = os.listdir(f"{folder}/{op}")
    return load(f"{folder}/{op}/{name}")


def whole_ops():
    """Presets whose rescales are one and whose sums are not, and ops that are no rescale."""
    status, out, err = assay("scheme", "vectors", "onnxruntime", "onnxruntime-prevnni", "-o", "sums")
    check(status == 0 and "equal" not in out and "by 1 network node" in out, "what sums pairs apart is told", out + err)
    case = json.loads(read("sums/vectors.json"))["cases"][0]
    check(case["verdict"] == "told" and case["row"] is None and case["network"] == "apart0", "by a network", case)
    mine = only("sums/expected/onnxruntime", "conv")
    check(len(mine) == 1 and mine != only("sums/expected/onnxruntime-prevnni", "conv"), "of one element", mine)
    x = load("sums/networks/conv/inputs/apart0_far0.npy")
    check(len(x) < 128, "and few products", len(x))
    for name in ("onnxruntime", "onnxruntime-prevnni"):
        other = {"onnxruntime": "onnxruntime-prevnni"}.get(name, "onnxruntime")
        status, out, err = assay("infer", "sums/networks", f"sums/expected/{name}", "-o", "found.yaml", "--json", "f.json")
        named = out.split("\n", 1)[0].replace(",", "").split()
        check(name in named and other not in named, f"which infer reads as {name}", out + err)
    add_pairs()


def add_pairs():
    status, out, err = assay("scheme", "vectors", "tflite", "tflite-single", "cmsis-nn", "--op", "add", "-o", "adds")
    check(status == 1 and "tflite and cmsis-nn are equal: add reads" in out and "2 of 3 pairs" in out,
          "sums of two operands by a network", out + err)
    codes = {s: only(f"adds/expected/{s}", "add") for s in ("tflite", "tflite-single", "cmsis-nn")}
    check(len(codes["tflite"]) == 1 and codes["tflite"] == codes["cmsis-nn"] != codes["tflite-single"], "of one pair", codes)
    write("odd.yaml", b"scheme: odd\nextends: tflite\npool:\n  round: floor\n")
    status, out, err = assay("scheme", "vectors", "tflite", "odd.yaml", "--op", "avg_pool")
    check(status == 0 and "by 1 network node" in out, "averages that round otherwise", out + err)
    write("odd.yaml", b"scheme: odd\nextends: tflite\nrescale:\n  result_bits: 40\n")
    status, out, err = assay("scheme", "vectors", "tflite", "odd.yaml")
    check(status == 1 and "equal" not in out and "not proved: they differ in rescale.result_bits" in out,
          "what is not shown is not said", out + err)


def scheme_file(mutant):
    """Tflite with one parameter changed, shifts written as rows have them."""
    key, value = mutant.split(": ", 1)
    field = key.split(".")[1]
    value = value if value.startswith("[") or " " not in value else f"[{value}]"
    write("mutant.yaml", f"scheme: mutant\nextends: tflite\nrescale:\n  shift_sign: right\n  {field}: {value}\n".encode())
    return "./mutant.yaml"


def apply(scheme, folder):
    columns = [x for c in ("acc", "multiplier", "shift", "zp") for x in (f"--{c}", f"{folder}/{c}.npy")]
    status, _, err = assay("scheme", "apply", scheme, "--type", "i8", *columns, "-o", "r.npy", "--errors", "e.npy")
    return [None if e else c for c, e in zip(load("r.npy"), load("e.npy"))] if status == 0 else err


def random_rows():
    n = 4000
    m = [RANDOM.choice((1 << 30, (1 << 31) - 1, RANDOM.randrange(1 << 30, 1 << 31))) for _ in range(n)]
    shift = [RANDOM.randrange(31, 55) for _ in range(n)]
    acc = [RANDOM.randrange(-1 << 31, 1 << 31) >> RANDOM.randrange(31) for _ in range(n)]
    os.mkdir("random")
    npy("random/acc.npy", "<i4", (n,), acc)
    npy("random/multiplier.npy", "<i8", (n,), m)
    npy("random/shift.npy", "<i4", (n,), shift)
    npy("random/zp.npy", "<i4", (n,), [RANDOM.randrange(-128, 128) for _ in range(n)])


def mutants():
    status, out, err = assay("scheme", "vectors", "tflite", "--mutants", "-o", "suite")
    whole = json.loads(read("suite/vectors.json"))
    asked, codes = rows("suite"), load("suite/out.npy")
    check(status == 0 and all(c["verdict"] != "open" for c in whole["cases"]), "every mutant is decided", out + err)
    check([double_rounding(*r) for r in asked] == codes, "the suite's codes are TFLite's", codes)
    check(all(0 <= m < 1 << 31 for m in load("suite/multiplier.npy")), "rows ask multipliers that a register of 31 bits holds", load("suite/multiplier.npy"))
    told = [c for c in whole["cases"] if c["verdict"] == "told" and "shift_sign" not in c["b"]]
    same = [c for c in whole["cases"] if c["verdict"] == "same"]
    lives = []
    for c in RANDOM.sample(told, TRIED):
        got = apply(scheme_file(c["b"]), "suite")
        clash = isinstance(got, str) and "with the overrides of" in got  # it is a record of conv alone
        if not clash and (isinstance(got, str) or got[c["row"]] == codes[c["row"]]):
            lives.append((c["b"], got))
    check(not lives, f"{TRIED} mutants give another code on their row (ASSAY_SEED={SEED})", lives)
    random_rows()
    check(sum(c["proved"] for c in same) > 0.9 * len(same) and "proved of every zero point" in out,
          "of those that no row tells most are proved equal", out)
    base, differ = apply(scheme_file("rescale.product_bits: 0"), "random"), []
    for c in RANDOM.sample(same, TRIED):
        got = apply(scheme_file(c["b"]), "random")
        if got != base:
            differ.append((c["b"], str(got)[:200]))
    check(isinstance(base, list) and not differ, f"{TRIED} equal ones give the same on 4000 rows", differ)


def lint():
    status, out, err = assay("vectors", "lint", "suite", "-s", "tflite")
    check(status == 0 and " 0 live" in out, "the suite lets no mutant live", out + err)
    status, out, err = assay("vectors", "lint", "suite", "-s", "tflite-single", "--acc", "-999:999")
    check(status == 1 and "the suite expects" in out, "it is not another scheme's", out + err)
    shutil.copytree("suite", "less")
    n = len(rows("suite"))
    for name in ("acc", "multiplier", "shift", "zp", "out", "errors"):
        kind = {"multiplier": "<i8", "out": "|i1", "errors": "|u1"}.get(name, "<i4")
        npy(f"less/{name}.npy", kind, (n - 1,), load(f"suite/{name}.npy")[1:])
    status, out, err = assay("vectors", "lint", "less", "-s", "tflite")
    lives = [re.match("  lives: ([^:]*)", line).group(1) for line in out.split("\n") if "lives:" in line]
    check(len(lives) <= 3 * len(set(lives)), "values of one parameter share a line", out)
    check(status == 1 and "lives: rescale." in out, "one row less lets one live, with a row that kills it", out + err)
    killer = re.search(r"acc (-?\d+), multiplier (-?\d+), shift (-?\d+), zp (-?\d+): (-?\d+), not", out)
    check(killer and double_rounding(*map(int, killer.groups()[:4])) == int(killer.group(5)), "whose code is right", out)
    lines = ["acc, multiplier, shift, zp, out"]
    lines += [", ".join(map(str, (*r, c))) for r, c in zip(rows("suite"), load("suite/out.npy"))]
    write("suite.csv", ("\n".join(lines) + "\n").encode())
    status, out, err = assay("vectors", "lint", "suite.csv", "-s", "tflite", "--acc", "-999:999")
    check(status == 0, "a .csv with the same rows does as well", out + err)
    lines[0] = "\ufeff" + lines[0]
    other = [line.replace(", ", ",\t00").replace(",\t00-", ",\t-00") + " \r" for line in lines[1:]]
    write("other.csv", ("\n\n".join(lines[:1] + other)).encode())
    again = assay("vectors", "lint", "other.csv", "-s", "tflite", "--acc", "-999:999")
    check(again == (status, out.replace("suite.csv", "other.csv"), err), "and so it does with a byte order mark, blank lines and zeros in front", again)


def refuses(name, word, *args):
    status, out, err = assay(*args)
    check(status == 2 and not out and word in err and len(err.splitlines()) == 1, name, (status, out, err))


def refusals():
    refuses("one scheme alone", "--mutants", "scheme", "vectors", "tflite")
    refuses("mutants of two", "--mutants", "scheme", "vectors", "tflite", "gemmlowp", "--mutants")
    refuses("an unknown kind", "multiplier or scale", "scheme", "vectors", "tflite", "gemmlowp", "--kind", "x")
    refuses("kinds of rows of what is no rescale", "kind applies to rows, but", "scheme", "vectors", "tflite", "gemmlowp", "--op", "add",
            "--kind", "scale")
    refuses("a scheme twice", "given twice", "scheme", "vectors", "tflite", "gemmlowp", "tflite")
    refuses("multipliers of a scheme that has none", "--kind scale", "scheme", "vectors", "tflite", "xnnpack-qs8", "--kind",
            "multiplier")
    refuses("a folder that is there", "exists", "scheme", "vectors", "tflite", "gemmlowp", "-o", "suite")
    refuses("no scheme to lint by", "--scheme", "vectors", "lint", "suite")
    assay("scheme", "vectors", "xnnpack-qs8", "--mutants", "-o", "scales")
    refuses("a suite of scales read as multipliers", "multiplier.npy", "vectors", "lint", "scales", "-s", "tflite")
    write("bad.csv", b"acc,what\n1,2\n")
    refuses("a column of another name", "what", "vectors", "lint", "bad.csv", "-s", "tflite")
    write("bad.csv", b"acc,multiplier,shift,out\n1,1073741824,x,2\n")
    refuses("a cell that is no number", "bad.csv:2: shift", "vectors", "lint", "bad.csv", "-s", "tflite")
    write("bad.csv", b"acc,multiplier,out\n1,1073741824,2\n")
    refuses("a column that lacks", "shift", "vectors", "lint", "bad.csv", "-s", "tflite")
    for name, word, text in (
            ("a cell more than columns", "bad.csv:4: more cells", b"acc,multiplier,shift,out\n\n1,1073741824,1,2\n1,1073741824,1,2,3\n"),
            ("a cell of two numbers", "bad.csv:2: acc", b"acc,multiplier,shift,out\n1 2,1073741824,1,2\n"),
            ("a column twice", "bad.csv:1: the column out occurs twice", b"acc,out,multiplier,shift,out\n1,2,1073741824,1,2\n"),
            ("a byte 0", "bad.csv:2: it holds a 0 byte", b"acc,multiplier,shift,out\n1,1073741824,1,2\0,3\n"),
            ("columns without rows", "holds no rows", b"acc,multiplier,shift,out\n"),
            ("a code that is none", "row 0: out -9223372036854775808", b"acc,multiplier,shift,out\n1,1073741824,1,-9223372036854775808\n")):
        write("bad.csv", text)
        refuses(name, word, "vectors", "lint", "bad.csv", "-s", "tflite")
    write("bad.csv", b"")
    refuses("an empty file", "empty", "vectors", "lint", "bad.csv", "-s", "tflite")
    refuses("no file", "No such file", "vectors", "lint", "none.csv", "-s", "tflite")
    os.mkfifo("pipe.csv")
    refuses("a pipe, which is not waited for", "not a regular file", "vectors", "lint", "pipe.csv", "-s", "tflite")
    shutil.copytree("suite", "short")
    npy("short/zp.npy", "<i4", (1,), [0])
    refuses("columns of two lengths", "zp.npy has 1", "vectors", "lint", "short", "-s", "tflite")
    for name in ("acc", "multiplier", "shift", "zp", "out", "errors"):
        npy(f"short/{name}.npy", "<i4", (0,), [])
    refuses("columns without elements", "holds no rows", "vectors", "lint", "short", "-s", "tflite")
    npy("short/zp.npy", "<f4", (1,), [0])
    refuses("floats for integers", "float32", "vectors", "lint", "short", "-s", "tflite")


def main():
    home = tempfile.mkdtemp()
    try:
        os.chdir(home)
        pairs()
        whole_ops()
        mutants()
        lint()
        refusals()
    finally:
        os.chdir("/")
        shutil.rmtree(home)
    TAP.end()


main()
