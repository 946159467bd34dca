#!/usr/bin/env bash
# Sequences of inputs to a network with state, from outside, as TAP: run, golden, verify and diff, in the
# text form and as TFLite; and TFLite models whose shapes depend on data.
#
#   sequence.sh ASSAY SOURCE
set -u
. "$(dirname "$0")/tap.sh" "$@"

cp "$source/test/cli/total.assay" .
printf '\1\2' >x0.bin
printf '\3\4' >x1.bin
printf '\5\6' >x2.bin
# The last two bytes of a file are these elements.
holds() { [ "$(tail -c 2 "$1" | od -An -td1 | tr -s ' ')" = " $2 $3" ]; }

runs 0 "a network with state as TFLite" "$assay" convert total.assay -o total.tflite
for net in total.assay total.tflite; do
    prints "^step 2" "run $net: three steps" "$assay" run $net -s tflite -i x0.bin -i x1.bin -i x2.bin -o out-$net
    runs 0 "the state goes on" holds out-$net/s00002/0000_output_sum.npy 9 12
    prints "^$net.golden: 3 steps" "golden" "$assay" golden $net -s tflite -i x0.bin -i x1.bin -i x2.bin -o $net.golden
    runs 0 "the manifest says that they are steps" grep -q '"sequence": true' $net.golden/manifest.json
    runs 0 "verify goes through the steps" "$assay" verify $net.golden
done
runs 0 "the same tensors from both forms" "$assay" diff total.assay.golden total.tflite.golden
runs 0 "steps in another order" "$assay" golden total.tflite -s tflite -i x1.bin -i x0.bin -i x2.bin -o other
runs 1 "differ" "$assay" diff total.tflite.golden other
runs 0 "one step" "$assay" golden total.tflite -s tflite -i x0.bin -o single
runs 1 "is no sequence" grep -q sequence single/manifest.json
sed -i 's/"sequence": true/"sequence": false/' total.tflite.golden/manifest.json
runs 1 "as samples that begin anew they give other bits" "$assay" verify total.tflite.golden

# ---- a data set: samples of their own, unless they are said to be steps ----
cat x0.bin x1.bin x2.bin >all.bin
runs 0 "a data set's samples begin anew" "$assay" golden total.tflite -s tflite -d all.bin --raw i8:1x2 -o apart -q
runs 0 "each from the initial state" holds apart/tensors/s00002/0002_add_sum.npy 5 6
runs 0 "which verify does, too" "$assay" verify apart
runs 0 "with --sequence they are steps" "$assay" golden total.tflite -s tflite -d all.bin --raw i8:1x2 --sequence -o steps -q
runs 0 "the state goes on" holds steps/tensors/s00002/0002_add_sum.npy 9 12
runs 0 "verify" "$assay" verify steps

