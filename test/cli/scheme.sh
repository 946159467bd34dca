#!/usr/bin/env bash
# `assay scheme` from outside, as TAP: its tables, the public incidents, rows through .npy files
# against what the targets' own code gave, bad arguments (exit status 2 and one line on stderr).
#
#   scheme.sh ASSAY SOURCE
set -u
. "$(dirname "$0")/tap.sh" "$@"

# ---- every preset shows itself, and checks ----
for preset in $("$assay" scheme list | cut -d' ' -f1); do
    if [ -f "$source/schemes/mac/schemes/$preset.yaml" ]; then # of matrix units
        prints '^  units: \[' "show $preset" "$assay" scheme show "$preset"
        runs 0 "check $preset" "$assay" scheme check "$source/schemes/mac/schemes/$preset.yaml"
        refused "diff of $preset, which has no record" "scheme diff: $preset computes on matrix units" "$assay" scheme diff tflite "$preset"
        continue
    fi
    prints '^record:' "show $preset" "$assay" scheme show "$preset"
    runs 0 "check $preset" "$assay" scheme check "$source/schemes/presets/$preset.yaml"
    runs 0 "$preset does not differ from itself" "$assay" scheme diff "$preset" "$preset"
done
"$assay" scheme new my-npu >my-npu.yaml
runs 0 "a new template is a scheme" "$assay" scheme check ./my-npu.yaml
prints '^  0 differ' "and it says the defaults" "$assay" scheme diff ./my-npu.yaml ./my-npu.yaml

# ---- bounds where low bits are stored: what is shown is what acts ----
printf 'scheme: low\nextends: tflite-single\nrescale: {store: wrap}\n' >low.yaml
low() { # BOUNDS SHOWN CODE
    for line in "$2" "^  code +$3\$"; do
        # shellcheck disable=SC2086 # bounds are words
        prints "$line" "low bits within '$1': $line" "$assay" scheme try ./low.yaml --acc -15865 --scale 1 --type i8 $1
    done
}
low "--min -173 --max 66" '^  saturated to -173..66  -173$' 83
low "--min -128" '^  at least -128 +-128$' -128
low "--max -15900" '^  at most -15900 +-15900$' -28
low "" '^  low 8 bits +7$' 7

# ---- unsigned codes: rows have the arithmetic of nodes with such codes ----
printf 'scheme: legacy\nextends: tflite\nrescale: {round: [half-up]}\nunsigned_ops: {fc: {rescale: {round: [floor]}}}\n' >legacy.yaml
printf 'scheme: plain\nextends: tflite\nrescale: {round: [half-up]}\n' >plain.yaml
for type in i8 u8; do
    cat >net.assay <<END
graph net {
  input x: $type[1,1] q(1,0)
  const w: i8[1,1] q(1,0) = [1]
  y: $type[1,1] q(2,0) = fc(x, w)
  output y
}
END
    printf '\5' >x.raw
    runs 0 "a node of $type codes" "$assay" golden net.assay -s ./legacy.yaml --as-is -i x.raw -f -o golden-$type
    node=$(python3 -c "import sys; print(open(sys.argv[1], 'rb').read()[-1])" "golden-$type/tensors/0001_fc_y.npy")
    prints "^  code +$node\$" "a row of $type codes is rounded as a node of them" "$assay" scheme try ./legacy.yaml --op fc --acc 5 --scale 0.5 --type $type
    prints '^  code +3$' "a row of $type codes of another op" "$assay" scheme try ./legacy.yaml --op conv --acc 5 --scale 0.5 --type $type
done
runs 0 "signed codes have no other arithmetic" "$assay" scheme diff ./legacy.yaml ./plain.yaml --op fc
runs 1 "unsigned ones have" "$assay" scheme diff ./legacy.yaml ./plain.yaml --op fc --type u8
runs 1 "and over a range of scales" "$assay" scheme diff ./legacy.yaml ./plain.yaml --op fc --type u8 --scale 0.5
prints '^ +2 +3\.11$' "and in the matrix: 255 of 8193" "$assay" scheme matrix --schemes ./legacy.yaml,./plain.yaml --op fc --type u8 --scale 0.5
prints 'no row|equal|0 rows' "of signed codes no row parts them" "$assay" scheme vectors ./legacy.yaml ./plain.yaml --op fc
prints '1 row' "of unsigned ones a row does" "$assay" scheme vectors ./legacy.yaml ./plain.yaml --op fc --type u8

