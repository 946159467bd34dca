#!/usr/bin/env bash
# Golden bundles under schemes written from invented data sheets (test/sheets) and under every preset,
# against the model of any record in record_model.py.
#
#   record_model.sh ASSAY SOURCE
set -eu
assay=$(realpath "$1")
source=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo "1..0 # SKIP python3-numpy is not installed"
    exit 0
fi
prepare() { # NET MODEL CALIBRATION
    "$assay" profile "$2" -d "$3" -n 64 -q -o "$work/$1.yaml" >&2
}
bundle() { # NET MODEL TEST SCHEME NAME
    "$assay" golden "$2" -p "$work/$1.yaml" -s "$4" -d "$3" -n 1 --accumulators -q \
        -o "$work/bundles/$5-$1" >&2
}

mkdir "$work/bundles"
glyphs=$source/datasets/glyphs
for net in plain_cnn res_dsconv; do
    prepare $net "$source/datasets/models/$net.onnx" "$glyphs/calibration"
    for scheme in "$source"/test/sheets/*.yaml; do
        bundle $net "$source/datasets/models/$net.onnx" "$glyphs/test" "$scheme" \
            "$(basename "$scheme" .yaml)"
    done
done
/usr/bin/python3 "$source/test/twin/numpy_model_net.py" "$work/kinds"
prepare kinds "$work/kinds.assay" "$work/kinds.npy"
for scheme in "$source"/test/sheets/*.yaml $("$assay" scheme list | cut -d' ' -f1); do
    [ ! -f "$source/schemes/mac/schemes/$scheme.yaml" ] || continue # of matrix units: twin/float_model.py
    bundle kinds "$work/kinds.assay" "$work/kinds.npy" "$scheme" "$(basename "$scheme" .yaml)"
done
exec /usr/bin/python3 "$source/test/twin/record_model.py" "$work"/bundles/*