# ---- a network that hands its state in and out ----
cat >carry.assay <<'EOF'
graph carry {
  input x: i8[1,2] q(0.5,0)
  input past.0: i8[1,2] q(0.5,0)
  input wide: i8[1,3] q(0.5,0)
  present.0: i8[1,2] q(0.5,0) = add(x, past.0)
  more: i8[1,3] q(0.5,0) = relu(wide)
  output present.0
  output more
}
EOF
printf '\0\0\0' >w.bin
steps() { for k in 0 1 2; do printf ' -i x=x%s.bin -i wide=w.bin' $k; done; }
for state in past.0=present.0 'past.*=present.*'; do
    runs 0 "state by name: $state" sh -c '"$1" golden carry.assay -s tflite --state "$2" '"$(steps)"' -o carry -f' - "$assay" "$state"
    runs 0 "the state goes on" sh -c '[ "$(tail -c 2 "$1" | od -An -td1 | tr -s " ")" = " 9 12" ]' - carry/tensors/s00002/*_present.0.npy
    runs 0 "verify goes through the steps" "$assay" verify carry
    rm -r carry
done
refused "state of no input" "has no input of that name" "$assay" run carry.assay -s tflite --state none=present.0 -i x0.bin -o no
refused "of no output" "no output 'none'" "$assay" run carry.assay -s tflite --state past.0=none -i x0.bin -o no
refused "of another shape" "a cache that grows" "$assay" run carry.assay -s tflite --state past.0=more -i x0.bin -o no
refused "a star on one side" "each with a star or neither" "$assay" run carry.assay -s tflite --state 'past.*=more' -i x0.bin -o no

# ---- an ONNX network with its state named, profiled and judged over steps ----
cat >cache.assay <<'EOF'
graph cache {
  input x: f32[1,2]
  input past.0: f32[1,2]
  present.0: f32[1,2] = add(x, past.0)
  y: f32[1,2] = relu(present.0)
  output y
  output present.0
}
EOF
runs 0 "as ONNX" "$assay" convert cache.assay -o cache.onnx
/usr/bin/python3 - <<'PY'
import numpy as np
np.save("x.npy", np.arange(6, dtype="f4").reshape(3, 2))
for k in range(3):
    np.save(f"s{k}.npy", np.array([[2 * k, 2 * k + 1]], "f4"))
PY
state="cache.onnx --state past.*=present.*"
past() { grep -A 4 'name: "past.0"' $1 | grep -q "max: $2\$"; }
runs 0 "samples that begin anew" "$assay" profile $state -d x.npy -q -o anew.yaml
runs 0 "show no state" past anew.yaml 0
runs 0 "steps" "$assay" profile $state -d x.npy --sequence -q -o steps.yaml
runs 0 "show what is kept" past steps.yaml 4
runs 0 "so do files, one after another" "$assay" profile $state -i s0.npy -i s1.npy -i s2.npy -q -o files.yaml
runs 0 "which are steps" past files.yaml 4
refused "steps in shards" "--shard splits the samples" "$assay" profile $state -d x.npy --sequence --shard 1/3 -o no.yaml
runs 0 "golden of the steps" "$assay" golden $state -p steps.yaml -s tflite -d x.npy --sequence -q -o kept
runs 0 "verify" "$assay" verify kept
runs 0 "eval of the steps, with four threads" sh -c '"$1" eval $2 -p steps.yaml -s tflite -d x.npy --sequence -q -j 4 >four' - "$assay" "$state"
runs 0 "and with one" sh -c '"$1" eval $2 -p steps.yaml -s tflite -d x.npy --sequence -q -j 1 | cmp - four' - "$assay" "$state"
runs 0 "eval of samples" sh -c '"$1" eval $2 -p steps.yaml -s tflite -d x.npy -q >anew' - "$assay" "$state"
runs 1 "which begin anew" cmp -s anew four
runs 0 "sensitivity over steps" "$assay" sensitivity $state -p steps.yaml -s tflite -d x.npy --sequence -q

# ---- a cache before its first row ----
cat >attend.assay <<'EOF'
graph attend {
  input x: f32[1,2,1,4]
  input past: f32[1,2,3,4]
  k: f32[1,2,4,4] = concat(past, x) {axis=2}
  s: f32[1,2,1,4] = matmul(x, k) {transpose_b=true}
  p: f32[1,2,1,4] = softmax(s)
  y: f32[1,2,1,4] = matmul(p, k)
  output y
  output k
}
EOF
runs 0 "attention behind a past" "$assay" convert attend.assay -o attend.onnx
/usr/bin/python3 - <<'PY'
import numpy as np
np.save("one.npy", np.arange(8, dtype="f4").reshape(1, 2, 1, 4))
np.save("empty.npy", np.zeros((1, 2, 0, 4), "f4"))
PY
first="attend.onnx --shape past=1x2x0x4"
inputs="-i x=one.npy -i past=empty.npy"
runs 0 "its first step" "$assay" profile $first $inputs -q -o first.yaml
runs 0 "in codes, by both engines" "$assay" golden $first -p first.yaml -s tflite $inputs --engine both -o first
runs 0 "verify" "$assay" verify first
runs 0 "without a file for what has no elements" "$assay" golden $first -p first.yaml -s tflite -i one.npy -o first-x
runs 0 "the same" "$assay" diff first first-x
runs 0 "nor a data set" "$assay" golden $first -p first.yaml -s tflite -d one.npy -q -o first-d
runs 0 "the same" "$assay" diff first first-d
runs 0 "verify" "$assay" verify first-d
runs 0 "profile and eval" sh -c '"$1" profile $2 -d one.npy -q -o d.yaml && "$1" eval $2 -p d.yaml -s tflite -d one.npy -q' - "$assay" "$first"
for form in onnx tflite; do
    runs 0 "as $form" "$assay" quantize $first -p first.yaml -s tflite -o first-q.$form
    runs 0 "which runs" "$assay" golden first-q.$form -s tflite $inputs -o first-$form
    runs 0 "to the same bits" cmp first/tensors/*_matmul_y.npy first-$form/tensors/*_matmul_y.npy
done
finish
