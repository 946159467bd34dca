#!/usr/bin/python3
"""Causes in nodes whose own output was not dumped, which are tried one by one where nothing can be solved for, and the
slope of one side: unseen.py ASSAY SOURCE   (TAP)

A table not loaded in part, a mean of more, filters of zeros behind whatever reads them; a leaky relu's second rescale."""
import os
import random
import sys
import tempfile

import faults
import faults_operands
import faults_rows
import plant
from bundle import Bundle
from device import Device
from inject import blame
from networks import Shop

CASES = [(plant.hidden, "table.entry", faults_rows.table_half, (3, "narrow")),
         (plant.hidden, "pool.divisor", faults_rows.mean_of_more, (4, "xnnpack-qs8", 1, "attention_plain")),
         (plant.hidden, "weights.stale", faults_operands.filters_of_zeros, (7, "tflite")),
         (plant.hidden, "weights.stale", faults_operands.filters_of_zeros, (2, "tflite-single")),
         (plant.single, "rescale.multiplier", faults_rows.slope_multiplier, (1, "tflite", 1, "picture")),
         (plant.single, "rescale.multiplier", faults_rows.slope_multiplier, (3, "tosa-double", 1, "picture_plain"))]
SEEDS = 3


def main():
    assay, source = (os.path.realpath(a) for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(assay, source, folder)
        for number, (kind, name, function, drawn) in enumerate(CASES, 1):
            device = Device(Bundle(shop.drawn(*drawn)))
            fault = next((name, ops, f) for _, ops, f in faults.FAULTS if f is function)
            said = []
            for seed in range(SEEDS):
                made = kind(random.Random(seed), device, fault)
                made.write(os.path.join(folder, "device"))
                found = blame(assay, made.bundle.path, os.path.join(folder, "device"))[1]["faults"]
                said.append([(f["name"] == made.wanted[0][0], f["class"]) for f in found])
            good = all(s == [(True, name)] for s in said)
            print(f"{'ok' if good else 'not ok'} {number} - {function.__name__}, {kind.__name__}")
            if not good:
                print("#", said)
    print(f"1..{len(CASES)}")


if __name__ == "__main__":
    main()
