#!/usr/bin/env python3
"""A device in SystemVerilog beside its golden bundles: rtl.py ASSAY SOURCE [--few] [--table]   (TAP)

Verilator builds npu.sv once; shipped networks, quantized for tflite, run on it from the .hex files of their bundles under
each scheme whose arithmetic it has; `assay blame` must name that scheme, or the part that is broken. Skipped visibly
where there is no Verilator or no C++ compiler."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../support"))
from tap import Tap  # noqa: E402

ASSAY, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
FEW, TABLE = "--few" in sys.argv, "--table" in sys.argv
HERE = os.path.dirname(os.path.realpath(__file__))
FILES = [os.path.join(HERE, f) for f in ("npu_pkg.sv", "requant.sv", "npu.sv", "bench.sv")]
BLAMED = [ASSAY, "blame", "--json", "-"]


def names_of(enum):
    with open(FILES[0], encoding="utf-8") as f:
        body = re.sub(r"//.*", "", f.read())
    inside = next(m.group(1) for m in re.finditer(r"enum int \{(.*?)\} (\w+);", body, re.S) if m.group(2) == enum)
    return {name.strip(): i for i, name in enumerate(inside.split(","))}


QUIRKS, ROUNDS = names_of("quirk_t"), names_of("round_t")

# Schemes whose arithmetic the accelerator has for a network, by its rounding; the last two are given as files.
SCHEMES = {"tflite": "DOUBLE", "tflite-single": "HALF_UP", "tvm-qnn-tonearest": "HALF_AWAY", "floor": "FLOOR", "half-even": "HALF_EVEN"}
GIVEN = {"floor": "floor", "half-even": "half-even"}
WITHOUT_ADD = ("tvm-qnn-tonearest",)  # its addition is another

# Network, node (of the bundle's index), what is broken and how; the classes that are right, the first preferred.
BROKEN = [
    ("plain_cnn", 4, "BIAS_PREVIOUS", 0, "bias.channel"),
    ("res_dsconv", 8, "BIAS_NONE", 0, "bias.missing"),
    ("res_dsconv", 4, "WEIGHTS_STALE", 0, "weights.stale"),
    ("plain_cnn", 6, "WEIGHTS_UNSIGNED", 0, "weights.sign"),
    ("res_dsconv", 9, "INPUT_UNSIGNED", 0, "sign"),
    ("res_dsconv", 9, "INPUT_ZERO_POINT", 0, "input.zero_point"),
    ("res_dsconv", 2, "PAD_CODE", -128, "padding.value"),
    ("res_dsconv", 3, "PAD_PLACE", 0, "padding.place"),
    ("res_dsconv", 5, "HALO", 0, "tile.edge"),
    ("plain_cnn", 2, "HALO", 0, "tile.edge"),
    ("plain_cnn", 10, "ACC_WRAP", 13, "accumulator.width"),
    ("plain_cnn", 10, "ACC_SATURATE", 13, "accumulator.width"),
    ("plain_cnn", 4, "ACC_SATURATE", 12, "accumulator.width"),
    ("res_dsconv", 12, "SCALE_FIRST", 0, "rescale.channel"),
    ("res_dsconv", 12, "SHIFT_MORE", -1, "rescale.shift"),
    ("res_dsconv", 6, "MULTIPLIER_BITS", 8, "rescale.multiplier"),
    ("res_dsconv", 6, "ROUND", "FLOOR", "rescale.rounding"),
    ("res_dsconv", 7, "ROUND", "FLOOR", "rescale.rounding"),
    ("plain_cnn", 7, "ROUND", "HALF_UP", "rescale.rounding"),
    ("res_dsconv", 9, "ZERO_POINT", 0, "rescale.zero_point"),
    ("res_dsconv", 2, "SATURATION_NONE", 0, "saturation.missing"),
    ("res_dsconv", 6, "RELU", 0, "saturation.bounds"),
    ("res_dsconv", 6, "LANE_DEAD", 3, "lane"),
    ("res_dsconv", 2, "STUCK_0", 2, "stuck_bit"),
    ("res_dsconv", 10, "STUCK_1", 4, "stuck_bit"),
    ("res_dsconv", 4, "TRANSPOSED", 0, "output.layout"),
    ("res_dsconv", 7, "OPERANDS_SWAPPED", 0, "operands.swapped"),
    ("res_dsconv", 24, "POOL_FLOOR", 0, "pool.rounding"),
    ("res_dsconv", 4, "LAST_ROW", 0, "tile.edge"),
    ("res_dsconv", 8, "ACC_KEPT", 0, "unexplained"),  # no class there is
]
FEW_BROKEN = ("BIAS_PREVIOUS", "HALO", "LANE_DEAD", "OPERANDS_SWAPPED")


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True, timeout=300).stdout


class Bench:
    """The verilated accelerator, and golden bundles made when first asked for."""

    def __init__(self, folder):
        self.folder = folder
        flags = ["-Wall", "-Wno-UNUSEDSIGNAL", "-O3", "-CFLAGS", "-O1", "-MAKEFLAGS", "-s"]
        run("verilator", "--binary", "--top-module", "bench", *flags, "--Mdir", f"{folder}/verilated", *FILES)

    def network(self, name):
        to, models, images = f"{self.folder}/{name}.assay", f"{SOURCE}/datasets/models", f"{SOURCE}/datasets/glyphs"
        if not os.path.exists(to):
            run(ASSAY, "profile", f"{models}/{name}.onnx", "-d", f"{images}/calibration", "-n", "16", "-q", "-o", f"{to}.yaml")
            run(ASSAY, "quantize", f"{models}/{name}.onnx", "-p", f"{to}.yaml", "-s", "tflite", "-o", to)
        return to

    def scheme(self, name):
        """As the command line takes it."""
        if name not in GIVEN:
            return name
        path = f"{self.folder}/{name}.yaml"
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"scheme: {name}\ndescription: tflite-single, rounded otherwise\nextends: tflite-single\nrescale:\n  round: [{GIVEN[name]}]\n")
        return path

    def golden(self, network, scheme):
        to = f"{self.folder}/{network}-{scheme}"
        if not os.path.exists(to):
            images = f"{SOURCE}/datasets/glyphs/test"
            image = os.path.join(images, sorted(f for f in os.listdir(images) if f.endswith(".png"))[0])
            run(ASSAY, "golden", self.network(network), "-s", self.scheme(scheme), "-i", image, "--accumulators", "--format", "hex", "-o", to)
            with open(f"{to}.txt", "w", encoding="utf-8") as f:
                f.write(run(sys.executable, os.path.join(HERE, "program.py"), to))
        return to

    def device(self, network, scheme, *broken, node=None, sums=False):
        """Runs the network as the scheme's compiler programs it; broken: (quirk, value), one or two. The dumps' folder;
        sums: it holds accumulators alone."""
        golden, to = self.golden(network, scheme), f"{self.folder}/device"
        out = f"{to}-unread" if sums else to
        for folder in (to, out):
            shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(out)
        os.makedirs(f"{to}/accumulators" if sums else to, exist_ok=True)
        args = [f"+program={golden}.txt", f"+bundle={golden}", f"+out={out}", f"+round={ROUNDS[SCHEMES[scheme]]}"]
        args += [f"+node={node}"] if node is not None else []
        args += [f"+sums={to}/accumulators"] if sums else []
        for i, (quirk, value) in enumerate(broken):
            args += [f"+quirk{i + 1 if i else ''}={QUIRKS[quirk]}", f"+value{i + 1 if i else ''}={ROUNDS.get(value, value)}"]
        run(f"{self.folder}/verilated/Vbench", *args)
        return to

    def blame(self, network, scheme, device):
        given = [a for s in GIVEN for a in ("--scheme", self.scheme(s))]
        r = subprocess.run(BLAMED + [self.golden(network, scheme), device] + given, capture_output=True, text=True, timeout=300)
        return r.returncode, json.loads(r.stdout) if r.returncode < 2 else r.stderr


def schemes(tap, bench, network, rows):
    """Every scheme's device beside every scheme's golden."""
    known = [s for s in SCHEMES if network == "plain_cnn" or s not in WITHOUT_ADD]
    for theirs in known[:2] if FEW else known:
        for ours in known[:2] if FEW else known:
            status, said = bench.blame(network, ours, bench.device(network, theirs))
            faults = said["faults"] if status < 2 else []
            differ = subprocess.run([ASSAY, "diff", bench.golden(network, ours), bench.golden(network, theirs)], capture_output=True, check=False).returncode
            word = "clean" if status == 0 and not faults else "fault"
            if faults and all(f["class"] == "scheme" for f in faults):
                word = "scheme" if all(re.search(rf"[ ,]{theirs}(,|;|$)", f["detail"]) for f in faults) else "another scheme"
            rows.append(f"| {network} | {ours} | {theirs} | {word} | {len(faults)} |")
            tap.check(word == ("scheme" if differ else "clean"), f"{network}: golden of {ours}, device of {theirs}", status, faults[:2] or said)


def broken(tap, bench, rows):
    for network, node, quirk, value, wanted in BROKEN:
        if FEW and quirk not in FEW_BROKEN:
            continue
        status, said = bench.blame(network, "tflite", bench.device(network, "tflite", (quirk, value), node=node))
        faults = said["faults"] if status == 1 else []
        good = [(f["index"], f["class"]) for f in faults] == [(node, wanted)]
        rows.append(f"| {network} #{node} | {quirk}{'' if value == 0 else f' {value}'} | {', '.join(f['class'] for f in faults)} | {'; '.join(f['detail'] for f in faults)} |")
        tap.check(good, f"{network} #{node}: {quirk} {value}: {wanted}", status, faults or said)


def accumulators(tap, bench):
    """What is wrong before the rescale, from accumulators alone."""
    for network, node, quirk, value, wanted in [("res_dsconv", None, "NONE", 0, None)] + BROKEN[:13]:
        if FEW and quirk not in FEW_BROKEN + ("NONE",):
            continue
        status, said = bench.blame(network, "tflite", bench.device(network, "tflite", (quirk, value), node=node, sums=True))
        faults = said["faults"] if status < 2 else []
        good = [(f["index"], f["class"]) for f in faults] == ([(node, wanted)] if wanted else [])
        tap.check(good, f"{network} #{node}: {quirk} {value}, accumulators alone: {wanted or 'clean'}", status, faults or said)


def main():
    for tool in ("verilator", "make", "c++"):
        if not shutil.which(tool):
            print(f"1..0 # SKIP no {tool} here (./dev peer rtl installs it)")
            return
    tap, matrix, faults = Tap(), [], []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        for network in ("plain_cnn", "res_dsconv"):
            schemes(tap, bench, network, matrix)
        broken(tap, bench, faults)
        accumulators(tap, bench)
    if TABLE:
        print("# " + "\n# ".join(matrix + [""] + faults))
    tap.end()


if __name__ == "__main__":
    main()
