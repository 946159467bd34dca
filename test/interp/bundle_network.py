#!/usr/bin/env python3
"""bundle_network.py ASSAY: a golden bundle's graph.assay is a network as any, with the constants that lie in the bundle; its
manifest's numbers are those that are written."""
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from bundle_case import assay, chain, files_below, raw_input, read, write  # noqa: E402
from tap import Tap  # noqa: E402

TAP = Tap()
check = TAP.check
CONSTANT = "constants/c0000_w.npy"


def has_weights(folder):
    """The text's own folder has the constants that are too long for the text."""
    return [read(os.path.join(folder, f)) for f in files_below(folder)] == [read("all/" + CONSTANT)]


def reads():
    status, out = assay("golden", "all/graph.assay", "-s", "tflite", "-i", "in.bin", "-o", "anew")
    check(status == 0 and assay("diff", "all", "anew")[0] == 0, "it gives the bundle's bits", out)
    os.symlink("all/graph.assay", "linked.assay")
    for where in ("linked.assay", os.path.abspath("all/graph.assay"), "all/../all//graph.assay"):
        status, out = assay("convert", where, "-o", "copy.assay")
        check(status == 0 and has_weights("copy.assay.d"),
              f"{os.path.relpath(where)} is read with the bundle's constants", out)
    status, out = assay("convert", "graph.assay", "-o", "copy.assay", cwd="all")
    check(status == 0 and has_weights("all/copy.assay.d"), "and from within", out)


def refuses():
    """What is gone or damaged is named; nothing that lies outside of a stranger's bundle is opened."""
    def said(*words):
        status, out = assay("inspect", "bad/graph.assay")
        return status == 2 and all(w in out for w in words) and out.count("\n") == 1, out
    shutil.copytree("all", "bad")
    whole = read("bad/" + CONSTANT)
    write("bad/" + CONSTANT, whole[:-1] + bytes([whole[-1] ^ 1]))
    check(said("c0000_w.npy")[0], "a constant that is another is named", said()[1])
    os.unlink("bad/" + CONSTANT)
    check(said(CONSTANT, "No such file")[0], "one that is gone is, too", said()[1])
    os.symlink(os.path.abspath("all/" + CONSTANT), "bad/" + CONSTANT)
    check(said(CONSTANT, "link")[0], "one that is a link is not followed", said()[1])
    shutil.rmtree("bad/constants")
    os.symlink(os.path.abspath("all/constants"), "bad/constants")
    check(said("constants")[0], "nor is a folder", said()[1])


def wide_numbers():
    """A number that is the right one in its lowest 32 bits is another number."""
    def first_zero_point(m):
        return next(t for t in m["tensors"] if isinstance(t.get("zero_point"), int))
    for name, change, words in (
            ("an index", lambda m: m["tensors"][0].update(index=m["tensors"][0]["index"] + 2 ** 32), "lacks name, index or xxh3"),
            ("a zero point", lambda m: first_zero_point(m).update(zero_point=first_zero_point(m)["zero_point"] + 2 ** 32),
             "a zero point does not fit 32 bits"),
            ("a width", lambda m: m["tensors"][0].update(bits=m["tensors"][0]["bits"] + 2 ** 32),
             '"bits" that it has not')):
        shutil.rmtree("wide", ignore_errors=True)
        shutil.copytree("all", "wide", symlinks=True)
        m = json.loads(read("wide/manifest.json"))
        change(m)
        write("wide/manifest.json", json.dumps(m).encode())
        status, told = assay("verify", "wide")
        check(status > 0 and words in str(told), f"{name} beyond 32 bits is refused", [status, told])


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    try:
        chain("odd.assay")
        raw_input("in.bin")
        status, out = assay("golden", "odd.assay", "-s", "tflite", "-i", "in.bin", "-o", "all")
        check(status == 0, "a bundle", out)
        reads()
        refuses()
        wide_numbers()
    finally:
        os.chdir("/")
        shutil.rmtree(work, ignore_errors=True)
    TAP.end()


main()