# ---- incidents of the field ----
code() { # EXPECTED NAME ARGUMENTS: the code of one rescale
    local want=$1 name=$2
    shift 2
    prints "^  code +$want\$" "$name gives $want" "$assay" scheme try "$@"
}
# tensorflow/tensorflow#102943: the float32 chain makes 585 * R exactly 6.5
r=0.011111111910680305
code -120 "585 under the float32 chain" xnnpack-qs8 --acc 585 --scale 0.0111111114 --zp -126
code -119 "585 under double rounding" tflite --acc 585 --scale $r --zp -126
code -119 "585 under single rounding" tflite-single --acc 585 --scale $r --zp -126
code -120 "585 * 0.0111" xnnpack-qs8 --acc 585 --scale 0.0111 --zp -126
# QNNPACK's 6028; tensorflow/tensorflow#25087's 7984, at a scale where the two roundings part
code 25 "6028 under double rounding" qnnpack --acc 6028 --scale 0.00406430103
code 24 "6028 under single rounding" ruy --acc 6028 --scale 0.00406430103
code 24 "6028 in float32" pytorch-qnnpack --acc 6028 --scale 0.00406430103
code 12 "7984 under double rounding" tflite --acc 7984 --scale 0.001440357
code 11 "7984 under single rounding" tflite-single --acc 7984 --scale 0.001440357
code 13 "multiplier and shift of the target" tflite --acc 100 --multiplier 1073741824 --shift -2 --type i8
code 255 "the farthest shift to the left" gemmlowp --acc 1000000 --multiplier 1073741824 --shift 31 --zp 5 --type u8
code 3 "three scales" xnnpack-qs8 --acc 300 --in-scale 0.1 --weight-scale 0.05 --out-scale 0.5
prints 'tie' "try names ties" "$assay" scheme try qnnpack --acc 6028 --scale 0.00406430103

