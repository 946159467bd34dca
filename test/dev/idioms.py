#!/usr/bin/env python3
"""One idiom for a status and for a pointer, and a noun phrase at the head of every file.

  idioms.py SOURCE        TAP

A status is tested as it is, if (s) and !s; so is a pointer, but where its comparison is a value: return p != NULL.
A file begins with a comment that names what it holds ("Graph IR: values, nodes, op table"): no sentence that begins
with What or Which, no riddle that begins with From.
"""
import os
import re
import sys

FLOORS = ["graph", "schemes", "datasets", "opt", "interp"]
# Rooms and files that are not in this idiom yet. None may be added; one that is goes.
LEFT = ["interp/blame", "interp/explain", "interp/cli/scheme_diff"]
MASK = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
STATUS = re.compile(r"[!=]=\s*ASSAY_OK\b")
POINTER = re.compile(r"==\s*NULL\b|!=\s*NULL\s*(?:&&|\|\||\?)|(?:&&|\|\|)\s*[\w.>*\[\]-]+\s*!=\s*NULL\b|\b(?:if|while) \([\w.>*\[\]-]+\s*!=\s*NULL\)")
RIDDLE = re.compile(r"/\* (?:What|Which|Where|How|Who|When|Whether|Why|From|Does|Do|Is|Are)\b")


def of_status(text):
    """Numbers of the lines that compare a status or a pointer."""
    bare = MASK.sub(lambda m: "\n" * m[0].count("\n") or " ", text)
    return sorted({bare.count("\n", 0, m.start()) + 1 for test in (STATUS, POINTER) for m in test.finditer(bare)})


def of_opening(text):
    """[1] where the file has no opening, or one that is no noun phrase."""
    return [1] if not text.startswith("/* ") or RIDDLE.match(text) else []


def sources(top):
    for floor in FLOORS:
        for folder, _, names in os.walk(os.path.join(top, floor)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as f:
                        yield os.path.relpath(path, top), f.read()


def main():
    files = list(sources(sys.argv[1]))
    checks = [("and there are files", [] if len(files) > 600 else [str(len(files))])]
    found_in = set()
    for what, test in (("a status and a pointer are tested as they are", of_status), ("a file begins with what it holds", of_opening)):
        bad = []
        for path, text in files:
            lines = test(text)
            left = [x for x in LEFT if path.startswith(x)]
            found_in.update(left if lines else [])
            bad += [f"{path}:{line}" for line in lines if not left]
        checks.append((what, bad))
    checks.append(("what is left is left", [f"{x} is in the idiom: take it out of LEFT" for x in LEFT if x not in found_in]))
    for wrong in ("if (s == ASSAY_OK)", "return s !=\n ASSAY_OK;", "if (p != NULL)", "a && p->q != NULL", "p == NULL"):
        checks.append((f"{wrong!r} is found", [] if of_status(wrong) else [wrong]))
    checks.append(("a value is none", [str(n) for n in of_status("return p != NULL; /* p == NULL */ f(p != NULL);")]))
    checks.append(("a sentence is no opening", [] if of_opening("/* What a program is. */") and of_opening("#include") else ["no"]))
    print(f"1..{len(checks)}")
    for i, (name, lines) in enumerate(checks, 1):
        print(f"{'not ok' if lines else 'ok'} {i} - {name}".replace("\n", " "))
        for line in lines:
            print("#", line)


main()
