#!/usr/bin/python3 -B
"""./dev peer cuda without a card: the PTX kernels run by fake/, a driver that knows no more of them than the PTX ISA says.

  test_cuda.py ASSAY SOURCE PROGRAM FAKE_LIBRARY        TAP

The fake adds exactly, so only small integers are compared. Where a ptxas is found (PATH, /usr/local/cuda/bin), it must
take every kernel.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

assay, source, program, library = (os.path.realpath(path) for path in sys.argv[1:5])
sys.path[:0] = [os.path.join(source, "test/support"), os.path.join(source, "test/peer/cuda")]
import drawn  # noqa: E402
import tap  # noqa: E402

t = tap.Tap()
WITH_CARD = {"LD_LIBRARY_PATH": os.path.dirname(library)}
CARDS = [70, 75, 80, 89, 90, 100, 120]


def run(command, **environment):
    env = {name: x for name, x in os.environ.items() if not name.startswith("FAKE_") and name != "LD_LIBRARY_PATH"}
    return subprocess.run(command, capture_output=True, text=True, env=env | environment)


def peer(*options, rows="24", **environment):
    command = [sys.executable, "-B", f"{source}/test/peer/cuda/cuda.py", "--program", program, "--assay", assay]
    return run([*command, "--rows", rows, "--kinds", "integers", *options], **WITH_CARD | environment)


def said(done):
    return f"exit status {done.returncode}\n{done.stdout}{done.stderr}"


def refused(what, pattern, done):
    one = len(done.stderr.splitlines()) == 1
    t.check(done.returncode == 2 and one and re.search(pattern, done.stderr), what, said(done))


def listed():
    """Each instruction's fields."""
    return [line.split("\t") for line in run([program, "list"]).stdout.splitlines()]


def write_rows(path, steps, *columns):
    with open(path, "wb") as file:
        file.write(np.array([len(columns[2]), steps], "<u4").tobytes())
        for column in columns:
            file.write(np.ascontiguousarray(column).tobytes())


# ---- the kernels ----


def same_integers():
    """All instructions of a card, chains of them too: what `assay scheme dot` says."""
    for card in CARDS:
        done = peer(FAKE_CAPABILITY=str(card))
        n = sum(int(fields[2]) <= card <= int(fields[3]) for fields in listed())
        good = done.stdout.count("\nok ") >= n and "not ok" not in done.stdout
        t.check(done.returncode == 0 and good, f"compute capability {card / 10}: {done.stdout.count(chr(10) + 'ok ')} lengths of {n} instructions", said(done))