# ---- what the fuzzer found worth keeping: accepted, or refused in one line ----
odd=0
for file in "$source"/test/fuzz/scheme/*; do
    cp "$file" input.yaml
    "$assay" scheme check ./input.yaml >out 2>err
    status=$?
    [ $status = 0 ] || { [ $status = 2 ] && [ "$(wc -l <err)" = 1 ]; } || odd=$((odd + 1))
done
runs 0 "$(ls "$source/test/fuzz/scheme" | wc -l) inputs of the fuzzer's corpus" test $odd = 0

# ---- how sums are made, in words ----
prints '20 bits, saturates after each step' "a narrow accumulator" \
    "$assay" scheme show "$source/test/sheets/floor12.yaml"
prints 'in 2 lanes .product i to lane i % 2' "lanes" \
    "$assay" scheme show "$source/test/sheets/blocks3.yaml"
prints "A block's sum wraps to 11 bits first" "weights by block" \
    "$assay" scheme show "$source/test/sheets/blocks3.yaml"
prints 'shifted right by 3, rounded half-even; then it is one step' "and their shift" \
    "$assay" scheme show "$source/test/sheets/blocks6.yaml"

# ---- differences, decided ----
prints 'identical for every accumulator' "cmsis-nn is tflite" \
    "$assay" scheme diff tflite cmsis-nn --scale 0.001:0.9:50 --acc -1000000:1000000
runs 1 "double and single rounding differ" "$assay" scheme diff tflite tflite-single --scale 0.25
prints '^    acc -2: -1, 0$' "and where" "$assay" scheme diff tflite tflite-single --scale 0.25
prints ' 1 cmsis-nn-single.*= tflite-single' "classes of the matrix" "$assay" scheme matrix

# The counts of schemes/SOURCES.md, all 65,536 pairs of codes of one add; as is, for QNNPACK has no int8.
cat >nodes.assay <<'END'
graph nodes {
  input a: i8[1,4,4,2] q(0.05,3)
  input b: i8[1,4,4,2] q(0.03,-7)
  sum: i8[1,4,4,2] q(0.06,5) = add(a, b)
  mean: i8[1,2,2,2] q(0.06,5) = avg_pool(sum) {layout=nhwc, kernel=[2,2], stride=[2,2]}
  wide: i8[1,2,2,2] q(0.1,-3) = rescale(mean)
  output wide
}
END

undecided() { # PATTERN NAME COMMAND...: exit status 2 and a line that matches PATTERN
    local pattern=$1 name=$2
    shift 2
    "$@" >out 2>err
    if [ $? = 2 ] && grep -Eq -- "$pattern" out; then ok "$name"; else
        echo "# pattern $pattern: $*"
        not_ok "$name"
    fi
}

for pair in "tflite-single 1352" "xnnpack-qs8 1286" "qnnpack 1225" "onnxruntime-sse 3459" \
    "onnxruntime 2900" "glow-cpu 15889"; do
    prints " add .* ${pair#* } of 65536 pairs of codes" "add: tflite and $pair" \
        "$assay" scheme diff tflite ${pair% *} --model nodes.assay --as-is
done
undecided ' add  .*outside the types of qnnpack: .*compared only as is' "types that a side has not" \
    "$assay" scheme diff tflite qnnpack --model nodes.assay
prints ' avg_pool identical for all 1021 sums' "a pool's sums are all tried" \
    "$assay" scheme diff tflite tflite-single --model nodes.assay
prints ' rescale .* 25 of 256 codes' "a rescale's codes are all tried" \
    "$assay" scheme diff tflite xnnpack-qs8 --model nodes.assay
prints ' 1 tflite = cmsis-nn' "the matrix has nodes without weights too" \
    "$assay" scheme matrix nodes.assay --schemes tflite,cmsis-nn,tflite-single

# ---- what a file inherits ----
printf 'scheme: child\nextends: tflite\naccumulator: {bits: 24}\n' >child.yaml
prints '^  from tflite:$' "check names the parent" "$assay" scheme check ./child.yaml
prints '^    pool: kind, round, keep_zero_point$' "what comes from it" "$assay" scheme check ./child.yaml
prints '^    accumulator: overflow$' "what does not" "$assay" scheme check ./child.yaml
prints '^  claims of bit-exactness inherited: add, ' "claims" "$assay" scheme show ./child.yaml
prints '^child: extends ' 'nor what its parent says of itself' "$assay" scheme show ./child.yaml
prints '^  claims lost: conv, .*fc, .*[(]accumulator.bits is another[)]$' "and lost ones" "$assay" scheme show ./child.yaml
printf 'scheme: slow\nextends: onnxruntime\nconvert: {floats_in_turn: yes}\n' >slow.yaml
prints '^  claims of bit-exactness of floats inherited: .*add, ' "of floats" "$assay" scheme check ./slow.yaml
prints '^  claims of floats lost: fc, matmul, cast [(]convert.floats_in_turn is another[)]$' "lost" "$assay" scheme check ./slow.yaml
refused "a field that its encoding does not read" 'operand_bits: 8 is not read here; it needs' \
    "$assay" scheme check "$source/test/cli/unread.yaml"

# ---- what was not decided is neither same nor different ----
cat >edges.assay <<'END'
graph edges {
  input x: f32[4]
  q: i8[4] q(0.05,3) = quantize(x)
  r: i8[4] q(0.06,1) = rescale(q)
  y: f32[4] = dequantize(r)
  output y
}
END
prints ' quantize identical: it reads the same parameters' "every float32 need not be tried" \
    "$assay" scheme diff tflite cmsis-nn --model edges.assay
runs 0 "of parameters that are the same" "$assay" scheme diff tflite cmsis-nn --model edges.assay
printf 'scheme: fine\nextends: tflite\nconvert: {round: half-even}\n' >fine.yaml
undecided ' quantize not decided: every float32 is an operand' "of others it must" \
    "$assay" scheme diff tflite ./fine.yaml --model edges.assay
printf 'scheme: given\nextends: tflite\nnodes: {q: {given: {multiplier: [1], shift: [1]}}}\n' >given.yaml
undecided ' quantize not comparable: .*multipliers are given' "one that takes no multipliers" \
    "$assay" scheme diff tflite ./given.yaml --model edges.assay
runs 0 "parameters that reshape does not read are none of its arithmetic" \
    "$assay" scheme diff tflite tflite-single --op reshape
runs 1 "those that fc reads are" "$assay" scheme diff tflite tflite-single --op fc
cat >bodies.assay <<'END'
graph bodies {
  input c: bool[]
  input x: i8[1,4] q(0.5,0)
  graph yes { input v: i8[1,4] q(0.5,0) w: i8[1,4] q(0.21,3) = rescale(v) output w }
  graph no { input v: i8[1,4] q(0.5,0) z: i8[1,4] q(0.21,3) = relu(v) output z }
  y: i8[1,4] q(0.21,3) = if(c, x)
  output y
}
END
prints '^  w  *rescale  identical for all 256 codes' "a node of a body" \
    "$assay" scheme diff tflite onnxruntime --as-is --model bodies.assay
prints '^  z  *relu ' "of the other" "$assay" scheme diff tflite onnxruntime --as-is --model bodies.assay
prints '^w .rescale.' "and in a matrix" "$assay" scheme matrix bodies.assay --as-is
refused "no scale was decided" 'no difference found, but 1 of the scales were not decided' \
    "$assay" scheme diff tflite vta --scale 0.3
printf 'scheme: other\nextends: qnnpack\n' >other.yaml
refused "one of two scales" 'no difference found, but 1 of the scales were not decided' \
    "$assay" scheme diff qnnpack ./other.yaml --scale 0.5:2:2
runs 1 "parameters that differ are a difference" "$assay" scheme diff tflite tflite-single
printf 'scheme: narrow\nextends: tflite\naccumulator: {bits: 24, overflow: saturate-at-end}\n' >narrow.yaml
runs 1 "sums beyond an accumulator" \
    "$assay" scheme diff tflite ./narrow.yaml --scale 0.00390625 --acc 8388000:8400000 --type i32
prints '^    acc 8388608: ' "from the first one on" \
    "$assay" scheme diff tflite ./narrow.yaml --scale 1 --acc 8388000:8389000 --type i32
runs 0 "and none within" \
    "$assay" scheme diff tflite ./narrow.yaml --scale 1e-5 --acc -8388608:8388607 --type i16
printf 'scheme: trapping\nextends: tflite\naccumulator: {bits: 16, overflow: trap}\n' >trapping.yaml
sed 's/trapping/refusing/; s/: trap}/: refuse}/' trapping.yaml >refusing.yaml
for other in trapping refusing; do
    undecided ' R = 0.5 .*not decided: both refuse every accumulator' "two that refuse all: trapping and $other" \
        "$assay" scheme diff ./trapping.yaml ./$other.yaml --scale 0.5 --acc 100000:100100
    prints 'identical for every accumulator .2 considered' "and those that neither has a code for count nowhere" \
        "$assay" scheme diff ./trapping.yaml ./$other.yaml --scale 0.1:1:2 --acc 32767:32768
done
cat >beyond.assay <<'END'
graph beyond {
  input x: u8[1,2] q(0.5,0)
  const w: u8[1,2] q(0.01,0) = [200,200]
  const b: i32[1] q(0.005,0) = [500000]
  y: u8[1,1] q(0.5,0) = fc(x, w, b)
  output y
}
END
undecided ' fc .*not decided: ' "a layer whose sums no side takes" \
    "$assay" scheme diff ./trapping.yaml ./refusing.yaml --model beyond.assay --as-is
refused "an op that both leave in float" 'nothing was decided: both leave softmax in float' \
    "$assay" scheme diff nvdla vta --op softmax
prints '^  nvdla leaves softmax in float: the target has no integer form of softmax' "one that a side leaves" \
    "$assay" scheme diff tflite nvdla --op softmax
runs 1 "which is a difference" "$assay" scheme diff tflite nvdla --op softmax
prints '^  tosa-single leaves div in float: float_ops' "or says it leaves" "$assay" scheme diff tflite tosa-single --op div
refused "too many to try" 'give --acc within it' \
    "$assay" scheme diff tflite ./narrow.yaml --scale 1e-5 --acc -88388608:88388607
prints '^  saturated to 24 bits    8388607$' "try shows the accumulator" \
    "$assay" scheme try ./narrow.yaml --acc 10000000 --scale 1e-5
code 84 "and rescales what it holds" ./narrow.yaml --acc 10000000 --scale 1e-5
for op in add softmax avg_pool quantize resize svdf_feature; do
    refused "try --op $op" "$op is not a single rescale of an accumulator under scheme tflite" \
        "$assay" scheme try tflite --op $op --acc 3 --scale 0.5
    undecided "refuses: $op is not a single rescale" "diff --op $op" \
        "$assay" scheme diff tflite tflite-single --op $op --scale 0.5
done
refused "an op in float" 'leaves div in float' "$assay" scheme try tosa-single --op div --acc 3 --scale 0.5
refused "no such op" 'no op "cnv"; nearest: conv' "$assay" scheme try tflite --op cnv --acc 3 --scale 0.5
refused "no such op, parameters" 'no op "sofmax"; nearest: softmax' "$assay" scheme diff tflite ruy --op sofmax
code -5 "a relu ends at its zero point" tflite --op relu --acc -30 --scale 0.5 --zp -5

cat >rows.assay <<'END'
graph rows {
  input x: i8[3,2] q(0.1,3)
  input wide: i8[3,12] q(0.1,3)
  input bytes: u8[3,12] q(0.1,3)
  const w: i8[2,12] q(axis=1,block=6,[0.01,0.02,0.03,0.01],[0,0,0,0]) = [1,2,3,4,5,6,7,8,9,10,11,12,1,2,3,4,5,6,7,8,9,10,11,12]
  const v: i8[2,12] q(0.01,0) = [99,99,3,4,5,6,7,8,9,10,11,12,1,2,3,4,5,6,7,8,9,10,11,12]
  two: i8[3,2] q(0.00390625,-128) = softmax(x)
  many: i8[3,12] q(0.00390625,-128) = softmax(wide)
  blocks: i8[3,2] q(0.1,0) = fc(wide, w)
  plain: u8[3,2] q(0.1,0) = fc(bytes, v)
  output two, many, blocks, plain
}
END
undecided ' softmax  identical for all 65536 rows' "rows of two codes are all tried" \
    "$assay" scheme diff tflite pytorch-qnnpack --model rows.assay --as-is
cat >shares.assay <<'END'
graph shares {
  input x: i8[3,2] q(0.1,3)
  two: i8[3,2] q(0.007874016,0) = softmax(x)
  output two
}
END
prints '^    row -121 -128: 85, 88' "and where they differ" \
    "$assay" scheme diff onnxruntime gemmini --model shares.assay --as-is
undecided ' many .* not decided: rows of 12 codes of 8 bits are too many' "longer ones are not" \
    "$assay" scheme diff tflite tflite-single --model rows.assay
undecided ' blocks .* not comparable: .*no integer form of weights with a scale for each block' \
    "weights by block" "$assay" scheme diff tflite tflite-single --model rows.assay
undecided " plain .* not decided: sums can leave onnxruntime-prevnni's accumulator" \
    "a narrow accumulator" "$assay" scheme diff onnxruntime onnxruntime-prevnni --model rows.assay
prints 'onnxruntime-prevnni is not decided: sums can leave' "and in the matrix" \
    "$assay" scheme matrix rows.assay --schemes onnxruntime,onnxruntime-prevnni
prints '  not decided: rows of 12 codes' "rows too" \
    "$assay" scheme matrix rows.assay --schemes tflite,tflite-single

# ---- rows ----
extract() { # FILE: its columns as x/*.npy
    rm -rf x
    mkdir x
    python3 -m zipfile -e "$source/test/vectors/$1.npz" x
}
same() { # NAME GOT WANTED: the elements; headers of 128 bytes may be written differently
    if cmp -i 128 "$2" "$3" >out 2>err; then ok "$1"; else not_ok "$1"; fi
}
extract tflite/requant_double_int8
bounds="--zp x/zp.npy --min x/qmin.npy --max x/qmax.npy"
runs 0 "apply by scale" "$assay" scheme apply tflite --type i8 --acc x/acc.npy --scale x/scale.npy $bounds -o out.npy
same "the target's codes" out.npy x/result.npy
runs 0 "apply by multiplier" "$assay" scheme apply tflite --type i8 --acc x/acc.npy --multiplier x/multiplier.npy --shift x/shift.npy $bounds -o out.npy
same "the target's codes again" out.npy x/result.npy
cat >tens.yaml <<'END'
scheme: tens
extends: tflite
types: {activation_bits: 10}
END
apply() { # WANTED NAME ARGUMENTS: the one code, as decimal of 16 bits
    local want=$1 name=$2
    shift 2
    "$assay" scheme apply "$@" -o out.npy 2>err && [ "$(od -An -t d2 -j 128 out.npy | tr -d ' ')" = "$want" ]
    runs 0 "$name" test $? = 0
}
apply 3 "numbers for columns" ./tens.yaml --acc 24 --multiplier 1073741824 --shift -2
apply 511 "a bound beyond the type is none" ./tens.yaml --acc 30000 --scale 1 --max 700
apply -512 "nor below it" ./tens.yaml --acc -30000 --scale 1 --min -700
apply 70 "a bound within it" ./tens.yaml --acc 30000 --scale 1 --max 70
apply -120 "three scales, formed in float32" xnnpack-qs8 --type i16 --acc 585 --in-scale 0.1 \
    --weight-scale 0.1111111114 --out-scale 1 --zp -126
apply 511 "a sum that its accumulator holds in 24 bits" ./narrow.yaml --type i16 --acc 10000000 --scale 6.0975e-05
refused "bounds without a code" 'bounds 700..511 leave no code' \
    "$assay" scheme apply ./tens.yaml --acc 3 --scale 1 --min 700 -o out.npy
refused "a column that is neither" "nine" \
    "$assay" scheme apply ./tens.yaml --acc nine --scale 1 -o out.npy
refused "a fraction for an integer" "acc takes an integer or a .npy file, not '1.5'" \
    "$assay" scheme apply ./tens.yaml --acc 1.5 --scale 1 -o out.npy
refused "scales and R" 'scheme apply: needs' \
    "$assay" scheme apply ./tens.yaml --acc 1 --scale 1 --in-scale 1 -o out.npy
refused "a weight's scale alone" 'scheme apply: needs' \
    "$assay" scheme apply ./tens.yaml --acc 1 --weight-scale 1 -o out.npy
runs 0 "derive" "$assay" scheme derive tflite --scale x/scale.npy --multiplier m.npy --shift h.npy
runs 0 "what derive wrote, apply reads" "$assay" scheme apply tflite --type i8 --acc x/acc.npy --multiplier m.npy --shift h.npy $bounds -o out.npy
same "the target's codes once more" out.npy x/result.npy
extract tflite/requant_double_int16x8_acc64
for scheme in tflite tflite-int16x8; do
    runs 0 "apply $scheme, int64 accumulators" "$assay" scheme apply $scheme --type i16 --acc x/acc.npy --scale x/scale.npy $bounds -o out.npy
    same "codes of $scheme" out.npy x/result.npy
done
extract tflite/requant_floatscale_int16
runs 0 "apply, float scales" "$assay" scheme apply tflite-float-scale --type i16 --acc x/acc.npy --scale x/scale.npy $bounds -o out.npy
same "codes of float scales" out.npy x/result.npy
extract xnnpack/requant_rndnu_uint8
runs 0 "apply, unsigned" "$assay" scheme apply xnnpack-qu8-arm --type u8 --acc x/acc.npy --scale x/scale.npy $bounds -o out.npy --errors e.npy
extract nvdla/sdp_output_cvt_int8
runs 0 "apply, offset before" "$assay" scheme apply nvdla --type i8 --acc x/acc.npy --multiplier x/cvt_scale.npy --shift x/cvt_shift.npy --in-zp x/offset.npy -o out.npy
same "codes of NVDLA" out.npy x/result.npy
extract tosa/apply_scale_32_double_round
apply="$assay scheme apply tosa-double --type i32 --acc x/value.npy --multiplier x/multiplier.npy --shift x/shift.npy"
refused "a row that the target refuses" 'row [0-9]+: the target refuses' $apply -o none.npy
[ ! -e none.npy ] && ok "and no file" || not_ok "and no file"
runs 0 "rows marked" $apply -o out.npy --errors e.npy

# ---- bad arguments ----
rows="$assay scheme apply tflite --acc x/value.npy"
refused "no verb" "no verb 'scheme frob'" "$assay" scheme frob
refused "no name" 'usage: assay scheme show NAME' "$assay" scheme show
refused "no scheme" 'no scheme "nope"' "$assay" scheme show nope
refused "no such file" 'No such file' "$assay" scheme check ./nope.yaml
refused "option of another verb" "scheme show: no option '--errors'" "$assay" scheme show tflite --errors e
refused "try without a scale" 'scheme try: needs --acc' "$assay" scheme try tflite --acc 3
refused "both scale and multiplier" 'scheme try: needs' "$assay" scheme try tflite --acc 3 --scale 1 --multiplier 3 --shift 1
refused "a word for a number" "--acc takes a number" "$assay" scheme try tflite --acc x --scale 1
refused "scale that is not a power of two" 'not a power of two' "$assay" scheme try vta --acc 3 --scale 0.3
refused "negative scale" 'negative' "$assay" scheme try tflite --acc 3 --scale -0.3
refused "type" '--type takes' "$assay" scheme try tflite --acc 3 --scale 1 --type f32
printf 'scheme: same\ntypes: {weight_bits: 4}\n' >one.yaml
printf 'scheme: same\ntypes: {weight_bits: 5}\n' >other.yaml
refused "two schemes of one name" 'two schemes of the name "same"' "$assay" scheme diff ./one.yaml ./other.yaml
refused "in the matrix" 'two schemes of the name "same"' \
    "$assay" scheme matrix --schemes ./one.yaml,./other.yaml
refused "scale 0" '--scale 0 is zero' "$assay" scheme try tflite --acc 5 --scale 0
refused "a subnormal scale" 'is subnormal' "$assay" scheme try tflite --acc 5 --scale 1e-40
refused "a scale that is no number" 'not .nan.' "$assay" scheme try tflite --acc 5 --scale nan
refused "a negative scale" 'is negative' "$assay" scheme try tflite --acc 5 --scale -0.5
refused "shift beyond the operand" 'a left shift of 99; expected at most 31' \
    "$assay" scheme try tflite --acc 5 --multiplier 1073741824 --shift 99
refused "shift beyond the register" 'a right shift of 64; expected 0 to 63' \
    "$assay" scheme try npu16 --acc 5 --multiplier 6553 --shift 64
refused "multiplier beyond the register" 'multiplier 65537; expected at most 16 bits' \
    "$assay" scheme try npu16 --acc 5 --multiplier 65537 --shift 3
refused "zero point outside the type" 'zp 300 is outside i8' \
    "$assay" scheme try tflite --acc 5 --scale 0.5 --zp 300
refused "range" '--scale takes X' "$assay" scheme diff tflite ruy --scale 3:1
refused "range of accumulators" '--acc takes X' "$assay" scheme diff tflite ruy --scale 1 --acc a:b
refused "a multiplier for a float scheme" 'takes scales' "$assay" scheme try xnnpack-qs8 --acc 1 --multiplier 1 --shift 1
refused "no output" 'needs --acc' $rows --scale x/scale.npy
refused "floats as accumulators" 'expected integers' "$assay" scheme apply tflite --acc x/scale.npy --scale x/scale.npy -o o.npy
refused "integers as scales" 'expected float' $rows --scale x/value.npy -o o.npy
refused "not an array" 'npy|array' $rows --scale my-npu.yaml -o o.npy
extract nvdla/sdp_output_cvt_int16
mv x/acc.npy other.npy
extract tflite/requant_double_int8
refused "arrays of other lengths" 'elements; expected' "$assay" scheme apply tflite --acc x/acc.npy --scale x/scale.npy --zp other.npy -o o.npy
refused "nowhere to write" 'nowhere' "$assay" scheme apply tflite --acc x/acc.npy --scale x/scale.npy -o nowhere/o.npy
refused "thresholds are no multipliers" 'thresholds' "$assay" scheme derive finn-threshold --scale x/scale.npy --multiplier m.npy --shift h.npy
refused "name of a template" 'a name consists of' "$assay" scheme new 'a b'

finish
