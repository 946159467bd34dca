#!/usr/bin/python3
"""Schemes told apart in Python beside the command: rows, networks, mutants, comparisons over scales and nodes.

  telling.py LIBRARY ASSAY        TAP
"""
import glob
import json
import os

import numpy as np

from support import NET, SEED, TAP, check, command, raises, read, samples

import assay


def telling():
    def parts(path):  # all files of a folder
        return {os.path.relpath(f, path): read(f) for f in glob.glob(f"{path}/**", recursive=True) if os.path.isfile(f)}

    narrow = assay.Scheme("tflite").edit({"accumulator": {"bits": 20, "overflow": "saturate-at-end"}}, name="narrow")
    with open("narrow.yaml", "w", encoding="utf-8") as f:
        f.write(narrow.text)
    said = command("scheme", "vectors", "tflite", "./narrow.yaml", "xnnpack-qs8", "-o", "apart")
    v = assay.vectors(["tflite", narrow, "xnnpack-qs8"], path="apart-too")
    check(said.startswith(v.text) and parts("apart") == parts("apart-too"), "rows and networks that tell schemes apart, as the command's", said, v)
    check(v.whole and len(v.report["cases"]) == 3, "and what they tell", v.report)
    same = assay.vectors(["tflite", assay.Scheme("tflite").edit({}, name="twin")])
    check(not same.whole and [c["proved"] for c in same.report["cases"]] == [True], "two that are equal", same)
    said = command("scheme", "vectors", "tflite", "--mutants", "-o", "mutants")
    m = assay.vectors(["tflite"], path="mutants-too")
    check(m.whole and said.startswith(m.text) and parts("mutants") == parts("mutants-too"), "a scheme and its mutants", said, m)
    lint = assay.lint_vectors("mutants", "tflite")
    check(lint.whole and lint.text == command("vectors", "lint", "mutants", "-s", "tflite"), "those rows, judged", lint)
    lint = assay.lint_vectors("mutants", "tflite-single", acc=(-1000, 1000))
    check(not lint.whole and lint.report["wrong"] > 0, "and of another scheme", lint)
    raises(assay.InputError, "a seed that no report can hold", assay.vectors, ["tflite"], seed=2 ** 63, words="seed 9223372036854775808")
    raises(assay.InputError, "nor can a probe's", assay.probe, "seeded", seed=2 ** 63, words="seed 9223372036854775808")
    volta = assay.MatrixUnit("nv-volta-f16-f32")
    raises(assay.InputError, "a seed beyond 64 bits", volta.diff, "nv-hopper-f16-f32", seed=2 ** 64, words="beyond its type")
    raises(assay.InputError, "and one below 0", volta.diff, "nv-hopper-f16-f32", seed=-1, words="beyond its type")
    raises(assay.InputError, "one scheme twice", assay.vectors, ["tflite", "tflite"], words="twice")
    raises(assay.InputError, "no scheme", assay.vectors, [], words="no scheme")
    raises(assay.InputError, "no such op", assay.vectors, ["tflite", "gemmlowp"], op="ad", words="nearest: add")
    raises(assay.UnsupportedError, "a plugin has no record", assay.vectors, ["tflite", "hopper-fp8"], words="no parameter record")
    raises(assay.AssayError, "rows that are not there", assay.lint_vectors, "nowhere", "tflite", words="nowhere")


def comparing():
    net = assay.loads(NET)
    profile = assay.Profile.of(net)
    profile.observe(samples(4))
    q = net.quantize(profile, "tflite")
    q.save("q.assay")
    told = command("scheme", "diff", "tflite", "tflite-single", "--scale", "0.001:0.5:20", "--acc", "-5000:5000", "--json", "diff.json", status=1, on="out")
    d = assay.compare("tflite", "tflite-single", scale=(0.001, 0.5, 20), acc=(-5000, 5000))
    check(d.differ and d.undecided == 0 and d.text == told and d.report == json.loads(read("diff.json")), "schemes over scales, as the command's", d)
    told = command("scheme", "diff", "tflite", "tflite-single", "--model", "q.assay", status=1, on="out")
    check(assay.compare("tflite", "tflite-single", network=q).text == told, "and over a network", told)
    same = assay.compare("tflite", assay.Scheme("tflite").edit({}, name="twin"), scale=0.25, zero_point=3)
    check(not same.differ and same.undecided == 0 and same.report["scales"][0]["verdict"] == "identical", "two that are equal", same)
    open_ = assay.compare("nvdla", "vta", op="softmax")
    check(open_.undecided == 1 and open_.report["undecided"] == 1, "an op that both leave in float, in the report, too", open_.report)
    told = command("scheme", "matrix", "--schemes", "tflite,tflite-single,npu16", "--json", "matrix.json")
    m = assay.matrix(["tflite", "tflite-single", "npu16"])
    check(m.text == told and m.tables == json.loads(read("matrix.json")), "many beside each other", m)
    told = command("scheme", "matrix", "q.assay", "--schemes", "tflite,ruy")
    check(assay.matrix(["tflite", "ruy"], network=q).text == told, "and over a network, many", told)
    check(all(assay.Scheme(n).show(op) == command("scheme", "show", n, "--op", op) for n, op in (("npu16", "fc"), ("tflite", "conv"))), "a scheme in words")
    raises(assay.UnsupportedError, "one without a record", assay.compare, "tflite", "hopper-fp8", words="no parameter record")
    raises(assay.InputError, "no such op in words", assay.Scheme("tflite").show, "ad", words="nearest: add")
    raises(assay.InputError, "no scales", assay.matrix, ["tflite"], scale=(1.0, 0.5, 4), words="low to high")
    raises(assay.InputError, "accumulators beyond 64 bits", assay.compare, "tflite", "ruy", scale=0.1, acc=(0, 2 ** 64), words="beyond its type")
    raises(assay.InputError, "a zero point beyond 64 bits", assay.compare, "tflite", "ruy", scale=0.1, zero_point=2 ** 64, words="beyond its type")
    raises(assay.InputError, "a zero point beyond 32 bits", assay.compare, "tflite", "ruy", scale=0.1, zero_point=2 ** 40, words="32 bits")
    raises(assay.InputError, "a scale without end", assay.compare, "tflite", "ruy", scale=float("inf"), words="low to high")
    apply = assay.Scheme("tflite").apply
    raises(assay.InputError, "a bound beyond 64 bits", apply, [5], scale=0.5, hi=[2 ** 63], words="hi: 9223372036854775808 is beyond int64")
    raises(assay.InputError, "columns that do not fit", apply, [5, 6], scale=[0.5, 0.5, 0.5], words="acc [2], scale [3]")
    raises(assay.InputError, "tokens beyond 64 bits", assay.windows, np.array([2 ** 63, 1], np.uint64), 1, words="beyond int64")
    raises(assay.InputError, "labels beyond 64 bits", assay.evaluate, q.program("tflite"), samples(1), np.array([2 ** 63], np.uint64), words="beyond int64")
    raises(assay.InputError, "accumulators of one number", assay.vectors, ["tflite"], acc=(1,), words="two numbers")
    raises(TypeError, "no scheme at all", assay.compare, "tflite", None, words="NoneType")
    raises(assay.InputError, "no schemes", assay.matrix, [], words="needs schemes")
    raises(assay.LimitError, "too many", assay.matrix, ["tflite"] * 65, words="64")


def main():
    print(f"# ASSAY_SEED={SEED}")
    telling()
    comparing()


main()
TAP.end()
