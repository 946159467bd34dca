#!/usr/bin/env bash
# `assay profile`, its shards and drawings from outside, as TAP; profiles that do not fit or lie.
#
#   profile.sh ASSAY SOURCE
set -u
. "$(dirname "$0")/tap.sh" "$@"
model=$source/datasets/models/res_dsconv.onnx
images=$source/datasets/glyphs

# ---- shards: the same bytes as one run, in any order and grouping ----
runs 0 "one run" "$assay" profile "$model" -d "$images/calibration" -n 50 --per-channel-of '/[Fs]*' -q -o one.yaml
for n in 1 2 7 16; do
    parts=()
    for ((k = 1; k <= n; k++)); do
        "$assay" profile "$model" -d "$images/calibration" -n 50 --per-channel-of '/[Fs]*' -q --shard $k/$n -o "of$n-$k.yaml" >out 2>err ||
            not_ok "shard $k/$n"
        parts+=("of$n-$k.yaml")
    done
    mapfile -t parts < <(printf '%s\n' "${parts[@]}" | shuf)
    echo "# order: ${parts[*]}"
    runs 0 "merge $n shards in random order" "$assay" profile merge "${parts[@]}" -o "of$n.yaml"
    runs 0 "$n shards give the bytes of one run" cmp one.yaml "of$n.yaml"
done
mapfile -t parts < <(shuf -e of16-*.yaml)
runs 0 "some shards first" "$assay" profile merge "${parts[@]:0:9}" --partial -o group1.yaml
runs 0 "the others" "$assay" profile merge "${parts[@]:9}" --partial -o group2.yaml
runs 0 "then the groups" "$assay" profile merge group2.yaml group1.yaml -o grouped.yaml
runs 0 "and it is one run's file" cmp one.yaml grouped.yaml

# ---- refused by name ----
refused "a shard twice" "of7-3.yaml: sample [0-9]+ is already in the profile: shards overlap" \
    "$assay" profile merge of7-1.yaml of7-3.yaml of7-3.yaml -o bad.yaml
refused "a missing shard" "sample 7 of \[0, 50\) is missing" \
    "$assay" profile merge of7-1.yaml of7-3.yaml of7-4.yaml of7-5.yaml of7-6.yaml of7-7.yaml -o bad.yaml
refused "the last shard missing" "sample 42 of \[0, 50\) is missing" \
    "$assay" profile merge of7-1.yaml of7-2.yaml of7-3.yaml of7-4.yaml of7-5.yaml of7-6.yaml -o bad.yaml
runs 1 "nothing is written then" test -e bad.yaml
refused "a shard is no profile to quantize with" "of7-2.yaml: profile is not complete: sample 0" \
    "$assay" quantize "$model" -p of7-2.yaml -s tflite
runs 0 "another model's profile" "$assay" profile "$source/datasets/models/plain_cnn.onnx" -d "$images/calibration" -n 50 -q -o other.yaml
refused "shards of two models" "other.yaml: .*model is" "$assay" profile merge of2-1.yaml other.yaml -o bad.yaml
sed 's/^preprocessing: "/&gray /' of2-2.yaml >gray.yaml
refused "other preprocessing" "gray.yaml: .*preprocessing is" "$assay" profile merge of2-1.yaml gray.yaml -o bad.yaml
runs 0 "another data set" "$assay" profile "$model" -d "$images/test" -n 50 --shard 2/2 --per-channel-of '/[Fs]*' -q -o test.yaml
refused "shards of two data sets" "test.yaml: .*dataset is 'calibration' in one and 'test'" \
    "$assay" profile merge of2-1.yaml test.yaml -o bad.yaml
runs 0 "fewer samples" "$assay" profile "$model" -d "$images/calibration" -n 40 --shard 2/2 --per-channel-of '/[Fs]*' -q -o forty.yaml
refused "shards of other selections" "one is of samples \[0, 50\), the other of \[0, 40\)" \
    "$assay" profile merge of2-1.yaml forty.yaml -o bad.yaml
runs 0 "without channels" "$assay" profile "$model" -d "$images/calibration" -n 50 --shard 2/2 -q -o plain.yaml
refused "channels in one shard only" "channels in one and 0 in the other" \
    "$assay" profile merge of2-1.yaml plain.yaml -o bad.yaml
sed 's/scale=/scale=1/' one.yaml >scaled.yaml
for command in eval golden sensitivity tune; do
    refused "other preprocessing: $command" "scaled.yaml: .*taken with preprocessing '.*', but .*test is read with" \
        "$assay" $command "$model" -p scaled.yaml -s tflite -d "$images/test" -n 2 -q
