#!/usr/bin/env python3
"""Takes every STEP-th row of each column of an .npz archive: how the files here were made.

    compact.py STEP IN.npz OUT.npz

Columns keep their names and types; the first axis is thinned (rows 0, STEP, 2 STEP, ...). Python's own
library only, and a fixed date, so that the same input gives the same bytes.
"""
import ast
import math
import struct
import sys
import zipfile


def thin(data, step):
    if data[:6] != b"\x93NUMPY" or data[6] != 1:
        sys.exit("not a .npy file of version 1")
    (length,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + length].decode("latin1"))
    shape = header["shape"]
    row = int(header["descr"][2:]) * math.prod(shape[1:])
    body = data[10 + length :]
    rows = [body[i * row : (i + 1) * row] for i in range(0, shape[0], step)]
    header["shape"] = (len(rows),) + tuple(shape[1:])
    text = repr(header).encode("latin1")
    text += b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    return data[:8] + struct.pack("<H", len(text)) + text + b"".join(rows)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    step = int(sys.argv[1])
    with zipfile.ZipFile(sys.argv[2]) as source, zipfile.ZipFile(sys.argv[3], "w") as out:
        for name in source.namelist():
            out.writestr(
                zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)),
                thin(source.read(name), step),
                zipfile.ZIP_DEFLATED,
                9,
            )


if __name__ == "__main__":
    main()
