#!/usr/bin/python3
"""Progress on standard error: on a terminal a bar with rate and time left, as wide as it and gone in the end; plain lines elsewhere. Standard output: on a
terminal no line is wider than it.

  progress.py ASSAY SOURCE        TAP
"""
import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from support import TAP, check, read

ASSAY, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
PROFILE = [ASSAY, "profile", f"{SOURCE}/datasets/models/res_dsconv.onnx", "-d", f"{SOURCE}/datasets/glyphs/calibration", "-j", "1", "-o", "p.yaml"]
PLAIN = "".join(f"profile: {(256 * k + 9) // 10} of 256\n" for k in range(1, 11))
TUNE = [ASSAY, "tune", PROFILE[2], "-p", "p.yaml", "-s", "tflite", "-d", f"{SOURCE}/datasets/glyphs/test", "-n", "40", "-j", "1", "--max-float", "0",
        "--target-drop", "50"]
INFER = [ASSAY, "infer", "--oracle", f"/usr/bin/python3 {SOURCE}/test/infer/device.py rule.json i8", "--kind", "multiplier", "--type", "i8", "--acc-bits", "16",
         "--multiplier", "0:255", "--shift", "1:8"]

# Every function of 16 bits is asked whether it changes one of 65536 codes: proofs that take their time.
CHAIN = "\n".join(["graph chain {", "  input v: i16[1,8] q(0x1p-12,0)"] +
                  [f"  {'v' * (i + 2)}: i16[1,8] q(0x1p-15,0) = {'tanh' if i % 2 else 'sigmoid'}({'v' * (i + 1)})" for i in range(24)] + [f"  output {'v' * 25}", "}\n"])
OPTIMIZE = [ASSAY, "optimize", "chain.assay", "-s", "tflite", "--as-is"]


def on_terminal(columns, term="xterm", command=PROFILE):
    """What a command writes to a terminal of so many columns. It is held for a moment after its first words, so that there is a rate."""
    mine, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=its, env={**os.environ, "TERM": term})
    os.close(its)
    said = b""
    while True:
        try:
            more = os.read(mine, 4096)
        except OSError:  # its end is closed
            break
        if not said:
            run.send_signal(signal.SIGSTOP)
            time.sleep(0.4)
            run.send_signal(signal.SIGCONT)
        said += more
        if not more:
            break
    os.close(mine)
    return run.wait(), said.decode()


def has_terminals():
    """A chroot without /dev/pts has none."""
    try:
        for end in os.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def terminals():
    for columns in (40, 72, 200):
        status, said = on_terminal(columns)
        lines = said.split("\r")
        check(status == 0 and len(lines) > 2 and all(len(line) < columns and line.isprintable() for line in lines), f"{columns} columns hold every line, no codes",
              repr(said))
        check(re.search(r"profile.* \d+/256  [0-9.]+(/s|s each)  \d+:\d\d left", said) is not None, "rate and time left", repr(said))
        bars = [re.search(r"\[#* *\]", line) is not None for line in lines if "left" in line]
        check(set(bars) == {columns > 40}, "beside a bar where there is room", repr(said))
        check(lines[-1] == "" and lines[-2].strip() == "", "nothing is left of it", repr(lines[-3:]))
    check(on_terminal(80, "dumb") == (0, PLAIN.replace("\n", "\r\n")), "lines on a terminal that can do no more")
    shard = [*PROFILE[:-1], "shard.yaml", "--shard", "2/4"]
    status, said = on_terminal(72, command=shard)
    check(status == 0 and set(re.findall(r"\d+/(\d+)", said)) == {"64"}, "of a shard its own samples", repr(said[-200:]))
    status, said = on_terminal(72, command=TUNE)
    check(status == 0 and set(re.findall(r"tune .*?\d+/(\d+)", said)) == {"40"} and said.split("\r")[-1] == "", "tune: of each trial its samples", repr(said[-300:]))
    status, said = on_terminal(72, command=INFER)
    check(status in (0, 1) and set(re.findall(r"infer .*?\d+/(\d+)", said)) == {"20000"} and said.split("\r")[-1] == "", "infer: rows of the budget", repr(said[-300:]))
    with open("chain.assay", "w", encoding="utf-8") as chain:
        chain.write(CHAIN)
    plain = subprocess.run(OPTIMIZE, capture_output=True, check=True)
    check(plain.stderr == b"", "optimize: nothing where there is no terminal", plain.stderr)
    status, said = on_terminal(72, command=OPTIMIZE)
    check(status == 0 and re.search(r"\roptimize \[#* *\] \d+/\d+  [0-9.]+(/s|s each)  \d+:\d\d left", said) is not None and said.split("\r")[-1] == "",
          "optimize: matches of a sweep", repr(said[-300:]))
    lines = [line.split("\r") for line in shown(400, OPTIMIZE, subprocess.STDOUT).split("\n")]
    check([line[-1] for line in lines] == plain.stdout.decode().split("\n") and all("".join(line[-2:-1]).strip() == "" for line in lines),
          "what it did stands in lines without it", lines)


def shown(columns, command, errors=subprocess.DEVNULL):
    """What a command prints on a terminal of so many columns."""
    mine, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=its, stderr=errors, env={**os.environ, "TERM": "xterm"})
    os.close(its)
    said = b""
    while True:
        try:
            said += os.read(mine, 4096)
        except OSError:
            break
    os.close(mine)
    run.wait()
    return said.decode().replace("\r\n", "\n")


def fitted():
    net = PROFILE[2]
    for command in (["inspect", net], ["scheme", "list"], ["golden", "--help"], ["help"], ["scheme", "diff", "tflite", "npu16", "--op", "fc"], ["profile", "show", "p.yaml"],
                    ["sensitivity", net, "-p", "p.yaml", "-s", "tflite", "-d", f"{SOURCE}/datasets/glyphs/test", "-n", "4"]):
        plain = subprocess.run([ASSAY, *command], capture_output=True, text=True, check=False).stdout
        what = " ".join(w for w in command[:2] if "/" not in w)
        for columns in (60, 80, 100):
            said = shown(columns, [ASSAY, *command])
            wide = [line for line in said.splitlines() if len(line) > columns and len(line.split()) > 1 and max(map(len, line.split())) < columns // 2]
            check(not wide, f"{what}: no line is wider than {columns} columns", wide[:3])
            check(said.split() == plain.split(), "and nothing is lost", said[:300])
        check(shown(400, [ASSAY, *command]) == plain, f"{what}: as in a file where there is room", plain[:100])


def files():
    with open("said", "wb") as f:
        subprocess.run(PROFILE, stdout=subprocess.DEVNULL, stderr=f, check=True)
    check(read("said").decode() == PLAIN, "lines in a file", read("said"))
    with open("said", "wb") as f:
        subprocess.run([*PROFILE, "-q"], stdout=subprocess.DEVNULL, stderr=f, check=True)
    check(read("said") == b"", "none with --quiet", read("said"))
    with open("said", "wb") as f:
        subprocess.run(TUNE, stdout=subprocess.DEVNULL, stderr=f, check=True)
        subprocess.run(INFER, stdout=subprocess.DEVNULL, stderr=f, check=False)
    check(read("said") == b"", "and no lines of these", read("said"))


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    with open("rule.json", "w", encoding="utf-8") as rule:
        rule.write('{"form": "multiplier"}')
    files()
    if has_terminals():
        terminals()
        fitted()
    else:
        check(True, "progress on a terminal # SKIP there are no pseudo-terminals (/dev/pts)")
    os.chdir("/")
TAP.end()
