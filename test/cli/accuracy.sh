#!/usr/bin/env bash
# Calibrations, target files, `assay sensitivity` and `assay tune` on the shipped networks, as TAP.
#
#   accuracy.sh ASSAY SOURCE
set -u
. "$(dirname "$0")/tap.sh" "$@"
images=$source/datasets/glyphs
model=$source/datasets/models/res_dsconv.onnx

points() { # top-1 of an eval's row, in points
    sed -n "s/^$1 .*top-1 *\([0-9.]*\) %.*/\1/p" out
}

# ---- the four calibrators: each runs, says what it chose, and loses at most a point to min-max ----
within_a_point() { # NET SCHEME NAME OPTIONS...: each calibration's points beside min-max's
    local net=$1 scheme=$2 name=$3 method least got
    shift 3
    for method in min-max percentile kl mse; do
        "$assay" eval "$source/datasets/models/$net.onnx" -p $net.yaml -s $scheme -d "$images/test" \
            --engine fast --calibration $method -q "$@" >out 2>err || not_ok "eval $net $name $method"
        got=$(points $scheme)
        [ $method = min-max ] && least=$got
        runs 0 "$net under $name: $method has $got points, min-max $least" \
            awk -v a="$got" -v b="$least" 'BEGIN { exit !(a != "" && a >= b - 1) }'
    done
}
for net in plain_cnn res_dsconv; do
    "$assay" profile "$source/datasets/models/$net.onnx" -d "$images/calibration" -q -o $net.yaml >out 2>err || not_ok "profile $net"
    for scheme in tflite npu16; do
        within_a_point $net $scheme $scheme
        prints "^/.* kl +" "$net under $scheme: the choice is reported" \
            "$assay" quantize "$source/datasets/models/$net.onnx" -p $net.yaml -s $scheme --calibration kl --ranges
    done
    for symmetry in symmetric symmetric-narrow symmetric-unsigned power-of-two power-of-two-nearest; do
        within_a_point $net tflite "tflite, $symmetry" -n 510 --symmetry $symmetry
    done
done
printf 'scheme: w4\nextends: tflite\ntypes:\n  weight_bits: 4\n' >w4.yaml
for method in min-max percentile mse; do
    "$assay" eval "$model" -p res_dsconv.yaml -s ./w4.yaml -d "$images/test" -n 510 --engine fast -q --calibrate-weights $method >out 2>err
    got=$(points w4)
    [ $method = min-max ] && least=$got
    runs 0 "weights in 4 bits: $method has $got points, min-max $least" \
        awk -v a="$got" -v b="$least" 'BEGIN { exit !(a != "" && a >= b - 1) }'
done
refused "too few weights for KL" "calibrate-weights takes .* too few weights for kl" \
    "$assay" quantize "$model" -p res_dsconv.yaml -s tflite --calibrate-weights kl
prints "weights rounded by GPTQ: 1 layer" "fully connected layers rounded with error feedback" \
    "$assay" quantize "$model" -p res_dsconv.yaml -s ./w4.yaml --calibrate-weights gptq -d "$images/calibration" -n 64 -q
refused "GPTQ without samples" "takes calibration samples" \
    "$assay" quantize "$model" -p res_dsconv.yaml -s ./w4.yaml --calibrate-weights gptq
refused "GPTQ by the samples that judge it" "takes calibration samples" \
    "$assay" eval "$model" -p res_dsconv.yaml -s ./w4.yaml --calibrate-weights gptq -d "$images/test" -n 4 -q
refused "samples that nothing reads" "is for --calibrate-weights gptq" \
    "$assay" quantize "$model" -p res_dsconv.yaml -s tflite -d "$images/calibration"
printf '%s\n' 'graph s { input x: f32[1,2] const w: f32[2,2] = [1,2,3,4] const v: f32[2,2] = [1,2,3,4]' \
    ' h: f32[1,2] = fc(x, w) a: f32[1,2] = relu(h) y: f32[1,2] = fc(a, v) output y }' >smooth.assay
