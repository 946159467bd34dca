#!/usr/bin/python3
"""TensorFlow Lite's C library as the device of probes: runs OP/OP.tflite of each and writes what comes out.

  probe_tflite.py LIBRARY builtin|xnnpack PROBES OUTPUTS

Names the networks that it does not run."""
import json
import os
import subprocess
import sys
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))


class Device:
    def __init__(self, library, engine):
        self.command = [sys.executable, os.path.join(HERE, "tflite_c.py"), library, engine]
        self.child = None

    def ask(self, request):
        if self.child is None or self.child.poll() is not None:
            self.child = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        return json.loads(answer) if answer else {"error": "it dies"}


def run(device, probes, network, outputs, work):
    files = []
    for i, value in enumerate(network["inputs"]):
        files.append(os.path.join(work, "in%d" % i))
        numpy.load(os.path.join(probes, value["file"])).tofile(files[-1])
    op = network["op"]
    answer = device.ask({"model": os.path.join(probes, op, op + ".tflite"), "inputs": files, "out": os.path.join(work, "out")})
    if "error" in answer:
        return answer["error"]
    os.makedirs(os.path.join(outputs, op))
    for i, value in enumerate(network["outputs"]):
        got = numpy.fromfile(os.path.join(work, "out.%d" % i), dtype=value["dtype"])
        numpy.save(os.path.join(outputs, op, value["name"] + ".npy"), got.reshape(value["shape"]))
    return None


def main():
    library, engine, probes, outputs = sys.argv[1:]
    device = Device(library, engine)
    with open(os.path.join(probes, "probe.json"), encoding="utf-8") as f:
        networks = json.load(f)["networks"]
    with tempfile.TemporaryDirectory() as work:
        for network in networks:
            why = "TFLite's form cannot hold it" if "TFLite" in network["not_in"] else run(device, probes, network, outputs, work)
            if why:
                print("%s: %s" % (network["op"], why))


main()
