#!/usr/bin/env python3
"""Who may include and who may call whom: no arrow goes up, and no files ask each other in a circle.

  layers.py ASSAY SOURCE        TAP

HOUSE lists the rooms from the ground up: folders, or files of one name. A file may include its own room and those above it in this list, and so do
the symbols that its object takes from others (nm); a folder that is not listed belongs to the listed one around it.
Each folder of a floor (opt/prove) is a room of its own: its line is here before it gets a file. Within a room, too, files are layers: no circle of includes, none
of symbols; and no circle of includes among folders.
"""
import json
import os
import re
import shutil
import subprocess
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
    "schemes/round",  # round.def, .h, .c: the one place that rounds
    "schemes",  # vtable.h, scheme.h
    "schemes/record",
    "schemes/apply",
    "schemes/mac",
    "schemes/derive",
    "schemes/prepare",
    "schemes/read",
    "schemes/rescale",
    "schemes/explain",
    "schemes/node",
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
    "interp/signal",
    "interp/ref",
    "interp/fast",
    "interp/float",
    "interp/run",
    "interp/page",
    "interp/golden",
    "interp/explain",
    "interp/blame",
    "interp/measure",
    "interp/report",
    "interp/rows",
    "interp/infer",
    "interp/probe",
    "interp/vectors",
    "interp/decide",
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


def room_of(file):
    """The listed room around a file, or ""; a listed path without its ending is a room of its own."""
    folder = os.path.splitext(file)[0]
    while folder and folder not in HOUSE:
        folder = os.path.dirname(folder)
    return folder


def unlisted(files):
    """Folders of floors that have files and no line of their own."""
    rooms = {"/".join(file.split("/")[:2]) for file in files if file.count("/") > 1}
    return sorted(rooms - set(HOUSE))


def height(file):
    """How high a file's room lies; None: outside of the house."""
    return HOUSE.index(room_of(file)) if room_of(file) else None


def includes(top):
    """(file, file that it includes), each of ours."""
    for file in sources(top):
        with open(os.path.join(top, file), encoding="utf-8") as f:
            named = INCLUDE.findall(f.read())
        yield from ((file, other) for other in (meant(top, file, n) for n in named) if other)


SCHEMES_OPEN = re.compile(r"schemes/((scheme|vtable|narrow|round)\.h|(rescale|explain|node|mac)/)")  # for every folder


def guests(arrows):
    """{header of schemes/ that is not for every folder: the rooms of other floors that include it}."""
    found = {}
    for file, other in arrows:
        if other.startswith("schemes/") and not file.startswith("schemes/") and not SCHEMES_OPEN.match(other):
            found.setdefault(other.removeprefix("schemes/"), set()).add("/".join(file.split("/")[:2]))
    return found


def invited(page):
    """The same as schemes/README.md's table says it."""
    found = {}
    for row in re.findall(r"^\| (.*\.(?:h|def)`) \| (.*(?:opt|interp)/.*) \|$", page, re.M):
        floor, rooms = "", set()
        for word in re.findall(r"`([a-z/]+)`", row[1]):
            floor = word.split("/")[0] if "/" in word else floor
            rooms |= {word} if word.count("/") and not word.endswith("/") else {f"{floor}/{word}"} if word != f"{floor}/" else set()
        for header in re.findall(r"`([^`]+)`", row[0]):
            found[header] = rooms
    return found


def unlike(arrows, page):
    """Where the includes and the table differ."""
    real, told = guests(arrows), invited(page)
    return [f"{h}: {sorted(real.get(h, []))}, the page says {sorted(told.get(h, []))}" for h in sorted({*real, *told}) if real.get(h) != told.get(h)]


def objects(build, top):
    """(source, object) of every product file that the build has compiled; None: this build does not say."""
    try:
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
            commands = json.load(f)
    except OSError:
        return None
    found = []
    for c in commands:
        source = os.path.relpath(os.path.join(c["directory"], c["file"]), top)
        made = os.path.join(c["directory"], c.get("output", ""))
        if height(source) is not None and os.path.isfile(made):
            found.append((source, made))
    return found or None


