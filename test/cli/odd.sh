#!/usr/bin/env bash
# Odd uses of the command line, as TAP: each is refused with status 2 and one line that says what is
# wrong, before any work is done.
#
#   odd.sh ASSAY SOURCE
set -u
. "$(dirname "$0")/tap.sh" "$@"

cat >two.assay <<'NET'
graph two {
  input a: f32[1,4]
  input b: f32[1,4]
  const c: f32[1,16] = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16.5]
  s: f32[1,4] = add(a, b)
  y: f32[1,20] = concat(s, c) {axis=1}
  output y
}
NET
# 4000 floats, which a text file has beside it
{
    echo 'graph large { input x: f32[4000]'
    echo "const w: f32[4000] = [$(seq -s, 4000)]"
    echo 'y: f32[4000] = add(x, w) output y }'
} >large.assay
: >empty
mkdir folder folder.assay
head -c 16 /dev/zero >zeros.bin

# ---- the form of a network goes by the ending of its name, and by nothing else ----
forms='must end in .assay .text form., .onnx or .tflite'
for name in x x.tflitee x.ASSAY x.onnx.bak .onnx .assay x.d/.tflite x.txt folder; do
    refused "convert to $name" "^assay: $name: .*$forms" "$assay" convert two.assay -o "$name"
done
refused "convert to a folder" "folder.assay: is a folder" "$assay" convert two.assay -o folder.assay
for command in "quantize two.assay -p none -s tflite" "optimize two.assay -s tflite" \
    "tune two.assay -p none -s tflite -d none" "convert none"; do
    # shellcheck disable=SC2086
    refused "$command -o x.tflitee, before anything is read" "^assay: x.tflitee: .*$forms" \
        "$assay" $command -o x.tflitee
done
runs 0 "nothing is written" test -z "$(find . -name 'x*')"
for name in x.assay x.onnx x.tflite ./.x.assay; do
    runs 0 "convert to $name" "$assay" convert two.assay -o "$name"
    runs 0 "which is a network" "$assay" inspect "$name"
done

# ---- what an argument holds does not break the line ----
for odd in $'a\nb' $'a\rb' $'a\033[31mb'; do
    refused "$(printf 'a control character: %q' "$odd"), as a number" "takes a number.*'a?" \
        "$assay" run two.assay -i zeros.bin --node-threads "$odd"
    refused "as a command" "a?.*b" "$assay" "$odd"
    refused "as an option" "a?.*b" "$assay" inspect two.assay "--$odd"
    refused "as a file" "a?.*b" "$assay" inspect "$odd"
done

# ---- standard output holds the file and nothing else ----
runs 0 "a network to standard output" "$assay" convert large.assay -o -
cp out piped.assay
runs 0 "is the network, whole" "$assay" inspect piped.assay
runs 0 "and has no folder beside it" test -z "$(find . -name '*.d')"
runs 0 "what is said of it goes elsewhere" grep -q '^-: 1 node$' <("$assay" convert large.assay -o - 2>&1 >/dev/null)
mkfifo pipe
timeout 60 cat pipe >through.assay &
runs 0 "a network into a pipe" "$assay" convert large.assay -o pipe
wait $!
runs 0 "is the same" cmp through.assay piped.assay

