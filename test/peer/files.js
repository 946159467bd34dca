// Public .onnx files in both runtimes, on inputs drawn at random.
//
//   files.js ASSAY [--seed N] FILE...      a line a file: equal, near, differs, refused (here), not run (there)
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const ort = require('onnxruntime-node');
const {theirs, ours, difference} = require('./peer.js');
const {CODES} = require('./npy.js');
const {Random} = require('./random.js');
const NEAR = 2 ** -12; // of the tensor's greatest magnitude: sums of whole networks in another order

const integers = {uint8: [Uint8Array, 0, 255], int8: [Int8Array, -128, 127], uint16: [Uint16Array, 0, 4095],
  int16: [Int16Array, -4096, 4095], int32: [Int32Array, 0, 2], uint32: [Uint32Array, 0, 2], bool: [Uint8Array, 0, 1]};

function drawn(r, type, n) {
  if (type === 'float32') return Float32Array.from({length: n}, () => r.int(-2000, 2000) / 1000);
  if (type === 'int64') return BigInt64Array.from({length: n}, () => BigInt(r.int(0, 2)));
  const [Array_, lo, hi] = integers[type];
  return Array_.from({length: n}, () => r.int(lo, hi));
}

// A symbolic extent: 1 in the first place, as here without --shape, else the same one for the same name.
function extents(shape, known) {
  return shape.map((d, i) => {
    if (typeof d === 'number' && d >= 0) return d;
    if (i === 0) return 1;
    if (!known.has(d)) known.set(d, 4 + known.size);
    return known.get(d);
  });
}

async function feedsOf(file, r) {
  const session = await ort.InferenceSession.create(file, {logSeverityLevel: 4}), known = new Map(), feeds = {}, shapes = [];
  for (const m of session.inputMetadata) {
    if (!m.isTensor || !(m.type in CODES)) throw new Error(`input of ${m.type || 'no tensor'}`);
    const shape = extents(m.shape, known);
    feeds[m.name] = {type: m.type, shape, data: drawn(r, m.type, shape.reduce((a, b) => a * b, 1))};
    if (m.shape.some(d => typeof d !== 'number' || d < 0)) shapes.push('--shape', `${m.name}=${shape.join('x') || '1'}`);
  }
  const names = session.outputNames;
  await session.release();
  return {feeds, shapes, names};
}

function judged(want, got, names) {
  let verdict = 'equal';
  for (const [i, name] of names.entries()) {
    if (!got[i]) return `differs\toutput '${name}' is missing`;
    if (!difference(want[name], got[i], 0)) continue;
    const d = difference(want[name], got[i], NEAR);
    if (d) return `differs\toutput '${name}': ${d}`;
    verdict = 'near';
  }
  return verdict;
}

async function attempt(assay, file, seed, work) {
  let model, want, got;
  try {
    model = await feedsOf(file, new Random(seed, 0));
    want = await theirs(ort, file, model.feeds);
  } catch (e) {
    return `not run\t${String(e.message).split('\n')[0]}`;
  }
  const options = [...model.shapes];
  for (const more of [[], ['-s', 'onnxruntime']]) {
    try {
      got = ours(assay, file, model.feeds, path.join(work, 'out'), [...more, ...options]);
      break;
    } catch (e) {
      const said = String(e.stderr || e.message).trim();
      if (more.length || !/--scheme/.test(said)) return `${e.status === 2 ? 'refused' : 'crash'}\t${said}`;
    }
  }
  return judged(want, got, model.names);
}

(async () => {
  const argv = process.argv.slice(2), assay = argv.shift();
  const seed = argv[0] === '--seed' ? Number(argv.splice(0, 2)[1]) : 1;
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'files-'));
  for (const file of argv) console.log(`${file}\t${await attempt(assay, file, seed, work)}`);
  fs.rmSync(work, {recursive: true});
})();
