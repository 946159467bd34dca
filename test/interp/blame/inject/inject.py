#!/usr/bin/python3
"""assay blame on devices whose fault is known: inject.py ASSAY SOURCE [SEED [COUNT]] [-v] [--only N] [--keep DIR]   (TAP)

COUNT faults (300) by the device of device.py in the bundles of networks.py, and a sixth as many clean devices; fault N
rests on SEED and N alone. -v: a line for each. --keep: bundles and devices stay in DIR."""
import argparse
import collections
import json
import os
import random
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import clean
import plant
from bundle import Bundle
from device import Device
from faults import FAULTS
from networks import DRAWN, RECURRENT, SHIPPED, TFLITE, Shop

OTHERS = ["tflite-single", "cmsis-nn", "litert-ref", "tflite-2.9-x86", "tosa-double", "gemmlowp", "ethos-u"]


def blame(assay, golden, device):
    """(exit status, report or complaint, seconds)"""
    start = time.monotonic()
    done = subprocess.run([assay, "blame", golden, device, "--json", "-", "--node-threads", "1"], capture_output=True, text=True, check=False)
    report = json.loads(done.stdout) if done.stdout else {"faults": [], "verdict": done.stderr.strip() or "nothing", "nodes": []}
    return done.returncode, report, time.monotonic() - start


class Plan:
    """The bundles, and what is planted under a number."""

    def __init__(self, shop, seed, small):
        self.shop, self.seed, self.held = shop, seed, {}
        self.makers = [lambda a=a: shop.shipped(*a) for a in SHIPPED] + [lambda a=a: shop.drawn(*a) for a in DRAWN]
        if small:
            self.makers = self.makers[:2] + self.makers[-11::2]
        elif os.path.isdir(os.path.join(shop.shared, "models")):
            self.makers += [lambda a=a: shop.tflite(*a) for a in TFLITE]
        self.order = list(range(len(FAULTS)))
        random.Random(seed).shuffle(self.order)

    def device(self, maker):
        path = maker()
        if path not in self.held:
            self.held[path] = Device(Bundle(path))
        return self.held[path]

    def planted(self, number):
        rng = random.Random(f"{self.seed}:{number}")
        if number % 12 == 11:
            return self.of_samples(rng)
        if number % 25 == 12:
            return self.of_scheme(rng)
        for off in range(len(FAULTS)):
            made = self.planted_of(rng, FAULTS[self.order[(number + off) % len(FAULTS)]])
            if made:
                return made
        raise SystemExit("no fault shows anywhere")

    def planted_of(self, rng, fault):
        """None where the fault shows nowhere in these networks."""
        kind = rng.choice(plant.KINDS)
        for kind in (kind, plant.single):
            for maker in rng.sample(self.makers, len(self.makers)):
                made = kind(rng, self.device(maker), fault)
                if made:
                    return made
        return None

    def of_samples(self, rng):
        several = [lambda: self.shop.shipped("res_dsconv", "tflite", 3), lambda: self.shop.drawn(1, "tflite", 3),
                   lambda: self.shop.drawn(2, "tflite", 3, "attention")]
        sequences = [lambda a=a: self.shop.drawn(*a) for a in RECURRENT]
        made, kind = None, rng.choice([plant.stale, plant.steady, plant.stale_state])
        while made is None:
            made = kind(rng, self.device(rng.choice(sequences if kind is plant.stale_state else several + sequences * (kind is plant.steady))))
        return made

    def of_scheme(self, rng):
        """A network as another preset computes it, in two nodes or more."""
        golden = Bundle(self.shop.shipped(*rng.choice([("res_dsconv", "tflite"), ("plain_cnn", "tflite")]), quantized_for="tflite"))
        model = os.path.basename(golden.path).split("-")[0]
        for other in rng.sample(OTHERS, len(OTHERS)):
            try:
                device = Device(Bundle(self.shop.shipped(model, other, quantized_for="tflite")))
            except SystemExit:  # a preset that refuses the network
                continue
            values = {n: device.golden[n] for n in device.golden}
            here = Device(golden)
            differ = [n for n in golden.nodes if here.known[golden.nodes.index(n)] and
                      (here.node(golden.nodes.index(n), values).codes() != values[n["outputs"][0]]).any()]
            if len(differ) > 1:
                return plant.Planted("scheme", golden, [(n["outputs"][0], "scheme") for n in differ], values, list(values), other)
        raise SystemExit("no preset computes it otherwise")


# The class comes first, or among the explanations named, or not; or the node is not blamed, or another one is.
VERDICTS = ["first", "named", "wrong", "elsewhere"]