def stored(name, form, k, x):
    """Elements as the PTX ISA has them in registers and in shared memory, by whole numbers: element 0 is lowest."""
    bits = {"e2m1": 4, "e2m3": 6, "e3m2": 6}.get(form, 8 * x.dtype.itemsize)
    if bits >= 8:
        return x
    together, room, low = (k, k * bits, 0) if k == 64 else (16, 128, 0) if "tcgen05" in name else (1, 8, 2 * (bits == 4))
    data = b""
    for row in x.reshape(-1, together).tolist():
        data += sum(code << low + i * bits for i, code in enumerate(row)).to_bytes(room // 8, "little")
    return np.frombuffer(data, np.uint8)


def places(folder):
    """Row k has one product, at k, and the fake counts it k + 1 times: the K of the text is that of the kernel."""
    bad = []
    for name, _, least, _, k, d, a, b, _, _, scales, _ in listed():
        k, out, word = int(k), drawn.Format(d), "<u8" if d == "f64" else "<u4"
        ones = [stored(name, x, k, drawn.Format(x).integers(np.eye(k, dtype=int))) for x in (a, b)]
        one = 0x38 if "nvf4" in name else 127  # the scale
        write_rows(f"{folder}/rows", 1, *ones, np.zeros(k, word), *[np.full((k, 4), one, np.uint8)] * (2 * (scales != "0")))
        done = run([program, "run", name, f"{folder}/rows", f"{folder}/d"], FAKE_CAPABILITY=least, FAKE_FAULT="place", **WITH_CARD)
        expected = [encoded(out, i + 1) for i in range(k)]
        if done.returncode or np.fromfile(f"{folder}/d", word).tolist() != expected:
            bad.append(f"{name}: {said(done)}")
    t.check(not bad, "every element of K is where the PTX ISA has it", *bad)


def encoded(form, value):
    power = value.bit_length() - 1
    return power + form.bias << form.fraction | (value - 2**power << form.fraction >> power)


def kernels():
    """Each kernel's text for the least card that has it, and one in five for its other ones, whose target is their own."""
    names = [(name, card) for i, (name, _, least, most, *_) in enumerate(listed())
             for card in [least, *("103", "110", "121") * (i % 5 == 0)] if int(least) <= int(card) <= int(most)]
    return [(name, run([program, "ptx", name, card]).stdout) for name, card in names]


def assembled(folder):
    """ptxas takes every kernel of a PTX version that it knows for its target; for a later one where it does not know that
    any more."""
    ptxas = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
    if not ptxas:
        return t.check(True, "kernels assembled # SKIP no ptxas here")
    known = set(re.findall(r"'(sm_\w+)'", run([ptxas, "--help"]).stdout))
    cuda = float(re.search(r"release (\d+\.\d+)", run([ptxas, "--version"]).stdout)[1])
    bad, n = [], 0
    for name, text in kernels():
        version, target = re.match(r"\.version (\S+)\n\.target (\w+)", text).groups()
        if target == "sm_70" and target not in known:
            target = "sm_75"
        if target not in known or float(version) > cuda - 4:
            continue
        with open(f"{folder}/k.ptx", "w") as file:
            file.write(text)
        done = run([ptxas, "-arch", target, f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"])
        n += 1
        if done.returncode:
            bad.append(f"{name}: {said(done)}")
    t.check(not bad and n > 0, f"ptxas takes {n} kernels", *bad)


# ---- what is told ----


def differences(folder):
    done = peer("--only", "mma-e4m3-f16", "--save", f"{folder}/saved", "--keep", "8", rows="70", FAKE_FAULT="wrong")
    lines = [line for line in done.stdout.splitlines() if line.startswith("not ok")]
    t.check(done.returncode == 1 and len(lines) == 2 and all("rows 70, differing 10" in line for line in lines),
            "every seventh row differs: exit status 1", said(done))
    t.check(re.search(r"# row 3 \(integers\): card \w{4} unit \w{4}\n#   a \w\w(,\w\w){31}\n#   b ", done.stdout)
            and "small integers differ" in done.stdout, "the first row that differs is shown in hex", said(done))
    t.check("# the smallest row that differs among others does not alone" in done.stdout, "rows that differ by their place are told", said(done))
    with np.load(f"{folder}/saved/fake-90-nv-hopper-mma-e4m3-f16.mma.k32.npz") as rows:
        good = rows["a"].shape == (8, 32) and np.all(rows["d"] ^ rows["unit_d"] == 1) and rows["d"].dtype == np.uint16
    t.check(good, "captures hold the rows that differ first, the card's result as d")


def smallest():
    """The card sees more where products 5 and 9 are there."""
    done = peer("--only", "hopper-bf16-f32.mma", rows="70", FAKE_FAULT="pair")
    terms = r"# smallest row: \[5\] \w{4} \* \w{4}, \[9\] \w{4} \* \w{4}, c 00000000: card \w{8} unit \w{8}\n"
    t.check(done.returncode == 1 and re.search(terms, done.stdout), "the smallest row that differs has these two terms alone", said(done))


def in_two_parts(folder):
    """Rows prepared here, run where there is a card."""
    done = peer("--only", "tf32", "--prepare", f"{folder}/prepared", "--capability", "90")
    t.check(done.returncode == 0 and len(os.listdir(f"{folder}/prepared")) == 6, "rows are prepared without a card", said(done))
    command = [sys.executable, "-B", f"{source}/test/peer/cuda/cuda.py", "--program", program]
    done = run([*command, "--from", f"{folder}/prepared", "--save", f"{folder}/captures"], **WITH_CARD)
    t.check(done.returncode == 0 and done.stdout.count("differing 0") == 6 and len(os.listdir(f"{folder}/captures")) == 6,
            "and run without Assay", said(done))
    done = run([*command, "--from", f"{folder}/prepared", "--only", "hopper-tf32-f32.mma"], **WITH_CARD, FAKE_FAULT="wrong")
    t.check(done.returncode == 1 and re.search(r"# smallest row: (\[\d\] \w{8} \* \w{8}, )+c \w{8}: card \w{8} unit \w{8}\n", done.stdout),
            "of rows that differ the smallest, without Assay", said(done))
    refused("rows of another card", "has no rows for compute capability 8.0; --prepare makes them$",
            run([*command, "--from", f"{folder}/prepared"], **WITH_CARD, FAKE_CAPABILITY="80"))


def old_drivers():
    """What the driver's compiler does not know yet is left out, each with a line."""
    for version, card, only, left in [(12040, 90, "mma-e4m3", 2), (12070, 100, "mxf4", 2), (12080, 103, "mxf4-b32", 2), (13000, 121, "mxf4", 2)]:
        done = peer("--only", only, FAKE_CAPABILITY=str(card), FAKE_DRIVER=str(version))
        lines = re.findall(r"\nok .* # SKIP PTX \d\.\d for sm_\w+ needs a driver of CUDA \d+\.\d+, this one is of \d+\.\d+", done.stdout)
        t.check(done.returncode == 0 and len(lines) == left and done.stdout.count("# SKIP") == left,
                f"CUDA {version // 1000}.{version % 1000 // 10}, compute capability {card / 10}: what the driver does not know is left out", said(done))


def faults():
    for fault, pattern in [("card", "no card here"), ("", "no driver here: libcuda.so.1"), ("init", r"cuInit: initialization error \(3\)")]:
        done = run([program, "card"], **({"FAKE_FAULT": fault} | WITH_CARD if fault else {}))
        t.check(done.returncode == 77 and re.search(pattern, done.stderr), f"{pattern}: exit status 77", said(done))
    done = peer(FAKE_FAULT="card")
    t.check(done.returncode == 0 and done.stdout == "1..0 # SKIP cuda: no card here\n", "the peer leaves it out with one line", said(done))
    for fault, pattern in [("jit", r"# cuda: cuModuleLoadDataEx: ptxas fatal   : Unsupported .version 8.7; current version is '8.4': a PTX JIT compilation failed \(218\)"),
                           ("memory", r"# cuda: cuMemAlloc: out of memory \(2\)"),
                           ("launch", r"# cuda: cuLaunchKernel: an error that the driver has no words for \(719\)")]:
        done = peer("--only", "hopper-bf16-f32.mma", FAKE_FAULT=fault)
        t.check(done.returncode == 2 and done.stdout.count("did not run") == 2 and re.search(pattern + "\n", done.stdout),
                f"{fault}: one line an instruction, exit status 2", said(done))


def bad_input(folder):
    refused("an unknown kind", "^cuda: kinds are integers, near,", peer("--kinds", "odd"))
    refused("an unknown instruction", "^cuda: no instruction has 'wmma' in its name$", peer("--only", "wmma"))
    refused("one of another card", "^cuda: NVIDIA Fake 75 has no instruction 'hopper'$", peer("--only", "hopper", FAKE_CAPABILITY="75"))
    refused("a card that is not known", "^cuda: no instruction of compute capability 6.0 is known here$", peer(FAKE_CAPABILITY="60"))
    name = "nv-hopper-f16-f32.mma"
    refused("a name that is none", "^cuda: no instruction 'x'; `list` shows them$", run([program, "ptx", "x"]))
    refused("no rows", "cannot be read$", run([program, "run", name, f"{folder}/none", f"{folder}/d"]))
    for what, size in [("a file without a head", 7), ("rows that are cut", 8 + 64 + 3)]:
        with open(f"{folder}/rows", "wb") as file:
            file.write((b"\1\0\0\0" * 2 + bytes(size))[:size])
        refused(what, "is too short$|has not the length that its head says$", run([program, "run", name, f"{folder}/rows", f"{folder}/d"]))


with tempfile.TemporaryDirectory() as folder:
    same_integers()
    places(folder)
    assembled(folder)
    differences(folder)
    smallest()
    in_two_parts(folder)
    old_drivers()
    faults()
    bad_input(folder)
t.end()
