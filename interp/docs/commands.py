#!/usr/bin/env python3
"""The commands of a page, run: commands.py ASSAY SOURCE PAGE [SECTION...]

A page's indented lines that begin with "$ " are commands, what stands below each is what it prints: lines in their order, a line
"..." for any others, "..." within a line for anything. They are run one after another in one shell, in a fresh folder with
links to datasets/ and interp/, and must end with status 0, or with 1 where a difference is an answer. What a page takes for
granted (a device's dumps, a network of one's own) is made by PREPARE; what a machine may not have is skipped, visibly. SECTION: the
heads of those sections that are run, all without one. TAP."""
import os
import re
import signal
import subprocess
import sys
import tempfile

ANSWERS = re.compile(r"^assay (diff|blame|tune|infer|eval|vectors|scheme diff|verify)\b")  # 1 is one
LIMIT = 3600  # seconds of a page; a busy machine may need many times what an idle one does
GLYPH = "datasets/glyphs/test/0000_A.png"
ARRAYS = "python3 -c 'import numpy as n; r = n.random.default_rng(1); {}'"
CARD = """printf '#!/bin/sh\\nexec assay scheme dot nv-hopper-e4m3-f32 --a "$1/a.npy" --b "$1/b.npy" --c "$1/c.npy" -o "$2/out.npy"\\n' >card.sh
chmod +x card.sh"""  # a device of dot products that answers as one of our units
# What a page takes for granted, by the beginning of the command that asks for it.
PREPARE = {
    "README.md": {
        "assay eval merge": "ls part16.json || for k in $(seq 16); do assay eval datasets/models/res_dsconv.onnx -p profile.yaml "
                            "-s tflite -d datasets/glyphs/test -q --engine fast --shard $k/16 -o part$k.json; done",
        "python3 -m venv": "rm interp && mkdir interp && cp -r {source}/interp/python {source}/interp/docs interp",
        "export ASSAY_LIBRARY": "ln -s {build} build",
    },
    "interp/infer/dot/README.md": {"assay infer --oracle ./card.sh": CARD},
    "interp/infer/README.md": {
        "assay infer --rounds": "echo '{{}}' >rule.json; [ ! -d rtl ] || {{ mkdir -p rtl/1/answers && /usr/bin/python3 {source}/test/infer/device.py "
                                "rule.json i8 rtl/1/rows rtl/1/answers; }}",
    },
    "interp/probe/README.md": {
        "assay infer probes outputs --next": "assay probe --types u8s8 --format onnx -o probes; {answer} probes outputs",
        "assay infer probes2": "{answer} probes2 outputs2",
        "assay infer --model": "assay profile datasets/models/plain_cnn.onnx -d datasets/glyphs/calibration -n 8 -o p.yaml; "
                               "assay quantize datasets/models/plain_cnn.onnx -p p.yaml -s tflite -o net.assay; assay convert net.assay -o net.tflite; " +
                               ARRAYS.format('n.save("image.npy", r.normal(size=(1, 1, 32, 32)).astype("f"))') +
                               "; assay golden net.tflite -s tflite -i image.npy -o GOLDEN; cp -r GOLDEN/tensors dumps; cp -r dumps DUMPS",
        "assay probe": "rm -rf probes outputs",
        "python3 - <<": "mkdir outputs",
        "assay infer probes outputs -o": "rm -rf outputs; {answer} probes outputs",
    },
}
# Commands that ask for more than Assay, by their beginning: what tells whether it is there, and its name.
WANTS = {
    "parallel": ("command -v parallel", "GNU parallel"),
    "python3 -m venv": ("python3 -c 'import ensurepip, setuptools, wheel'", "python3-venv, setuptools or wheel"),
    "pip install": ("test -n \"$VIRTUAL_ENV\"", "a virtual environment"),
    "python3 - <<'END'\nimport json, os, numpy, onnxruntime": ("python3 -c 'import onnxruntime'", "ONNX Runtime for Python"),
    "verilator": ("command -v verilator", "Verilator"),
}
# The same of pages that ask for it from the first command on.
PAGE_WANTS = {
    "graph/tflite/README.md": ("test -f models/micro_speech_quantized.tflite", "the example micro_speech of TFLite Micro"),
    "interp/tutorials/from-pytorch-to-golden-outputs.md": ("/usr/bin/python3 -c 'import torch'", "PyTorch"),
}


class Command:
    def __init__(self, page, section, text):
        self.page, self.section, self.text, self.prints = page, section, text, []