/usr/bin/python3 -c 'import numpy as n; n.save("smooth.npy", n.array([[[1, 60]], [[-1, 9]]], n.float32))'
runs 0 "a profile by channel" "$assay" profile smooth.assay -d smooth.npy --per-channel -q -o smooth.yaml
prints '  smoothed: a +2 channels divided by 2\^3 to 2\^3, into 1 layer: exact in floats' "activations smoothed into weights" \
    "$assay" quantize smooth.assay -p smooth.yaml -s tflite --smooth 0.5
prints "  smoothed: nothing: no value that layers alone read" "smoothing without a value to smooth is said" \
    "$assay" quantize "$model" -p res_dsconv.yaml -s tflite --smooth 0.5
refused "an alpha that is none" "smooth takes alpha, above 0 and at most 1" \
    "$assay" quantize smooth.assay -p smooth.yaml -s tflite --smooth 2
runs 0 "a profile without channels" "$assay" profile smooth.assay -d smooth.npy -q -o whole.yaml
refused "smoothing without channels" "has no channels of 'a'; take it with --per-channel" \
    "$assay" quantize smooth.assay -p whole.yaml -s tflite --smooth 0.5
prints '^/stem/act/Clip_output_0 +mse ' "a calibration for one value" \
    "$assay" quantize "$model" -p res_dsconv.yaml -s tflite --calibration '/stem*=mse' --ranges
prints '^logits +min-max ' "the others keep theirs" \
    "$assay" quantize "$model" -p res_dsconv.yaml -s tflite --calibration '/stem*=mse' --ranges
refused "a calibration for no value" "no value has such a name" \
    "$assay" quantize "$model" -p res_dsconv.yaml -s tflite --calibration 'nobody=mse'
refused "a calibration of no such name" "calibration" \
    "$assay" quantize "$model" -p res_dsconv.yaml -s tflite --calibration best
runs 0 "Glow's qparams method" "$assay" quantize "$model" -p res_dsconv.yaml -s glow-cpu --qparams-method glow -o glow.assay
refused "Glow has no narrow range" "narrow range" \
    "$assay" quantize "$model" -p res_dsconv.yaml -s glow-cpu --qparams-method glow --symmetry symmetric-narrow
for symmetry in asymmetric symmetric power-of-two; do
    "$assay" eval "$model" -p res_dsconv.yaml -s glow-cpu --qparams-method glow -d "$images/test" -n 200 --engine fast --symmetry $symmetry -q >out 2>err
    got=$(points glow-cpu)
    runs 0 "Glow's qparams method, $symmetry: $got points" awk -v a="$got" 'BEGIN { exit !(a >= 90) }'
done
prints '^logits +kl ' "Glow's own KL, by the option's old spelling" "$assay" quantize "$model" -p res_dsconv.yaml -s glow-cpu --chooser glow --calibration kl --ranges

# ---- target files ----
cat >npu.yaml <<'END'
target: npu
ops:
  conv: {types: [i8, i16], weights: per-channel, scales: power-of-two}
  add: {types: [i8], parameters: same}
  global_avg_pool: {types: [f32]}
others: {types: [i8]}
END
prints "target 'npu' runs global_avg_pool in float only" "what stays in float, and why" \
    "$assay" quantize "$model" -p res_dsconv.yaml -s tflite --target npu.yaml -o npu.assay
runs 1 "--strict" "$assay" quantize "$model" -p res_dsconv.yaml -s tflite --target npu.yaml --strict
prints "1 in float" "mixed precision" "$assay" quantize "$model" -p res_dsconv.yaml -s tflite --target npu.yaml \
    --precision 'conv=i16,*=i8'
prints "does not run add in i16" "and what the target has not" "$assay" quantize "$model" -p res_dsconv.yaml -s tflite \
    --target npu.yaml --precision 'add=i16'
