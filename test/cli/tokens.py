#!/usr/bin/python3
"""tokens.py ASSAY: data sets of language models, and what they are judged by.

Streams of tokens (.npy, .txt, raw) cut into windows, .npz with an array an input; perplexity and the best
token against the definitions, computed here with NumPy on a network of bigrams: logits are rows of a table.
"""
import json
import os
import tempfile

import numpy as np

from command import ASSAY, assay, refused
from support import TAP, check, write

SEED = int(os.environ.get("ASSAY_SEED", "0")) or int.from_bytes(os.urandom(4), "little")
RNG = np.random.default_rng(SEED)
T, V = 8, 11
TABLE = np.round(RNG.normal(0, 3, (V, V)), 3).astype(np.float32)


def evaluated(*args):
    if os.path.exists("j.json"):
        os.remove("j.json")
    status, text = assay("eval", *args, "-q", "--json", "j.json")
    if not os.path.exists("j.json"):
        return status, text, {}
    with open("j.json", encoding="utf-8") as f:
        return status, text, json.load(f)


def network(path, mask, kind="i64"):
    values = ", ".join(f"{x:.9g}" for x in TABLE.ravel())
    scaled = f" y: f32[1,{T},{V}] = mul(h, mask)\n output y\n" if mask else " output h\n"
    inputs = f" input mask: f32[1,{T},1]\n" if mask else ""
    write(path, (f"graph bigrams {{\n input ids: {kind}[1,{T}]\n{inputs} const table: f32[{V},{V}] = [{values}]\n"
                 f" h: f32[1,{T},{V}] = gather(table, ids) {{axis=0}}\n{scaled}}}\n").encode())


def judged(pairs):
    """Perplexity and share of best tokens, of (token, next) and the mask's number, in double."""
    losses, hits = [], 0
    for token, following, scale in pairs:
        x = np.float64(TABLE[token] * np.float32(scale))
        losses.append(np.log(np.exp(x - x.max()).sum()) + x.max() - x[following])
        hits += int(np.argmax(x) == following)
    return np.exp(np.mean(losses)), 100 * hits / len(pairs)


def agrees(name, got, pairs):
    perplexity, top1 = judged(pairs)
    check(got.get("samples") == len(pairs) and abs(got.get("perplexity", 0) / perplexity - 1) < 1e-9 and
          abs(got.get("token_top1", -1) - top1) < 1e-9, name, (got, len(pairs), perplexity, top1))


def windows(stream, step=T):
    """(token, next) that are judged: all in the first window, what no earlier one judged in the others."""
    pairs = []
    for start in range(0, len(stream) - T + 1, step):
        begin = 0 if start == 0 else max(T - step, 0)
        pairs += [(stream[start + k], stream[start + k + 1], 1) for k in range(begin, T)
                  if start + k + 1 < len(stream)]
    return pairs


def streams():
    network("net.assay", False)
    network("net32.assay", False, "i32")
    stream = RNG.integers(0, V, 5 * T + 3)
    np.save("s.npy", stream)
    np.save("s16.npy", stream.astype(np.uint16))
    stream.astype(np.uint16).tofile("s.raw")
    write("s.txt", "\n ".join(str(t) + ("," if i % 3 else "") for i, t in enumerate(stream)).encode())
    for source in (["s.npy"], ["s16.npy"], ["s.txt"], ["s.raw", "--raw", "u16"]):
        for net in ("net.assay", "net32.assay"):
            status, text, got = evaluated(net, "-d", *source)
            agrees(f"{source[0]} in windows of {net}", got, windows(stream))
    write("preprocess.yaml", b"dtype: f32\nscale: 1/255\n")
    _, _, got = evaluated("net.assay", "-d", "s.npy")
    agrees("what lies beside tokens is about images", got, windows(stream))
    os.remove("preprocess.yaml")
    for step in (1, 3, T + 2):
        _, text, got = evaluated("net.assay", "-d", "s.npy", "--stride", str(step))
        agrees(f"windows {step} apart", got, windows(stream, step))
    np.save("even.npy", stream[:2 * T])
    _, text, got = evaluated("net.assay", "-d", "even.npy")
    agrees("the last token of a stream has none that follows", got, windows(stream[:2 * T]))
    check("perplexity" in text and "top-1" in text, "in words", text)
    _, _, one = evaluated("net.assay", "-d", "s.npy", "-j", "1")
    _, _, two = evaluated("net.assay", "-d", "s.npy", "-j", "3")
    check(one == two, "the same with threads", (one, two))
    for k in (2, 1):
        assay("eval", "net.assay", "-d", "s.npy", "-q", "--shard", f"{k}/2", "-o", f"part{k}.json")
    status, text = assay("eval", "merge", "part1.json", "part2.json", "--json", "merged.json")
    check(status == 0, "shards of a stream", text)
    with open("merged.json", encoding="utf-8") as f:
        check(json.load(f) == one, "give what one run gives", text)
    _, _, got = evaluated("net.assay", "-d", "s.npy", "--ignore-label", str(stream[1]))
    agrees("a token that is not judged", got, [p for p in windows(stream) if p[1] != stream[1]])
    rows = RNG.integers(0, V, (4, T))
    np.save("rows.npy", rows)
    _, _, got = evaluated("net.assay", "-d", "rows.npy", "--next-tokens")
    agrees("rows of tokens", got, [(r[k], r[k + 1], 1) for r in rows for k in range(T - 1)])
    refused("rows alone have no labels", "no sample has a label", "eval", "net.assay", "-d", "rows.npy")