# ---- files that are not what they are given as ----
/usr/bin/python3 - <<'PY'
import struct
def npy(path, descr, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head += " " * (117 - len(head)) + "\n"
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
npy("f4.npy", "<f4", (1, 4), bytes(16))
npy("i8.npy", "<i8", (1, 4), bytes(32))
npy("c8.npy", "<c8", (1, 4), bytes(32))
npy("more.npy", "<f4", (4, 4), bytes(64))
npy("none.npy", "<f4", (0, 4), b"")
npy("patterns.npy", "|u1", (1, 4), bytes((2, 7, 9, 0)))
npy("void.npy", "|V1", (1, 4), bytes((2, 7, 9, 0)))
npy("beyond.npy", "|u1", (1, 4), bytes((2, 7, 16, 0)))
PY
run() { # NAME PATTERN ARGUMENTS
    local name=$1 pattern=$2
    shift 2
    refused "$name" "$pattern" "$assay" run two.assay "$@"
}
refused "a folder as a network" "^assay: folder: is a folder" "$assay" inspect folder
refused "an empty network" "^assay: empty: the file is empty" "$assay" inspect empty
run "no input" "^assay: input 'a' is not given; --input"
run "one input of two" "^assay: input 'b' is not given; --input b=FILE gives it" -i f4.npy
run "the second alone" "^assay: input 'a' is not given; --input a=FILE gives it" -i b=f4.npy
run "three files for two" "'b' has 1 file and others have 2; each sample takes one" -i f4.npy -i f4.npy -i f4.npy
run "other elements" "i8.npy: holds int64 .1,4., but input 'b' takes f32.1,4." -i f4.npy -i i8.npy
run "elements of no kind" "c8.npy: npy element type '<c8' is not supported" -i c8.npy -i f4.npy
run "another shape" "more.npy: holds float32 .4,4., but input 'a' takes" -i more.npy -i f4.npy
# patterns of small floats: unsigned, or raw bytes as ml_dtypes' arrays are saved
echo 'graph p { input x: f4e2m1[1,4] const s: f32[1,1] = [2] y: f32[1,4] = float_decode(x, s) {block=[1,4]} output y }' >patterns.assay
echo 'graph p { input x: f4e2m1[1,4] y: f4e2m1[1,4] = relu(x) output y }' >relu.assay
for given in patterns void; do
    runs 0 "$given as fp4" "$assay" run patterns.assay -i "$given.npy"
    runs 0 "are their numbers" grep -q '^ *1  12$' <("$assay" run patterns.assay -i "$given.npy")
done
refused "a pattern beyond fp4" "beyond.npy: element 2 is 16, outside f4e2m1 of input 'x'" "$assay" run patterns.assay -i beyond.npy
refused "no number made of them" "the float engine has no relu of f4e2m1" "$assay" run relu.assay -i patterns.npy
run "no elements" "none.npy: holds float32 .0,4., but input 'a' takes" -i none.npy -i f4.npy
cp f4.npy f4.npz
run "another format" "f4.npz: holds 144 bytes, but .* takes 16 .*read as raw bytes" -i f4.npz -i f4.npy
run "an empty input" "empty: holds 0 bytes, but input 'a' takes 16" -i empty -i f4.npy
run "a folder as an input" "folder: is a folder" -i folder -i f4.npy
run "a file for outputs" "^assay: empty: is not a folder" -i f4.npy -i f4.npy -o empty
run "outputs in no folder" "none/x: cannot create the folder: No such" -i f4.npy -i f4.npy -o none/x
runs 0 "raw bytes as inputs" "$assay" run two.assay -i zeros.bin -i zeros.bin
odd=$(printf 'caf\351')
cp zeros.bin "$odd"
cp two.assay "$odd.assay"
runs 0 "names of no UTF-8" "$assay" golden "$odd.assay" -i "$odd" -i zeros.bin -o "$odd.golden"
runs 0 "which verify, in a manifest of UTF-8" sh -c '"$1" verify "$2" && iconv -f UTF-8 "$2/manifest.json" >/dev/null' - "$assay" "$odd.golden"

# ---- what no kernel computes is refused with the node before any input is read ----
node() { # NAME PATTERN NETWORK: what the network, quantized, is refused with
    echo "graph g { $3 }" >node.assay
    refused "$1" "node 'y' $2" "$assay" golden node.assay -s tflite -i none -o of-node
}
x="input x: i8[1,1,4,4] q(0.1,0)"
node "a cubic resize of codes" ".resize.: in integers it is nearest, or linear over 1 or 2 spatial axes" \
    "$x y: i8[1,1,8,8] q(0.1,0) = resize(x) {mode=cubic, size=[1,1,8,8]} output y"
node "a linear one of channels" ".resize.: in integers it is nearest" \
    "$x y: i8[1,2,8,8] q(0.1,0) = resize(x) {mode=linear, size=[1,2,8,8]} output y"
node "a linear one over three axes" ".resize.: in integers it is nearest" \
    "input x: i8[1,1,2,2,2] q(0.1,0) y: i8[1,1,4,4,4] q(0.1,0) = resize(x) {mode=linear, size=[1,1,4,4,4]} output y"
for of in "u8[4] q(0.1,0)" "i8[4] q(0.2,0)" "i8[4] q(0.1,1)"; do
    node "choices of i8[4] q(0.1,0) and $of" ".select.: the choices differ in element kind or parameters" \
        "input c: bool[4] input a: i8[4] q(0.1,0) input b: $of y: i8[4] q(0.1,0) = select(c, a, b) output y"
    node "parts" ".concat.: kind or parameters of input 1 differ" \
        "input a: i8[4] q(0.1,0) input b: $of y: i8[8] q(0.1,0) = concat(a, b) {axis=0} output y"
done
node "the greatest of none" ".arg_max.: axis 1 is empty" \
    "input x: i8[2,0] q(0.1,0) y: i64[2,1] = arg_max(x) {axis=1} output y"
cat >volume.assay <<'NET'
graph volume {
  input x: f32[1,1,2,2,2]
  r: f32[1,1,2,2,2] = relu(x)
  y: f32[1,1,4,4,4] = resize(r) {mode=linear, size=[1,1,4,4,4]}
  output y
}
NET
head -c 32 /dev/zero >volume.bin
"$assay" profile volume.assay -i volume.bin -q -o volume.yaml >profiled
prints "float: y  *resize .*no integer form of linear resize over other than 1 or 2" "quantize leaves such a resize in float" \
    "$assay" quantize volume.assay -p volume.yaml -s tflite -o volume8.assay
runs 0 "and what it makes runs" "$assay" run volume8.assay -s tflite -i volume.bin

# ---- DequantizeLinear of what has no code here: one line with the initializer and its type ----
/usr/bin/python3 - <<'PY'
def field(number, value):
    if isinstance(value, int):
        return bytes([number << 3, value])
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(value)]) + value
def model(path, dtype, size):
    node = b"".join(field(*f) for f in ((1, "w"), (1, "s"), (2, "d"), (3, "dq"), (4, "DequantizeLinear")))
    tensors = (field(1, 4) + field(2, dtype) + field(8, "w") + field(9, bytes(size)),
               field(2, 1) + field(8, "s") + field(9, b"\0\0\0\x3f"))
    out = field(1, "d") + field(2, field(1, field(1, 1) + field(2, field(1, field(1, 4)))))
    graph = field(1, node) + field(2, "g") + b"".join(field(5, t) for t in tensors) + field(12, out)
    open(path, "wb").write(field(1, 10) + field(8, field(2, 23)) + field(7, graph))
