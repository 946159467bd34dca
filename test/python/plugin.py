#!/usr/bin/python3
"""The pytest plugin: bundles that are missing, written, kept, changed; tests over schemes; what a failure says.

  plugin.py LIBRARY ASSAY        TAP
"""
import os
import re
import subprocess
import sys

from support import NET, PACKAGE, TAP, check, skip_all

try:
    import pytest  # noqa: F401
except ImportError:
    skip_all("no pytest (python3-pytest)")

TEST = f"""
import os
import numpy as np
import pytest
import assay

NET = assay.loads({NET!r}, "small")
X = np.sin(np.arange(72, dtype=np.float32)).reshape(1, 2, 6, 6)

def quantized(scheme):
    p = NET.profile()
    p.observe(X)
    return NET.quantize(p, scheme).program(scheme)

@pytest.mark.assay_schemes("tflite", "npu16")
def test_each(assay_scheme, assay_golden):
    golden = assay_golden(quantized(assay_scheme), X)
    device = {{n: np.array(golden[n]) for n in golden}}
    device["act"][0, 0, 0, 0] += 1 if os.environ.get("BREAK") else 0
    assay.assert_bits(device, golden)

def test_fixed(assay_golden):
    q = quantized("npu16" if os.environ.get("OTHER") else "tflite")
    assay_golden(q, X, name="one/sample")
"""


def pytest_run(*args, **environment):
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "assay_pytest", "-p", "no:cacheprovider", *args], capture_output=True, text=True,
                         timeout=300, check=False, env={**os.environ, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1", **environment})
    return run.returncode, run.stdout + run.stderr


def says(name, status, pattern, *args, **environment):
    code, text = pytest_run(*args, **environment)
    check(code == status and re.search(pattern, text, re.S), name, code, text)


def main():
    with open("test_it.py", "w", encoding="utf-8") as f:
        f.write(TEST)
    says("what is missing fails, and says how it is written", 1, r"no such golden bundle; pytest --assay-update.*3 failed")
    check(not os.path.exists("golden"), "and nothing is written")
    says("--assay-update writes it", 0, "3 passed", "--assay-update")
    check(sorted(os.listdir("golden")) == ["one_sample", "test_each[npu16]", "test_each[tflite]"], "a bundle a test and scheme", os.listdir("golden"))
    says("then what is right passes; a device that differs: where first, and who is to blame", 1,
         r"DIFFERENT: 1 of \d+ tensors; first at #2 'act' \(conv\).*FAULT: 1 cause.*2 failed, 1 passed", BREAK="1")
    says("a program that gives other bits", 1, r"is another than the bundle is of.*other: scheme.*DIFFERENT.*1 failed", "-k", "fixed", OTHER="1")
    says("--assay-update takes it; --assay-scheme in place of a test's own", 0, "2 passed", "--assay-update", "--assay-scheme", "tflite", OTHER="1")
    with open("test_other.py", "w", encoding="utf-8") as f:
        f.write("def test_unmarked(assay_scheme): pass\ndef test_plain(): pass\n")
    says("a test that names no scheme is told so", 2, "assay_scheme takes a mark", "test_other.py")
    says("without the library other tests go on, and these say why", 1, "libassay.so.0 is not found.*1 passed, 1 error", "test_other.py",
         "--assay-scheme", "tflite", ASSAY_LIBRARY="/nowhere/libassay.so")


main()
TAP.end()
