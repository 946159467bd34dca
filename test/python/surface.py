#!/usr/bin/python3
"""interp/SURFACE.md beside the command's lists, the library's symbols and the package: each subcommand is callable, or it says why not.

  surface.py LIBRARY ASSAY        TAP
"""
import os
import re

from support import TAP, TOP, check, command

import assay


def listed():
    """Commands, a verb each where there are some."""
    for name in [line[2:16].strip() for line in command("help").splitlines() if line.startswith("  ")]:
        page = command("help", *name.split())
        verbs = re.findall(r"^  ([a-z]+) ", page.split("verbs (")[1].split("options:")[0], re.M) if "verbs (" in page else []
        yield from [f"{name} {verb}" for verb in verbs] or [name]


def rows(text):
    """Of each row of the table the command, C and Python names, and the reason."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 4 and cells[0] != "command":
            yield cells[0], re.findall(r"\w+", cells[1]), re.findall(r"[\w.]+", cells[2]), cells[3]


def wrong(text, commands, symbols):
    """What is not so."""
    table = list(rows(text))
    found = [name for name, *_ in table]
    yield from [f"{name}: no row" for name in commands if name not in found]
    yield from [f"{name}: no such command, or twice" for name in found if name not in commands or found.count(name) > 1]
    for name, functions, names, reason in table:
        if not reason and not (functions and names):
            yield f"{name}: neither callable nor a reason"
        yield from [f"{name}: no symbol {f}" for f in functions if f not in symbols]
        for path in names:
            at = assay
            for part in path.split("."):
                at = getattr(at, part, None)
            if at is None or not getattr(at, "__doc__", None):
                yield f"{name}: assay.{path} is not there, or has no docstring"


with open(os.path.join(TOP, "interp/SURFACE.md"), encoding="utf-8") as f:
    TABLE = f.read()
with open(os.path.join(TOP, "interp/assay.map"), encoding="utf-8") as f:
    SYMBOLS = set(re.findall(r"^    (assay_\w+);$", f.read(), re.M))
COMMANDS = list(listed())
check(len(COMMANDS) > 35 and not list(wrong(TABLE, COMMANDS, SYMBOLS)), "every subcommand is callable, or says why not", list(wrong(TABLE, COMMANDS, SYMBOLS)))
check(["x y: no row"] == list(wrong(TABLE, [*COMMANDS, "x y"], SYMBOLS)), "a new subcommand without a row is found")
check(list(wrong(TABLE.replace("| scheme new | | | a com", "| scheme new | | | |"), COMMANDS, SYMBOLS)), "one with neither and no reason is found")
check(list(wrong(TABLE.replace("Profile.show", "Profile.draw"), COMMANDS, SYMBOLS)) and list(wrong(TABLE, COMMANDS, SYMBOLS - {"assay_tune"})),
      "a name that is not there is found")
exported = {name for name in assay.__all__ if not isinstance(getattr(assay, name), type)}
unsaid = exported - {p.split(".")[0] for _, _, names, _ in rows(TABLE) for p in names}
check(unsaid == {"assert_bits", "load", "loads", "run_many", "windows", "write_dumps"}, "functions of the package that no subcommand is", unsaid)
TAP.end()