model("int8.onnx", 3, 4)
for dtype, size in ((14, 32), (17, 4), (18, 4), (19, 4), (20, 4), (23, 2), (24, 4)):
    model(f"type{dtype}.onnx", dtype, size)
PY
runs 0 "of int8" "$assay" inspect int8.onnx
for type in 17 18 19 20 23; do
    runs 0 "of type $type" "$assay" inspect "type$type.onnx"
done
refused "of float8e8m0, which are scales" "node 'dq' .DequantizeLinear.: codes of type float8e8m0$" "$assay" inspect type24.onnx
refused "of complex numbers" "initializer 'w': element type 14 .complex64.$" "$assay" inspect type14.onnx

# ---- options that nothing given is read with ----
picture=$source/datasets/glyphs/test/0000_A.png
refused "--raw beside a PNG" "every --input is .npy or .png" "$assay" run two.assay -i "$picture" -i f4.npy --raw u8:4
refused "--preprocess beside .npy" "no --input is one" "$assay" run two.assay -i f4.npy -i f4.npy --preprocess p.yaml
for option in "--labels empty" "--first 1" "--limit 1"; do
    # shellcheck disable=SC2086
    refused "$option beside --input" "^assay: ${option% *} applies to --dataset" \
        "$assay" golden two.assay -i f4.npy -i f4.npy $option -o beside
done
refused "--raw of a folder" "raw samples, and this is a folder" \
    "$assay" profile large.assay -d "$source/datasets/glyphs/test" --raw u8:32x32 -o p.yaml
refused "two data sets of one input" "eval: 'other' is one argument too many; usage: assay eval MODEL" \
    "$assay" eval two.assay -d some other