def symbols(pairs):
    """(file, file whose symbol it takes, symbol)."""
    home, wanted = {}, []
    source_of = {made: source for source, made in pairs}
    listed = subprocess.run(["nm", "-A", "-P", "-g", *source_of], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        made, name, kind = line.split()[:3]
        source = source_of[made.rstrip(":")]
        if kind == "U":
            wanted.append((source, name))
        elif kind not in "VvWw":  # sanitizers put weak ones of one name everywhere
            home.setdefault(name, source)
    return [(source, home[name], name) for source, name in wanted if home.get(name, source) != source]


def upward(arrows):
    """The arrows that go up, as lines of text."""
    bad = []
    for file, other, *what in arrows:
        if None in (height(file), height(other)) or height(other) > height(file):
            bad.append(" ".join([file, "asks", other, *what]))
    return bad


def circles(arrows):
    """Sets of files that reach each other (Tarjan), each sorted."""
    next_of = {}
    for file, other, *_ in arrows:
        next_of.setdefault(file, set()).add(other)
    number, low, stack, found = {}, {}, [], []

    def visit(v):
        number[v] = low[v] = len(number)
        stack.append(v)
        for w in sorted(next_of.get(v, ())):
            if w not in number:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == number[v]:
            ring = stack[stack.index(v):]
            del stack[stack.index(v):]
            if len(ring) > 1 or v in next_of.get(v, ()):
                found.append(sorted(ring))

    for v in sorted(next_of):
        if v not in number:
            visit(v)
    return sorted(found)


def check_symbols(build, top):
    """What the symbols say: (lines of text, None) or (None, why they were not looked at)."""
    pairs = objects(build, top)
    if not shutil.which("nm") or not pairs:
        return None, "no nm, or no compile_commands.json with objects"
    try:
        arrows = symbols(pairs)
    except (subprocess.CalledProcessError, ValueError, KeyError):
        return None, "nm cannot read the objects"
    if len(arrows) < 1000:
        return None, f"objects without symbols of their own (link-time optimization?): {len(arrows)}"
    bad = upward(arrows)
    bad += ["circle: " + ", ".join(ring) for ring in circles(arrows)]
    return bad, None


def folders(arrows):
    """What one folder includes of another."""
    ends = [tuple(os.path.dirname(end) for end in arrow[:2]) for arrow in arrows]
    return [(folder, other) for folder, other in ends if folder != other]


def house(files):
    """The upward and circular includes of a house of these files, as lines of text."""
    with tempfile.TemporaryDirectory() as top:
        for path, content in {"graph/a.h": "", "graph/a.c": '#include "a.h"\n', "opt/check/b.h": "", "test/t.h": "", **files}.items():
            os.makedirs(os.path.join(top, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(top, path), "w", encoding="utf-8") as f:
                f.write(content)
        arrows = list(includes(top))
        return upward(arrows) + [" ".join(ring) for ring in circles(arrows) + circles(folders(arrows))]


WRONG = [
    {"graph/c.h": '  # include "opt/check/b.h"\n'},
    {"opt/check/c.c": '#include "../../test/t.h"\n'},
    {"opt/c.c": '#include "graph/a.h"\n'},
    {"graph/c.h": '#include "d.h"\n', "graph/d.h": '#include "graph/e.h"\n', "graph/e.h": '#include "graph/c.h"\n'},
    {"graph/in/c.h": '#include "graph/a.h"\n', "graph/d.h": '#include "graph/in/c.h"\n'},
]
RIGHT = [{"opt/check/c.c": '#include "graph/a.h"\n'}, {"graph/c.h": '#include "d.h"\n', "graph/d.h": "", "graph/e.c": '#include "c.h"\n#include "d.h"\n'}]


def main():
    assay, top = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    arrows = list(includes(top))
    results = [
        ("every room is listed", unlisted(sources(top))),
        ("a room that is not is found", [] if unlisted(["opt/prove/a.c", "opt/new/b/a.c", "opt/a.h"]) == ["opt/new"] else ["no"]),
        ("no include goes up", upward(arrows)),
        ("no circle of includes", [", ".join(ring) for ring in circles(arrows)]),
        ("no circle of folders", [", ".join(ring) for ring in circles(folders(arrows))]),
        ("schemes/README.md lists who includes what of it", unlike(arrows, open(os.path.join(top, "schemes/README.md"), encoding="utf-8").read())),
        ("a guest that is not listed is found", [] if unlike([("opt/a/b.c", "schemes/record/data.h")], "") else ["no"]),
        ("and there are some", [] if len(arrows) > 1000 else [f"{len(arrows)} includes"]),
    ]
    results += [(f"house {i} is wrong, and it is found", [] if house(files) else [str(files)]) for i, files in enumerate(WRONG, 1)]
    results += [(f"house {i} is right", house(files)) for i, files in enumerate(RIGHT, 1)]
    bad, why_not = check_symbols(os.path.dirname(assay), top)
    print(f"1..{len(results) + 1}")
    for i, (name, lines) in enumerate(results, 1):
        print(f"{'not ok' if lines else 'ok'} {i} - {name}")
        for line in lines:
            print("#", line)
    print(f"{'not ok' if bad else 'ok'} {len(results) + 1} - no symbol goes up, no circle of files", f"# SKIP {why_not}" if why_not else "")
    for line in bad or []:
        print("#", line)


main()
