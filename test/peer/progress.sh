#!/usr/bin/env bash
# ./dev peer onnxruntime prints each kind's result when it has it, not all at the end. With a stand-in for
# ONNX Runtime that refuses every model.
#   peer_progress.sh ASSAY SOURCE       TAP on standard output
set -u
. "$(dirname "$0")/../cli/tap.sh" "$1" "$2"
if ! command -v node >/dev/null; then
    echo "1..0 # SKIP node is not installed"
    exit 0
fi
mkdir -p modules/onnxruntime-node
cat >modules/onnxruntime-node/index.js <<'END'
const fs = require('fs');
let calls = 0;
const create = async () => {
  if (++calls === 60) while (!fs.existsSync(process.env.SEEN)) await new Promise(done => setTimeout(done, 10));
  throw new Error('refused');
};
exports.InferenceSession = {create};
END
export SEEN=$work/seen NODE_PATH=$work/modules
node "$source/test/peer/onnxruntime.js" "$assay" --cases 100 --nets 0 >lines &
for ((i = 0; i < 3000; i++)); do # until there is a line: the 60th case waits for that
    if [ -s lines ]; then break; fi
    sleep 0.01
done
runs 0 "the first results are there before the last case" test -s lines
touch seen
wait
runs 0 "and the plan after the last" sh -c '[ "1..$(grep -c "^ok" lines)" = "$(tail -n 1 lines)" ]'
finish
