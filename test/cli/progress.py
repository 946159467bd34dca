#!/usr/bin/python3
"""Progress on standard error: on a terminal a bar with rate and time left, as wide as it and gone in the end; plain lines elsewhere.

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


def main():
    for columns in (40, 72, 200):
        status, said = on_terminal(columns)
        lines = said.split("\r")
        check(status == 0 and len(lines) > 2 and all(len(line) < columns and line.isprintable() for line in lines), f"{columns} columns hold every line, no codes",
              repr(said))
        check(re.search(r"profile.* \d+/256  [0-9.]+(/s|s each)  \d+:\d\d left", said) is not None, "rate and time left", repr(said))
        bars = [re.search(r"\[#* *\]", line) is not None for line in lines if "left" in line]
        check(set(bars) == {columns > 40}, "beside a bar where there is room", repr(said))
        check(lines[-1] == "" and lines[-2].strip() == "", "nothing is left of it", repr(lines[-3:]))
    plain = "".join(f"profile: {(256 * k + 9) // 10} of 256\n" for k in range(1, 11))
    check(on_terminal(80, "dumb") == (0, plain.replace("\n", "\r\n")), "lines on a terminal that can do no more")
    with open("said", "wb") as f:
        subprocess.run(PROFILE, stdout=subprocess.DEVNULL, stderr=f, check=True)
    check(read("said").decode() == plain, "and in a file", read("said"))
    with open("said", "wb") as f:
        subprocess.run([*PROFILE, "-q"], stdout=subprocess.DEVNULL, stderr=f, check=True)
    check(read("said") == b"", "none with --quiet", read("said"))
    model, samples = PROFILE[2], f"{SOURCE}/datasets/glyphs/test"
    shard = [*PROFILE[:-1], "shard.yaml", "--shard", "2/4"]
    status, said = on_terminal(72, command=shard)
    check(status == 0 and set(re.findall(r"\d+/(\d+)", said)) == {"64"}, "of a shard its own samples", repr(said[-200:]))
    tune = [ASSAY, "tune", model, "-p", "p.yaml", "-s", "tflite", "-d", samples, "-n", "40", "-j", "1", "--max-float", "0", "--target-drop", "50"]
    status, said = on_terminal(72, command=tune)
    check(status == 0 and set(re.findall(r"tune .*?\d+/(\d+)", said)) == {"40"} and said.split("\r")[-1] == "", "tune: of each trial its samples", repr(said[-300:]))
    infer = [ASSAY, "infer", "--oracle", f"/usr/bin/python3 {SOURCE}/test/infer/device.py rule.json i8", "--kind", "multiplier", "--type", "i8", "--acc-bits", "16",
             "--multiplier", "0:255", "--shift", "1:8"]
    with open("rule.json", "w", encoding="utf-8") as f:
        f.write('{"form": "multiplier"}')
    status, said = on_terminal(72, command=infer)
    check(status in (0, 1) and set(re.findall(r"infer .*?\d+/(\d+)", said)) == {"20000"} and said.split("\r")[-1] == "", "infer: rows of the budget", repr(said[-300:]))
    with open("said", "wb") as f:
        subprocess.run(tune, stdout=subprocess.DEVNULL, stderr=f, check=True)
        subprocess.run(infer, stdout=subprocess.DEVNULL, stderr=f, check=False)
    check(read("said") == b"", "and no lines of these elsewhere", read("said"))


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    main()
    os.chdir("/")
TAP.end()
