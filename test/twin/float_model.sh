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
for net in encoder resnet; do
    for scheme in hopper-fp8 hopper-fp8-blocks blackwell-mxfp8 blackwell-mxfp4 blackwell-nvfp4; do
        "$assay" golden "$work/$net.assay" -s $scheme -i "$work/$net.npy" -q -o "$work/$net-$scheme" >&2
    done
done
exec /usr/bin/python3 "$source/test/twin/float_model.py" "$work"/encoder-* "$work"/resnet-*
