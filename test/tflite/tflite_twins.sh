#!/usr/bin/env bash
# Float networks of ../shared, quantized by us: top-1 falls by at most half a point. As TAP, with a table
# that ./dev table puts into README.md.
#
#   tflite_twins.sh ASSAY SOURCE
#
# Ranges are the percentile calibration of the first 256 samples; then all samples are evaluated. A
# thousand samples tell half a point from a whole one, not from nothing: five samples are half a point.
set -u
. "$(dirname "$0")/../cli/tap.sh" "$@"

shared=${ASSAY_SHARED:-$source/../shared}
if [ ! -d "$shared/datasets/kws01" ]; then
    skip "float twins" "no shared files"
    finish
    exit 0
fi

# kws01 holds the codes of the int8 network's input (scale 0.584703, zero point 83)
kws=$shared/models/kws_ref_model_float32.tflite
printf 'scale: 0.5847029089927673\nmean: 48.530341446399689\ndtype: f32\n' >kws.yaml
kws_data=(-d "$shared/datasets/kws01/kws01_i8.npy" --preprocess kws.yaml -q)
kws_labels=$shared/datasets/kws01/kws01_labels.npy
resnet=$shared/models/pretrainedResnet.tflite
printf 'dtype: f32\n' >resnet.yaml
resnet_data=(-d "$shared/datasets/cifar10_subset/cifar10_exact_u8.npy" --preprocess resnet.yaml -q)
resnet_labels=$shared/datasets/cifar10_subset/cifar10_exact_labels.npy

points() { awk '/^difference/ { print $3 }' out; }
float_points() { awk '/^float/ { print $3 }' out; }

evaluate() { # NAME PRESET MODEL PROFILE LABELS ARGS...: exit 0 when top-1 falls by at most 0.5
    local name=$1 preset=$2 model=$3 profile=$4 labels=$5
    shift 5
    runs 0 "$name under $preset" "$assay" eval "$model" -p "$profile" -s "$preset" --calibration percentile \
        --engine fast --labels "$labels" --max-drop 0.5 "$@"
}

runs 0 "profile of the keyword network" "$assay" profile "$kws" "${kws_data[@]}" -n 256 -o kws.profile
runs 0 "profile of ResNet-8" "$assay" profile "$resnet" "${resnet_data[@]}" -n 256 -o resnet.profile

# the networks that were int8 from the start: the reference outputs, hence the reference's accuracy, beside
# the float twins, which take the real values of the same codes
printf 'dtype: i8\n' >codes.yaml
accuracy() { # TOP1 PRESET MODEL TWIN LABELS ARGS...
    local top1=$1 preset=$2 model=$shared/models/$3 twin=$shared/models/$4 labels=$5
    shift 5
    prints "^$preset  *top-1  *$top1 %" "$(basename "$model") under $preset" "$assay" eval "$model" \
        -s "$preset" --engine fast --float "$twin" --labels "$labels" --max-drop 0.5 -q "$@"
}
for pair in "tflite 90.1000 87.9056" "tflite-single 90.2000 87.7089"; do
    read -r preset first second <<<"$pair"
    accuracy "$first" "$preset" kws_ref_model.tflite kws_ref_model_float32.tflite "$kws_labels" \
        -d "$shared/datasets/kws01/kws01_i8.npy"
    accuracy "$second" "$preset" pretrainedResnet_quant.tflite pretrainedResnet.tflite "$resnet_labels" \
        -d "$shared/datasets/cifar10_subset/cifar10_exact_u8.npy" --preprocess codes.yaml
done

echo "# | preset | keyword spotting | ResNet-8 |"
echo "# |---|---|---|"
row() { # PRESET NOTE ARGS...
    local preset=$1 note=$2 first second
    shift 2
    evaluate "keyword spotting" "$preset" "$kws" kws.profile "$kws_labels" "${kws_data[@]}"
    first=$(points)
    evaluate ResNet-8 "$preset" "$resnet" resnet.profile "$resnet_labels" "${resnet_data[@]}" "$@"
    second=$(points)
    rows+=("# | $preset$note | $first | $second |")
}
rows=()
runs 0 "float keyword network" "$assay" eval "$kws" --labels "$kws_labels" "${kws_data[@]}"
first=$(float_points)
runs 0 "float ResNet-8" "$assay" eval "$resnet" --labels "$resnet_labels" "${resnet_data[@]}"
rows+=("# | float, top-1 in per cent | $first | $(float_points) |")
for preset in tflite tflite-single cmsis-nn onnxruntime npu16 tosa-double xnnpack-qs8 vta-rounded; do
    row $preset ""
done
# a scale that must be a power of two may waste half of the codes: there the finer half of the scales is
# worth more than the last half per cent of the values
row pow2 " (ResNet-8: percentile 99.5)" --calibration percentile:99.5
printf '%s\n' "${rows[@]}"
finish