runs 0 "an integer network within the target" "$assay" run npu.assay -s tflite --target npu.yaml -i "$images/test/0000_A.png"
runs 0 "optimized within it" "$assay" optimize npu.assay -s tflite --target npu.yaml -o less.assay
runs 0 "it still is" "$assay" run less.assay -s tflite --target npu.yaml -i "$images/test/0000_A.png"
cat >shifted.assay <<'END'
graph shifted {
  input x: i8[4] q(0.125,3)
  r: i8[4] q(0.125,0) = rescale(x)
  z: i8[4] q(0.0078125,0) = tanh(r)
  output z
}
END
printf 'target: a\nops: {tanh: {types: [i8], zero_point: none}}\nothers: {types: [i8]}\n' >zero.yaml
prints "absorb-down: z after r: exact" "a rewrite that is exact" \
    "$assay" optimize shifted.assay -s onnxruntime --passes absorb-down
prints "refused, not on this target: target 'a' .* needs zero point 0" "and beyond the target" \
    "$assay" optimize shifted.assay -s onnxruntime --passes absorb-down --target zero.yaml
sed 's/\[i8, i16\]/[i16]/' npu.yaml >wide.yaml
refused "one beyond it" "node '.*' \(conv\): target 'npu' does not run it so: not in i8" \
    "$assay" run npu.assay -s tflite --target wide.yaml -i "$images/test/0000_A.png"
sed 's/global_avg_pool/global_pool/' npu.yaml >bad.yaml
refused "an unknown op" "bad.yaml:5:.*unknown op 'global_pool'" "$assay" quantize "$model" -p res_dsconv.yaml -s tflite --target bad.yaml
sed 's/types: \[f32\]/types: [f32], scales: power-of-two/' npu.yaml >bad.yaml
refused "a contradiction" "bad.yaml:5:.*contradicts types" "$assay" quantize "$model" -p res_dsconv.yaml -s tflite --target bad.yaml

# ---- sensitivity ----
runs 0 "sensitivity" "$assay" sensitivity "$model" -p res_dsconv.yaml -s tflite -d "$images/test" -n 8 -q --json table.json
cp out table
runs 0 "on one thread, to the digit" sh -c '"$@" >one && cmp one table' - \
    "$assay" sensitivity "$model" -p res_dsconv.yaml -s tflite -d "$images/test" -n 8 -q -j 1
runs 0 "is what it must be" /usr/bin/python3 - <<'PY'
import json
t = json.load(open("table.json"))
n = t["nodes"]
assert len(n) == 24, len(n)
for r in n:  # noise adds up: no node is better in place than alone, nor the network whole
    assert r["cumulative_db"] <= r["isolated_db"] + 0.5, r
    assert r["alone_db"] >= t["output_db"] - 0.5, r
    assert r["without_db"] >= t["output_db"] - 3, r
assert abs(n[0]["isolated_db"] - n[0]["cumulative_db"]) < 1e-9  # nothing in front of the first
PY
refused "sensitivity without samples" "are needed" "$assay" sensitivity "$model" -p res_dsconv.yaml -s tflite

# ---- tune ----
runs 0 "tune where nothing is lost" "$assay" tune "$model" -p res_dsconv.yaml -s tflite -d "$images/test" -n 64 -q --target-drop 2
cp out log
prints "stopped after 1 trial: the target is reached" "stops at once" cat log
runs 0 "tune five-bit codes" "$assay" tune "$model" -p res_dsconv.yaml -s npu16 -d "$images/test" -n 200 -q \
    --precision '*=i5' --target-drop 3 -o tuned.assay
cp out log
prints "the target is reached; drop [0-2]" "reaches its target" cat log
eval "set -- $(sed -n 's/^options://p' log)"
runs 0 "its options" "$assay" quantize "$model" -p res_dsconv.yaml -s npu16 "$@" --precision '*=i5' -o again.assay
runs 0 "give the same network" cmp tuned.assay again.assay
runs 1 "tune that cannot" "$assay" tune "$model" -p res_dsconv.yaml -s npu16 -d "$images/test" -n 40 -q \
    --precision '*=i2' --target-drop 0 --max-float 0
cp out log
prints "stopped after .*0 nodes are in float, which is the limit, and 0 are kept so" "says why it stopped" cat log
finish
