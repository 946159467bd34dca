#!/usr/bin/python3
"""The Python package on what is more than one label a sample: tokens, label maps, steps; shards; inputs that become constants; certificates.

  data.py LIBRARY ASSAY        TAP
"""
import concurrent.futures
import copy
import json
import math
import os
import pickle
import subprocess
import sys
import xml.etree.ElementTree

from support import NET, PACKAGE, RANDOM, SEED, TAP, check, command, np, raises, samples

import assay

VOCABULARY, LENGTH = 7, 4
NODE = "/usr/share/libonnx-testdata/data/node"


def told(*args, status=0):
    """What a command writes as JSON, but for the scheme's name."""
    said = json.loads(command(*args, "-q", "--json", "-", status=status, on="out"))
    return {k: v for k, v in said.items() if k != "scheme"}


def tokens():
    table = RANDOM.normal(size=(VOCABULARY, VOCABULARY)).astype(np.float32)
    numbers = ",".join(repr(float(v)) for v in table.ravel())
    lm = assay.loads(f"graph lm {{ input ids: i32[1,{LENGTH}]\n const t: f32[{VOCABULARY},{VOCABULARY}] = [{numbers}]\n"
                     f" e: f32[1,{LENGTH},{VOCABULARY}] = gather(t, ids) {{axis = 0}}\n y: f32[1,{LENGTH},{VOCABULARY}] = relu(e)\n output y }}\n")
    lm.save("lm.assay")
    stream = RANDOM.integers(0, VOCABULARY, 31)
    with open("stream.txt", "w", encoding="utf-8") as f:
        f.write(" ".join(map(str, stream)))
    program = lm.program()
    for stride in (0, 1, 3, 6):
        x, y = assay.windows(stream, LENGTH, stride=stride, ignore=2)
        said = assay.evaluate(program, x.astype(np.int32), y)
        want = told("eval", "lm.assay", "-d", "stream.txt", "--ignore-label", "2", *(["--stride", str(stride)] if stride else []))
        check(said == want, f"a stream of tokens, stride {stride}, as the command's", said, want)
    x, y = assay.windows(stream, LENGTH)
    check(x.shape == (7, LENGTH) and np.array_equal(x.ravel(), stream[:28]) and np.array_equal(y.ravel(), stream[1:29]), "windows and what follows", x, y)
    scores = np.maximum(table, 0)[x].astype(np.float64)  # worked out by NumPy
    loss = np.log(np.exp(scores).sum(-1)) - np.take_along_axis(scores, y[..., None], -1)[..., 0]
    said = assay.evaluate(program, x.astype(np.int32), y)
    check(math.isclose(said["perplexity"], math.exp(loss.mean()), rel_tol=1e-9), "perplexity is what NumPy says", said, math.exp(loss.mean()))
    check(math.isclose(said["token_top1"], 100 * np.mean(scores.argmax(-1) == y), rel_tol=1e-12), "and so are tokens met", said)
    raises(assay.InputError, "too short a stream", assay.windows, stream[:3], LENGTH, words="3 tokens; a window has 4")
    raises(assay.InputError, "a stream of reals", assay.windows, [0.5, 1.0], 1, words="integers")
    raises(assay.InputError, "labels of other tokens", assay.evaluate, program, x.astype(np.int32), y[:, :3], words="no scores for each of 3 tokens")
    raises(assay.InputError, "a token beyond the table names its sample", assay.evaluate, program, np.full((2, LENGTH), VOCABULARY, np.int32), words="sample 0: node 'e'")
    y[5, 1] = VOCABULARY
    raises(assay.InputError, "a label beyond the table names its sample", assay.evaluate, program, x.astype(np.int32), y, words="sample 5: token 7")
    raises(assay.InputError, "labels that are no integers", assay.evaluate, program, x.astype(np.int32), y * 0.5, words="labels: integers are expected")


