#!/usr/bin/env python3
"""Answers to a folder of probes, as a device would give them: answers.py PROBES OUTPUTS

The device gives the bits that each network's golden bundle expects, of the ops whose bits are those of onnxruntime."""
import json
import os
import shutil
import sys


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


probes, outputs = sys.argv[1:]
for net in read(os.path.join(probes, "probe.json"))["networks"]:
    folder, to = os.path.join(probes, net["op"]), os.path.join(outputs, net["op"])
    if net["scheme"] != "onnxruntime" or not os.path.exists(f"{folder}/{net['op']}.onnx"):
        continue
    os.makedirs(to, exist_ok=True)
    file_of = {t["name"]: t["file"] for t in read(f"{folder}/golden/manifest.json")["tensors"]}
    for out in net["outputs"]:
        shutil.copy(f"{folder}/golden/{file_of[out['name']]}", f"{to}/{out['name']}.npy")
