#!/usr/bin/env python3
"""One meaning a name: a tag has one definition, a function begins with its room's name, lack of memory has one
wording, and comments cite nothing that is not here.

  names.py BUILD SOURCE        TAP

PREFIX is the rule (interp/README.md). assay_ is for what assay.h and assay_tools.h declare and for the vocabulary that every room
speaks: graph/core and schemes/. A new room gets its line here.
"""
import collections
import json
import os
import re
import subprocess
import sys

PREFIX = {
    "graph": "assay",
    "graph/core": "assay",
    "graph/files": "file",
    "graph/text": "text",
    "graph/layout": "layout",
    "graph/onnx": "onnx",
    "graph/tflite": "tfl",
    "schemes": "assay",
    "schemes/apply": "apply",
    "schemes/apply/simd": "simd",
    "schemes/derive": "derive",
    "schemes/mac": "mac",
    "datasets": "dataset",
    "opt/certificate": "certificate",
    "opt/check": "check",
    "opt/lower": "lower",
    "opt/profile": "profile",
    "opt/calibrate": "calibrate",
    "opt/target": "target",
    "opt/quantize": "quantize",
    "opt/prove": "prove",
    "opt/rewrite": "rewrite",
    "interp": "assay",
    "interp/api": "assay",
    "interp/kernel": "kernel",
    "interp/move": "move",
    "interp/signal": "signal",
    "interp/ref": "ref",
    "interp/fast": "fast",
    "interp/float": "float",
    "interp/run": "run",
    "interp/page": "page",
    "interp/golden": "golden",
    "interp/measure": "measure",
    "interp/report": "report",
    "interp/rows": "rows",
    "interp/infer": "infer",
    "interp/probe": "probe",
    "interp/explain": "explain",
    "interp/blame": "blame",
    "interp/rows": "rows",
    "interp/vectors": "vectors",
    "interp/decide": "decide",
    "interp/cli": "cli",
}
FLOORS = ("graph", "schemes", "datasets", "opt", "interp")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
TAG = re.compile(r"\b(struct|enum|union)\s+(\w+)\s*\{|^typedef\s[^;{}]*?\b(\w+)\s*;", re.M)
ELSEWHERE = re.compile(r"(?:facts|targets)/[\w-]+\.md|\b(?:arithmetic|glow|matrix-units|onnxruntime|field|frontier)\.md")
TEXTS = (".c", ".h", ".def", ".py", ".sh", ".md", ".yaml", ".build")


def files(top, folders, endings):
    for floor in folders:
        for folder, _, names in os.walk(os.path.join(top, floor)):
            for name in sorted(names):
                if name.endswith(endings):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8", errors="replace") as f:
                        yield os.path.relpath(path, top), f.read()


def twice(headers):
    """Tags that two headers define; a typedef of its own struct counts once."""
    places = collections.defaultdict(set)
    for file, text in headers:
        bare = STRING.sub('""', COMMENT.sub(" ", text))
        for kind, tag, alias in TAG.findall(bare):
            if tag or not re.search(rf"\btypedef\s+(?:struct|enum|union)\s+{alias}\s+{alias}\s*;", bare):
                places[tag or alias].add(file)
    return [f"{tag}: {', '.join(sorted(at))}" for tag, at in sorted(places.items()) if len(at) > 1]


def bare(headers):
    """Types of headers of one word that is not the room's: a word that any file may want for its own."""
    found = []
    for file, text in headers:
        code = STRING.sub('""', COMMENT.sub(" ", text))
        names = re.findall(r"^\} ?(\w+);", code, re.M) + [alias for _, _, alias in TAG.findall(code) if alias]
        found += [f"{file}: {name}" for name in sorted(set(names)) if "_" not in name and name != room_prefix(file)]
    return found


def room_prefix(file):
    folder = os.path.dirname(file)
    while folder and folder not in PREFIX:
        folder = os.path.dirname(folder)
    return PREFIX.get(folder)


def belongs(file, name):
    return name == "main" or not name.isidentifier() or name.startswith(room_prefix(file) + "_")


def public(top):
    """What assay.h, assay_tools.h and the headers that they include declare."""
    names = set()
    for header in ("interp/assay.h", "interp/assay_arithmetic.h", "interp/assay_measures.h", "interp/assay_tools.h", "graph/base.h", "schemes/vtable.h"):
        with open(os.path.join(top, header), encoding="utf-8") as f:
            names.update(re.findall(r"\b(assay_\w+)\(", f.read()))
    return names


def strangers(build, top):
    """Functions and data that nm shows of a product file and that do not begin with the name of its room."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    known, found, seen, source_of = public(top), set(), 0, {}
    for c in commands:
        source = os.path.relpath(os.path.join(c["directory"], c["file"]), top)
        made = os.path.join(c["directory"], c.get("output", ""))
        if source.split("/")[0] in FLOORS and source.endswith(".c") and os.path.isfile(made):
            source_of[made] = source
    listed = subprocess.run(["nm", "-A", "--defined-only", "-g", *source_of], capture_output=True, text=True).stdout
    for line in listed.splitlines():
        made, symbol = line.split(":", 1)
        kind, name = symbol.split()[-2:]
        if kind in "TDRBC" and name not in known and not name.startswith("__"):
            seen += 1
            if not belongs(source_of[made], name):
                found.add(f"{source_of[made]}: {name}")
    return sorted(found), seen


def cites(texts):
    return [f"{file}: {m[0]}" for file, text in texts for m in [ELSEWHERE.search(text)] if m]


def main():
    build, top = sys.argv[1:3]
    headers = list(files(top, FLOORS, (".h", ".def")))
    wording = [file for file, text in files(top, FLOORS, (".c", ".h"))
               if file != "graph/status.c" and re.search(r'assay_fail\([^;"]*ASSAY_ERR_MEMORY,\s*"', text)]
    own = os.path.relpath(os.path.abspath(__file__), os.path.abspath(top))
    everywhere = [(f, t) for f, t in files(top, FLOORS + ("test", "bench"), TEXTS)
                  if not f.startswith(("test/vectors/", "test/fuzz/scheme/", "test/peer/")) and f != own]
    wrong, seen = strangers(build, top)
    checks = [
        ("a tag is defined in one header", twice(headers)),
        ("a type of a header has more than a bare word for its name", bare(headers)),
        ("a function begins with the name of its room", wrong),
        ("lack of memory is said by graph/status.c", wording),
        ("comments cite what is in the repository", cites(everywhere)),
        ("names were looked at", [] if seen > 1000 and len(headers) > 100 else [f"{seen} names, {len(headers)} headers"]),
        ("a tag defined twice is found",
         [] if twice([("a.h", "struct x {"), ("b.h", "typedef struct x {")]) else ["not found"]),
        ("a bare word is found",
         [] if len(bare([("opt/check/a.h", "typedef struct work {\n} work;\ntypedef struct term term;")])) == 2 else ["not found"]),
        ("a name of another room is found", [] if not belongs("opt/prove/a.c", "assay_a") else ["not found"]),
        ("a citation of another place is found", [] if cites([("a.c", "/* facts/a.md 2 */")]) else ["not found"]),
    ]
    print(f"1..{len(checks)}")
    for i, (what, bad) in enumerate(checks, 1):
        print(f"{'not ok' if bad else 'ok'} {i} - {what}")
        for line in bad:
            print("#", line)


main()
