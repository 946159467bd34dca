#!/usr/bin/env python3
"""Who may include whom: no arrow goes up, so there is no circle between rooms.

  layers.py ASSAY SOURCE        TAP

HOUSE lists the rooms from the ground up. A file may include its own room and those above it in this list; a folder
that is not listed belongs to the listed one around it. A new room gets its line here before it gets a file.
"""
import os
import re
import sys
import tempfile

HOUSE = [
    # what a network is
    "graph",  # base.h: status, error, element and tensor types
    "graph/files",
    "graph/core",
    "graph/text",
    "graph/layout",
    "graph/onnx",  # onnx.h, export.h
    "graph/onnx/value",
    "graph/onnx/node",
    "graph/onnx/op",
    "graph/onnx/import",
    "graph/onnx/export",
    "graph/tflite",  # tflite.h, export.h
    "graph/tflite/flat",
    "graph/tflite/model",
    "graph/tflite/node",
    "graph/tflite/op",
    "graph/tflite/import",
    "graph/tflite/export",
    # what a target's arithmetic is
    "schemes",
    # what goes through a network
    "datasets",
    # what may be changed in a network; the checker lies below all that it checks
    "opt/certificate",
    "opt/check",
    "opt/lower",
    "opt/profile",
    "opt/calibrate",
    "opt/target",
    "opt/quantize",
    "opt/prove",
    "opt/rewrite",
    # what a network computes
    "interp",  # assay.h
    "interp/kernel",
    "interp/move",
    "interp/ref",
    "interp/fast",
    "interp/float",
    "interp/run",
    "interp/page",
    "interp/golden",
    "interp/measure",
    "interp/api",
    "interp/cli",
]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def sources(top):
    for floor in sorted({room.split("/")[0] for room in HOUSE}):
        for folder, _, names in os.walk(os.path.join(top, floor)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def")):
                    yield os.path.relpath(os.path.join(folder, name), top)


def meant(top, file, named):
    """The file of ours that an #include means, as the compiler looks for it; None: one that the build makes."""
    for at in (os.path.join(os.path.dirname(file), named), named):
        if os.path.isfile(os.path.join(top, at)):
            return os.path.normpath(at)
    return None


def room(file):
    """How high a file's room lies; None: outside of the house."""
    folder = os.path.dirname(file)
    while folder and folder not in HOUSE:
        folder = os.path.dirname(folder)
    return HOUSE.index(folder) if folder else None


def upward(top):
    """Every include that goes up, as a line of text; and how many includes there are."""
    bad, count = [], 0
    for file in sources(top):
        with open(os.path.join(top, file), encoding="utf-8") as f:
            named = INCLUDE.findall(f.read())
        for other in filter(None, (meant(top, file, n) for n in named)):
            count += 1
            if None in (room(file), room(other)) or room(other) > room(file):
                bad.append(f"{file} includes {other}")
    return bad, count


def finds(text, at):
    """Whether an upward include is found in a house of one."""
    with tempfile.TemporaryDirectory() as top:
        for path, content in {"graph/a.h": "", "graph/a.c": '#include "a.h"\n', "opt/check/b.h": "", "test/t.h": "", at: text}.items():
            os.makedirs(os.path.join(top, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(top, path), "w", encoding="utf-8") as f:
                f.write(content)
        return upward(top)[0]


def main():
    bad, count = upward(sys.argv[2])
    print("1..6")
    print("ok 1 - no include goes up" if not bad else "not ok 1 - no include goes up")
    for line in bad:
        print("#", line)
    print("ok 2 - and there are some" if count > 1000 else f"not ok 2 - and there are some: {count}")
    wrong = [("  # include \"opt/check/b.h\"\n", "graph/c.h"), ('#include "../../test/t.h"\n', "opt/check/c.c"), ('#include "graph/a.h"\n', "opt/c.c")]
    for i, (text, at) in enumerate(wrong, 3):
        print(f"{'ok' if finds(text, at) else 'not ok'} {i} - {text.strip()} in {at} is found")
    down = not finds('#include "graph/a.h"\n', "opt/check/c.c")
    print("ok 6 - one that goes down is none" if down else "not ok 6 - one that goes down is none")


main()