def maps():
    net = assay.loads("graph seg { input x: f32[1,3,2,5]\n y: f32[1,3,2,5] = relu(x)\n output y }\n")
    net.save("seg.assay")
    x = RANDOM.normal(size=(6, 3, 2, 5)).astype(np.float32)
    labels = RANDOM.integers(0, 3, (6, 2, 5))
    labels[RANDOM.random(labels.shape) < 0.2] = 255
    np.save("seg.npy", x)
    np.save("maps.npy", labels.astype(np.uint8))
    want = told("eval", "seg.assay", "-d", "seg.npy", "--labels", "maps.npy")
    said = assay.evaluate(net.program(), x, np.where(labels == 255, -1, labels))
    check(said == want and "mean_iou" in said, "labels by pixel as the command's", said, want)
    raises(assay.InputError, "maps of another size", assay.evaluate, net.program(), x, labels[:, :1], words="label maps are 1x5")
    raises(assay.InputError, "an axis that counts no classes", assay.evaluate, net.program(), x, labels[:, 0, 0], class_axis=0, words="axis 0")


def shards(x):
    with open("net.assay", "w", encoding="utf-8") as f:
        f.write(NET)
    net = assay.load("net.assay")
    profile = net.profile(per_channel="act")
    profile.observe(x)
    profile.save("profile.yaml")
    for k, sample in enumerate(x):
        np.save(f"x{k}.npy", sample)
    command("profile", "net.assay", *sum((["-i", f"x{k}.npy"] for k in range(len(x))), []), "--per-channel-of", "act", "-o", "command.yaml")
    with open("profile.yaml", encoding="utf-8") as a, open("command.yaml", encoding="utf-8") as b:
        mine, its = ([line for line in f if not line.startswith(("preprocessing", "dataset", "whole"))] for f in (a, b))
    check(mine == its, "histograms of channels as the command's")
    raises(assay.InputError, "channels of nothing", net.profile, per_channel="none*", words="none*")
    program, floating = net.quantize(profile, "tflite").program("tflite"), net.program()
    labels = RANDOM.integers(0, 3, len(x))
    whole = assay.evaluate(program, x, labels, reference=floating)
    cuts = [0, 2, 3, len(x)]
    for k in range(3):
        part = slice(cuts[k], cuts[k + 1])
        assay.evaluate_shard(f"part{k}.json", program, x[part], labels[part], first=cuts[k], all=len(x), reference=floating)
    merged = assay.evaluate_merge(["part2.json", "part0.json", "part1.json"])
    check(merged.pop("scheme") == "tflite" and merged == dict(whole), "shards merge to one run", merged, whole)
    command("eval", "merge", "part1.json", "part2.json", "part0.json", "--json", "command.json")
    with open("command.json", encoding="utf-8") as f:
        check({k: v for k, v in json.load(f).items() if k != "scheme"} == dict(whole), "and so by the command")
    raises(assay.InputError, "a shard is missing", assay.evaluate_merge, ["part0.json", "part2.json"], words="sample 2")
    raises(assay.InputError, "a shard is there twice", assay.evaluate_merge, ["part0.json", "part0.json"], words="in two shards")
    raises(assay.InputError, "no shard", assay.evaluate_merge, [], words="0 shards")
    raises(assay.FileError, "a shard that is not there", assay.evaluate_merge, ["nowhere.json"], words="nowhere.json")
    raises(assay.InputError, "no part of all", assay.evaluate_shard, "part.json", program, x, labels, first=1, all=len(x), words="not part of")
    assay.evaluate_shard("other.json", program, x[2:3], labels[2:3], first=2, all=len(x), reference=floating, dataset="other")
    raises(assay.InputError, "a shard of other samples", assay.evaluate_merge, ["part0.json", "other.json", "part2.json"], words="dataset")
    said = assay.sensitivity(net, profile, "tflite", x, labels, by="agreement")
    np.save("x.npy", x[:, 0])
    np.save("labels.npy", labels.astype(np.int32))
    want = told("sensitivity", "net.assay", "-p", "command.yaml", "-s", "tflite", "-d", "x.npy", "--labels", "labels.npy", "--by", "agreement")
    check(said == want, "what is lost of agreement, as the command's", said, want)
    raises(assay.InputError, "a loss of nothing", assay.sensitivity, net, profile, "tflite", x, labels, by="luck", words="luck")
    command("quantize", "net.assay", "-p", "command.yaml", "-s", "tflite", "-o", "net8.assay")
    few = program.network.program("tflite", keep_all=False)
    check(few.plan == command("inspect", "net8.assay", "--plan"), "the memory plan", few.plan)
    check(program.plan_svg.startswith("<svg"), "drawn, too", program.plan_svg[:80])