def commands(page, text):
    """The page's commands in their order, each with what it prints."""
    section, found, end, inside = "", [], None, False
    for line in text.splitlines():
        if end:  # of a text that stands behind <<
            found[-1].text += "\n" + line[4:]
            end = None if line[4:] == end else end
        elif line.startswith("    $ "):
            found.append(Command(page, section, line[6:]))
            here = re.search(r"<<'(\w+)'", line)
            end = here and here[1]
            inside = True
        elif line.startswith("    ") and inside:
            if found[-1].text.endswith("\\"):
                found[-1].text += "\n" + line[4:]
            else:
                found[-1].prints.append(line[4:])
        else:
            section = line[3:] if line.startswith("## ") else section
            inside = False
    return found


def agrees(printed, wanted):
    """Are the wanted lines those that were printed, "..." aside?"""
    pattern = ""
    for line in [w.rstrip() for w in wanted if w.strip()]:
        one = ".*".join(re.escape(part) for part in line.strip().split("..."))
        pattern += r"(?:.*\n)*" if line.strip() == "..." else r"[ ]*" + re.sub(r"(?:\\ )+", "[ ]+", one) + r"[ ]*\n"
    return re.search(r"(?:^|\n)" + pattern, printed if printed.endswith("\n") else printed + "\n") is not None


def is_placeholder(command):
    return command.text.startswith("...")


def script(found, page, text, assay, source):
    """One shell for all: what command i printed is in out.i, its status in status.i; 77 where something is not there."""
    fill = {"source": source, "build": os.path.dirname(assay),
            "answer": f"python3 {source}/interp/docs/answers.py"}
    lines = []
    for i, c in enumerate(found):
        if is_placeholder(c):
            continue
        for start, how in PREPARE.get(page, {}).items():
            if c.text.startswith(start):
                lines.append("{\n" + how.format(**fill) + f"\n}} >prepared.{i} 2>&1")
        want = PAGE_WANTS.get(page) or next((w for start, w in WANTS.items() if c.text.startswith(start)), ("true", ""))
        lines.append(f"if ! {want[0]} >/dev/null 2>&1; then echo '{want[1]} is not here' >out.{i}; echo 77 >status.{i}; else\n"
                     f"{{\n{c.text}\n}} >out.{i} 2>&1 </dev/null\necho $? >status.{i}\nfi")
    return "\n".join(lines) + "\n"


def look(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def ended(command, work, env):
    """Runs a command with all that it starts; false where it had to be stopped."""
    process = subprocess.Popen(command, cwd=work, env=env, start_new_session=True)
    try:
        process.wait(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
    return True


def run(found, page, text, assay, source):
    """[(command, "ok", "skip" or "not ok", what was printed)] of each that is no placeholder."""
    results = []
    with tempfile.TemporaryDirectory() as work:
        for name in ("datasets", "interp"):
            os.symlink(os.path.join(source, name), os.path.join(work, name))
        env = {**os.environ, "PATH": os.path.dirname(assay) + ":/usr/bin:" + os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        late = not ended(["bash", "-c", script(found, page, text, assay, source)], work, env)
        for i, c in enumerate(found):
            if is_placeholder(c):
                continue
            status, printed = look(f"{work}/status.{i}").strip(), look(f"{work}/out.{i}")
            if late and not status:
                printed += f"the page's commands were stopped after {LIMIT} s\n"
            good = (status == "0" or (status == "1" and ANSWERS.match(c.text))) and agrees(printed, c.prints)
            if not good and status != "77":
                printed = f"status {status}\n{look(f'{work}/prepared.{i}')}{printed}"
            results.append((c, "skip" if status == "77" else "ok" if good else "not ok", printed))
    return results


def main():
    assay, source, page = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), sys.argv[3]
    with open(os.path.join(source, page), encoding="utf-8") as f:
        text = f.read()
    found = [c for c in commands(page, text) if len(sys.argv) == 4 or c.section in sys.argv[4:]]
    bad = not found
    for n, (c, verdict, printed) in enumerate(run(found, page, text, assay, source), 1):
        name = f"{n} - {page}: {c.text.splitlines()[0].replace('#', '')}"
        print(f"ok {name} # SKIP {printed.strip()}" if verdict == "skip" else f"{verdict} {name}")
        if verdict == "not ok":
            bad = True
            print("# wanted " + repr(c.prints) + "\n# " + printed[:4000].replace("\n", "\n# "))
    print(f"1..{sum(not is_placeholder(c) for c in found)}")
    sys.exit(bad)


if __name__ == "__main__":
    main()
