#!/usr/bin/env bash
# The command line from outside, as TAP: the whole way from a float ONNX model to a diff, and bad
# input. A refusal is exit status 2, one line on stderr, no crash, nothing left behind.
#
#   cli.sh ASSAY SOURCE
set -u
. "$(dirname "$0")/tap.sh" "$@"

model=$source/datasets/models/res_dsconv.onnx
images=$source/datasets/glyphs
input=$("$assay" inspect "$model" | awk '$1 == "input" { print $2 }')
first=$(find "$images/test" -name '*.png' | sort | head -n 1)

# ---- a QDQ network, whose groups become integer nodes ----
nets=${ASSAY_SHARED:-$source/../shared}/golden/onnx/nets
if [ -d "$nets" ]; then
    runs 0 "inspect lists what a scheme leaves in float" \
        sh -c '"$1" inspect "$2" -s onnxruntime | grep -q "float: LayerNorm.*no integer form of layer normalization"' - \
        "$assay" "$nets/encoder_qdq_u8s8.onnx"
    runs 2 "unsigned codes under a scheme of signed ones" "$assay" golden "$nets/resnet8_qdq_u8s8.onnx" --batch 2 \
        -s npu16 -i "$nets/resnet8_x.npy" -o qdq-refused
    runs 0 "one line says why, and what runs it" test "$(grep -c "types.activation_signed.*--as-is" err)" = 1
    for s in onnxruntime tflite npu16; do
        runs 0 "a QDQ network under $s" "$assay" golden "$nets/resnet8_qdq_u8s8.onnx" --batch 2 -s $s \
            --as-is -i "$nets/resnet8_x.npy" -o qdq-$s
        runs 0 "its bundle verifies" "$assay" verify qdq-$s
    done
    runs 0 "a network as QDQ ONNX" "$assay" convert "$nets/resnet8_qlin_u8s8.onnx" --batch 2 -o made.onnx
    runs 0 "which runs" "$assay" golden made.onnx -s onnxruntime -i "$nets/resnet8_x.npy" -o qdq-made
    runs 0 "to the same bits" "$assay" diff qdq-onnxruntime qdq-made -q
    runs 1 "two schemes differ on it" "$assay" diff qdq-onnxruntime qdq-tflite -q
else
    skip "QDQ networks" "no shared files"
fi

cat >wide.assay <<'NET'
graph wide {
  input x: i16[1,2] q(0.001,0)
  const w: i8[2,2] q(0.01,0) = [1,2,3,4]
  y: i16[1,2] q(0.001,0) = fc(x,w)
  output y
}
NET
runs 0 "products of 16-bit codes as ONNX" "$assay" convert wide.assay -o wide.onnx
runs 0 "which reads" "$assay" inspect wide.onnx

# ---- the whole way ----
runs 0 "help" "$assay" --help
for c in inspect profile "profile merge" "profile show" quantize optimize check-proof convert run golden verify diff eval "eval merge" \
    scheme "scheme try" "scheme dot"; do
    # shellcheck disable=SC2086
    runs 0 "$c --help" "$assay" $c --help
    cp out of-command
    # shellcheck disable=SC2086
    runs 0 "help $c" "$assay" help $c
    cp out of-help
    runs 0 "the same" cmp of-help of-command
done
runs 0 "a verb's help has its options and no other verb's" \
    sh -c '"$1" help scheme dot | grep -q -- --scale-a && ! "$1" help scheme dot | grep -q -- --calibration' - "$assay"
for v in -V --version version "golden -V" "golden --version" "scheme try --version"; do
    # shellcheck disable=SC2086
    prints "^assay [0-9.]+$" "$v" "$assay" $v
done
runs 0 "inspect" "$assay" inspect "$model"
prints "^types: f32 [0-9]+" "inspect counts types" "$assay" inspect "$model"
printf 'graph p { input x: i8[1,2] q(0.1,0)\n const w: i8[2,2] q(axis=0,[0.1,0.2],[0,0]) = [1,1,1,1]\n y: i8[1,2] q(0.1,0) = fc(x, w)\n output y }\n' >p.assay
runs 0 "a fully connected node by channel as TFLite, with a warning" \
    sh -c '"$1" convert p.assay -o p.tflite 2>&1 | grep -q "warning: node .y. (fc) has a scale for each output channel"' - "$assay"