done
for bad in 0/4 5/4 3 a/b 1/0 1/2x 1/51; do
    refused "--shard $bad" "shard" "$assay" profile "$model" -d "$images/calibration" -n 50 --shard $bad -q -o bad.yaml
done
refused "merge without -o" "-o FILE is needed" "$assay" profile merge one.yaml

# ---- files that lie ----
lie() { # NAME PATTERN SED-SCRIPT
    sed "$3" one.yaml >lie.yaml
    cmp -s one.yaml lie.yaml && not_ok "$1: the edit changes nothing"
    refused "$1" "lie.yaml:[0-9]+: .*($2)" "$assay" quantize "$model" -p lie.yaml -s tflite
}
lie "min > max" "value '/Flatten_output_0': min" '0,/^  min: .*/s//  min: 99/'
lie "NaN for a range" "max: expected a finite number, found 'nan'" '0,/^  max: .*/s//  max: nan/'
lie "a wrong count" "counts add up to" '0,/^  finite: .*/s//  finite: 7/'
lie "a missing key" "expected key 'exponent'" '0,/^  exponent: .*/{/^  exponent: .*/d}'
lie "channels that do not add up" "'/Flatten_output_0': its channels do not add up" '0,/^    nan: .*/s//    nan: 1/'
lie "a channel with min > max" "'/Flatten_output_0', channel 0: min 99 is greater than max" '0,/^    min: .*/s//    min: 99/'
lie "a channel with a wrong count" "channel 0: counts add up to" '0,/^    finite: .*/s//    finite: 7/'
lie "a range that is not its data's" "exponent 9 does not belong to" '0,/^  exponent: .*/s//  exponent: 9/'
lie "samples outside of the whole" "outside of the whole" 's/^samples: .*/samples: [[0, 90]]/'
lie "a step that is none" "step: expected an integer" '0,/^  step: .*/s//  step: -1/'
lie "another format" "format: expected an integer in \[5, 6\]" 's/^format: .*/format: 1/'
awk '/^- name:/ { gone = $3 == "\"/stem/act/Clip_output_0\"" } !gone' one.yaml >less.yaml
refused "a value that is missing" "taken on this network, but 1 value\(s\) are missing in it: '/stem/act/Clip_output_0'" \
    "$assay" quantize "$model" -p less.yaml -s tflite
refused "another network's profile" "another network: .* are not in it" \
    "$assay" quantize "$source/datasets/models/plain_cnn.onnx" -p one.yaml -s tflite

# ---- show ----
prints '/Flatten_output_0 +0 ' "a table of ranges" "$assay" profile show one.yaml
prints '  channel 0 .* i8 ' "and of channels" "$assay" profile show one.yaml --channels --value '*stem*'
prints ' u4 ' "of another type" "$assay" profile show one.yaml --type u4
prints 'KL cannot judge' "what a calibration cannot do" "$assay" profile show one.yaml --type i16 --calibration kl
"$assay" profile show one.yaml --type i8 >asymmetric.txt
"$assay" profile show one.yaml --type i8 --symmetry symmetric >now.txt
runs 0 "an option's old spelling is its alias" sh -c '"$1" profile show one.yaml --type i8 --schema symmetric | cmp - now.txt' - "$assay"
runs 1 "which changes the codes" cmp -s asymmetric.txt now.txt
prints '--symmetry NAME' "the help has the new one" "$assay" profile show --help
runs 1 "and not the old" sh -c '"$1" profile show --help | grep -q -e --schema' - "$assay"
refused "no such symmetry" "symmetry is asymmetric" "$assay" profile show one.yaml --schema round
refused "channels that were not profiled" "plain.yaml: it has no channels" "$assay" profile show plain.yaml --channels
runs 0 "a drawing of channels" "$assay" profile show one.yaml --channels --value '*stem/act*' --svg c.svg
prints ', channel 5' "names them" cat c.svg
runs 0 "channels of all values" "$assay" profile "$model" -d "$images/calibration" -n 5 --per-channel -q -o all.yaml
prints '  channel 33 ' "the last one's too" "$assay" profile show all.yaml --channels --value logits
runs 0 "channels of some values" "$assay" profile "$model" -d "$images/calibration" -n 5 --per-channel-of '*/stem/*' -q -o stem.yaml
prints '  channel 7 ' "have them" "$assay" profile show stem.yaml --channels --value '*/stem/act*'
refused "of values that do not exist" "'nobody': no value has such a name" \
    "$assay" profile "$model" -d "$images/calibration" --per-channel-of nobody -q -o bad.yaml