class Score:
    def __init__(self, verbose):
        self.rows, self.kinds = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
        self.seconds, self.verbose, self.false, self.cleans, self.status = [], verbose, 0, 0, 0

    def fault(self, number, made, status, report, seconds):
        said = [(f["name"], f["class"], f["classes"]) for f in report["faults"]]
        rows = self.judged(made.wanted, said)
        self.status += status != 1
        self.seconds.append(seconds)
        if made.kind == "scheme":  # one cause, whatever it reaches
            rows = [max(rows, key=VERDICTS.index)]
        for (_, wanted), verdict in zip(made.wanted, rows):
            for table, key in ((self.rows, wanted.split("|")[0]), (self.kinds, made.kind)):
                table[key]["planted"] += 1
                table[key][verdict] += 1
                table[key]["node"] += verdict != "elsewhere"
        bad = [v for v in rows if v != "first"]
        if bad or self.verbose:
            print(f"# {number} {os.path.basename(made.bundle.path)} {made.kind} {made.what}: {' '.join(rows)}, {seconds:.1f} s, status {status}")
            for name, wanted in made.wanted if bad else ():
                print(f"#      planted {wanted} at {name[-40:]}")
            for f in report["faults"][:4] if bad else ():
                print(f"#      said {f['class']} at {f['name'][-40:]} ({f['op']}) {f['explained']:.3f} of {f['elements']}, {f['differing']} differ: "
                      f"{f['detail'][:150]} {f['classes'][:5]}")
            if bad and not report["faults"]:
                print("#      said", report["verdict"])

    @staticmethod
    def judged(wanted, said):
        """For each planted fault its verdict."""
        strangers = {n for n, _, _ in said} - {n for n, _ in wanted}
        left, out = list(said), []
        for name, kind in wanted:
            here = [s for s in left if s[0] == name]
            kinds = kind.split("|")
            best = next((s for s in here if s[1] in kinds), None) or next((s for s in here if set(kinds) & set(s[2])), None) or (here or [None])[0]
            if best is None:
                out.append("wrong" if any(s[0] == name for s in said) else "elsewhere")
                continue
            left.remove(best)
            out.append("elsewhere" if strangers else "first" if best[1] in kinds else "named" if set(kinds) & set(best[2]) else "wrong")
        return out

    def clean(self, path, form, status, report):
        self.cleans += 1
        bad = status != 0 or report["faults"] or report["verdict"] != "clean"
        self.false += bool(bad)
        if bad:
            print(f"# false blame: {os.path.basename(path)}, {form}: status {status}, {report['verdict']}, {str(report['faults'])[:300]}")

    def table(self, title, rows):
        print(f"# | {title} | planted | node | class first | class named | wrong |")
        print("# |---|---|---|---|---|---|")
        total = collections.Counter()
        for key in sorted(rows):
            total.update(rows[key])
        for key, r in [(k, rows[k]) for k in sorted(rows)] + [("all", total)]:
            print(f"# | {key} | {r['planted']} | {r['node']} | {r['first']} | {r['named']} | {r['wrong']} |")
        return total


def numbers(text):
    return [int(n) for n in text.split(",")]


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("assay")
    p.add_argument("source")
    p.add_argument("seed", nargs="?", type=int, default=16)
    p.add_argument("count", nargs="?", type=int, default=300)
    p.add_argument("-v", action="store_true")
    p.add_argument("--only", type=numbers)
    p.add_argument("--keep")
    return p.parse_args()


def plant_all(args, plan, score, folder, pool):
    def one(number, made):
        at = os.path.join(folder, f"device{number}")
        made.write(at)
        said = blame(args.assay, made.bundle.path, at)
        if not args.keep:
            plant.empty(at)
        return number, made, said
    jobs = [pool.submit(one, n, plan.planted(n)) for n in args.only or range(args.count)]
    for job in jobs:
        number, made, said = job.result()
        score.fault(number, made, *said)


def clean_all(args, plan, score, folder, pool):
    def one(number):
        rng = random.Random(f"clean {args.seed}:{number}")
        at = os.path.join(folder, f"clean{number}")
        if number % 5 == 4:
            path = plan.shop.shipped("res_dsconv", "tflite", 3)
        else:
            path = rng.choice(plan.makers)()
        form = clean.make(rng, Bundle(path), at)
        return path, form, blame(args.assay, path, at)
    for job in [pool.submit(one, n) for n in range(args.count // 6)]:
        path, form, (status, report, _) = job.result()
        score.clean(path, form, status, report)
    golden = Bundle(plan.shop.shipped("plain_cnn", "tflite", quantized_for="tflite"))
    for other in OTHERS:
        try:
            second = Bundle(plan.shop.shipped("plain_cnn", other, quantized_for="tflite"))
        except SystemExit:  # a preset that refuses the network
            continue
        if clean.agreeing(golden, second):
            status, report, _ = blame(args.assay, golden.path, second.path)
            score.clean(golden.path, other, status, report)


def checks(score, total):
    """What was dumped is blamed at its node; of what was not, half at least."""
    hidden = score.kinds["hidden"]
    dumped = total - hidden
    said = [(dumped["node"] == dumped["planted"], f"node: {dumped['node']} of {dumped['planted']} that were dumped"),
            (2 * hidden["node"] >= hidden["planted"], f"node: {hidden['node']} of {hidden['planted']} that were not dumped"),
            (dumped["first"] + dumped["named"] >= 0.97 * dumped["planted"],
             f"class: {dumped['first']} first, {dumped['named']} named of {dumped['planted']}"),
            (not score.false, f"false blames: {score.false} on {score.cleans} clean devices"),
            (not score.status, f"exit status 1 but for {score.status}")]
    for i, (good, what) in enumerate(said, 1):
        print(f"{'ok' if good else 'not ok'} {i} - {what}")
    print(f"1..{len(said)}")
    return all(good for good, _ in said)


def main():
    args = arguments()
    print(f"# seed {args.seed}")
    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(2) as pool:
        folder = os.path.abspath(args.keep or made)
        os.makedirs(folder, exist_ok=True)
        plan, score = Plan(Shop(args.assay, args.source, folder), args.seed, args.count < 100), Score(args.v)
        plant_all(args, plan, score, folder, pool)
        if not args.only:
            clean_all(args, plan, score, folder, pool)
    total = score.table("class", score.rows)
    score.table("device", score.kinds)
    score.seconds.sort()
    print(f"# seconds: median {score.seconds[len(score.seconds) // 2]:.2f}, most {score.seconds[-1]:.2f}")
    raise SystemExit(0 if checks(score, total) else 1)


if __name__ == "__main__":
    main()
