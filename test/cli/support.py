"""What the Python tests of the command line share: TAP lines, files, arrays as .npy."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from tap import Tap  # noqa: E402

TAP = Tap()
check = TAP.check  # good, what is checked, why it is not
FORMATS = {"<f2": "e", "<f4": "f", "<f8": "d", "|u1": "B", "<u2": "H", "<u4": "I", "<i4": "i", "|i1": "b", "<i8": "q"}


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def npy(path, kind, shape, values):
    """Values of a kind of FORMATS as .npy, version 1."""
    dims = "".join(f"{d}," for d in shape)
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({dims}), }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    body = struct.pack(f"<{len(values)}{FORMATS[kind]}", *values)
    write(path, b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + body)
