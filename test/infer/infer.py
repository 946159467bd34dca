#!/usr/bin/env python3
"""assay infer against devices that are known: presets are found again, faults are none, what is no answer is said.

  infer.py ASSAY [table]      TAP; table: instead every preset that has a multiplier, a line each for test/infer/README.md

The devices are the model of test/exact (device.py); the presets' rules stand here as their targets' code has them."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../support")]
import sweep  # noqa: E402
from tap import Tap  # noqa: E402

PRODUCT = {"left_shift": "product"}
UP, AWAY, DOUBLE = [[None, "half-up"]], [[None, "half-away"]], [[31, "half-up"], [None, "half-away"]]
BARE = {"sum_bits": 0, **PRODUCT}
# preset: type, the fields that are not the record's defaults, further options
PRESETS = {
    "tflite": ("i8", {"left_shift": "wrap", "round": DOUBLE}),
    "tflite-single": ("i8", {**PRODUCT, "shift_min": 1, "round": UP, "result_bits": 32, "result_overflow": "wrap"}),
    "vta": ("i8", {"encoding": "shift", "shift_min": -31, "shift_max": 31, "left_shift": "wrap", "round": [[None, "floor"]], "sum_bits": 0, "store": "wrap"}),
    "npu16": ("i8", {**BARE, "multiplier_bits": 16, "shift_min": 0, "shift_max": 63, "round": UP}),
    "nvdla": ("i8", {**BARE, "multiplier_bits": 15, "shift_min": 0, "shift_max": 63, "round": AWAY, "result_bits": 17, "zero_point": "before"}),
    "xnnpack-qu8-arm": ("u8", {**BARE, "multiplier_bits": 24, "shift_min": 16, "shift_max": 56, "round": UP, "result_bits": 32, "result_overflow": "wrap"}),
    "gemmlowp": ("u8", {"shift_max": 1100, "left_shift": "saturate", "round": DOUBLE}),
    "ethos-u": ("i8", {**PRODUCT, "shift_min": 0, "shift_max": 63, "round": DOUBLE}),
    "qnnpack": ("u8", {**BARE, "shift_min": 31, "round": DOUBLE}),
    "fbgemm-fixed": ("u8", {**BARE, "shift_min": 0, "shift_max": 63, "round": UP}),
    "tosa-single": ("i8", {**PRODUCT, "shift_min": 2, "round": UP, "result_bits": 32, "result_overflow": "refuse", "sum_overflow": "refuse", "input_shift_range": True}),
    "tosa-double": ("i8", {**PRODUCT, "shift_min": 2, "round": DOUBLE, "result_bits": 32, "result_overflow": "refuse", "sum_overflow": "refuse", "input_shift_range": True}),
    "tvm-qnn-upward": ("i8", {**BARE, "shift_max": 126, "round": UP}),
    "tvm-qnn-tonearest": ("i8", {**BARE, "shift_max": 126, "round": AWAY}),
    "xnnpack-qu8-rndnu16": ("u8", {"multiplier_bits": 24, "shift_min": 16, "shift_max": 56, "reduced_bits": 15, "reduced_overflow": "renormalise", "pre_shift": "rest",
                                   "pre_shift_round": "half-up", "operand_bits": 16, **PRODUCT, "round": [[15, "half-up"]], "sum_bits": 16, "sum_overflow": "saturate"}),
    "tflite-int16x8": ("i16", {"reduced_bits": 15, **PRODUCT, "round": UP, "result_bits": 32, "result_overflow": "wrap"}, "--acc-bits", "48"),
    "max78000": ("i8", {**BARE, "encoding": "shift", "round": UP}),
}
# kind scale: how R is formed and encoded beside that; presets that have no multiplier
FLOAT, STEPS = {"scale": "f32", "encoding": "float32", "round": [[None, "half-even"]], "sum_bits": 0}, {"scale": "f32-steps", "zero_point": "inside"}
EVEN = {"multiplier_round": "half-even"}
REFUSES = {"below_shift_min": "refuse", "beyond_shift_max": "refuse"}
TOSA = {**EVEN, "below_shift_min": "tosa-generator", "beyond_shift_max": "tosa-generator", "shift_sign": "right"}
POWER = {"scale": "power-of-two"}
FORMED = {
    "tflite": {}, "gemmlowp": {}, "tvm-qnn-upward": {}, "tvm-qnn-tonearest": {}, "tflite-int16x8": {},
    "tflite-single": {"below_shift_min": "largest"}, "vta": POWER, "max78000": POWER,
    "npu16": {"beyond_shift_max": "denormal"},
    "nvdla": {**REFUSES, "scale": "f32", "multiplier_round": "trunc", "multiplier_renormalise": False, "exponent_by_log": True, "negative_scale": True},
    "xnnpack-qu8-arm": {**EVEN, **REFUSES, "scale": "f32"}, "xnnpack-qu8-rndnu16": {**EVEN, **REFUSES, "scale": "f32"},
    "ethos-u": {"multiplier_renormalise": False, "below_shift_min": "zero", "zero_shift": 16},
    "qnnpack": {**EVEN, **REFUSES, "scale": "f32"}, "fbgemm-fixed": {**EVEN, **REFUSES, "scale": "f32"}, "tosa-single": TOSA, "tosa-double": TOSA,
}
FLOATS = {
    "fbgemm": ("u8", FLOAT), "fbgemm-avx2": ("u8", {**FLOAT, "float_overflow": "int-min", "sum_bits": 16, "sum_overflow": "saturate"}),
    "finn-threshold": ("i8", {"encoding": "thresholds", "round": [[None, "half-even"]]}),
    "gemmini": ("i8", {**FLOAT, "negative_scale": True, "float_rounding": "add-one"}),
    "glow-cpu": ("i8", {**PRODUCT, "scale": "f32", "encoding": "glow", "product_bits": 32, "round": UP}),
    "glow-interp": ("i8", {**FLOAT, "round": AWAY, "zero_point": "inside"}), "onednn-ref": ("i8", {**FLOAT, **STEPS}),
    "onnx-ref": ("u8", {**FLOAT, "encoding": "float64", "zero_point": "inside"}),
    "tflite-float-scale": ("i8", {**FLOAT, "scale": "double", "encoding": "float64", "round": AWAY}),
}
SCALES = {**{name: (PRESETS[name][0], {**PRESETS[name][1], **FORMED[name]}, *PRESETS[name][2:]) for name in FORMED}, **FLOATS}
QUICK = ["tflite", "vta", "npu16"]
QUICK_SCALES = ["fbgemm", "tflite", "finn-threshold"]
PROVED = ["fbgemm", "finn-threshold", "tflite"]  # of these: unique by scales
TROUBLE = {"exit": "exit status 3", "length": "elements for", "type": "not integers", "range": "outside i8", "moody": "answers differently",
           "nothing": "out.npy: cannot open: No such file or directory (call 1)", "garbage": "out.npy: not an npy file"}


def check_preset(tap, assay, folder, name, of="multiplier"):
    kind, rule, *more = (PRESETS if of == "multiplier" else SCALES)[name]
    verdict, wrong = sweep.judge(random.Random(name), assay, folder, rule, kind, more=more, of=of)
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as f:
        report = json.load(f)
    said = json.dumps(report)
    wrong = wrong or (of == "scale" and name in PROVED and verdict != "unique" and "not proved ") or ""
    wrong = wrong or (report["spellings"] < 1 and "none that agrees is counted ") or (not report["member"] and "what is found is no member ") or ""
    tap.check(not wrong and verdict.startswith(("unique", "class")) and name in report["presets"] and report["rows"] <= 20000, "%s, kind %s: %s, %d rows" % (name, of, verdict, report["rows"]), wrong + said)
    done = subprocess.run([assay, "scheme", "check", os.path.join(folder, "found.yaml")], capture_output=True, text=True)
    tap.check(done.returncode == 0, "%s: what is found is a scheme" % name, done.stdout + done.stderr)


def print_table(assay, folder):
    print("| preset | type | verdict | rows | presets that agree |\n|---|---|---|---|---|")
    for name, (kind, rule, *more) in PRESETS.items():
        _, report, _ = sweep.ask(assay, folder, rule, kind, more)
        print("| %s | %s | %s | %d | %s |" % (name, kind, report["verdict"], report["rows"], ", ".join(report["presets"])), flush=True)


def check_faults(tap, assay, folder):
    rule, kind = {**BARE, "round": UP, "shift_min": 0}, "i8"
    window = ["--multiplier", "0:65535", "--shift", "0:40"]
    status, report, said = sweep.ask(assay, folder, rule, kind, window, "stuck 3")
    good = status == 1 and report["verdict"] == "none" and report["contradicted"] > 0 and report["contradictions"] and not report["member"]
    tap.check(good, "a stuck bit is none, with rows", said)
    status, report, said = sweep.ask(assay, folder, rule, kind, window + ["--budget", "40"])
    tap.check(status == 1 and report["verdict"] == "class" and report["rows"] <= 40 and report["open"] and report["member"], "a budget of few rows is kept, and leaves much open", said)
    status, report, said = sweep.ask(assay, folder, {**rule, "shift_max": 40}, kind, ["--budget", "30"])
    tap.check(status == 2 and "budget of 30 rows ended" in said and said.count("\n") == 1, "a budget that ends before a row is taken", said)
    status, report, said = sweep.ask(assay, folder, {**rule, "shift_max": 40}, kind, ["--budget", "1200"])
    tap.check(status == 1 and report["verdict"] == "class" and "the domain may be wider" in report["note"], "a budget that ends before the domain is known", said)
    for fault, words in TROUBLE.items():
        status, report, said = sweep.ask(assay, folder, rule, kind, window, fault)
        tap.check(status == 2 and words in said and said.count("\n") == 1, "an oracle's fault: " + fault, said)
    status, report, said = sweep.ask(assay, folder, rule, kind, window + ["--timeout", "0.5"], "hang")
    tap.check(status == 2 and "did not end" in said and said.count("\n") == 1, "an oracle that hangs", said)
    status, report, said = sweep.ask(assay, folder, {**rule, "shift_min": 50}, kind, window)
    tap.check(status == 2 and "refuses every row" in said and said.count("\n") == 1, "a device that refuses all", said)


def check_budgets(tap, assay, folder):
    """Of a small budget each kind of rows gets its part, so that the last ones are asked, too."""
    kind, rule = PRESETS["tflite"][:2]
    for budget in (5000, 8000):
        status, report, said = sweep.ask(assay, folder, rule, kind, ["--budget", str(budget)])
        tap.check(status == 0 and report["verdict"] == "unique" and "tflite" in report["presets"] and report["rows"] <= budget, "tflite, within %d rows: unique" % budget, said)


def check_scale_faults(tap, assay, folder):
    for rule in ({**BARE, "round": UP, "multiplier_bits": 16}, dict(FLOAT)):
        status, report, said = sweep.ask(assay, folder, rule, "i8", fault="stuck 3", rows="scale")
        tap.check(status == 1 and report["verdict"] == "none" and report["contradicted"] > 0 and report["contradictions"], "asked by scales, a stuck bit is none, with rows", said)
    rule, kind = dict(FLOAT), "u8"
    for fault, words in TROUBLE.items():
        words = words.replace("i8", kind)
        status, report, said = sweep.ask(assay, folder, rule, kind, fault=fault, rows="scale")
        tap.check(status == 2 and words in said and said.count("\n") == 1, "asked by scales, an oracle's fault: " + fault, said)
    status, report, said = sweep.ask(assay, folder, rule, kind, ["--timeout", "0.5"], "hang", rows="scale")
    tap.check(status == 2 and "did not end" in said and said.count("\n") == 1, "asked by scales, an oracle that hangs", said)
    refuses = {**BARE, "round": UP, "beyond_shift_max": "refuse", "shift_min": 1000, "shift_max": 1001}
    status, report, said = sweep.ask(assay, folder, refuses, "i8", rows="scale")
    tap.check(status == 2 and "refuses every row" in said and said.count("\n") == 1, "asked by scales, a device that refuses all", said)


def check_windows(tap, assay, folder):
    """Few multipliers: what the device refused, and not what was not asked, tells how multipliers are kept."""
    shifts = {**BARE, "encoding": "shift", "scale": "power-of-two", "round": UP, "shift_min": 0, "shift_max": 40}
    for window in ("-5:1", "-1:5"):
        verdict, wrong = sweep.judge(random.Random(window), assay, folder, shifts, "i8", more=["--multiplier", window])
        tap.check(not wrong and verdict.startswith(("unique", "class")), "an encoding of shifts, multipliers %s: %s" % (window, verdict), wrong)
    halved = {**BARE, "multiplier_bits": 31, "reduced_bits": 30, "round": UP, "shift_min": 0, "shift_max": 40}
    status, report, said = sweep.ask(assay, folder, halved, "i8", ["--multiplier", "0:1", "--acc-bits", "12"])
    tap.check(status == 1 and report["verdict"] == "class" and report["open"] and sweep.read_found(os.path.join(folder, "found.yaml")).get("reduced_bits", 0) > 0, "a multiplier of 1 that is reduced", said)


def check_domains(tap, assay, folder):
    """What a device refuses beside all that its record does lies outside of the domain."""
    rule = {**BARE, "round": UP, "shift_min": 0, "shift_max": 62}
    for fault, bits, domain in [("unsigned", 16, [0, 1 << 16]), ("up to 1000", 10, [-1000, 1000])]:
        status, report, said = sweep.ask(assay, folder, {**rule, "multiplier_bits": bits}, "i8", [], fault)
        tap.check(report and report["verdict"] in ("unique", "class") and report["domain"]["multiplier"] == domain, "a device that takes multipliers %s" % fault, said)
    # a shift that is asked about before the others is the last
    status, report, said = sweep.ask(assay, folder, {**rule, "multiplier_bits": 16, "shift_max": 40}, "i8", [], "not 0")
    tap.check(report and report["verdict"] in ("unique", "class") and report["domain"]["shift"] == [0, 40], "a device that refuses multiplier 0, and shifts over 40", said)
    takes_all = {**rule, "multiplier_bits": 33, "shift_min": -1200, "shift_max": 1200}
    status, report, said = sweep.ask(assay, folder, takes_all, "i8", [])
    tap.check(report and report["verdict"] == "class" and report["spellings"] > 0 and "refuses no multiplier" in report["note"], "a device that refuses nothing", said)
    status, report, said = sweep.ask(assay, folder, dict(FLOAT), "u8", [], "positive", rows="scale")
    tap.check(report and report["verdict"] == "unique" and "fbgemm" in report["presets"], "a device that takes positive scales", said)
    floors = {**FLOAT, **STEPS, "round": [[None, "floor"]]}
    status, report, said = sweep.ask(assay, folder, floors, "u8", rows="scale")
    tap.check(report and report["verdict"] == "unique" and report["spellings"] > 1, "unsigned codes with the zero point inside: floor and trunc are one", said)
    status, report, said = sweep.ask(assay, folder, floors, "i8", rows="scale")
    tap.check(report and report["verdict"] == "unique" and sweep.read_found(os.path.join(folder, "found.yaml"))["round"] == [(None, "floor")], "signed ones: they are not", said)


def check_left_shifts(tap, assay, folder):
    """Of large R an operand goes to the left until the first step has its bits, which no other R shows: [1 floor, 4 trunc, half-even] is another rule."""
    rule = {**BARE, **PRODUCT, "multiplier_round": "trunc", "round": [[5, "trunc"], [None, "half-even"]], "left_shift": "wrap"}
    verdict, wrong = sweep.judge(random.Random(5), assay, folder, rule, "u8", more=["--acc-bits", "40"], of="scale")
    tap.check(not wrong and verdict.startswith("class"), "by scales, a first step that shows in left shifts: " + verdict, wrong)


def check_arguments(tap, assay):
    for name, more in [("no oracle", []), ("a kind", ["--oracle", "true", "--kind", "x", "--type", "i8"]), ("a type", ["--oracle", "true", "--kind", "multiplier", "--type", "i9"]),
                       ("multipliers, by scales", ["--oracle", "true", "--kind", "scale", "--type", "i8", "--multiplier", "0:5"]),
                       ("a range", ["--oracle", "true", "--kind", "multiplier", "--type", "i8", "--shift", "3:1"])]:
        done = subprocess.run([assay, "infer", *more], capture_output=True, text=True)
        tap.check(done.returncode == 2 and done.stderr.startswith("assay: infer: ") and done.stderr.count("\n") == 1, "bad arguments: " + name, done.stderr)


def check_places(tap, assay, folder):
    """What cannot be written is said before the device is asked."""
    asked = os.path.join(folder, "asked")
    for kind in (["multiplier", "--type", "i8"], ["dot", "--a", "e4m3fn", "--b", "e4m3fn", "--acc", "f32", "--k", "32"]):
        for option, path, words in (("-o", folder + "/nowhere/f.yaml", "there is no folder"), ("--json", folder + "/nowhere/f.json", "there is no folder"),
                                    ("-o", folder, "is a folder")):
            done = subprocess.run([assay, "infer", "--oracle", f"touch '{asked}'; false", "--kind", *kind, option, path], capture_output=True, text=True)
            tap.check(done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1 and not os.path.exists(asked),
                      f"{kind[0]}: {option} {words}: nothing is asked", done.stderr)
    subprocess.run([assay, "infer", "--oracle", f"touch '{asked}'; false", "--kind", "multiplier", "--type", "i8", "-o", folder + "/f.yaml"], capture_output=True)
    tap.check(os.listdir(folder) == ["asked"], "a place that is one: asked, and nothing is left there", os.listdir(folder))
    os.remove(asked)


def check_signals(tap, assay, folder):
    """A process that is ended leaves no folder of rows and no oracle behind."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        begun = os.path.join(folder, "begun")
        command = [assay, "infer", "--oracle", f"echo $$ > '{begun}'; mv '{begun}' '{begun}.pid'; sleep 50; true", "--kind", "multiplier", "--type", "i8"]
        os.mkdir(os.path.join(folder, "tmp"))
        p = subprocess.Popen(command, env={**os.environ, "TMPDIR": os.path.join(folder, "tmp")}, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(begun + ".pid") and p.poll() is None:
            time.sleep(0.01)
        with open(begun + ".pid", encoding="utf-8") as f:
            oracle = int(f.read())
        asked = os.listdir(os.path.join(folder, "tmp"))
        p.send_signal(number)
        status = p.wait(60)
        for _ in range(500):
            if not os.path.exists("/proc/%d" % oracle):
                break
            time.sleep(0.01)
        left = os.listdir(os.path.join(folder, "tmp")) + ["the oracle"] * os.path.exists("/proc/%d" % oracle)
        tap.check(len(asked) == 1 and status == -number and not left, "%s ends infer, its oracle and its folder" % number.name, status, asked, left)
        shutil.rmtree(os.path.join(folder, "tmp"))
        os.remove(begun + ".pid")


def main():
    assay, folder, tap = os.path.abspath(sys.argv[1]), tempfile.mkdtemp(), Tap()
    if sys.argv[2:] == ["table"]:
        print_table(assay, folder)
        return
    check_arguments(tap, assay)
    check_places(tap, assay, folder)
    check_signals(tap, assay, folder)
    check_faults(tap, assay, folder)
    check_budgets(tap, assay, folder)
    check_scale_faults(tap, assay, folder)
    check_windows(tap, assay, folder)
    check_domains(tap, assay, folder)
    check_left_shifts(tap, assay, folder)
    for name in QUICK:
        check_preset(tap, assay, folder, name)
    for name in QUICK_SCALES:
        check_preset(tap, assay, folder, name, "scale")
    shutil.rmtree(folder)
    tap.end()


main()
