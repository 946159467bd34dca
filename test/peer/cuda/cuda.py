"""The matrix units of a card beside the shipped ones: rows run on the card, compared bit for bit, kept as vectors.

  cuda.py --program PROGRAM [--assay ASSAY --vectors DIR] [--rows N] [--seed N] [--only NAME] [--kinds LIST]
          [--prepare DIR [--capability N]] [--from DIR] [--save DIR [--keep N]]

PROGRAM is peer_cuda (main.c). --prepare writes the rows with the units' results and runs nothing: no card is needed.
--from takes rows that were prepared: Assay is not needed. --save keeps N rows an instruction with the card's results,
those that differ first. TAP: a line an instruction and a length K. Exit status 0: the same, 1: different, 2: trouble.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import drawn  # noqa: E402

NO_CARD = 77
KEPT = len(drawn.KINDS)  # the kind of the rows of test/vectors
NAMES = drawn.KINDS + ["kept"]
COLUMNS = ["a", "b", "c", "scale_a", "scale_b"]


class Instruction:
    """A line of `peer_cuda list`."""

    def __init__(self, line):
        self.name, self.unit, least, most, k, self.d, self.a, self.b, self.c, self.scale, scales, self.mnemonic = line.split("\t")
        self.least, self.most, self.k, self.scales = int(least), int(most), int(k), int(scales)

    def steps(self):
        """Chains of one and three instructions; an accumulator of another format than the result is no chain's."""
        return [1, 3] if self.c == self.d else [1]


def trouble(why):
    print(f"cuda: {why}", file=sys.stderr)
    sys.exit(2)


def asked(command):
    """What a command prints; its one line of complaint ends the run."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == NO_CARD:
        print(f"1..0 # SKIP {done.stderr.strip()}")
        sys.exit(0)
    if done.returncode:
        trouble(done.stderr.strip().removeprefix("cuda: "))
    return done.stdout


# ---- rows ----


def kept_rows(args, instruction, k):
    """The rows of the unit in test/vectors, where they are k long; the columns that every row has."""
    path = os.path.join(args.vectors or "", instruction.unit + ".npz")
    if args.kinds != drawn.KINDS or not os.path.exists(path):
        return None
    with np.load(path) as file:
        rows = {name: file[name] for name in COLUMNS if name in file}
    if rows["a"].shape[1] != k:
        return None
    return rows | {"kind": np.full(len(rows["c"]), KEPT, np.uint8)}


def preset(args, instruction, rows):
    """The unit's results, by `assay scheme dot`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [args.assay, "scheme", "dot", instruction.unit, "-o", f"{folder}/d.npy"]
        for name in COLUMNS:
            if name in rows:
                np.save(f"{folder}/{name}.npy", rows[name])
                command += ["--" + name.replace("_", "-"), f"{folder}/{name}.npy"]
        asked(command)
        return np.load(f"{folder}/d.npy")


def drawn_rows(args, instruction, steps):
    k = instruction.k * steps
    rng = np.random.default_rng([args.seed, zlib.crc32(instruction.name.encode()), steps])
    rows = drawn.rows(rng, args.kinds, args.rows, k, instruction.a, instruction.b, instruction.c, instruction.scale,
                      instruction.scales * steps)
    kept = kept_rows(args, instruction, k)
    if kept:
        rows = {name: np.concatenate([rows[name], kept[name]]) for name in rows}
    return rows | {"d": preset(args, instruction, rows)}


def file_of(folder, instruction, steps):
    return os.path.join(folder, f"{instruction.name}.k{instruction.k * steps}.npz")


def rows_of(args, instruction, steps):
    if not args.source:
        return drawn_rows(args, instruction, steps)
    path = file_of(args.source, instruction, steps)
    if not os.path.exists(path):
        return None
    with np.load(path) as file:
        return dict(file)


# ---- the card ----


def packed(instruction, x):
    """Elements as the card reads them: two of 4 bits in a byte, the first one low."""
    if instruction.a == "e2m1":
        x = x[:, 0::2] | x[:, 1::2] << 4
    return np.ascontiguousarray(x).tobytes()