runs 0 "histograms as SVG" "$assay" profile show one.yaml --svg p.svg
runs 0 "which is XML" /usr/bin/python3 -c 'import xml.dom.minidom as m; m.parse("p.svg")'
runs 0 "with counts at its side" grep -q '>1e1</text>' p.svg
runs 0 "a page of it" "$assay" profile show one.yaml --scheme npu16 --html p.html
runs 0 "which names the scheme" grep -q '<h1>one.yaml under npu16</h1>' p.html
runs 0 "its values in the order of execution" \
    sh -c 'grep -o "#v[0-9]*\">[^<]*" p.html | head -n 2 | tr "\n" " " | grep -q "#v0\">image #v1\">/stem"' -
runs 0 "as in the table" sh -c '"$1" profile show one.yaml | sed -n 3p | grep -q ^image' - "$assay"
sed 's/^format: 6/format: 5/; /^  step: /d' one.yaml >old.yaml
prints '^/Flatten_output_0' "by name where an older file does not say" sh -c '"$1" profile show old.yaml | sed -n 3p' - "$assay"
printf 'scheme: mine\nextends: npu16\n' >by-file.yaml
runs 0 "a page of a scheme from a file" "$assay" profile show one.yaml --scheme ./by-file.yaml --html p.html
runs 0 "which names it" grep -q '<h1>one.yaml under mine</h1>' p.html
runs 0 "numbers along the axis" sh -c 'grep -c ">[0-9.-]*</text>" p.svg | awk "{ exit \$1 < 200 }"'
cat >apart.py <<'END'
import struct, sys, xml.dom.minidom as xml
if len(sys.argv) == 1:  # a network whose ranges double from node to node, and its samples
    names = ["x", *("v%d" % k for k in range(24))]
    nodes = "".join(" %s: f32[1,4] = add(%s, %s)\n" % (b, a, a) for a, b in zip(names, names[1:]))
    open("doubling.assay", "w").write("graph doubling {\n input x: f32[1,4]\n%s output v23\n}\n" % nodes)
    values = [-0.0027112, 0.0028716, 0.0001, -0.0002]
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }".ljust(117) + b"\n"
    open("doubling.npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack("<4f", *values))
else:  # numbers of an axis, at 6 pixels a letter
    rows = {}
    for t in xml.parse(sys.argv[1]).getElementsByTagName("text"):
        anchor, word = t.getAttribute("text-anchor"), t.firstChild.nodeValue
        if anchor and t.getAttribute("font-size") != "9":
            wide = 6 * len(word)
            begin = float(t.getAttribute("x")) - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
            rows.setdefault(t.getAttribute("y"), []).append((begin, begin + wide, word))
    near = [(p, q) for row in rows.values() for p, q in zip(sorted(row), sorted(row)[1:]) if q[0] - p[1] < 4]
    print(len(rows), near)
    sys.exit(len(rows) != 25 or near != [])
END
/usr/bin/python3 apart.py
runs 0 "a network of many ranges" "$assay" profile doubling.assay -d doubling.npy -q -o doubling.yaml
for scheme in npu16 tflite; do
    runs 0 "drawn under $scheme" "$assay" profile show doubling.yaml -s $scheme --svg d.svg
    runs 0 "numbers stand apart" /usr/bin/python3 apart.py d.svg
done
runs 0 "a page breaks names and keeps numbers in sight" grep -q '\.wide td:nth-child(2){[^}]*max-width' p.html
runs 0 "of more than 2000 bins" sh -c '[ "$(grep -o "V[0-9.]*H" p.svg | wc -l)" -gt 2000 ]'
runs 0 "histograms as a page" "$assay" profile show one.yaml -s tflite --calibration mse --html p.html
prints '<td>i8</td>' "with the table" cat p.html
refused "no such value" "no value's name matches" "$assay" profile show one.yaml --value nobody
refused "no such calibration" "calibration" "$assay" profile show one.yaml --calibration best
refused "no such type" "type" "$assay" profile show one.yaml --type f32
refused "an unwritable drawing" "/no/such/p.svg: cannot write" "$assay" profile show one.yaml --svg /no/such/p.svg

# ---- odd elements are counted and said ----
/usr/bin/python3 - <<'PY'
import numpy as np
x = np.zeros((3, 1, 32, 32), "f4"); x[1, 0, 3, 4] = np.nan; x[2, 0, 5, :2] = np.inf
np.save("odd.npy", x)
PY
input=$("$assay" inspect "$model" | awk '$1 == "input" { print $2 }')
prints "'$input' held 1 NaN and 2 infinite elements" "NaN and infinities are reported" \
    "$assay" profile "$model" -d odd.npy -q -o odd.yaml
prints "^$input .* 1 +2 " "and shown" "$assay" profile show odd.yaml
finish
