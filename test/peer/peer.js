// One case in both runtimes: every output of the model, bit for bit.
'use strict';
const fs = require('fs');
const path = require('path');
const {execFileSync} = require('child_process');
const npy = require('./npy.js');

const SESSION = {
  logSeverityLevel: 3,
  intraOpNumThreads: 1,
  // int8 activations stay int8; floats times packed weights are floats (by default it rounds them to int8)
  extra: {session: {qdqisint8allowed: '1', qdq_matmulnbits_accuracy_level: '1'}},
};

// The preset of MLAS's kernels on this host.
function hostPreset() {
  const flags = process.arch === 'x64' ? fs.readFileSync('/proc/cpuinfo', 'utf8').match(/^flags.*$/m)[0] : 'avx_vnni';
  return /avx512_vnni|avx_vnni/.test(flags) ? 'onnxruntime' : / avx2 /.test(flags) ? 'onnxruntime-prevnni' : 'onnxruntime-sse';
}

const PRESET = hostPreset();

const bytesOf = a => Buffer.from(a.buffer, a.byteOffset, a.byteLength);

// ONNX Runtime's outputs by name, as {shape, bytes, size}; size is an element's.
async function theirs(ort, model, feeds, level = 'all') {
  const session = await ort.InferenceSession.create(model, {...SESSION, graphOptimizationLevel: level}), inputs = {};
  for (const [name, f] of Object.entries(feeds)) inputs[name] = new ort.Tensor(f.type, f.data, f.shape);
  const results = await session.run(inputs), out = {};
  for (const name of session.outputNames) {
    const t = results[name], wide = t.type === 'float64', data = wide ? Float32Array.from(t.data) : t.data; // float32 here
    out[name] = {shape: t.dims, bytes: bytesOf(data), size: data.BYTES_PER_ELEMENT, type: wide ? 'float32' : t.type};
  }
  await session.release();
  return out;
}

// `command` of Assay with the inputs, written beside `folder`, which it makes. options: a scheme where the model has codes.
function call(assay, command, file, feeds, folder, options) {
  const args = [command, file, '-o', folder, ...options];
  for (const [i, [name, f]] of Object.entries(feeds).entries()) {
    const x = path.join(path.dirname(folder), `x${i}.npy`);
    npy.write(x, f.type, f.shape, f.data);
    args.push('-i', `${name}=${x}`);
  }
  fs.rmSync(folder, {recursive: true, force: true});
  execFileSync(assay, args, {stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 26});
}

// Ours, in the order of the model's outputs.
function ours(assay, file, feeds, folder, options) {
  call(assay, 'run', file, feeds, folder, options);
  return fs.readdirSync(folder).sort().map(f => npy.read(path.join(folder, f)));
}

// Whether the contract calls every node bit-exact. A network without codes has none, and `golden` refuses the scheme.
function isClaimed(assay, file, feeds, folder, options) {
  try {
    call(assay, 'golden', file, feeds, folder, options);
  } catch (e) {
    return !/nothing in the network is quantized/.test(e.stderr);
  }
  const {not_exact, outside, float} = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json'))).contract;
  return [not_exact, outside, float].every(ops => Object.keys(ops).length === 0);
}

const isNaN32 = (b, i) => Number.isNaN(b.readFloatLE(i));

// Within `near` of the tensor's greatest magnitude (0: no difference at all).
function isNear(want, got, i, near) {
  if (!near || want.type !== 'float32') return false;
  if (want.most === undefined) { // of what is finite
    want.most = 0;
    for (let k = 0; k < want.bytes.length; k += 4) {
      const x = Math.abs(want.bytes.readFloatLE(k));
      if (x < Infinity && x > want.most) want.most = x;
    }
  }
  return Math.abs(want.bytes.readFloatLE(i) - got.bytes.readFloatLE(i)) <= near * want.most;
}

// The first difference of two tensors as text, or null. Any NaN equals any NaN.
function difference(want, got, near) {
  if (want.shape.join() !== got.shape.join() || want.bytes.length !== got.bytes.length)
    return `shape [${got.shape}], expected [${want.shape}]`;
  if (want.bytes.equals(got.bytes)) return null;
  let first = -1, bad = 0;
  for (let i = 0; i < want.bytes.length; i += want.size) {
    if (want.bytes.compare(got.bytes, i, i + want.size, i, i + want.size) === 0) continue;
    if (want.type === 'float32' && isNaN32(want.bytes, i) && isNaN32(got.bytes, i)) continue;
    if (isNear(want, got, i, near)) continue;
    if (first < 0) first = i;
    bad++;
  }
  if (bad === 0) return null;
  const show = b => want.type === 'float32' ? b.readFloatLE(first) : want.type === 'int64' ? b.readBigInt64LE(first)
    : want.type.startsWith('int') ? b.readIntLE(first, want.size) : b.readUIntLE(first, want.size);
  return `${bad} of ${want.bytes.length / want.size} elements differ, the first at ${first / want.size}: ` +
    `${show(got.bytes)}, expected ${show(want.bytes)}`;
}

// {elements, tensors, trouble, claimed}: trouble is the first difference or refusal, or null; claimed: whether those bits
// are promised, by the contract or by model.near.
async function compare(ort, assay, model, work, options, level) {
  const file = path.join(work, 'model.onnx'), all = model.near ? options : ['-s', PRESET, ...options];
  fs.writeFileSync(file, model.bytes());
  const want = await theirs(ort, file, model.feeds, level);
  let got;
  try {
    got = ours(assay, file, model.feeds, path.join(work, 'out'), all);
  } catch (e) {
    return {elements: 0, tensors: 0, trouble: `ours: ${String(e.stderr || e.message).trim()}`, claimed: true};
  }
  let elements = 0, trouble = null;
  model.outs.forEach((o, i) => {
    const d = got[i] ? difference(want[o.name], got[i], model.near) : 'is missing';
    elements += want[o.name].bytes.length / want[o.name].size;
    trouble ||= d && `tensor '${o.name}': ${d}`;
  });
  const claimed = trouble && (model.near || isClaimed(assay, file, model.feeds, path.join(work, 'golden'), all));
  return {elements, tensors: model.outs.length, trouble, claimed};
}

module.exports = {PRESET, compare, difference, ours, theirs};