printf '\223NUMPY\001\000\072\000%s\n\003\004' "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 2)}" >p.npy
prints "^contract of tflite-2.9-x86: not claimed bit-exact fc 1$" "which 2.9 computes otherwise" \
    "$assay" golden p.tflite -s tflite-2.9-x86 -i p.npy -o p-2.9
prints "^contract of tflite: bit-exact fc 1$" "and its reference kernels as we do" \
    "$assay" golden p.tflite -s tflite -i p.npy -o p-ref
printf 'graph w { input x: bool[3]\n y: i64[2,1] = where(x) {count=2}\n z: f32[2,1] = cast(y)\n output z }\n' >w.assay
head -c 16 /dev/zero >sum.bin
cat >sum.assay <<'NET'
graph sum {
  input x: i8[1,4,4] q(0.1,3)
  y: i8[1,4,1] q(0.3,1) = reduce_sum(x) {axes=[2]}
  output y
}
NET
runs 0 "a warning of a sum of codes, which runtimes form otherwise" \
    sh -c '"$1" convert sum.assay -o sum.tflite 2>&1 | grep -q "warning: node .y. (reduce_sum) is SUM of codes; TensorFlow Lite 2.9 forms it in float32"' - "$assay"
runs 0 "no preset of theirs claims it" \
    sh -c 'for s in tflite-2.9-x86 litert-ref ruy; do "$1" golden sum.assay -s $s -i sum.bin -o sum-$s | grep -q "not claimed bit-exact reduce_sum 1" || exit 1; done' - "$assay"
runs 0 "a network whose shapes depend on data, as TFLite" "$assay" convert w.assay -o w.tflite
refused "which is not supported without an input" "WHERE: a shape depends on the contents of input 0 \(operator 0\)" \
    "$assay" inspect w.tflite
runs 0 "but shown, with what is not supported" \
    sh -c '"$1" inspect w.tflite | grep -q "0  WHERE  *y  *i64\[2,1\]  *not supported: WHERE: a shape depends"' - "$assay"
runs 0 "inspect the memory plan" "$assay" inspect "$model" --plan
runs 0 "profile" "$assay" profile "$model" -d "$images/calibration" -n 32 -o profile.yaml -q
runs 0 "profile on one thread" "$assay" profile "$model" -d "$images/calibration" -n 32 -j 1 -o one.yaml -q
runs 0 "profiles do not depend on threads" cmp profile.yaml one.yaml
runs 0 "quantize" "$assay" quantize "$model" -p profile.yaml -s tflite -o net.assay
runs 0 "run" "$assay" run net.assay -s tflite -i "$first" -o outputs
for form in onnx tflite; do
    runs 0 "as $form" sh -c '"$1" convert net.assay -o "net.$2" 2>/dev/null' - "$assay" "$form"
    runs 0 "whose output has the name that the network gave it" \
        sh -c "grep -q 'logits:codes' net.$form && ! grep -q 'logits:f32' net.$form"
    runs 0 "which runs" "$assay" golden net.$form -s tflite --as-is -i "$first" -o from-$form -q
    runs 0 "and has its names here again" grep -q '"name": "logits:f32"' from-$form/manifest.json
done
runs 0 "golden of the network" "$assay" golden net.assay -s tflite -i "$first" -o from-assay -q
runs 0 "the tensors of the exported network are those of the network, name by name" \
    sh -c '"$1" diff from-assay from-onnx | grep -q "^SAME: "' - "$assay"