def arrays():
    network("two.assay", True)
    ids = RNG.integers(0, V, (3, T))
    masks = np.round(RNG.uniform(0.2, 1, (3, 1, T, 1)), 3).astype(np.float32)
    pairs = [(ids[i, k], ids[i, k + 1], masks[i, 0, k, 0]) for i in range(3) for k in range(T - 1)]
    for save, name in ((np.savez, "plain"), (np.savez_compressed, "deflated")):
        os.mkdir(name)
        for i in range(3):
            save(f"{name}/{i}.npz", ids=ids[i:i + 1], mask=masks[i], unused=np.zeros(3))
        _, text, got = evaluated("two.assay", "-d", name, "--next-tokens")
        agrees(f"a folder of .npz, {name}", got, pairs)
    np.savez("all.npz", ids=ids, mask=masks[:, 0])
    _, text, got = evaluated("two.assay", "-d", "all.npz", "--next-tokens")
    agrees("one .npz", got, pairs)
    np.save("mask.npy", masks[:1, 0])
    _, text, got = evaluated("two.assay", "-d", "all.npz", "-d", "mask=mask.npy", "--next-tokens")
    agrees("an input of its own beside .npz, one sample for all", got,
           [(t, n, masks[0, 0, k % (T - 1), 0]) for k, (t, n, _) in enumerate(pairs)])
    stream = RNG.integers(0, V, 3 * T + 1)
    np.save("stream.npy", stream)
    _, text, got = evaluated("two.assay", "-d", "ids=stream.npy", "-d", "mask=mask.npy")
    agrees("a stream beside one mask", got,
           [(t, n, masks[0, 0, k % T, 0]) for k, (t, n, _) in enumerate(windows(stream))])
    np.savez_compressed("small.npz", ids=ids, mask=masks[:, 0])
    refused("compressed, all samples in one file", "compressed.*savez", "eval", "two.assay", "-d", "small.npz")
    np.savez("short.npz", mask=masks[:, 0], other=ids)
    refused("an array that is missing is named, with those there", "no array 'ids'; it holds mask, other", "eval",
            "two.assay", "-d", "short.npz")
    whole = open("plain/0.npz", "rb").read()
    os.mkdir("broken")
    outcomes = set()
    for cut in range(0, len(whole), 97):
        write("broken/0.npz", whole[:cut])
        outcomes.add(assay("eval", "two.assay", "-d", "broken", "--next-tokens")[0])
    check(outcomes == {2}, "an archive cut short", outcomes)
    body = bytearray(whole)
    body[whole.index(b"\x93NUMPY") + 130] ^= 1
    write("broken/0.npz", bytes(body))
    refused("a flipped bit", "checksum", "eval", "two.assay", "-d", "broken", "--next-tokens")