def scale_words(instruction, x):
    """An instruction's scales in a word of four bytes, repeated to its end."""
    each = x.reshape(-1, instruction.scales)
    return np.tile(each, 4 // instruction.scales).tobytes()


def on_card(args, instruction, steps, rows):
    """The card's results; None and why not."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/rows", "wb") as file:
            file.write(np.array([len(rows["c"]), steps], "<u4").tobytes())
            file.write(packed(instruction, rows["a"]) + packed(instruction, rows["b"]))
            file.write(rows["c"].astype("<u4").tobytes())
            if instruction.scales:
                file.write(scale_words(instruction, rows["scale_a"]) + scale_words(instruction, rows["scale_b"]))
        done = subprocess.run([args.program, "run", instruction.name, f"{folder}/rows", f"{folder}/d"],
                              capture_output=True, text=True)
        if done.returncode:
            return None, done.stderr.strip()
        return np.fromfile(f"{folder}/d", "<u4").astype(rows["d"].dtype), ""


# ---- comparing and keeping ----


def hexadecimal(x):
    return ",".join(f"{int(v):0{2 * x.dtype.itemsize}x}" for v in np.atleast_1d(x))


def differences(rows, d):
    """Lines on how many rows of each kind differ, and on the first."""
    bad = np.flatnonzero(rows["d"] != d)
    counts = [(name, int(np.sum(rows["kind"][bad] == i)), int(np.sum(rows["kind"] == i))) for i, name in enumerate(NAMES)]
    yield "differ by kind: " + ", ".join(f"{name} {n} of {all_}" for name, n, all_ in counts if n)
    if counts[0][1]:
        yield "small integers differ: what loads and stores the elements is wrong here, or the launch; not the unit's rounding"
    i = bad[0]
    yield f"row {i} ({NAMES[rows['kind'][i]]}): card {hexadecimal(d[i])} unit {hexadecimal(rows['d'][i])}"
    for name in COLUMNS:
        if name in rows:
            yield f"  {name} {hexadecimal(rows[name][i])}"


def save(args, card, instruction, steps, rows, d):
    """Rows that differ, then others evenly, with the card's results as d and the unit's as unit_d."""
    differs = rows["d"] != d
    others = np.flatnonzero(~differs)
    bad = np.flatnonzero(differs)[: args.keep]
    rest = others[np.linspace(0, len(others) - 1, max(0, min(args.keep - len(bad), len(others)))).astype(int)]
    chosen = np.sort(np.concatenate([bad, rest]))
    columns = {name: x[chosen] for name, x in (rows | {"d": d, "unit_d": rows["d"]}).items()}
    path = file_of(args.save, instruction, steps)
    path = os.path.join(args.save, f"{card}-{os.path.basename(path)}")
    np.savez_compressed(path, **columns)
    return os.path.getsize(path)


def report(i, instruction, k, rows, d, why):
    """A TAP line and what explains it; whether it is good."""
    good = d is not None and bool(np.all(rows["d"] == d))
    told = f"rows {len(rows['c'])}, differing {int(np.sum(rows['d'] != d))}" if d is not None else "did not run"
    print(f"{'ok' if good else 'not ok'} {i} - {instruction.unit:27} {instruction.mnemonic:76} k {k:3}  {told}")
    for line in [why] if d is None else () if good else differences(rows, d):
        print(f"# {line}", flush=True)
    return good


def run(args, instructions):
    card, capability, driver = asked([args.program, "card"]).strip().split("\t")
    print(f"# {card}, compute capability {int(capability) / 10}, CUDA {driver}, seed {args.seed}")
    chosen = [x for x in instructions if x.least <= int(capability) <= x.most]
    if not chosen:
        trouble(f"no instruction of compute capability {int(capability) / 10} is known here" if not args.only
                else f"{card} has no instruction '{args.only}'")
    slug = re.sub(r"[^a-z0-9]+", "-", card.lower().removeprefix("nvidia ")).strip("-")
    n, status, size = 0, 0, 0
    for instruction in chosen:
        for steps in instruction.steps():
            rows = rows_of(args, instruction, steps)
            if rows is None:
                continue
            n += 1
            d, why = on_card(args, instruction, steps, rows)
            if not report(n, instruction, instruction.k * steps, rows, d, why):
                status = max(status, 2 if d is None else 1)
            if args.save and d is not None:
                size += save(args, slug, instruction, steps, rows, d)
    print(f"1..{n}")
    if args.save:
        print(f"# {args.save}: {size} bytes of captures")
    return status


def prepare(args, instructions):
    os.makedirs(args.prepare, exist_ok=True)
    n = 0
    for instruction in instructions:
        if instruction.least <= args.capability <= instruction.most:
            for steps in instruction.steps():
                np.savez_compressed(file_of(args.prepare, instruction, steps), **drawn_rows(args, instruction, steps))
                n += 1
    if n == 0:
        trouble(f"no instruction of compute capability {args.capability / 10} is known here")
    print(f"{args.prepare}: {n} files of rows for compute capability {args.capability / 10}, seed {args.seed}")
    return 0


def arguments():
    parser = argparse.ArgumentParser(prog="dev peer cuda", allow_abbrev=False)
    for option, about in [("program", "peer_cuda"), ("assay", "the command"), ("vectors", "folder of kept rows"),
                          ("only", "instructions with this in their name"), ("prepare", "write rows there and run nothing"),
                          ("save", "keep captures there")]:
        parser.add_argument("--" + option, help=about)
    parser.add_argument("--from", dest="source", help="folder of rows that were prepared")
    for option, default in [("rows", 1800), ("seed", 1), ("keep", 250), ("capability", 90)]:
        parser.add_argument("--" + option, type=int, default=default)
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=drawn.KINDS, help=",".join(drawn.KINDS))
    args = parser.parse_args()
    if set(args.kinds) - set(drawn.KINDS):
        trouble(f"kinds are {', '.join(drawn.KINDS)}")
    if not args.source and not args.assay:
        trouble("rows are made with --assay, or taken --from a folder where they were prepared")
    return args


def main():
    args = arguments()
    lines = asked([args.program, "list"]).splitlines()
    instructions = [x for x in map(Instruction, lines) if not args.only or args.only in x.name]
    if not instructions:
        trouble(f"no instruction has '{args.only}' in its name")
    if args.save:
        os.makedirs(args.save, exist_ok=True)
    return prepare(args, instructions) if args.prepare else run(args, instructions)


if __name__ == "__main__":
    sys.exit(main())
