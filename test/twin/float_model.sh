#!/usr/bin/env bash
# A transformer encoder and a ResNet-8 under schemes of matrix units: bundles, checked by the NumPy model, tensor by tensor.
#
#   float_model.sh ASSAY SOURCE
set -eu
assay=$(realpath "$1")
source=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo "1..0 # SKIP python3-numpy is not installed"
    exit 0
fi
/usr/bin/python3 "$source/test/twin/float_net.py" "$work"
echo "{scheme: bf16-net, mac: {units: [nv-ampere-bf16-f32]}}" >"$work/bf16.yaml" # values as they are, no scales
for run in encoder-hopper-fp8 encoder-hopper-fp8-blocks encoder-blackwell-mxfp8 encoder-blackwell-mxfp4 encoder-blackwell-nvfp4 \
    encoder-bf16 resnet-hopper-fp8 resnet-blackwell-mxfp4; do
    net=${run%%-*} scheme=${run#*-}
    [ "$scheme" != bf16 ] || scheme=$work/bf16.yaml
    "$assay" golden "$work/$net.assay" -s "$scheme" -i "$work/$net.npy" -q --engine both -o "$work/$run" >&2
done
exec /usr/bin/python3 "$source/test/twin/float_model.py" "$work"/encoder-* "$work"/resnet-*
