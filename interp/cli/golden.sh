#!/usr/bin/env bash
# The main job on the shipped networks: profile, quantize under each preset, check accuracy, write
# golden bundles, and show where two presets diverge. Called by ./dev golden.
#
#   golden.sh ASSAY [OUT]     results in OUT (default golden-out/)
set -euo pipefail
assay=$1
out=${2:-golden-out}
images=datasets/glyphs
presets="glow-interp glow-cpu tflite tflite-single npu16"
mkdir -p "$out"

for net in plain_cnn res_dsconv; do
    model=datasets/models/$net.onnx
    profile=$out/$net.profile.yaml
    echo "== $net: profile on $images/calibration"
    "$assay" profile "$model" --dataset $images/calibration -o "$profile" --quiet
    echo "== $net: top-1 and top-5 on $images/test"
    "$assay" eval "$model" --dataset $images/test --quiet
    for scheme in $presets; do
        "$assay" eval "$model" --profile "$profile" --scheme "$scheme" --dataset $images/test --quiet |
            sed -n '2,3p'
    done
    echo "== $net: golden bundles of the first test image"
    for scheme in $presets; do
        "$assay" golden "$model" --profile "$profile" --scheme "$scheme" \
            --dataset $images/test --limit 1 --accumulators --force -o "$out/$net-$scheme" --quiet
        "$assay" verify "$out/$net-$scheme"
    done
    echo "== $net: where presets diverge"
    for other in tflite-single glow-cpu npu16; do
        printf 'tflite against %s: ' "$other"
        "$assay" diff "$out/$net-tflite" "$out/$net-$other" | sed -n 1p || true
    done
done
