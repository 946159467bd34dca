#!/usr/bin/env python3
"""tables.py ASSAY: what --json writes is what the table says, and "-" is standard output, which then holds nothing else."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from support import TAP, check, npy, write

ASSAY = os.path.realpath(sys.argv[1])


def told(status, *args):
    """What the command says on standard output, line by line in words."""
    run = subprocess.run([ASSAY, *args], capture_output=True, text=True, timeout=120, check=False)
    if run.returncode != status:
        raise SystemExit(f"Bail out! assay {' '.join(args)}: {run.returncode}: {run.stdout}{run.stderr}")
    return run.stdout


def both(status, *args):
    """The lines that a command prints, and its JSON, which is the same in a file and on standard output."""
    printed = told(status, *args)
    told(status, *args, "--json", "out.json")
    with open("out.json", encoding="utf-8") as f:
        text = f.read()
    check(told(status, *args, "--json", "-") == text, f"{args[0]}: on standard output alone", text[:200])
    check(text.endswith("\n") and not text.endswith("\n\n"), f"{args[0]}: a text of lines", text[-20:])
    return [line.split() for line in printed.splitlines()], json.loads(text)


def prepare():
    write("f.assay", b"graph f {\n input x: f32[1,4]\n"
          b" const w: f32[3,4] = [0.5,-0.25,1,2,0.125,0.75,-1,1,0.5,0.5,0.25,-2]\n const b: f32[3] = [0.5,-0.5,0.25]\n"
          b" y: f32[1,3] = fc(x, w, b)\n z: f32[1,3] = relu(y)\n output z\n}\n")
    npy("d.npy", "<f4", (8, 4), [(i * 7 % 13 - 6) / 3 for i in range(32)])
    told(0, "profile", "f.assay", "-d", "d.npy", "-q", "-o", "p.yaml")
    told(0, "quantize", "f.assay", "-p", "p.yaml", "-s", "tflite", "-o", "q.assay")
    told(0, "golden", "q.assay", "-s", "tflite", "-d", "d.npy", "-n", "1", "-o", "good")
    told(0, "golden", "q.assay", "-s", "tflite", "-d", "d.npy", "-n", "1", "-o", "bad")
    tensor = os.path.join("bad/tensors", sorted(os.listdir("bad/tensors"))[0])
    with open(tensor, "r+b") as f:
        f.seek(-1, 2)
        last = f.read(1)[0]
        f.seek(-1, 2)
        f.write(bytes([last ^ 1]))


def networks():
    lines, net = both(0, "inspect", "q.assay")
    rows = [line for line in lines if line and line[0].isdigit() and line[1] in ("fc", "quantize", "dequantize")]
    check([(r[1], r[2], int(r[-2])) for r in rows] == [(n["op"], n["name"], n["macs"]) for n in net["nodes"]], "inspect: the nodes", rows, net["nodes"])
    check(net["quantized_for"] == "tflite" and [net["values"][v]["name"] for v in net["inputs"]] == ["x"], "inspect: what it is", net)
    lines, made = both(0, "quantize", "f.assay", "-p", "p.yaml", "-s", "tflite", "--ranges")
    scales = {line[0]: float(line[-2]) for line in lines if len(line) == 10 and line[1] == "min-max"}
    check(scales and scales == {r["value"]: float(f"{r['scale']:.6g}") for r in made["ranges"]}, "quantize: the ranges", scales, made)
    check(made["integer"] == int(lines[0][0]) and made["float"] == [], "quantize: the counts", lines[0], made)
    write("chain.assay", b"graph chain {\n input x: i8[4] q(0.1,0)\n b: u8[4] q(0.1,10) = rescale(x)\n c: i8[4] q(0.23,0) = rescale(b)\n output c\n}\n")
    lines, done = both(0, "optimize", "chain.assay", "-s", "tflite", "--prove-to", "cert.json")
    check([done["applied"], done["refused"]] == [int(lines[-1][0]), int(lines[-1][2])], "optimize: what was done", lines, done)
    lines, proof = both(0, "check-proof", "cert.json", "-m", "chain.assay")
    check(proof == {"good": True, "why": None, "steps": int(lines[0][2]), "proved": int(lines[0][4]), "given": 0} and proof["steps"] == done["applied"] > 0,
          "check-proof: a good certificate", lines, proof)
    with open("cert.json", encoding="utf-8") as f:
        cut = json.load(f)
    cut["steps"] = cut["steps"][:-1]
    write("bad.json", json.dumps(cut).encode())
    lines, proof = both(1, "check-proof", "bad.json")
    check(not proof["good"] and lines[0][:2] == ["bad.json:", "BAD:"] and proof["why"].split() == lines[0][2:], "check-proof: a bad one", lines, proof)


def profiles():
    lines, shown = both(0, "profile", "show", "p.yaml")
    rows = {line[0]: line[1:4] for line in lines[2:]}
    check(rows and rows == {v["value"]: [f"{v['min']:.6g}", f"{v['max']:.6g}", str(v["elements"])] for v in shown["values"]}, "profile show: the values", rows, shown)
    measured = ("f.assay", "-p", "p.yaml", "-s", "tflite", "-d", "d.npy", "-q")
    lines, found = both(1, "tune", *measured, "--target-sqnr", "200", "--max-float", "0")
    stopped = [line for line in lines if line[:2] == ["stopped", "after"]][0]
    check(found["trials"] == int(stopped[2]) and not found["reached"] and found["options"]["keep_float"] == [], "tune: the end", stopped, found)
    check(" ".join(stopped).find(f"output {found['after']['output_db']:.2f} dB") > 0 and found["report"]["integer"] >= 1, "tune: what is left", stopped, found)


def bundles():
    lines, said = both(1, "verify", "good", "bad")
    good, bad = said["bundles"]
    check(good["good"] and good["faults"] == [] and good["tensors"] == bad["tensors"] == int(lines[0][2]), "verify: a good one", lines, said)
    check(not bad["good"] and bad["files_bad"] == 1 and len(bad["faults"]) == len(lines) - 2, "verify: a bad one", lines, said)
    tensor = [f for f in sorted(os.listdir("bad/tensors")) if "_fc_" in f][0]
    with open(os.path.join("bad/tensors", tensor), "r+b") as f:
        f.seek(-2, 2)
        other = f.read(1)[0]
        f.seek(-2, 2)
        f.write(bytes([other ^ 1]))
    capsule = json.loads(told(0, "capsule", "good", "bad/tensors", "y", "-o", "capsule", "--json", "-"))
    line = re.match(r"capsule2: (.*), output .*: (\d+) of (\d+) elements differ, (\S+)", told(0, "capsule", "good", "bad/tensors", "y", "-o", "capsule2"))
    check(line.groups() == (capsule["node"], str(capsule["differing"]), str(capsule["elements"]), capsule["class"]), "capsule: what it holds", line, capsule)
    lines, listed = both(0, "scheme", "list")
    check([line[0] for line in lines] == [p["name"] for p in listed] and all(len(p["digest"]) == 32 for p in listed), "scheme list: the presets", listed)
    lines, tables = both(0, "scheme", "matrix", "--schemes", "tflite,xnnpack-qs8,npu16")
    table = {(i, j): float(f"{100 * share:.3g}") for i, row in enumerate(tables[0]["disagree"]) for j, share in enumerate(row) if j < i}
    classes = [line[1] for line in lines if len(line) > 1 and line[1] in tables[0]["schemes"]]
    rows = [line[1:] for line in lines[-(len(classes) - 1):]]
    at = [tables[0]["schemes"].index(c) for c in classes]
    check({(at[i + 1], at[j]): float(v) for i, row in enumerate(rows) for j, v in enumerate(row)} == {k: v for k, v in table.items() if k[0] in at and k[1] in at},
          "scheme matrix: the shares", lines, tables)
    lines, tables = both(0, "scheme", "matrix", "q.assay", "--schemes", "tflite,tflite-single")
    check([t["node"] for t in tables if "disagree" in t] == [line[0] for line in lines if len(line) > 2 and line[1].startswith("(") and line[1][-1] in ",:"
                                                              and line[0] != "(%"], "scheme matrix: node by node", lines, tables)


def schemes():
    lines, said = both(1, "scheme", "diff", "tflite", "tflite-single", "--scale", "0.001:0.5:5", "--acc", "-3000:3000", "--model", "q.assay")
    differ = [line for line in lines if len(line) > 1 and line[0] in {p["parameter"] for p in said["parameters"]}]
    check(len(differ) == len(said["parameters"]) > 3 and [str(said["same"])] == [line[2] for line in lines if line[1:3] == ["differ,", str(said["same"])]],
          "scheme diff: the parameters", lines, said)
    counts = [(float(f"{s['scale']:.9g}"), s["differ"]) for s in said["scales"] if s["differ"]]
    check(len(said["scales"]) == 5 and counts == [(float(line[2]), int(line[3])) for line in lines if line[:2] == ["R", "="]], "scheme diff: the scales", lines, said)
    first = [s["first"][0] for s in said["scales"] if s["differ"]][0]
    check(["acc", f"{first['from']}:", f"{first['a']},", str(first["b"])] in lines or first["from"] != first["to"], "scheme diff: the first accumulator", first, lines)
    nodes = [line[:2] for line in lines if len(line) > 2 and line[1] in ("fc", "quantize", "dequantize")]
    check([[n["node"], n["op"]] for n in said["nodes"]] == nodes and {n["verdict"] for n in said["nodes"]} >= {"different"}, "scheme diff: the nodes", lines, said)
    check(said["differ"] and said["undecided"] == 0, "scheme diff: the verdict", said)
    _, said = both(2, "scheme", "diff", "npu16", "npu16", "--scale", "1e29", "--acc", "0:5")
    check([s["verdict"] for s in said["scales"]] == ["not decided"] and said["scales"][0]["why"] and said["undecided"] == 1, "scheme diff: what is not decided", said)
    lines, said = both(0, "scheme", "show", "tflite")
    words = [" ".join(line) for line in lines]
    check(said["description"] in words[0] and ["digest", said["digest"]] in lines and said["record"]["accumulator"]["bits"] == "32", "scheme show: the record", said)
    check(all(" ".join(c.split()) in words for part in said["contract"].values() for c in part) and said["contract"]["exact"], "scheme show: the contract", said)
    _, said = both(0, "scheme", "show", "hopper-fp8")
    check(said["record"] is None and said["contract"] is None and "units:" in said["text"], "scheme show: one of matrix units", said)
    lines, said = both(0, "scheme", "try", "xnnpack-qs8", "--acc", "585", "--scale", "0.0111111114", "--zp", "-126")
    check(said["code"] == -120 and said["type"] == "i8" and [" ".join(s).split() for s in said["steps"]] == lines[1:], "scheme try: the steps", said, lines)
    _, said = both(0, "scheme", "try", "npu16", "--acc", "585", "--scale", "0.01")
    check(isinstance(said["code"], int) and said["acc"] == 585, "scheme try: another", said)
    lines, units = both(0, "scheme", "list", "--units")
    check([line[0] for line in lines] == [u["name"] for u in units], "scheme list: the units", units)
    for unit in units[0]["name"], units[-1]["name"]:
        lines, said = both(0, "scheme", "show", unit)
        words = [" ".join(line) for line in lines]
        shown = {line[0][:-1]: " ".join(line[1:line.index("#")]) for line in lines if "#" in line}
        check(shown == said["mac"] and words[0] == f"{said['name']}: {said['description']}" and f"k in multiples of {said['multiple']}" in " ".join(words),
              f"scheme show: {unit}", shown, said)
    told(0, "scheme", "vectors", "tflite", "--mutants", "-o", "rows")
    columns = [f for f in os.listdir("rows") if f.endswith(".npy")]
    lines, said = both(0, "vectors", "lint", "rows", "-s", "tflite")
    total = [line for line in lines if "mutants:" in line][0]
    check([str(len(said["mutants"])), str(said["killed"]), str(said["lives"])] == [total[0], total[2], total[4]] and said["rows"] == int(lines[0][0]) and columns,
          "vectors lint: a whole suite", said, lines)
    lines, said = both(1, "vectors", "lint", "rows", "-s", "tflite-single")
    wrong = [line for line in lines if line[1:2] == ["of"] and "rows" in line]
    live = sum(m["fate"] == "lives" for m in said["mutants"])
    check(said["wrong"] == int(wrong[0][0]) > 0 and said["lives"] == live, "vectors lint: rows of another", said, lines)
    rows = [m["row"] for m in said["mutants"] if m["fate"] == "lives"]
    check(all(r["out"] != r["mutant"] for r in rows), "vectors lint: the rows that would tell", rows)


def inside():
    """Checks of files, units, vectors, what a profile and a probe are."""
    write("mine.yaml", b"scheme: mine\nextends: tflite\naccumulator: {bits: 20, overflow: wrap}\n")
    lines, said = both(0, "scheme", "check", "./mine.yaml")
    check(said["from"] == ["tflite"] and [" ".join(line) for line in lines[1:]] == [" ".join(line.split()) for line in said["inherits"]] != [] and said["digest"] == lines[0][-1],
          "scheme check: what is inherited", lines, said)
    lines, said = both(0, "scheme", "check", "f32-fma")
    check([said["unit"], str(said["multiple"])] == ["f32-fma", lines[0][-1]], "scheme check: a unit", lines, said)
    units = ("nv-volta-f16-f32", "nv-hopper-f16-f32")
    lines, said = both(1, "scheme", "diff", *units)
    shown = [line[0] for line in lines[1:] if line[0] in {p["parameter"] for p in said["parameters"]}]
    check(len(shown) == len(said["parameters"]) > 0 and [line[-1] for line in lines[-2:]] == said["row"]["d"], "scheme diff: two units", lines, said)
    lines, again = both(0, "scheme", "vectors", *units)
    check(again == said and [line[-1] for line in lines[-2:]] == said["row"]["d"], "scheme vectors: two units", lines, again)
    unit = "unit: %s\nmac: {a: e2m1, b: bf16, acc: f32, out: f32, group: 16, align_bits: 18, nan: 0x7fc00000, %s}\n"
    for name, more in (("sum", "zero_sign: sum"), ("ieee", "zero_sign: ieee"), ("more", "product_limit: 2000")):
        write(name + ".yaml", (unit % (name, more)).encode())
    lines, said = both(0, "scheme", "vectors", "./sum.yaml", "./ieee.yaml")
    check(said["row"]["d"] == ["0x00000000", "0x80000000"], "scheme vectors: two units that differ where every term is -0", lines, said)
    lines, said = both(1, "scheme", "vectors", "./sum.yaml", "./more.yaml")
    check(said["row"] is None and str(said["drawn"]) in lines[-1], "scheme vectors: how many rows tell nothing", lines, said)
    lines, said = both(1, "scheme", "diff", "hopper-fp8", "blackwell-mxfp8")
    check(said["differ"] and len(said["alone"]) + len(said["units"]) + len(said["parameters"]) > 0, "scheme diff: two schemes of units", lines, said)
    lines, said = both(0, "scheme", "try", units[0], "--a", "0x3c00,0x8c00,0,0", "--b", "0x3c00,0x0c00,0,0")
    check([line.split() for line in said["steps"]] == lines[1:] and said["d"] == lines[-1][1] and said["unit"] == units[0], "scheme try: a unit", lines, said)
    lines, said = both(0, "scheme", "vectors", "tflite", "tflite-single")
    check([c["verdict"] for c in said["cases"]] == ["told"] and str(said["rows"]) == lines[-1][lines[-1].index("by") + 1], "scheme vectors: two schemes", lines, said)
    lines, said = both(0, "profile", "f.assay", "-d", "d.npy", "-q", "-o", "p2.yaml")
    check([said["profile"] + ":", str(said["values"]), str(said["samples"])] == [lines[0][0], lines[0][1], lines[0][4]] and said["not_finite"] == [], "profile", lines, said)
    for k in "12":
        told(0, "profile", "f.assay", "-d", "d.npy", "-q", "--shard", f"{k}/2", "-o", f"part{k}.yaml")
    lines, merged = both(0, "profile", "merge", "part1.yaml", "part2.yaml", "-o", "p2.yaml")
    check(merged == said, "profile merge: the same", merged, said)
    listed = json.loads(told(0, "probe", "-o", "probes", "--op", "conv,add", "--json", "-"))
    lines = [line.split() for line in told(0, "probe", "-o", "probes2", "--op", "conv,add").splitlines()[1:3]]
    check([[n["op"], n["scheme"]] for n in listed] == [[line[0], line[3].rstrip(";")] for line in lines], "probe: the networks", listed, lines)


def names():
    """Names of any length and alphabet stand whole in a row, and what follows them in its column; one of a thing is one."""
    called = ["x", "y", "\u540d\u524d" * 8, "n" * 50, "l" * 300 + "1", "l" * 300 + "2"]
    nodes = "".join(f' "{b}": i8[4] q(0.1,0) = relu("{a}")\n' for a, b in zip(called, called[1:]))
    write("names.assay", f'graph names {{\n input x: i8[4] q(0.1,0)\n{nodes} output "{called[-1]}"\n}}\n'.encode())
    npy("x.npy", "|i1", (4,), [1, -2, 3, 4])
    told(0, "golden", "names.assay", "-s", "tflite", "-i", "x.npy", "-o", "names")
    for what, column, args in (("inspect", "i8[4] q(", ["names.assay"]), ("diff", " relu ", ["names", "names"]), ("blame", " clean ", ["names", "names"])):
        lines = [line for line in told(0, what, *args).splitlines() if not line.startswith(("input", "output"))]
        shown = [[line for line in lines if re.search(f"(^| ){re.escape(name)}( |$)", line)] for name in called[1:]]
        check(all(len(rows) == 1 for rows in shown), f"{what}: every name whole, once", shown)
        places = {line.index(column) for line in lines if column in line}
        check(len(places) == 1, f"{what}: one place for what follows", lines)
    write("one.assay", b"graph one {\n input x: i8[4] q(0.1,0)\n y: i8[4] q(0.1,0) = relu(x)\n output y\n}\n")
    check("\n1 node (1 in integers)" in told(0, "inspect", "one.assay") and "digest" not in told(0, "inspect", "one.assay"), "inspect: one node")
    check(told(0, "convert", "one.assay", "-o", "one.tflite") == "one.tflite: 1 node\n", "convert: one node")
    told(0, "golden", "one.assay", "-s", "tflite", "-i", "x.npy", "-o", "one")
    os.mkdir("dumps")
    shutil.copy(os.path.join("one/tensors", sorted(os.listdir("one/tensors"))[1]), "dumps")
    check(told(0, "diff", "one", "dumps").startswith("SAME: 1 tensor compared"), "diff: one tensor")


# Commands and verbs that print no table, and why they need no --json.
WITHOUT = {"golden": "its manifest is JSON", "convert": "it writes a network", "completion": "a script for a shell", "manual": "a page for man",
           "scheme new": "a scheme file", "scheme apply": "columns as .npy", "scheme derive": "columns as .npy", "scheme dot": "a column as .npy"}


def every():
    """Each command and verb has --json, or a reason to have none."""
    found = {}
    for name in [line[2:16].strip() for line in told(0, "help").splitlines() if line.startswith("  ")]:
        page = told(0, *name.split(), "--help")
        verbs = re.findall(r"^  ([a-z]+) ", page.split("verbs (")[1].split("options:")[0], re.M) if "verbs (" in page else []
        for verb in verbs or [""]:
            found[f"{name} {verb}".strip()] = "--json" in (told(0, *name.split(), verb, "--help") if verb else page)
    without = {name for name, has in found.items() if not has}
    check(len(found) > 35 and without == set(WITHOUT), "--json where there is a table", without ^ set(WITHOUT))


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    every()
    prepare()
    inside()
    networks()
    profiles()
    bundles()
    schemes()
    names()
    os.chdir("/")
TAP.end()
