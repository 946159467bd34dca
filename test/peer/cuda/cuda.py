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
import shrink  # noqa: E402

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


def packed(instruction, x, form):
    """Elements as the card reads them (PTX ISA, `mma`, and "Packing format for matrix A and B" of tcgen05): e2m1 where K
    is 64 two in a byte, the first one low; other small ones in tcgen05 16 in 16 bytes, padded behind the last; in mma one in
    a byte, e2m1 in its middle."""
    bits = drawn.FORMATS[form][0]
    if bits == 4 and instruction.k == 64:
        x = x[:, 0::2] | x[:, 1::2] << 4
    elif bits < 8 and instruction.name.endswith(".tcgen05"):
        each = x.reshape(-1, 16, 1) >> np.arange(bits, dtype=np.uint8) & 1
        x = np.packbits(np.pad(each.reshape(-1, 16 * bits), ((0, 0), (0, 128 - 16 * bits))), axis=1, bitorder="little")
    elif bits == 4:
        x = x << 2
    return np.ascontiguousarray(x).tobytes()


def word(instruction):
    """Of C and D in files of rows."""
    return "<u8" if instruction.d == "f64" else "<u4"


def scale_words(instruction, x):
    """An instruction's scales in a word of four bytes, repeated to its end."""
    each = x.reshape(-1, instruction.scales)
    return np.tile(each, 4 // instruction.scales).tobytes()


def on_card(args, instruction, steps, rows):
    """The card's results and its exit status; None, that and why not: status NO_CARD is an instruction that the driver
    does not know yet."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/rows", "wb") as file:
            file.write(np.array([len(rows["c"]), steps], "<u4").tobytes())
            file.write(packed(instruction, rows["a"], instruction.a) + packed(instruction, rows["b"], instruction.b))
            file.write(rows["c"].astype(word(instruction)).tobytes())
            if instruction.scales:
                file.write(scale_words(instruction, rows["scale_a"]) + scale_words(instruction, rows["scale_b"]))
        done = subprocess.run([args.program, "run", instruction.name, f"{folder}/rows", f"{folder}/d"],
                              capture_output=True, text=True)
        if done.returncode:
            return None, done.returncode, done.stderr.strip()
        return np.fromfile(f"{folder}/d", word(instruction)).astype(drawn.Format(instruction.d).type), 0, ""


# ---- comparing and keeping ----


def hexadecimal(x):
    return ",".join(f"{int(v):0{2 * x.dtype.itemsize}x}" for v in np.atleast_1d(x))


def smallest(args, instruction, steps, rows, d, bad):
    """Of the rows that differ the one of fewest terms; where Assay is at hand, made smaller as long as it differs. Its
    columns, the card's result and the unit's."""
    columns = [name for name in COLUMNS if name in rows]
    signs = [form.type(form.sign) for form in (drawn.Format(instruction.a), drawn.Format(instruction.b))]
    first = bad[np.argmin(shrink.size({name: rows[name][bad] for name in columns}, *signs))]
    row = {name: rows[name][first] for name in columns}

    def differ(tried):
        card, _, _ = on_card(args, instruction, steps, tried)
        return None if card is None else card != preset(args, instruction, tried)

    if not args.assay:
        return row, d[first], rows["d"][first]
    row = shrink.smallest(row, differ)
    one = {name: x[None] for name, x in row.items()}
    card, _, why = on_card(args, instruction, steps, one)
    if card is None:
        trouble(why.removeprefix("cuda: "))
    return row, card, preset(args, instruction, one)


def told(row, card, unit):
    """A row in one line: the places where something is multiplied, C, scales, both results."""
    if np.all(card == unit):
        return "the smallest row that differs among others does not alone: the card's results hang on more than the row"
    terms = [f"[{k}] {hexadecimal(row['a'][k])} * {hexadecimal(row['b'][k])}" for k in shrink.present(row)]
    terms += [f"{name} {hexadecimal(row[name])}" for name in COLUMNS[2:] if name in row]
    return f"smallest row: {', '.join(terms)}: card {hexadecimal(card)} unit {hexadecimal(unit)}"


def differences(args, instruction, steps, rows, d):
    """Lines on how many rows of each kind differ, on the first, and on the smallest."""
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
    yield told(*smallest(args, instruction, steps, rows, d, bad))


def save(args, instruction, steps, rows, d):
    """Rows that differ, then others evenly, with the card's results as d and the unit's as unit_d."""
    differs = rows["d"] != d
    others = np.flatnonzero(~differs)
    bad = np.flatnonzero(differs)[: args.keep]
    rest = others[np.linspace(0, len(others) - 1, max(0, min(args.keep - len(bad), len(others)))).astype(int)]
    chosen = np.sort(np.concatenate([bad, rest]))
    columns = {name: x[chosen] for name, x in (rows | {"d": d, "unit_d": rows["d"]}).items()}
    path = file_of(args.save, instruction, steps)
    path = os.path.join(args.save, f"{args.card}-{os.path.basename(path)}")
    np.savez_compressed(path, **columns)
    return os.path.getsize(path)


def report(args, i, instruction, steps, rows):
    """Runs the rows: a TAP line, what explains it, and the captures. Bytes saved, and 0: the same, 1: different, 2: trouble."""
    d, status, why = on_card(args, instruction, steps, rows)
    what = f"{i} - {instruction.unit:27} {instruction.mnemonic:76} k {instruction.k * steps:3}"
    if status == NO_CARD:
        print(f"ok {what} # SKIP {why.removeprefix('cuda: ')}", flush=True)
        return 0, 0
    if d is None:
        print(f"not ok {what}  did not run\n# {why}", flush=True)
        return 0, 2
    n = int(np.sum(rows["d"] != d))
    print(f"{'not ok' if n else 'ok'} {what}  rows {len(rows['c'])}, differing {n}", flush=True)
    saved = save(args, instruction, steps, rows, d) if args.save else 0
    for line in differences(args, instruction, steps, rows, d) if n else ():
        print(f"# {line}", flush=True)
    return saved, int(n > 0)


def run(args, instructions):
    card, capability, driver = asked([args.program, "card"]).strip().split("\t")
    print(f"# {card}, compute capability {int(capability) / 10}, CUDA {driver}, seed {args.seed}")
    chosen = [x for x in instructions if x.least <= int(capability) <= x.most]
    if not chosen:
        trouble(f"no instruction of compute capability {int(capability) / 10} is known here" if not args.only
                else f"{card} has no instruction '{args.only}'")
    args.card = re.sub(r"[^a-z0-9]+", "-", card.lower().removeprefix("nvidia ")).strip("-")
    n, status, size, ran = 0, 0, 0, False
    for instruction in chosen:
        for steps in instruction.steps():
            rows = rows_of(args, instruction, steps)
            n += 1
            if rows is None:
                print(f"ok {n} - {instruction.unit:27} {instruction.mnemonic:76} k {instruction.k * steps:3} # SKIP no rows in {args.source}")
                continue
            ran = True
            saved, found = report(args, n, instruction, steps, rows)
            size, status = size + saved, max(status, found)
    print(f"1..{n}")
    if not ran:
        trouble(f"{args.source} has no rows for compute capability {int(capability) / 10}; --prepare makes them")
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
    parser = argparse.ArgumentParser(prog="dev peer cuda", allow_abbrev=False, description=__doc__.split("\n")[0],
                                     epilog="exit status: 0 the same, or no card here; 1 different; 2 trouble")
    for option, about in [("only", "instructions with this in their name, as nv-hopper-f16-f32.wgmma"),
                          ("save", "keep captures there: .npz of a, b, c, scales, the card's d, the unit's unit_d, kind"),
                          ("prepare", "write rows with the units' results there and run nothing; needs no card"),
                          ("program", "peer_cuda, where it is built already"), ("assay", "the command; not needed with --from"),
                          ("vectors", "folder of kept rows, a file a unit")]:
        parser.add_argument("--" + option, help=about)
    parser.add_argument("--from", dest="source", help="take the rows that --prepare wrote there")
    for option, usual, about in [("rows", 1800, "drawn for an instruction"), ("seed", 1, "of what is drawn"),
                                 ("keep", 250, "rows in a file of captures"), ("capability", 90, "of --prepare: 90 is 9.0")]:
        parser.add_argument("--" + option, type=int, default=usual, help=f"{about} ({usual})")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=drawn.KINDS, help=", ".join(drawn.KINDS))
    args = parser.parse_args()
    if set(args.kinds) - set(drawn.KINDS):
        trouble(f"kinds are {', '.join(drawn.KINDS)}")
    if not args.program:
        trouble("--program names peer_cuda: cc -o peer_cuda test/peer/cuda/*.c -ldl")
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
