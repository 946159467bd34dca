#!/usr/bin/env python3
"""Reference pages, each made of one source: pages.py ASSAY SOURCE [--write]

  schemes/RECORD.md         schemes/record/record.def and schemes/round.def
  schemes/mac/PARAMETERS.md schemes/mac/mac.def
  graph/OPS.md              graph/core/op.def
  interp/golden/MANIFEST.md interp/golden/manifest.def
  interp/cli/COMMANDS.md    the option tables, as `assay COMMAND --help` prints them

Without --write a test (TAP): every page is what its source makes."""
import os
import re
import subprocess
import sys
import textwrap

ASSAY, SOURCE = (sys.argv + ["", ""])[1:3]
MADE = "<!-- made by interp/howto/pages.py from {}: `interp/howto/pages.py build/assay . --write` writes it anew -->\n"


def source(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


def lines_of(text):
    """The text without comments, an entry a line: lines that a bracket or a string goes on over are joined."""
    text = re.sub(r"\\\n", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    return re.sub(r"^#(?:(?:ifndef|endif|undef)\b.*|define \w+\([^()]*\))$", "", text, flags=re.M)  # what is not given is nothing


def arguments(text, at):
    """The arguments of a macro call from its opening bracket on, strings joined and unquoted."""
    depth, quoted, found, start = 0, False, [], at + 1
    i = at
    while True:
        c = text[i]
        if quoted:
            i += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
        if not quoted and (depth == 0 or (c == "," and depth == 1)):
            found.append(text[start:i].strip())
            start = i + 1
            if depth == 0:
                break
        i += 1
    def plain(a):
        pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', a)
        return "".join(pieces).replace('\\"', '"') if pieces and a.startswith('"') else a
    return [plain(a) for a in found]


def calls(text, names):
    """(name, arguments) of every call of these macros."""
    for m in re.finditer(r"\b(" + "|".join(names) + r")\(", text):
        yield m.group(1), arguments(text, m.end() - 1)


def cell(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def wrapped(text):
    return textwrap.fill(cell(text), 112, break_long_words=False, break_on_hyphens=False)


def record():
    text = lines_of(source("schemes/record/record.def"))
    values, name, out = {}, None, []
    for macro, a in calls(text, ["ENUM", "VALUE", "SECTION", "FIELD", "STEPS"]):
        if macro == "ENUM":
            name = a[0]
            values[name] = {}
        elif macro == "VALUE":
            values[name][a[0]] = a[1]
        elif macro == "SECTION":
            out.append(f"\n## {a[0]}\n\n{wrapped(a[1])}\n\n| parameter | values | default | meaning |\n|---|---|---|---|\n")
        elif macro == "STEPS":
            out.append(f"| `{a[1]}` | up to three of `[BITS] MODE` | {cell(a[2])} | {cell(a[3])} |\n")
        else:
            _, field, kind, of, n_min, n_max, default, meaning = a
            legal = {"BOOL": "yes, no", "ROUND": "a rounding", "INT": f"{n_min} to {n_max}"}.get(kind)
            if kind == "ENUM":
                legal = ", ".join(values[of].values())
                default = values[of].get(default.replace("ASSAY_", ""), default)
            elif kind == "BOOL":
                default = {"1": "yes", "true": "yes", "0": "no", "false": "no"}.get(default, default)
            out.append(f"| `{field}` | {cell(legal)} | {cell(default)} | {cell(meaning)} |\n")
    out.append("\n## Roundings\n\n| name | rule |\n|---|---|\n")
    for _, a in calls(lines_of(source("schemes/round.def")).split("(ROUNDING)")[1], ["ROUNDING"]):
        out.append(f"| `{a[2]}` | {cell(a[3])} |\n")
    return ("# The parameter record\n\n" + MADE.format("schemes/record/record.def") +
            "\nEvery parameter of a scheme file, by section, with its default.\n" + "".join(out))


def mac_parameters():
    text = source("schemes/mac/mac.def")
    choices = {a[0]: a[1].replace("|", ", ") for _, a in calls(lines_of(text), ["CHOICE"]) if len(a) == 2}
    kinds = {"FORMAT": "a format", "MODE": "a rounding", "MODE_OR_NONE": "a rounding, none", "PATTERN": "an integer",
             "ORDER": "a list of places, none"}
    out = ["\n| parameter | values | default | meaning |\n|---|---|---|---|\n"]
    for _, (name, kind, n_min, n_max, default, meaning) in calls(lines_of(text), ["PARAMETER"]):
        if kind.startswith("INT"):
            legal = f"{n_min} to {n_max}" + (", none" if kind.endswith("NONE") else "")
        else:
            legal = kinds.get(kind) or choices[kind]
        if kind in choices:
            default = choices[kind].split(", ")[int(default)]
        default = {"ASSAY_MAC_MUST": "", "ASSAY_MAC_NONE": "none"}.get(default, default)
        if kind == "ORDER":
            default = "none"
        default = default.replace("ASSAY_ROUND_", "").replace("ASSAY_MAC_", "").lower().replace("_", "-")
        out.append(f"| `{name}` | {cell(legal)} | {default} | {cell(meaning)} |\n")
    return ("# Parameters of a matrix unit\n\n" + MADE.format("schemes/mac/mac.def") +
            "\nEvery parameter of the section `mac` of a unit file; one without a default has to be given.\n" + "".join(out))


def ops():
    out = ["# The op table\n\n", MADE.format("graph/core/op.def"),
           "\nInputs: how many, least to most, `-` any number. The shape rule is `assay_shape_RULE`, attributes are in\n"
           "`graph/core/attr.def`, traits in `graph/core/op.h`.\n\n"
           "| op | inputs | outputs | attributes | shape rule | traits |\n|---|---|---|---|---|---|\n"]
    for _, a in calls(lines_of(source("graph/core/op.def")), ["OP"]):
        _, name, attr, n_min, n_max, n_out, shape, traits = a
        n_in = n_min if n_min == n_max else f"{n_min} to {'-' if n_max == '-1' else n_max}"
        traits = ", ".join(re.findall(r"T\((\w+)\)", traits)).lower()
        out.append(f"| `{name}` | {n_in} | {'-' if n_out == '-1' else n_out} | {attr} | {shape} | {traits} |\n")
    return "".join(out)


OBJECTS = {  # of a manifest, in the order of the page
    "manifest": "The manifest", "model": "`model`", "scheme": "`scheme`", "contract": "`contract`",
    "input": "An entry of `inputs`", "graph": "`graph`", "node": "An entry of `nodes`", "constant": "An entry of `constants`",
    "tensor": "An entry of `tensors`", "accumulators": "`accumulators` of a tensor",
    "array": "An array in a file, in place of a list"}
KINDS = {"TEXT": "text", "NUMBER": "number", "NUMBERS": "number or list", "ARRAY": "number, list or array", "TRUE": "true", "LIST": "list", "OBJECT": "object", "DIGEST": "digest"}


def manifest_list():
    """(macro, arguments) of every line of manifest.def."""
    return list(calls(lines_of(source("interp/golden/manifest.def")), ["KEY", "PARAMETER", "SUFFIX", "CONSTANTS"]))


def manifest():
    lines = manifest_list()
    out = ["# The manifest of a golden bundle\n\n", MADE.format("interp/golden/manifest.def"),
           "\n`manifest.json`, format `assay-golden-1`. A digest is XXH3-128, 32 hex digits, high half first.\n"]
    for name, title in OBJECTS.items():
        out.append(f"\n## {title}\n\n| key | kind | there | what |\n|---|---|---|---|\n")
        for of, key, kind, when, doc in (a for macro, a in lines if macro == "KEY" and a[0] == name):
            out.append(f"| `{key}` | {KINDS[kind]} | {'always' if when == 'ALWAYS' else cell(when)} | {cell(doc)} |\n")
    out.append("\n## `parameters` of a node\n\nWhat its unit reads, as integers, one entry or one per channel. Those of floats are the bits of a float32 (of a\n"
               "float64 where `encoding: float64`). A suffix says which of several rescales, none the output's:\n\n"
               "| suffix | which |\n|---|---|\n")
    out += [f"| `{a[0]}` | {cell(a[1])} |\n" for macro, a in lines if macro == "SUFFIX"]
    out.append("\n| parameter | what |\n|---|---|\n")
    out += [f"| `{a[0]}` | {cell(a[1])} |\n" for macro, a in lines if macro == "PARAMETER"]
    out.append("\n| `constants` of | kind | what, in order |\n|---|---|---|\n")
    out += [f"| {a[0]} | {'`' + a[1] + '`' if a[1] else ''} | {cell(a[2])} |\n" for macro, a in lines if macro == "CONSTANTS"]
    return "".join(out)


def told(*command):
    return subprocess.run([ASSAY, *command], capture_output=True, text=True, check=True).stdout


def commands():
    text = told("--help")
    out = ["# The command line\n\n", MADE.format("the option tables in interp/cli"), "\n```\n",
           re.sub(r"^assay \S+:", "assay:", text), "```\n"]
    for line in text.splitlines():
        m = re.match(r"  (\S+(?: \S+)?) +\S", line)
        if not m:
            continue
        name = m.group(1).split()
        while True:  # a name is one word or two: the longest that the program knows
            try:
                page = told(*name, "--help")
                break
            except subprocess.CalledProcessError:
                name = name[:-1]
        if not page.startswith("assay " + " ".join(name) + ":"):
            name = name[:1]
            page = told(*name, "--help")
        out.append(f"\n## {' '.join(name)}\n\n```\n{page}```\n")
    return "".join(out)


PAGES = {"schemes/RECORD.md": record, "schemes/mac/PARAMETERS.md": mac_parameters, "graph/OPS.md": ops, "interp/golden/MANIFEST.md": manifest,
         "interp/cli/COMMANDS.md": commands}


def main():
    failed = 0
    print(f"1..{len(PAGES)}")
    for i, (path, make) in enumerate(PAGES.items(), 1):
        page = make()
        if sys.argv[3:] == ["--write"]:
            with open(os.path.join(SOURCE, path), "w", encoding="utf-8") as f:
                f.write(page)
        good = os.path.exists(os.path.join(SOURCE, path)) and source(path) == page
        failed += not good
        print(f"{'ok' if good else 'not ok'} {i} - {path} is current" + ("" if good else ": interp/howto/pages.py build/assay . --write writes it"))
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
