#!/usr/bin/python3
"""assay infer --rounds: rows asked by hand are those that a command is asked, and what is found is the same; what is no answer is said.

  rounds.py ASSAY [SEED]      TAP

The device is the model of test/exact (device.py); its answers come as .npy or as $readmemh text, drawn by the seed."""
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../exact"), os.path.join(HERE, "../support")]
import npy  # noqa: E402
from tap import Tap  # noqa: E402

ASSAY = os.path.realpath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
RULE = {"left_shift": "product", "sum_bits": 0, "round": [[None, "half-up"]], "shift_min": 0, "multiplier_bits": 16, "shift_max": 40}
WINDOW = ["--kind", "multiplier", "--type", "i8", "--multiplier", "0:255", "--shift", "0:31"]


def assay(*words):
    done = subprocess.run([ASSAY, "infer", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return done.returncode, done.stdout, done.stderr


def answer(rng, rows, answers):
    """What the device gives, in one of the two forms."""
    subprocess.run([sys.executable, os.path.join(HERE, "device.py"), "rule.json", "i8", rows, answers], check=True)
    if rng.random() < 0.5:
        _, _, codes = npy.load(os.path.join(answers, "out.npy"))
        os.remove(os.path.join(answers, "out.npy"))
        with open(os.path.join(answers, "out.hex"), "w", encoding="ascii") as f:
            f.writelines("%02x\n" % (int(c) & 255) for c in codes)


def by_hand(rng, tap):
    """Round after round; how many."""
    for k in range(1, 100):
        status, out, err = assay("--rounds", "rtl", *WINDOW, "--json", "hand.json", "-o", "hand.yaml")
        with open("hand.json", encoding="utf-8") as f:
            report = json.load(f)
        if report["verdict"] != "waiting":
            return status, report, k - 1
        rows = report["folder"]
        whole = report["round"] == k and rows == "rtl/%d/rows" % k and len(npy.load(rows + "/acc.npy")[2]) == report["rows"]
        files = {n + e for n in ("acc", "zp", "multiplier", "shift") for e in (".npy", ".hex", ".h")}
        whole = whole and (files <= set(os.listdir(rows)) and os.listdir(report["answers"]) == [])
        if k == 1 or not whole or status != 1 or err:
            tap.check(whole and status == 1 and err == "" and "round %d: %d rows" % (k, report["rows"]) in out, "round %d is asked, in three forms" % k, out, err, report)
        again = assay("--rounds", "rtl", *WINDOW)
        if k == 1:
            tap.check(again[0] == 1 and again[1] == out, "asked again without an answer: the same words", again)
        answer(rng, rows, report["answers"])
    raise SystemExit("it never ends")


def refused(tap, what, words, *options):
    status, out, err = assay("--rounds", "rtl", *(options or WINDOW))
    tap.check(status == 2 and words in err and err.count("\n") == 1 and out == "", what, status, out, err)


def change(path, text):
    """The file with other text; what it held."""
    with open(path, "rb") as f:
        was = f.read()
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return was


def trouble(tap):
    refused(tap, "other options ask other rows", "asks other rows", *WINDOW[:4], "--multiplier", "0:127", "--shift", "0:31")
    refused(tap, "--oracle beside it", "--oracle does not apply", *WINDOW, "--oracle", "true")
    refused(tap, "--timeout beside it", "--timeout does not apply", *WINDOW, "--timeout", "3")
    refused(tap, "--next beside it", "--next is for given answers", *WINDOW, "--next", "more")
    refused(tap, "without a kind", "--kind", "--type", "i8")
    name = next(n for n in ("out.npy", "out.hex") if os.path.exists("rtl/2/answers/" + n))
    codes = os.path.join("rtl/2/answers", name)
    for text, words in (("zz\n", "rtl/2/answers/" + name), ("01\n02\n", "rtl/2/answers/out.hex" if name == "out.hex" else "rtl/2/answers/")):
        was = change(codes, text)
        refused(tap, "%s holds %s" % (name, text.split()), words)
        with open(codes, "wb") as f:
            f.write(was)
    os.rename("rtl/3/rows", "rtl/3/rows.away")
    status, _, err = assay("--rounds", "rtl", *WINDOW)
    tap.check(status == 2 and "rtl/3" in err and err.count("\n") == 1, "a round without its rows", status, err)
    os.rename("rtl/3/rows.away", "rtl/3/rows")
    os.mkdir("closed")
    with open("file", "w", encoding="ascii"):
        pass
    status, _, err = assay("--rounds", "file", *WINDOW)
    tap.check(status == 2 and "file" in err and err.count("\n") == 1, "a file in place of the folder", status, err)


def main():
    tap, rng = Tap(), random.Random(SEED)
    print("# seed %d" % SEED)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("rule.json", "w", encoding="utf-8") as f:
            json.dump(RULE, f)
        status, hand, rounds = by_hand(rng, tap)
        device = "%s %s rule.json i8" % (sys.executable, os.path.join(HERE, "device.py"))
        other, _, said = assay("--oracle", device, *WINDOW, "--json", "asked.json", "-o", "asked.yaml")
        with open("asked.json", encoding="utf-8") as f:
            asked = json.load(f)
        with open("asked.yaml", encoding="utf-8") as a, open("hand.yaml", encoding="utf-8") as b:
            same = a.read() == b.read()
        asked["found"] = hand["found"]
        tap.check(status == other and hand == asked and same and hand["verdict"] in ("unique", "class"), "%d rounds by hand find what a command finds" % rounds, said, hand, asked)
        trouble(tap)
    tap.end()


main()