def proofs(x):
    net = assay.load("net.assay")
    profile = net.profile()
    profile.observe(x)
    small = net.quantize(profile, "tflite", integer_io=True)
    better = small.optimize("tflite")
    found = assay.check_proof(better.certificate, small, better)
    check(found.good and found.why is None and found.steps == better.report["applied"], "a certificate holds", found, better.report)
    with open("cert.json", "w", encoding="utf-8") as f:
        json.dump(better.certificate, f)
    check(assay.check_proof("cert.json") .good, "alone, from a file, too")
    forged = json.loads(json.dumps(better.certificate).replace(small.name, "another"))
    said = assay.check_proof(forged, net)
    check(not said.good and said.why, "one of another network does not", said)
    raises(assay.UnsupportedError, "what is no certificate", assay.check_proof, {"steps": 1}, words="certificate")
    raises(OSError, "a file that is not there", assay.check_proof, "nowhere.json", words="nowhere.json")


def inputs():
    with open("carry.assay", "w", encoding="utf-8") as f:
        f.write("graph carry { input x: f32[1,3]\n input past: f32[1,3]\n present: f32[1,3] = add(x, past)\n output present }\n")
    x = RANDOM.normal(size=(4, 1, 3)).astype(np.float32)
    for k, sample in enumerate(x):
        np.save(f"s{k}.npy", sample)
    net = assay.load("carry.assay", state={"past": "present"})
    run = net.program().sequence()
    steps = [run.step(s)["present"].copy() for s in x]
    check(np.allclose(steps[-1], x.sum(0)) and list(net.inputs) == ["x"], "outputs that are the next step's inputs", steps[-1], x.sum(0))
    raises(assay.InputError, "a state of no input", assay.load, "carry.assay", state={"none": "present"}, words="no input of that name")
    profile = net.profile()
    profile.observe(x, sequence=True)
    command("profile", "carry.assay", "--state", "past=present", *sum((["-i", f"s{k}.npy"] for k in range(4)), []), "-o", "carry.yaml")
    check(profile.ranges == assay.Profile.load("carry.yaml").ranges and np.isclose(profile.ranges["present"][1], max(np.max(s) for s in steps)),
          "profiled step by step, as by the command", profile.ranges)
    model = f"{NODE}/test_slice/model.onnx"
    if not os.path.exists(model):
        check(True, "constants in place of inputs # SKIP no ONNX node tests (libonnx-testdata)")
        return
    bounds = {"starts": [1, 2], "ends": [19, 9], "axes": [0, 1], "steps": np.array([3, 2])}
    y = RANDOM.normal(size=(20, 10, 5)).astype(np.float32)
    with open(model, "rb") as f:
        both = assay.load(model, fix=bounds), assay.loads(f.read(), fix=bounds)
    check(all(np.array_equal(list(n.program().run(y).outputs.values())[0], y[1:19:3, 2:9:2]) for n in both), "constants in place of inputs")
    raises(assay.InputError, "a fraction for an integer", assay.load, model, fix={**bounds, "ends": [3.5, 9]}, words="3.5")
    raises(assay.AssayError, "a constant for no input", assay.load, model, fix={"nope": 1}, words="nope")


