"""The command under test, asked from Python: argument 1 of the script."""
import os
import re
import subprocess
import sys

from support import check

ASSAY = os.path.realpath(sys.argv[1])


def assay(*args):
    """(exit status, what it says)"""
    run = subprocess.run([ASSAY, *args], capture_output=True, timeout=120, check=False, text=True)
    return run.returncode, run.stdout + run.stderr


def refused(name, pattern, *args):
    """Trouble, and one line that says what."""
    status, text = assay(*args)
    check(status == 2 and text.count("\n") == 1 and re.search(pattern, text), name, (status, text))
