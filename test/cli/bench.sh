#!/usr/bin/env bash
# bench_fast's JSON and bench/compare, as TAP: every number has its place under every instruction set, a
# run beside itself changes nothing, beside another what changed is said, and what is no such JSON is
# refused in one line.
#
#   bench.sh ASSAY SOURCE BENCH_FAST
set -u
bench=$(realpath "$3")
. "$(dirname "$0")/tap.sh" "$1" "$2"
compare=$source/bench/compare

model=$source/datasets/models/plain_cnn.onnx
"$assay" profile "$model" -d "$source/datasets/glyphs/calibration" -n 4 -o profile.yaml -q >out 2>err
"$assay" quantize "$model" -p profile.yaml -s onnxruntime -o net.onnx >out 2>err
runs 0 "a network, a product and a process" "$bench" --quick --file net.onnx onnxruntime \
    --process start "$assay --version" --json old.json "448x256x"
runs 0 "as JSON" /usr/bin/python3 - <<'CHECK'
import json
run = json.load(open("old.json"))
results = {(r["name"], r["form"], r["threads"]): r for r in run["results"]}
net, process = results["net.onnx", "onnxruntime", 1], results["start", "process", 1]
product = results["448x256x512", "u8 product", 2]
assert run["peak_gmac_per_s"] >= 0 and len(run["results"]) == len(results) == 5
assert all(0 < r["least"] <= r["ns_per_image"] <= r["greatest"] for r in results.values())
assert all(net[k] > 0 for k in ("digests", "dump", "dump_by_files", "dump_by_one_file", "load_ns",
                                "prepare_ns", "gmac_per_s"))
assert product["gmac_per_s"] > 0 and product["digests"] == 0 and process["gmac_per_s"] == 0
CHECK
runs 0 "a run beside itself" "$compare" old.json old.json
prints '^start .* 1\.00 x$' "has the same processes" "$compare" old.json old.json
prints '^net.onnx .* 1\.00 x .*digests ([0-9.]+) -> \1 x.*dump ([0-9.]+) -> \2 x' "and the same bundles" \
    "$compare" old.json old.json
sed '/"net.onnx".*"threads": 1/{s/"ns_per_image": [0-9]*/"ns_per_image": 1/;s/"digests": [0-9.]*/"digests": 9/};/"start"/d' \
    old.json >new.json
prints '^net.onnx .*1 threads .*-> +1 ns/image .*digests [0-9.]+ -> 9.000 x' "what changed" "$compare" old.json new.json
prints '^start .* only in old.json' "what is gone" "$compare" old.json new.json
refused "a half" "half.json: not the JSON of a whole run" sh -c 'head -c 500 old.json >half.json; "$1" half.json old.json' - "$compare"
refused "no file" "absent.json: No such file" "$compare" old.json absent.json
refused "one file" "usage: compare" "$compare" old.json
for text in '' '[]' '{}' '{"peak_gmac_per_s": null, "results": []}' '{"peak_gmac_per_s": 1, "results": [{"name": "a"}]}'; do
    echo "$text" >wrong.json
    refused "JSON of something else: $text" "wrong.json: not the JSON of a whole run" "$compare" old.json wrong.json
done

for isa in vnni avx2 portable; do
    ASSAY_ISA=$isa "$bench" --quick --json $isa.json "ds_cnn batch 1 threads 1" >out 2>err
    status=$?
    if grep -q "this machine has no $isa" err; then skip "$isa" "not on this machine"; continue; fi
    runs 0 "$isa: runs" test $status = 0
    prints "ds_cnn +s8 nhwc +assay .* 1.00 x" "$isa: every row is found again" "$compare" $isa.json $isa.json
done
refused "an instruction set of no such name" "ASSAY_ISA.*'mmx'" env ASSAY_ISA=mmx "$bench" none
refused "JSON where no file can be" "cannot write" "$bench" --json nowhere/x.json none
runs 2 "a process that fails" "$bench" --process bad "$assay no-such-command"
finish
