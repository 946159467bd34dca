#!/usr/bin/env bash
# What chooses an engine, from outside: instruction sets and threads, good and bad. TAP.
#
#   engine.sh ASSAY SOURCE
. "$(dirname "$0")/tap.sh" "$1" "$2"

model=$source/datasets/models/plain_cnn.onnx
image=$source/datasets/glyphs/test/0000_A.png
"$assay" profile "$model" -d "$source/datasets/glyphs/calibration" -n 8 -q -o profile.yaml >/dev/null
"$assay" quantize "$model" -p profile.yaml -s tflite -o net.assay >/dev/null
"$assay" golden net.assay -s tflite -i "$image" -o bundle >/dev/null

for isa in sse9 VNNI "avx2 " ; do
    while read -r verb rest; do # every verb refuses it, before it reads a file
        # shellcheck disable=SC2086
        refused "$verb refuses the instruction set '$isa'" \
            "expected portable, avx2 or vnni \(this machine has .*portable\), found '$isa'" \
            env ASSAY_ISA="$isa" "$assay" $verb $rest
    done <<VERBS
inspect net.assay
profile $model -d $source/datasets/glyphs/calibration -n 1
quantize $model -p profile.yaml -s tflite
run net.assay -s tflite -i $image
golden net.assay -s tflite -i $image -o no
verify bundle
eval net.assay -s tflite -d $source/datasets/glyphs/test -n 1
diff bundle bundle
scheme show tflite
VERBS
done
for engine in ref fast both; do
    refused "run refuses it under engine $engine" "found 'sse9'" \
        env ASSAY_ISA=sse9 "$assay" run net.assay -s tflite -i "$image" --engine $engine
done
runs 0 "an empty name is none" env ASSAY_ISA= "$assay" run net.assay -s tflite -i "$image" --engine both

for isa in portable avx2 vnni; do
    if ASSAY_ISA=$isa "$assay" scheme list >/dev/null 2>&1; then
        for threads in 1 2 3 1024; do
            runs 0 "both engines agree on $isa with $threads threads" \
                env ASSAY_ISA=$isa "$assay" run net.assay -s tflite -i "$image" --engine both --node-threads $threads
        done
    else skip "both engines on $isa" "this machine has no $isa"; fi
done
for threads in 0 -1 1025 4294967297 99999999999999999999 1.5 nan many ""; do
    refused "no '$threads' threads" "node-threads (takes a (whole )?number|needs a value)" \
        "$assay" run net.assay -s tflite -i "$image" --engine fast --node-threads "$threads"
done
for threads in -1 4097 4294967297 many; do
    refused "no '$threads' jobs" "threads takes a (whole )?number" \
        "$assay" eval net.assay -s tflite -d "$source/datasets/glyphs/test" -n 4 -q -j "$threads"
done
runs 0 "more jobs than images" "$assay" eval net.assay -s tflite -d "$source/datasets/glyphs/test" -n 4 -q -j 4096 --engine both
finish
