#!/usr/bin/python3
"""The Python package's types: mypy --strict finds nothing.

  mypy_strict.py        TAP
"""
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "test/support"))
from tap import Tap, skip_all  # noqa: E402

for needed in ("mypy", "numpy", "pytest"):
    if subprocess.run([sys.executable, "-c", f"import {needed}"], capture_output=True, check=False).returncode:
        skip_all(f"no {needed} (python3-{needed}, or apt's {needed})")
TAP = Tap()
with tempfile.TemporaryDirectory() as cache:
    said = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, "assay", "assay_pytest.py"], cwd=os.path.join(TOP, "interp/python"),
                          capture_output=True, text=True, check=False)
TAP.check(said.returncode == 0, "mypy --strict", said.stdout, said.stderr)
TAP.end()
