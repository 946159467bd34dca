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
forms='ends in .assay .text form., .onnx or .tflite'
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

# ---- standard output holds the file and nothing else ----
runs 0 "a network to standard output" "$assay" convert large.assay -o -
cp out piped.assay
runs 0 "is the network, whole" "$assay" inspect piped.assay
runs 0 "and has no folder beside it" test -z "$(find . -name '*.d')"
runs 0 "what is said of it goes elsewhere" grep -q '^-: 1 nodes$' <("$assay" convert large.assay -o - 2>&1 >/dev/null)
mkfifo pipe
cat pipe >through.assay &
runs 0 "a network into a pipe" "$assay" convert large.assay -o pipe
wait $!
runs 0 "is the same" cmp through.assay piped.assay

finish
