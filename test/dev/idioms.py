#!/usr/bin/env python3
"""One idiom for a status and for a pointer, a noun phrase at the head of every file, no name of a file that is gone,
no file left out of a list of files, no preset that is not embedded, no option of the command in a message of the library.

  idioms.py SOURCE        TAP

A status is tested as it is, if (s) and !s; so is a pointer, but where its comparison is a value: return p != NULL.
A file, of tests too, begins with a comment that names what it holds ("Graph IR: values, nodes, op table"): no sentence
that begins with What or Which, be it behind a subcommand's name, no riddle that begins with From, no question; a Python
file has a docstring. A comment or page that names quantize_build.c where there is a
build.c names a file that was moved; what ends like none of ours is another project's.
"""
import ast
import os
import re
import sys

FLOORS = ["graph", "schemes", "datasets", "opt", "interp"]
MASK = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
STATUS = re.compile(r"[!=]=\s*ASSAY_OK\b")
POINTER = re.compile(r"==\s*NULL\b|!=\s*NULL\s*(?:&&|\|\||\?)|(?:&&|\|\|)\s*[\w.>*\[\]-]+\s*!=\s*NULL\b|\b(?:if|while) \([\w.>*\[\]-]+\s*!=\s*NULL\)")
WORDS = "What|Which|Where|How|Who|When|Whether|Why|From|Does|Do|Is|Are"
RIDDLE = re.compile(rf"/\* (?:(?:{WORDS})\b|assay [a-z -]+: (?:{WORDS.lower()})\b|[^.*]*\w\?(?: \*/|\s+[A-Z]))")


def of_status(text):
    """Numbers of the lines that compare a status or a pointer."""
    bare = MASK.sub(lambda m: "\n" * m[0].count("\n") or " ", text)
    return sorted({bare.count("\n", 0, m.start()) + 1 for test in (STATUS, POINTER) for m in test.finditer(bare)})


def of_opening(text):
    """[1] where the file has no opening, or one that is no noun phrase."""
    return [1] if not text.startswith("/* ") or RIDDLE.match(text) else []


def of_page(text):
    """The same of files that a page shows: blocks that begin with a comment at the left and have an #include."""
    blocks = re.finditer(r"(?:^|\n)\n( {4,})(/\* .*(?:\n(?:\1.*|$))*)", text)
    return [text.count("\n", 0, m.start(2)) + 1 for m in blocks if f"\n{m[1]}#include" in m[2] and of_opening(m[2])]


def of_docstring(text):
    """[1] where a Python file has none."""
    return [] if ast.get_docstring(ast.parse(text)) else [1]


def of_names(text, floor, names):
    """Numbers of the lines that name a file which is gone: none is so called, and one is without the first words.
    names: of all files, and by floor."""
    bad = []
    for m in re.finditer(r"(?<![\w/.*-])\w+\.(?:c|h|def)\b", text):
        words = m[0].split("_")
        if m[0] not in names[None] and any("_".join(words[i:]) in names[floor] for i in range(1, len(words))):
            bad.append(text.count("\n", 0, m.start()) + 1)
    return bad


def sources(top, ends=(".c", ".h"), floors=tuple(FLOORS)):
    for floor in floors:
        for folder, _, names in os.walk(os.path.join(top, floor)):
            for name in sorted(names):
                if name.endswith(ends):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as f:
                        yield os.path.relpath(path, top), f.read()


def names_of(top):
    """Names of files: of all, and by floor."""
    found = {None: set()}
    for floor in FLOORS + ["test", "bench"]:
        found[floor] = {name for _, _, names in os.walk(os.path.join(top, floor)) for name in names}
        found[None] |= found[floor]
    return found


def of_lists(top):
    """Files that a README which lists its folder's files leaves out; one name stands for the .h, .c and .def so called. A README that names
    fewer than half of them is no list."""
    for floor in FLOORS:
        for folder, _, names in os.walk(os.path.join(top, floor)):
            stems = {os.path.splitext(n)[0] for n in names if n.endswith((".c", ".h", ".def"))}
            if "README.md" not in names:
                continue
            with open(os.path.join(folder, "README.md"), encoding="utf-8") as f:
                out = stems - {m[1] for m in re.finditer(r"(\w+)\.(?:c|h|def)\b", f.read())}
            if len(out) * 2 < len(stems):
                yield from (os.path.relpath(os.path.join(folder, stem), top) for stem in sorted(out))


def of_options(text):
    """Lines with a string that names an option of the command, which a C or Python user has not: the library names its setting, `max_lsb`,
    and interp/cli/settings.c turns that into the option. Not CSS, nor a command line that is begun before it."""
    strings = (m for m in MASK.finditer(text) if m[0].startswith('"'))
    return [text.count("\n", 0, m.start()) + 1 for m in strings if re.search(r"(?<!var\()(?<!')--[a-z][a-z-]+(?![\w-]|:\S)", m[0])
            and not m[0].startswith('" --')]


