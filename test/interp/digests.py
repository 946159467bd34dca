#!/usr/bin/env python3
"""digests.py ASSAY ROOT [--write]: the golden bundle of each shipped network under each shipped scheme has the digest
(over all tensors) that stands in test/vectors/digests/digests.txt. Networks are quantized with the ranges that lie beside
the table, so that no float library has a say. --write makes the table again, for a change that is meant to move bits."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from tap import Tap  # noqa: E402

ASSAY, ROOT = (os.path.realpath(a) for a in sys.argv[1:3])
FOLDER = os.path.join(ROOT, "test/vectors/digests")
TABLE = os.path.join(FOLDER, "digests.txt")
NETWORKS = ["plain_cnn", "res_dsconv"]


def told(*args):
    run = subprocess.run([ASSAY, *args], capture_output=True, text=True, timeout=120, check=False)
    return run.stdout if run.returncode == 0 else f"status {run.returncode}: {run.stderr}"


def schemes():
    return [line.split()[0] for line in told("scheme", "list").splitlines()]


def digest(network, scheme, folder):
    """The bundle's digest, or what the command says in place of one."""
    text = told("golden", os.path.join(ROOT, f"datasets/models/{network}.onnx"), "--scheme", scheme, "--digests-only",
                "--profile", os.path.join(FOLDER, network + ".yaml"), "-o", os.path.join(folder, f"{network}.{scheme}"),
                "--input", os.path.join(ROOT, "datasets/glyphs/test/0000_A.png"))
    found = re.search(r"digest ([0-9a-f]{32})$", text, re.M)
    return found[1] if found else text


def main():
    with tempfile.TemporaryDirectory() as folder:
        now = {(n, s): digest(n, s, folder) for s in schemes() for n in NETWORKS}
    if sys.argv[3:] == ["--write"]:
        failed = [f"{n} under {s}: {d}" for (n, s), d in now.items() if not re.fullmatch("[0-9a-f]{32}", d)]
        if failed:
            sys.exit("the table stays, as these have no digest:\n" + "\n".join(failed))
        with open(TABLE, "w", encoding="utf-8") as f:
            f.writelines(f"{n} {s} {d}\n" for (n, s), d in now.items())
        return
    with open(TABLE, encoding="utf-8") as f:
        table = {(n, s): d for n, s, d in map(str.split, f)}
    tap = Tap()
    tap.check(list(table) == list(now), "the table has a row for each network and scheme, in the order of 'scheme list'",
              f"only one has: {sorted(set(table) ^ set(now))}")
    for key, want in table.items():
        tap.check(now.get(key) == want, "{} under {}".format(*key), f"{want} in the table, now {now.get(key)}")
    tap.end()


main()
