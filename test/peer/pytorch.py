"""Random quantized operators in PyTorch's engines and in Assay under each one's preset, bit for bit. Prints TAP, a line
an engine and kind, as soon as it is known.

    pytorch.py ASSAY [--seed N] [--cases N] [--only KIND] [--case N] [--engine NAME] [--scheme S] [--keep DIR]

--cases N: each operator N times. --case N (with --keep) runs that one again and leaves its files. --scheme S: instead
of the engines' presets."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
import zlib

import numpy as np
import torch

from pytorch_net import Net
from pytorch_ops import CASES

# Preset; by how much its codes of weights are above PyTorch's; what its contract does not call bit-exact: shown, no failure.
ENGINES = {
    "qnnpack": ("pytorch-qnnpack", 128, r"$^"),
    "onednn": ("fbgemm", 0, r"."),  # no preset is of PyTorch's oneDNN engine
}


def options():
    p = argparse.ArgumentParser()
    p.add_argument("assay")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--cases", type=int, default=20)
    p.add_argument("--case", type=int)
    for name in ("only", "engine", "scheme", "keep"):
        p.add_argument("--" + name)
    return p.parse_args()


def bits(a):
    return np.ascontiguousarray(a).view(np.uint8 if a.dtype == np.uint8 else np.uint32)


def theirs(call, feeds):
    y = call(*[q for _, q in feeds])
    return (y.int_repr() if y.is_quantized else y).numpy()


def ours(o, scheme, net, work):
    text, out, given = os.path.join(work, "net.assay"), os.path.join(work, "out"), []
    with open(text, "w") as f:
        f.write(net.text())
    for i, (values, _) in enumerate(net.feeds):
        given += ["-i", os.path.join(work, f"x{i}.npy")]
        np.save(given[-1], values)
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([o.assay, "run", text, "-s", scheme, "-o", out, *given], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().split("\n")[-1])
    return np.load(os.path.join(out, sorted(os.listdir(out))[0]))


def compare(o, scheme, offset, kind, n, work):
    """(elements, difference, refusal by us, refusal there)"""
    net = Net(np.random.default_rng([o.seed, n, zlib.crc32(kind.encode())]), offset)
    call = CASES[kind](net)
    try:
        want = theirs(call, net.feeds)
    except RuntimeError as e:
        return 0, None, None, str(e).split("\n")[0]
    try:
        got = ours(o, scheme, net, work)
    except RuntimeError as e:
        return 0, None, str(e), None
    if want.shape != got.shape:
        return want.size, f"shape {got.shape}, expected {want.shape}", None, None
    bad = np.flatnonzero(bits(want) != bits(got))
    if not bad.size:
        return want.size, None, None, None
    largest = np.abs(want.astype(np.float64) - got.astype(np.float64)).max()
    return want.size, (f"{bad.size} of {want.size} elements differ, by at most {largest:g}; the first at {bad[0]}: "
                       f"{got.ravel()[bad[0]]}, expected {want.ravel()[bad[0]]}"), None, None


def report(line, seed, engine, kind, claimed, results):
    """Whether it is good."""
    count = [sum(1 for _, r in results if r[i]) for i in range(4)]
    elements, differ, refused, there = sum(r[0] for _, r in results), *count[1:]
    good = not claimed or not (differ or refused)
    print(f"{'ok' if good else 'not ok'} {line} - PyTorch {torch.__version__}, {engine}, {kind}: {len(results)} cases, {elements} "
          f"elements, {differ} differ{f', {refused} refused by us' if refused else ''}"
          f"{f', {there} refused there' if there else ''}{'' if claimed else ' (not claimed)'}", flush=True)
    for i in (1, 2, 3):
        first = next(((n, r[i]) for n, r in results if r[i]), None)
        if first:
            print(f"# --seed {seed} --only '{kind}' --case {first[0]}: {first[1]}", flush=True)
    return good


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    o, line, bad = options(), 0, 0
    work = o.keep or tempfile.mkdtemp(prefix="peer-")
    os.makedirs(work, exist_ok=True)
    print(f"# seed {o.seed}")
    for engine, (preset, offset, unclaimed) in ENGINES.items():
        if o.engine not in (None, engine):
            continue
        if engine not in torch.backends.quantized.supported_engines:
            line += 1
            print(f"ok {line} - PyTorch {torch.__version__}, {engine} # SKIP this build has no such engine")
            continue
        torch.backends.quantized.engine = engine
        for kind in CASES if o.only is None else [o.only]:
            cases = range(o.cases) if o.case is None else [o.case]
            results = [(n, compare(o, o.scheme or preset, offset, kind, n, work)) for n in cases]
            line += 1
            bad += not report(line, o.seed, engine, kind, not re.match(unclaimed, kind), results)
    if not o.keep:
        shutil.rmtree(work)
    print(f"1..{line}")
    return 1 if bad else 0


sys.exit(main())