def of_settings(top):
    """Settings of interp/cli/settings.c that no header and no Python module has, and options that no command has."""
    said = {path: text for path, text in sources(top, (".c", ".h", ".py"), ("interp",))}
    public = "".join(t for p, t in said.items() if re.match(r"interp/(assay\w*\.h|python/)", p))
    options = "".join(t for p, t in said.items() if p.startswith("interp/cli/"))
    for setting, option in re.findall(r'{"`(\w+)`", "--([a-z-]+)"}', said["interp/cli/settings.c"]):
        if not re.search(rf"\b{setting}\b", public) or not re.search(rf""""{option}",\s+(?:0|'.'),""", options):
            yield f"{setting}, {option}"


def unlisted(top):
    """Presets and matrix units that schemes/meson.build, which embeds them, leaves out."""
    with open(os.path.join(top, "schemes/meson.build"), encoding="utf-8") as f:
        listed = f.read()
    for folder in ("presets", "mac/units"):
        names = sorted(n for n in os.listdir(os.path.join(top, "schemes", folder)) if n.endswith(".yaml"))
        yield from (f"schemes/{folder}/{n}" for n in names if f"'{folder}/{n}'" not in listed)


def main():
    files = list(sources(sys.argv[1]))
    checks = [("and there are files", [] if len(files) > 600 else [str(len(files))])]
    all_floors = FLOORS + ["bench", "test"]
    opened = list(sources(sys.argv[1], (".c", ".h", ".def"), all_floors))
    for what, test, where in (("a status and a pointer are tested as they are", of_status, files),
                              ("a file begins with what it holds", of_opening, opened),
                              ("so does one that a page shows", of_page, sources(sys.argv[1], (".md",))),
                              ("a Python file has a docstring", of_docstring, sources(sys.argv[1], (".py",), all_floors))):
        checks.append((what, [f"{path}:{line}" for path, text in where for line in test(text)]))
    names = names_of(sys.argv[1])
    checks.append(("a file that is named is there",
                   [f"{path}:{line}" for path, text in sources(sys.argv[1], (".c", ".h", ".def", ".md"))
                    for line in of_names(text, path.split("/")[0], names)]))
    checks.append(("a list of a folder's files has them all", list(of_lists(sys.argv[1]))))
    checks.append(("presets and matrix units are embedded", list(unlisted(sys.argv[1]))))
    checks.append(("a message of the library names no option of the command",
                   [f"{path}:{line}" for path, text in files if not path.startswith("interp/cli/") for line in of_options(text)]))
    checks.append(("a setting that becomes an option is one", list(of_settings(sys.argv[1]))))
    checks.append(("an option is found", [] if of_options('f("x;" /* --x */\n"see --max-lsb"\n"--seconds: more"\n"var(--page);--c0:#fff" " --rel %g")') == [2, 3] else ["no"]))
    for wrong in ("if (s == ASSAY_OK)", "return s !=\n ASSAY_OK;", "if (p != NULL)", "a && p->q != NULL", "p == NULL"):
        checks.append((f"{wrong!r} is found", [] if of_status(wrong) else [wrong]))
    checks.append(("a value is none", [str(n) for n in of_status("return p != NULL; /* p == NULL */ f(p != NULL);")]))
    for wrong in ("/* What a program is. */", "#include", "/* assay scheme diff: where two part. */", "/* A bundle: is it whole? */"):
        checks.append((f"{wrong!r} is no opening", [] if of_opening(wrong) else [wrong]))
    shown = "1. a file:\n\n       /* How many. */\n       #include \"a.h\"\n"
    checks.append(("one that a page shows is read", [] if of_page(shown) == [3] and not of_page(shown.replace("How many", "Nodes")) else ["no"]))
    checks.append(("a noun phrase is one", [str(n) for n in of_opening("/* assay diff: bundles, tensor by tensor. What is it? */")]))
    some = {None: {"build.c", "s_build.c"}, "opt": {"build.c", "s_build.c"}}
    checks.append(("a name that is gone is found", [] if of_names("see\nquantize_build.c", "opt", some) == [2] else ["no"]))
    checks.append(("others' names are theirs", [str(n) for n in of_names("build.c, s_build.c, gelu.h, x/y_build.c", "opt", some)]))
    print(f"1..{len(checks)}")
    for i, (name, lines) in enumerate(checks, 1):
        print(f"{'not ok' if lines else 'ok'} {i} - {name}".replace("\n", " "))
        for line in lines:
            print("#", line)


main()
