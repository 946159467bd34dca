"""The command under test, and the folders that it is asked about: golden bundles of a shipped network, a device's dumps."""
import json
import os
import shutil
import subprocess
import sys

from device import write

ASSAY, SOURCE = sys.argv[1], sys.argv[2]


def blame(golden, device, *options):
    r = subprocess.run([ASSAY, "blame", golden, device, "--json", "-", *options], capture_output=True, text=True)
    if r.returncode == 2:
        return 2, r.stderr
    if not r.stdout:
        sys.exit(f"blame ended with {r.returncode} and said nothing but: {r.stderr}")
    return r.returncode, json.loads(r.stdout)


def dump(golden, node, codes, to):
    """Everything up to the node, and the node's codes."""
    shutil.rmtree(to, ignore_errors=True)
    os.makedirs(to)
    tensors = json.load(open(os.path.join(golden, "manifest.json")))["tensors"]
    for t in tensors:
        if t["index"] < node.out["index"]:
            shutil.copy(os.path.join(golden, t["file"]), to)
    write(os.path.join(to, os.path.basename(node.out["file"])), node.shape, "|i1", codes)


def make_golden(scheme, folder, samples=1, *more):
    models = os.path.join(SOURCE, "datasets", "models")
    profile = os.path.join(folder, "profile.yaml")
    images = os.path.join(SOURCE, "datasets", "glyphs")
    if not os.path.exists(profile):
        subprocess.run([ASSAY, "profile", f"{models}/res_dsconv.onnx", "--dataset", f"{images}/calibration", "-n", "64", "-q", "-o", profile],
                       check=True, capture_output=True)
    inputs = [os.path.join(images, "test", f) for f in sorted(os.listdir(f"{images}/test")) if f.endswith(".png")][:samples]
    to = os.path.join(folder, f"{scheme}-{samples}{''.join(more)}")
    subprocess.run([ASSAY, "golden", f"{models}/res_dsconv.onnx", "-p", profile, "-s", scheme, "-o", to] +
                   [a for i in inputs for a in ("--input", i)] + list(more), check=True, capture_output=True)
    return to


def path_of(folder, node):
    return os.path.join(folder, os.path.basename(node.out["file"]))