refused "two networks for one" "inspect: 'x' is one argument too many" "$assay" inspect two.assay x
refused "two schemes for one" "scheme show: 'ruy' is one argument too many; usage: assay scheme show NAME" \
    "$assay" scheme show tflite ruy
refused "--raw of a PNG" "raw samples, and this is a PNG" \
    "$assay" profile large.assay -d "$picture" --raw u8:32x32 -o p.yaml

refused "how to quantize, without a profile" "run: --precision says how to quantize .* needs --profile" \
    "$assay" run two.assay -i f4.npy -i f4.npy --precision '*=i16'
refused "--literal of what is quantized here" "run: --literal applies to networks that come quantized" \
    "$assay" run two.assay -p two.yaml -s tflite -i f4.npy -i f4.npy --literal
refused "two files to standard output" "optimize: --output and --prove-to both write to standard output" \
    "$assay" optimize two.assay -s tflite -o - --prove-to -

# ---- a bundle whose folder is a link elsewhere ----
"$assay" golden two.assay -i f4.npy -i f4.npy -o linked >/dev/null 2>&1
cp -r linked/tensors tensors && rm -r linked/tensors && ln -s ../tensors linked/tensors
refused "tensors that are a link" "linked/tensors/.*: a part of it is a symbolic link, which is not followed here" \
    "$assay" diff linked linked

# ---- profiles and data sets of another kind ----
"$assay" profile two.assay -i f4.npy -i f4.npy -q -o two.yaml >/dev/null
refused "a profile of another network names itself" "^assay: two.yaml: profile is of another network" \
    "$assay" quantize large.assay -p two.yaml -s tflite
refused "a network as a profile" "^assay: two.assay:1: expected a profile" "$assay" quantize large.assay -p two.assay -s tflite
refused "an empty profile" "^assay: empty:1: expected a profile" "$assay" profile show empty
refused "labels that name no sample" "^assay: empty: lists no sample" \
    "$assay" profile large.assay -d "$source/datasets/glyphs/test" --labels empty -o p.yaml
mkdir single && cp f4.npy single/
echo 'graph batched { input x: f32[3,1,4] y: f32[3,1,4] = relu(x) output y }' >batched.assay
refused "single samples into a batch are shown as they are stored" "^assay: single: holds float32 .1,4., but input 'x' takes f32.3,1,4.$" \
    "$assay" profile batched.assay -d single -o p.yaml
refused "forms of nothing" "golden: --format applies to tensors, and --digests-only writes none" \
    "$assay" golden two.assay -i zeros.bin --format hex --digests-only -o nothing
refused "words of no bits" "--hex-bits takes a number from 1" \
    "$assay" golden two.assay -i f4.npy -i f4.npy --format hex --hex-bits 0 -o hex
refused "a range the wrong way round" "LO not above HI, not '5:1'" \
    "$assay" scheme diff tflite ruy --scale 0.1 --acc 5:1

# ---- drawings are UTF-8 whatever names are: characters are not cut, other bytes are \\xHH ----
for pad in "" a aa aaa aaaa; do
    long=$pad$(printf 'h\303\266he\342\202\254\360\237\230\200%.0s' 1 2 3 4 5 6 7 8 9 10 11 12)
    printf 'graph g {\n input x: f32[4]\n "%s": f32[4] = relu(x)\n output "%s"\n}\n' "$long" "$long" >long.assay
    "$assay" profile long.assay -i zeros.bin -q -o long.yaml >profiled
    for drawing in "profile show long.yaml --svg -" "profile show long.yaml --html -" "inspect long.assay --plan-svg"; do
        # shellcheck disable=SC2086
        runs 0 "$drawing, ${#long} characters" sh -c '"$@" | iconv -f UTF-8 -t UTF-8 | grep -q "svg"' - "$assay" $drawing
    done
done
printf 'graph g {\n input x: f32[4]\n "of \377 byte": f32[4] = relu(x)\n output "of \377 byte"\n}\n' >byte.assay
runs 0 "a byte of no UTF-8 in a drawing" sh -c '"$1" inspect byte.assay --plan-svg | grep -q "of .xff byte"' - "$assay"

finish
