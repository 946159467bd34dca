#!/usr/bin/env python3
"""No function of the product is longer than 50 lines, no function at all branches more than 30 times, and no file has
more than 400 lines. A test may be longer than 50 lines: where it is a list of cases, each a line or two.

  functions.py SOURCE        TAP

A function's lines are those between its braces; its branches are if, for, while, case, ?, && and ||. The sources are
as clang-format leaves them: the braces of a function stand alone in the first column. A shift
by a variable shows its bound in the function (shifts.py).
"""
import os
import re
import sys

import shifts

LINES, BRANCHES = 50, 30
FILE_LINES = 400
WRITTEN = (".c", ".h", ".def", ".py", ".sh", "meson.build")
FLOORS = ["graph", "schemes", "datasets", "opt", "interp"]
TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
BRANCH = re.compile(r"\b(?:if|for|while|case)\b|\?|&&|\|\|")
FUNCTION = re.compile(r"^([^\s#{}][^;{}]*)\n\{\n(.*?)^\}", re.S | re.M)


def blank(match):
    """A comment or a string without what it says; its line ends stay."""
    return '""' if match[0][0] == '"' else "0" if match[0][0] == "'" else "\n" * match[0].count("\n") or " "


def functions(text):
    """(name, lines, branches) of each."""
    for head, body in FUNCTION.findall(TEXT.sub(blank, text)):
        name = re.search(r"(\w+)\((?!\*)", head)
        if name:
            yield name[1], body.count("\n"), len(BRANCH.findall(body))


def too_much(text):
    """{name: what it has} of those beyond the limits."""
    return {name: f"{lines} lines, {branches} branches" for name, lines, branches in functions(text) if lines > LINES or branches > BRANCHES}


def sources(top, floors, ends):
    for floor in floors:
        for folder, _, names in os.walk(os.path.join(top, floor)):
            for name in sorted(names):
                if name.endswith(ends):
                    yield os.path.join(folder, name)


def knots(top):
    """Functions of tests and benches that branch too often."""
    for path in sources(top, ["test", "bench"], (".c", ".h")):
        with open(path, encoding="utf-8") as f:
            for name, _, branches in functions(f.read()):
                if branches > BRANCHES:
                    yield f"{os.path.relpath(path, top)}: {name}: {branches} branches"


def long_files(paths):
    for path in paths:
        with open(path, encoding="utf-8") as f:
            lines = sum(1 for _ in f)
        if lines > FILE_LINES:
            yield f"{path}: {lines} lines"


def main():
    top = sys.argv[1]
    count, bad, shifted, unbounded = 0, [], 0, []
    for path in sources(top, FLOORS, (".c", ".h")):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        count += len(list(functions(text)))
        bad += [f"{os.path.relpath(path, top)}: {name}: {what}" for name, what in too_much(text).items()]
        shifted += shifts.variable(text)
        unbounded += [f"{os.path.relpath(path, top)}: {name}: by {by}" for name, by in shifts.unbounded(text)]
    long = "int f(void)\n{\n" + "    g();\n" * 51 + "}\n"
    knotty = "int f(void)\n{\n    return " + "a && " * 31 + "a;\n}\n"
    short = "int f(void)\n{\n" + "    g(); /* if && */\n" * 50 + "}\n"
    checks = [
        (f"no function has more than {LINES} lines or {BRANCHES} branches", bad),
        (f"no function of a test or bench has more than {BRANCHES} branches", list(knots(top))),
        ("and there are some", [] if count > 3000 else [str(count)]),
        ("a long one is found", [] if too_much(long) else [long]),
        ("a branching one is found", [] if too_much(knotty) else [knotty]),
        (f"no file has more than {FILE_LINES} lines", list(long_files(sources(top, FLOORS + ["test", "bench"], WRITTEN)))),
        ("what comments say is no branch", list(too_much(short))),
        ("a shift by a variable shows its bound", unbounded),
        ("and there are some such shifts", [] if shifted > 300 else [str(shifted)]),
        ("one that shows none is found", [w for w in shifts.WRONG if not list(shifts.unbounded(w))]),
        ("one that shows it is not", [r for r in shifts.RIGHT if list(shifts.unbounded(r))]),
    ]
    print(f"1..{len(checks)}")
    for i, (name, lines) in enumerate(checks, 1):
        print(f"{'not ok' if lines else 'ok'} {i} - {name}")
        for line in lines:
            print("#", line.replace("\n", " "))


main()