def one_sample():
    """A model whose shapes follow from its input, loaded for one sample: the file's own example, and NumPy on what else leads there."""
    folder = f"{NODE}/test_nonzero_example"
    if not os.path.exists(folder):
        check(True, "a network for one sample # SKIP no ONNX node tests (libonnx-testdata)")
        return
    model, x = f"{folder}/model.onnx", np.array([[1, 0], [1, 1]], bool)
    raises(assay.UnsupportedError, "without a sample it is refused", assay.load, model, words="not known at import")
    with open(model, "rb") as f:
        nets = assay.load(model, sample=x), assay.loads(f.read(), sample={"condition": x}), pickle.loads(pickle.dumps(assay.load(model, sample=x)))
    for other in (x, ~np.eye(2, dtype=bool) | [[True, False], [False, False]]):
        said = [n.program().run(other)["result"] for n in nets]
        check(all(np.array_equal(a, np.nonzero(other)) for a in said), "a network for one sample, and for others of its shapes", said, other)
    raises(assay.InputError, "a sample of other shapes", nets[0].program().run, np.ones((2, 2), bool), words="4 elements are set")
    for bad, words in ((x[0], "shape [2, 2]"), ({"q": x}, "'condition' is not given"), ({"condition": x, "z": x}, "no input 'z'"), (x * 0.5, "holds bool")):
        raises(assay.InputError, "a sample that is none", assay.load, model, sample=bad, words=words)
    raises(assay.InputError, "a scheme of the sample that is none", assay.load, model, sample=x, sample_scheme="nope", words="nope")


def pickles(x):
    net = assay.load("net.assay")
    profile = net.profile()
    profile.observe(x)
    small = net.quantize(profile, "tflite")
    program = small.program("tflite", engine="fast")
    golden = program.golden("pickled", x[0])
    narrow = assay.Scheme("tflite").edit({"accumulator": {"bits": 20}}, name="narrow")
    bad = {n: golden[n].copy() for n in golden}
    bad["act"].flat[0] ^= 1
    found = assay.diff(golden, bad, junit="diff.xml")
    failed = [case.get("name") for case in xml.etree.ElementTree.parse("diff.xml").getroot().iter("testcase") if case.find("failure") is not None]
    check(not found.same and len(failed) == 1 and "act" in failed[0], "JUnit XML of a difference", failed)
    raises(OSError, "where there is no folder for it", assay.diff, golden, bad, junit="none/diff.xml", words="none/diff.xml")
    for how, other in (("pickled", lambda o: pickle.loads(pickle.dumps(o))), ("copied", copy.deepcopy)):
        check(other(net).text() == net.text() and other(small).report == small.report, f"a network is {how}")
        check(other(narrow) == narrow and other(narrow).name == "narrow" and other(assay.Scheme("hopper-fp8")).name == "hopper-fp8", f"a scheme is {how}")
        again = other(profile)
        again.observe(x[:1], first=len(x))
        check(again.samples == len(x) + 1 and profile.samples == len(x), f"a profile is {how}, and goes on")
        check(all(np.array_equal(v, program.run(x[0])[n]) for n, v in other(program).run(x[0]).items()), f"a program is {how}")
        check(other(golden).manifest == golden.manifest, f"a bundle is {how}")
        for what in (program.run(x[0]), program.sequence()):
            raises(TypeError, f"what a run holds is not {how}", other, what, words="cannot be pickled")
    with open("program.pickle", "wb") as f:
        pickle.dump((program, x[0]), f)
    code = "import pickle; p, x = pickle.load(open('program.pickle', 'rb')); print(p.run(x)['out'].tobytes().hex())"
    run = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": PACKAGE}, capture_output=True, text=True, timeout=120, check=False)
    check(run.stdout.strip() == program.run(x[0])["out"].tobytes().hex(), "another process runs a program", run)


def at_once():
    def unit(rows):  # rounds half up; each thread sees the other's rows go by
        product = rows["acc"].astype(np.int64) * rows["multiplier"]
        return np.clip(((product + (1 << rows["shift"].astype(np.int64) >> 1)) >> rows["shift"]) + rows["zp"], rows.get("lo", -128), rows.get("hi", 127))

    domains = [(1, 8), (2, 9), (1, 8), (2, 9)]

    def ask(shift):
        return assay.infer(unit, kind="multiplier", type="i8", multiplier=(0, 255), shift=shift, acc_bits=16).text

    alone = [ask(s) for s in domains]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        check(list(pool.map(ask, domains)) == alone, "devices are asked by several threads at once")


def main():
    print(f"# ASSAY_SEED={SEED}")
    x = samples(7)
    tokens()
    maps()
    shards(x)
    proofs(x)
    inputs()
    pickles(x)
    at_once()


main()
os.chdir("/")
TAP.end()