def one_at_a_time():
    """A network of one token and a state: scores are the token's row and half of what the last step gave."""
    values = ", ".join(f"{x:.9g}" for x in TABLE.ravel())
    write("step.assay", (f"graph step {{\n input ids: i64[1,1]\n const table: f32[{V},{V}] = [{values}]\n"
                         f" const half: f32[] = [0.5]\n var last: f32[1,1,{V}] = [{','.join(['0'] * V)}]\n"
                         f" h: f32[1,1,{V}] = gather(table, ids) {{axis=0}}\n r: f32[1,1,{V}] = read(last)\n"
                         f" m: f32[1,1,{V}] = mul(r, half)\n y: f32[1,1,{V}] = add(h, m)\n"
                         f" s: f32[1,1,{V}] = assign(last, y)\n output y\n}}\n").encode())
    stream = RNG.integers(0, V, 17)
    np.save("steps.npy", stream)
    write("steps.txt", " ".join(map(str, stream)).encode())
    for name, options, carried in (("steps.npy", [], 0), ("steps.npy", ["--sequence"], 0.5), ("steps.txt", ["--sequence"], 0.5)):
        _, text, got = evaluated("step.assay", "-d", name, "--next-tokens", *options)
        y, losses, hits = np.zeros(V, np.float32), [], 0
        for token, following in zip(stream, stream[1:]):
            y = TABLE[token] + np.float32(carried) * y
            x = np.float64(y)
            losses.append(np.log(np.exp(x - x.max()).sum()) + x.max() - x[following])
            hits += int(np.argmax(x) == following)
        check(got.get("samples") == 16 and abs(got.get("perplexity", 0) / np.exp(np.mean(losses)) - 1) < 1e-6 and
              abs(got.get("token_top1", -1) - 100 * hits / 16) < 1e-9, f"one token at a time: {name} {options}", (text, got))
    refused("a file of tokens for an input of one integer", "--next-tokens", "eval", "step.assay", "-d", "steps.txt")
    refused("integers that are not said to be tokens", "no sample has a label", "eval", "step.assay", "-d", "steps.npy")


def refusals():
    write("bad.txt", b"1 2 x3 4 5 6 7 8 9")
    refused("a word among tokens", 'token 2 is "x3"', "eval", "net.assay", "-d", "bad.txt")
    write("short.txt", b"1 2 3")
    refused("fewer tokens than a window", "3 tokens; a window has 8", "eval", "net.assay", "-d", "short.txt")
    write("big.txt", b"1 2 3 4 5 6 7 99 1")
    status, text = assay("eval", "net.assay", "-d", "big.txt")
    check(status == 2 and "99" in text, "a token that the network does not have", text)
    write("wide.txt", b"1 2 3 4 5 6 7 4294967296 1")
    refused("a token that the input's type does not hold", "4294967296, which int32", "eval", "net32.assay", "-d",
            "wide.txt")
    refused("--by of something else", "expected labels or agreement", "eval", "net.assay", "-d", "s.npy", "--by", "x")
    refused("agreement with nothing", "no float twin", "eval", "net.assay", "-d", "s.npy", "--by", "agreement")


def quantized():
    """Against float: agreement by token, perplexity's rise as what is lost, sensitivity and tune by it."""
    stream = np.array([t for _ in range(40) for t in RNG.permutation(V)])
    np.save("train.npy", stream)
    base = ["two.assay", "-d", "ids=train.npy", "-d", "mask=mask.npy"]
    status, text = assay("profile", *base, "-q", "-o", "p.yaml")
    check(status == 0, "profile of a stream", text)
    how = ["-p", "p.yaml", "-s", "tflite"]
    status, text, got = evaluated(*base, *how)
    check(status == 0 and got["float_perplexity"] > 1 and got["perplexity"] != got["float_perplexity"] and
          got["agreement"] <= 100 and "tokens)" in text, "eval beside float", (text, got))
    rise = 100 * (got["perplexity"] / got["float_perplexity"] - 1)
    lost = 100 - got["agreement"]
    for name, value, by in (("perplexity", rise, []), ("agreement", lost, ["--by", "agreement"])):
        _, _, s = trial("sensitivity", *base, *how, *by)
        check(abs(s["drop"] - value) < 1e-6 and name in s["drop_of"], f"sensitivity by {name}", (s, value))
        status, text, t = trial("tune", *base, *how, *by, "--max-float", "1")
        check(abs(t["before"]["drop"] - value) < 1e-6 and name in t["before"]["drop_of"], f"tune by {name}", t)
        limits = [max(value, 0) + 0.01, max(value - 0.01, 0)]
        states = [assay("eval", *base, *how, *by, "-q", "--max-drop", str(x))[0] for x in limits]
        parts = [f"q{k}.json" for k in (1, 2, 3)]
        for k, part in enumerate(parts, 1):
            assay("eval", *base, *how, *by, "-q", "--shard", f"{k}/3", "-o", part)
        merged = [assay("eval", "merge", *parts, "--max-drop", str(x))[0] for x in limits]
        check(merged == states, f"--max-drop of {name} by shards", (value, states, merged))
        check(states == [0, 1 if value > limits[1] else 0], f"--max-drop of {name}", (value, states))


def trial(command, *args):
    status, text = assay(command, *args, "-q", "--json", "t.json")
    with open("t.json", encoding="utf-8") as f:
        return status, text, json.load(f)


def main():
    print(f"# ASSAY_SEED={SEED}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        streams()
        arrays()
        one_at_a_time()
        refusals()
        quantized()
        os.chdir("/")
    TAP.end()


main()
