// Runs models in ONNX Runtime (npm package onnxruntime-node) at full optimization, and compares each
// model's first output with a .npy file, bit for bit. Prints TAP.
//
//   node onnxruntime.js MODEL.onnx INPUT.npy OUTPUT.npy ...
'use strict';
const fs = require('fs');
const ort = require('onnxruntime-node');

function npy(file) {
  const bytes = fs.readFileSync(file);
  const length = bytes.readUInt16LE(8); // version 1
  const shape = /\(([^)]*)\)/.exec(bytes.slice(10, 10 + length).toString())[1];
  const data = bytes.slice(10 + length);
  return {
    shape: shape.split(',').filter(s => s.trim()).map(Number),
    bytes: new Uint8Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length)),
  };
}

function mismatches(a, b, size) {
  if (a.length !== b.length) return Math.max(a.length, b.length) / size;
  let bad = 0;
  for (let i = 0; i < a.length; i += size) {
    let k = 0;
    while (k < size && a[i + k] === b[i + k]) k++;
    if (k < size) bad++;
  }
  return bad;
}

async function check(model, input, output) {
  const x = npy(input), want = npy(output);
  const session = await ort.InferenceSession.create(model, {
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    extra: {session: {qdqisint8allowed: '1'}}, // int8 activations stay int8
  });
  const feed = new ort.Tensor('float32', new Float32Array(x.bytes.buffer), x.shape);
  const results = await session.run({[session.inputNames[0]]: feed});
  const y = results[session.outputNames[0]].data;
  const got = new Uint8Array(y.buffer, y.byteOffset, y.byteLength);
  return {elements: y.length, bad: mismatches(got, want.bytes, y.BYTES_PER_ELEMENT)};
}

(async () => {
  const files = process.argv.slice(2);
  for (let i = 0; i + 2 < files.length; i += 3) {
    const r = await check(files[i], files[i + 1], files[i + 2]);
    const name = files[i].split('/').pop();
    console.log(`${r.bad ? 'not ok' : 'ok'} ${i / 3 + 1} - ${name}: ${r.elements} elements, ${r.bad} mismatches`);
  }
  console.log(`1..${Math.floor(files.length / 3)}`);
})();