runs 0 "golden from an image" "$assay" golden net.assay -s tflite -i "$first" --accumulators --format npy,raw,hex,c -o a
runs 0 "golden from a data set, quantized on the way" "$assay" golden "$model" -p profile.yaml -s tflite -d "$images/test" -n 2 -o two -q
runs 0 "golden under another scheme" "$assay" golden "$model" -p profile.yaml -s tflite-single -i "$first" -o b
runs 0 "verify" "$assay" verify a b two
runs 0 "verify by both engines" "$assay" verify a --engine both
refused "no engine" "engine is ref, fast or both, not 'slow'" "$assay" verify a --engine slow
runs 0 "a bundle equals itself" "$assay" diff a a
runs 0 "accumulators change nothing" "$assay" golden net.assay -s tflite -i "$first" -o plain
runs 0 "the same tensors without them" "$assay" diff a plain
runs 0 "digests only" "$assay" golden net.assay -s tflite -i "$first" --digests-only -o digests
runs 0 "digests equal the full bundle's" "$assay" diff digests a
runs 0 "no tensor is written with digests only" test ! -e digests/tensors
"$assay" diff a b --json diff.json --junit diff.xml >out 2>err
status=$?
if [ $status = 0 ] || [ $status = 1 ]; then ok "two schemes compare"; else not_ok "two schemes compare"; fi
runs 0 "the JSON report parses" /usr/bin/python3 -c 'import json; json.load(open("diff.json"))'
runs 0 "the JUnit report parses" /usr/bin/python3 -c 'import xml.dom.minidom as m; m.parse("diff.xml")'
cat >two.assay <<'TEXT'
graph two {
  input a: f32[1,4]
  input b: f32[1,4]
  s: f32[1,4] = add(a, b)
  y: f32[1,4] = relu(s)
  output y
}
TEXT
/usr/bin/python3 - <<'PY'
import numpy as np
for k in range(3):
    for name in "ab":
        np.save(f"{name}{k}.npy", np.full((1, 4), k - 1 if name == "a" else 2, "f4"))
PY
runs 0 "profile of two inputs, three samples, by name and in order" \
    "$assay" profile two.assay -i b=b0.npy -i a0.npy -i a=a1.npy -i b1.npy -i a2.npy -i b2.npy -o two.yaml
runs 0 "finds three samples" grep -q 'samples: \[\[0, 3\]\]' two.yaml
runs 0 "and their range" sh -c "grep -A 4 'name: \"*s\"*$' two.yaml | grep -q 'max: 3$'"
runs 0 "golden of two inputs" "$assay" golden two.assay -p two.yaml -s tflite -i a0.npy -i b0.npy -o of-two
refused "an input with fewer files than the others" "'b' has 1 file and others have 2" \
    "$assay" profile two.assay -i a0.npy -i b0.npy -i a1.npy
runs 0 "two samples of two inputs" "$assay" run two.assay -i a0.npy -i b0.npy -i a1.npy -i b1.npy -o two-runs
runs 0 "which have folders of their own" sh -c 'test "$(ls two-runs)" = "s00000
s00001"'
refused "a data set for two inputs" "2 inputs; a data set feeds one" "$assay" profile two.assay -d a0.npy
runs 0 "an input's shape from the command line" \
    sh -c '"$1" inspect "$2" --shape "$3=2x1x32x32" | grep -q "f32\[2,1,32,32\]"' - "$assay" "$model" "$input"
