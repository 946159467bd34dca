#!/usr/bin/env bash
# One QDQ network under the presets that a mobile or NPU team would try: each runs it, and each pair is
# compared. Prints TAP, and where each pair parts first. Parameters that a preset cannot have (pow2,
# npu16) are exchanged, so that everything is computed in integers.
#
#   presets.sh ASSAY SOURCE
set -u
. "$(dirname "$0")/tap.sh" "$@"
nets=${ASSAY_SHARED:-$source/../shared}/golden/onnx/nets
[ -d "$nets" ] || { echo "1..0 # SKIP golden/onnx/nets is missing"; exit 0; }
nets=$(realpath "$nets")
presets=(tflite onnxruntime pow2 npu16 tosa-double)

# The verdict of a pair is its first line; where they differ it names the first tensor, and an element of it.
compare() { # NETWORK A B
    local net=$1 a=$2 b=$3
    "$assay" diff "$net-$a" "$net-$b" >out 2>err
    local status=$?
    echo "# $net: $a | $b: $(head -n 1 out)"
    case $status in
    0) grep -q '^SAME: ' out ;;
    1) head -n 1 out | grep -Eq "^DIFFERENT: [0-9]+ of [0-9]+ tensors; first at #[0-9]+ '[^']+' \([a-z_]+\)" &&
        sed -n 2p out | grep -Eq '^  [^ ]+\[[0-9,]+\]  -?[0-9.e+-]+ != -?[0-9.e+-]+$' &&
        [ "$(sed -n '2s/^  \([^[ ]*\).*/\1/p' out)" = "$(sed -n "1s/^[^']*'\([^' ]*\).*/\1/p" out)" ] ;;
    *) false ;;
    esac
}

for model in resnet8_qdq_u8s8 resnet8_qdq_s8s8 mobilenetv2_qdq_u8s8; do
    x=$nets/${model%%_*}_x.npy
    batch=$(head -c 128 "$x" | grep -ao "'shape': ([0-9]*" | grep -o '[0-9]*$')
    for p in "${presets[@]}"; do
        runs 0 "$model runs under $p" "$assay" golden "$nets/$model.onnx" -s "$p" --engine fast \
            --adapt --strict --batch "$batch" -i "$x" -o "$model-$p"
        prints '^[0-9]+ nodes in integers .* 0 in float$' "$model under $p, looked at" \
            "$assay" inspect "$nets/$model.onnx" -s "$p" --adapt
    done
    # Exchanged parameters are near the given ones.
    runs 0 "$model: pow2 is near onnxruntime" "$assay" diff "$model-onnxruntime" "$model-pow2" -q --cosine 0 --cosine y=0.9
    for ((i = 0; i < ${#presets[@]}; i++)); do
        for ((j = i + 1; j < ${#presets[@]}; j++)); do
            if compare "$model" "${presets[i]}" "${presets[j]}"; then ok "$model: ${presets[i]} and ${presets[j]}"; else
                not_ok "$model: ${presets[i]} and ${presets[j]}"
            fi
        done
    done
done
finish