refused "a shape for no input" "has no input of that name" "$assay" inspect "$model" --shape nothing=1x1x32x32
refused "a shape that is none" "INPUT=DIMS" "$assay" inspect "$model" --shape "$input=2x"
refused "a shape for text form" "shapes are fixed" "$assay" inspect two.assay --shape a=2x4
runs 0 "eval" "$assay" eval "$model" -p profile.yaml -s tflite -d "$images/test" -n 64 -q
mkdir device && cp a/tensors/*.npy device/
runs 0 "a device's dumps without a manifest" "$assay" diff a device
/usr/bin/python3 - <<'PY'
import glob, numpy as np
f = sorted(glob.glob("device/*conv*.npy"))[0]
x = np.load(f); x.flat[0] += 1; np.save(f, x)
PY
runs 1 "one wrong element is found" "$assay" diff a device
runs 0 "and is within one LSB" "$assay" diff a device --max-lsb 1
rm -r device && mkdir device && cp a/tensors/*_dequantize_logits_f32.npy device/logits.npy
runs 0 "a device's floats under the name of their codes" "$assay" diff a device
/usr/bin/python3 -c 'import numpy as np
x = np.load("device/logits.npy"); x.flat[0] *= 1.5; np.save("device/logits.npy", x)'
runs 1 "a wrong one is found" "$assay" diff a device
runs 0 "and is within a threshold" "$assay" diff a device --rel logits=0.6
rm -r device && mkdir device && cp a/tensors/*.npy device/
mv device/*_dequantize_logits_f32.npy device/logits.npy && mv device/*_fc_logits.npy device/logits_codes.npy
runs 0 "codes and floats of an output by their names in an exported network" \
    sh -c '! "$1" diff a device | grep -q "not in the second\|not read"' - "$assay"
runs 0 "which blame reads, too" "$assay" blame a device
rm -r device && mkdir device && cp a/tensors/*_dequantize_logits_f32.npy device/logits.npy
/usr/bin/python3 -c 'import numpy as np
x = np.load("device/logits.npy"); x.flat[0] *= 1.5; np.save("device/logits.npy", x)'
mv device/logits.npy device/logits_f32.npy
runs 0 "a threshold of codes is one of their floats" "$assay" diff a device --rel logits=0.6
runs 1 "which may have their own" "$assay" diff a device --rel logits=0.6 --rel logits:f32=0.1
f=$(ls a/tensors/*conv*.npy | head -n 1)
printf 'x' | dd of="$f" bs=1 seek=200 conv=notrunc 2>/dev/null
runs 1 "verify finds a damaged file" "$assay" verify a

# ---- bad input ----
refused "no such command" "no command 'frobnicate'; 'assay --help'" "$assay" frobnicate
refused "a command mistyped" "no command 'goldn'; nearest: golden;" "$assay" goldn
refused "a command cut short" "nearest: quantize;" "$assay" quant
refused "help of one mistyped" "no command 'evla'; nearest: eval;" "$assay" help evla
refused "a second word mistyped" "no command 'profile shw'; nearest: profile show" "$assay" profile shw
refused "a verb mistyped" "no verb 'scheme aply'; nearest: apply;" "$assay" scheme aply tflite
refused "its help" "no verb 'scheme aply'; nearest: apply;" "$assay" help scheme aply
refused "no verb" "the verb comes first" "$assay" scheme
refused "an option of another verb" "scheme list: no option '--op'" "$assay" scheme list --op conv
refused "no such option" "no option '--frob'" "$assay" inspect --frob "$model"
refused "an option mistyped" "no option '--fromat'; nearest: --format;" "$assay" golden "$model" --fromat=hex
refused "a preset mistyped" "no scheme \"tflit\"; nearest: tflite;" "$assay" scheme show tflit
refused "a preset cut short" "nearest: xnnpack-qs8;" "$assay" run "$model" -s xnnpack
refused "one in a list" "no scheme \"npu61\"; nearest: npu16;" "$assay" scheme matrix --schemes tflite,npu61
refused "an op mistyped" "no op \"cnov\"; nearest: conv" "$assay" scheme show tflite --op cnov
refused "a format mistyped" "takes a list of npy, .*, not 'hx'" "$assay" golden net.assay -s tflite -i "$first" --format npy,hx -o x
refused "a kind mistyped" "precision: .*'?i8x'?" "$assay" quantize "$model" -p profile.yaml -s tflite --precision '*=i8x'
refused "no such model" "nowhere.onnx" "$assay" inspect nowhere.onnx
head -c 4000 "$model" >short.onnx
refused "truncated ONNX" "short.onnx" "$assay" inspect short.onnx
: >empty.onnx
refused "empty model" "empty.onnx" "$assay" inspect empty.onnx
for f in words.tflite words.assay words; do
    echo 'some other words' >$f
    refused "no network" "$f: not a network: neither text form .*, nor TFLite, nor ONNX" "$assay" inspect $f
done
cp words words.onnx
refused "no ONNX model" "words.onnx: not an ONNX model" "$assay" inspect words.onnx
refused "a folder that is not there" "nowhere/x: cannot create: there is no folder 'nowhere'" \
    "$assay" golden net.assay -s tflite -i "$first" -o nowhere/x
[ ! -d /proc/self ] || refused "a folder that takes no other" "^assay: /proc/x: cannot create: No such file" \
    "$assay" golden net.assay -s tflite -i "$first" -o /proc/x
refused "a page in one" "nowhere/p.html: cannot write: there is no folder 'nowhere'" \
    "$assay" profile show profile.yaml --html nowhere/p.html
refused "a folder of outputs in one" "nowhere/x: cannot create the folder: No such file" \
    "$assay" run net.assay -s tflite -i "$first" -o nowhere/x
refused "words of hex that is not asked for" "hex-bits applies to --format hex" \
    "$assay" golden net.assay -s tflite -i "$first" -o x --hex-bits 12
printf 'graph s { input x: f32[1,1024]\n y: f32[1,1024] = relu(x)\n output y }\n' >flat.assay
printf 'graph s { input x: f32[1,3,32,32]\n y: f32[1,3,32,32] = relu(x)\n output y }\n' >colours.assay
head -c 200 "$first" >short.png
mkdir unsaid && cp "$first" unsaid/a.png
refused "an image of another layout" 'preprocess.yaml .* could say: \{layout: NCHW, scale: 1/255\}' \
    "$assay" run "$model" -i unsaid/a.png
printf 'graph s { input x: f32[1,1,9,7]\n y: f32[1,1,9,7] = relu(x)\n output y }\n' >small.assay
refused "one of another size" 'could say: \{resize: \[9, 7\], layout: NCHW, scale: 1/255\}' \
    "$assay" run small.assay -i unsaid/a.png
refused "one that is a list" 'could say: \{layout: flat, scale: 1/255\}' "$assay" run flat.assay -i unsaid/a.png
refused "of other channels" 'could say: \{channel_order: RGB, layout: NCHW, scale: 1/255\}' "$assay" run colours.assay -i unsaid/a.png
printf 'graph s { input x: f32[1,5,32,32]\n y: f32[1,5,32,32] = relu(x)\n output y }\n' >five.assay
refused "of five channels" "; no key of preprocess.yaml makes its channels of the images' 1\$" "$assay" run five.assay -i unsaid/a.png
echo '{layout: flat, scale: 1/255}' >unsaid/preprocess.yaml
runs 0 "a list of the pixels" "$assay" run flat.assay -i unsaid/a.png
echo '{layout: NCHW, scale: 1/255}' >unsaid/preprocess.yaml
runs 0 "which then runs" "$assay" run "$model" -i unsaid/a.png
refused "a size that preprocessing leaves" 'holds float32 .1,1,32,32., .* could also say: \{resize: \[9, 7\]\}' \
    "$assay" run small.assay -i unsaid/a.png
refused "of every sample" 'unsaid: holds .* could also say: \{resize: \[9, 7\]\}' \
    "$assay" profile small.assay -d unsaid -o none.yaml
echo '{layout: NCHW, scale: 1/255, resize: [8, 8]}' >unsaid/preprocess.yaml
refused "or makes another" 'holds float32 .1,1,8,8., .* could also say: \{resize: \[9, 7\]\}' \
    "$assay" run small.assay -i unsaid/a.png
printf 'graph s { input x: f32[1,9,7,1]\n y: f32[1,9,7,1] = relu(x)\n output y }\n' >last.assay
refused "size and layout" 'could also say: \{resize: \[9, 7\], layout: NHWC\}' "$assay" run last.assay -i unsaid/a.png
echo '{layout: NCHW, scale: 1/255, resize: [9, 7]}' >unsaid/preprocess.yaml
runs 0 "which runs too" "$assay" run small.assay -i unsaid/a.png
refused "layout alone" 'could also say: \{layout: NHWC\}' "$assay" run last.assay -i unsaid/a.png
refused "truncated PNG" "short.png" "$assay" run "$model" -i short.png
head -c 100 outputs/*.npy >short.npy
refused "truncated npy" "short.npy" "$assay" run "$model" -i short.npy

# inputs of every kind of integer take what bundles write of them, and nothing beyond their codes
cat >kinds.assay <<'END'
graph kinds {
  input a: i4[2] q(0.5,0)
  input b: u6[2] q(0.5,0)
  input c: u32[2]
  ya: f32[2] = dequantize(a)
  yb: f32[2] = dequantize(b)
  yc: u32[2] = add(c, c)
  output ya, yb, yc
}
END
/usr/bin/python3 -c 'import numpy as np
np.save("i4.npy", np.array([-8, 7], "i1")); np.save("u6.npy", np.array([0, 63], "u1"))
np.save("u32.npy", np.array([0, 2**31 + 1], "u4")); np.save("i4-out.npy", np.array([-8, 8], "i1"))'
runs 0 "inputs of odd widths" "$assay" golden kinds.assay -s tflite -i a=i4.npy -i b=u6.npy -i c=u32.npy -o kinds
runs 0 "what a bundle wrote of them" "$assay" golden kinds.assay -s tflite -i "a=$(ls kinds/tensors/*_a.npy)" \
    -i "b=$(ls kinds/tensors/*_b.npy)" -i "c=$(ls kinds/tensors/*_c.npy)" -o kinds-again
same_tensors() { cmp "$1"/tensors/*_yc.npy "$2"/tensors/*_yc.npy && cmp "$1"/tensors/*_ya.npy "$2"/tensors/*_ya.npy; }
runs 0 "the same of them" same_tensors kinds kinds-again
refused "a code outside its type" "i4-out.npy: element 1 is 8, outside i4 of input 'a'" \
    "$assay" run kinds.assay -s tflite -i a=i4-out.npy -i b=u6.npy -i c=u32.npy
/usr/bin/python3 -c 'import numpy as np; np.save("shape.npy", np.zeros((1,3,7,7),"f4"))'
refused "wrong shape" "shape.npy.*input" "$assay" run "$model" -i shape.npy

# ---- proof-carrying rewrites ----
cat >chain.assay <<'END'
graph chain {
  input x: i8[4] q(0.1,0)
  a: i8[4] q(0.1,0) = relu(x)
  b: u8[4] q(0.1,10) = rescale(a)
  c: i8[4] q(0.23,0) = rescale(b)
  output c
}
END
runs 0 "optimize" "$assay" optimize chain.assay -s tflite --prove-to cert.json -o less.assay
cp out applied
runs 0 "tells what it applied" grep -q "b after a: exact: 256/256 codes equal" applied
runs 0 "the result is smaller" sh -c '[ $(grep -c rescale less.assay) = 1 ] && ! grep -q relu less.assay'
runs 0 "check-proof" "$assay" check-proof cert.json
sed 's/"exact"/"bounded"/' cert.json >edited.json
runs 1 "check-proof notices an edit" "$assay" check-proof edited.json
runs 2 "check-proof of no file" "$assay" check-proof no-such.json
refused "a pass of no such name" "no pass 'fold'" "$assay" optimize chain.assay -s tflite --passes fold
refused "an allowance of no such kind" "bounded:N" "$assay" optimize chain.assay -s tflite --allow some
refused "optimize without a scheme" "scheme" "$assay" optimize chain.assay
cat >padded.assay <<'NET'
graph padded {
  input x: i8[1,1,2,2] q(0.5,0)
  y: i8[1,1,4,4] q(0.5,0) = pad(x) {begin=[0,0,1,1], end=[0,0,1,1], value=1.5}
  z: i8[1,1,4,4] q(0.5,0) = relu(y)
  output z
}
NET
for allow in none bounded:2 any; do
    refused "optimize --allow $allow of what no engine runs" "node 'y': pad of codes .* fill 0 or -inf" \
        "$assay" optimize padded.assay -s tflite --allow $allow -o less-padded.assay
done
echo 'no certificate' >cert.txt
echo '{"steps": []}' >other.json
for file in cert.txt other.json; do
    refused "check-proof of $file" "not a certificate" "$assay" check-proof $file
done
refused "two pictures of one network" "one of --text, --json, --plan and --plan-svg" \
    "$assay" inspect chain.assay --plan --text
refused "a network with constants into no folder" "^assay: none/q.assay: cannot write: there is no folder 'none'" \
    "$assay" quantize "$model" --profile profile.yaml -s tflite -o none/q.assay

# ---- what a scheme's types do not admit, in every command that takes a network and a scheme ----
cat >points.assay <<'END'
graph points {
  input x: i8[1,4] q(0.5,3)
  const w: i8[2,4] q(0.25,0) = [5,-25,1,2,12,75,-1,1]
  y: i8[1,2] q(2,0) = fc(x, w)
  z: i8[1,2] q(2,0) = relu(y)
  output z
}
END
head -c 4 /dev/zero >four.bin
for command in "run points.assay -s nvdla -i four.bin" "golden points.assay -s nvdla -i four.bin -o points" \
    "optimize points.assay -s nvdla" "convert points.assay -s nvdla -o points2.assay"; do
    refused "zero points that a target has not: ${command%% *}" "points.assay: node 'y' .*activation_zero_point.*--as-is" \
        "$assay" $command
    runs 0 "as is" "$assay" $command --as-is
done
runs 2 "zero points that one side has not decide nothing" "$assay" scheme diff tflite nvdla --model points.assay
runs 0 "and that is said" test "$(grep -c "y .*outside the types of nvdla" out)" = 1
runs 1 "as is they are compared" "$assay" scheme diff tflite nvdla --model points.assay --as-is
runs 0 "in a matrix" "$assay" scheme matrix points.assay --schemes tflite,nvdla
runs 0 "they are left out" test "$(grep -c "nvdla does not have these types" out)" = 1
runs 0 "or compared" sh -c '"$1" scheme matrix points.assay --schemes tflite,nvdla --as-is | grep -q "^ *2  *[0-9]"' - "$assay"

refused "an input of another name" "no input 'nothing'" "$assay" run net.assay -s tflite -i "nothing=$first"
refused "two files behind one -i" "give each input file an -i of its own" "$assay" run net.assay -s tflite -i "$first" "$first"
refused "an option with nothing" "output needs a value" "$assay" golden net.assay -s tflite -i "$first" -o ''
refused "missing input" "is not given" "$assay" run net.assay -s tflite
refused "no scheme for a quantized network" "scheme" "$assay" run net.assay -i "$first"
refused "a scheme but no profile" "profile" "$assay" run "$model" -s tflite -i "$first"
refused "unknown preset" "no-such-scheme" "$assay" scheme show no-such-scheme
printf 'scheme: x\nrescale:\n  multiplyer_bits: 16\n' >key.yaml
refused "unknown key in a scheme" "key.yaml:3:.*multipl" "$assay" scheme check key.yaml
printf 'scheme: x\ntypes:\n  activation_bits: 33\n' >width.yaml
refused "impossible width in a scheme" "width.yaml:3:" "$assay" scheme check width.yaml
: >empty.yaml
refused "empty profile" "empty.yaml" "$assay" quantize "$model" -p empty.yaml -s tflite
head -c 3000 profile.yaml >short.yaml
refused "truncated profile" "short.yaml" "$assay" quantize "$model" -p short.yaml -s tflite
/usr/bin/python3 -c 'import numpy as np; np.save("nan.npy", np.full((2,1,32,32), np.nan, "f4"))'
"$assay" profile "$model" -d nan.npy -o nan.yaml -q >out 2>err
refused "a profile of nothing but NaN" "only NaN" "$assay" quantize "$model" -p nan.yaml -s tflite
refused "no bundle" "nowhere/manifest.json: not a golden bundle: .*No such file" "$assay" verify nowhere
refused "a profile of another network" "plain_cnn|profile" "$assay" quantize "$source/datasets/models/plain_cnn.onnx" -p profile.yaml -s tflite
refused "an existing bundle" "exists" "$assay" golden net.assay -s tflite -i "$first" -o b
refused "nothing to compare" "nothing compared|no tensor" "$assay" diff b "$images/calibration"
refused "no such side" "nowhere" "$assay" diff b nowhere
if [ "$(id -u)" != 0 ]; then
    mkdir locked && chmod 500 locked
    refused "an unwritable folder" "locked" "$assay" golden net.assay -s tflite -i "$first" -o locked/x
else
    refused "an unwritable folder" "/proc/" "$assay" golden net.assay -s tflite -i "$first" -o /proc/x
fi
mkdir small
if mount -t tmpfs -o size=96k none small 2>/dev/null; then
    refused "a full disk" "No space left|cannot write" "$assay" golden net.assay -s tflite -i "$first" -o small/x
    runs 0 "leaves nothing behind on a full disk" test -z "$(ls -A small)"
else
    skip "a full disk" "cannot mount a tmpfs here"
fi
finish
