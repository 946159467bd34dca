// Random operators and networks in the runtimes of .tflite files and in Assay under each one's preset: every
// tensor, bit for bit. Prints TAP, a line a device and kind, as soon as it is known.
//
//   node litert.js ASSAY [--seed N] [--cases N] [--only KIND] [--device NAME] [--case N] [--keep DIR]
//                  [--scheme S] [--files FILE] [--nets N]    (--only: an operator, a network or a file's name)
//
// --cases N: each operator N times. --nets N: each random network N times, quantized and written by Assay. --scheme S: instead of the devices' presets. --files: .tflite files to try
// too, a path a line. Folders of the runtimes: ASSAY_PEER_MODULES, JSON as devices.js takes it.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const {execFileSync} = require('child_process');
const npy = require('./npy.js');
const {Random, LIMITS} = require('./random.js');
const {product} = require('./net_text.js');
const {exposed} = require('./tflite.js');
const devices = require('./devices.js');
const operators = require('./ops_tflite.js').cases;
const nets = {...require('./nets.js').nets, ...require('./nets_more.js').nets};
const {floatModel} = require('./quantize.js');

const ARRAYS = {int8: Int8Array, uint8: Uint8Array, int16: Int16Array, int32: Int32Array, float32: Float32Array,
  bool: Uint8Array, int64: BigInt64Array};

function options(argv) {
  const o = {assay: argv[0], seed: 1, cases: 10, only: null, device: null, case: -1, keep: null, scheme: null, files: null, nets: 1};
  for (let i = 1; i < argv.length; i += 2) {
    const name = argv[i].replace(/^--/, '');
    if (!(name in o) || argv[i + 1] === undefined) throw new Error(`unknown option ${argv[i]}`);
    o[name] = typeof o[name] === 'number' ? Number(argv[i + 1]) : argv[i + 1];
  }
  return o;
}

const said = e => String(e.stderr || e.message).trim().split('\n').pop();
const assay = (o, ...args) => execFileSync(o.assay, args, {stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 26});

// Floats of a few octaves; some between two codes of the tensor `codes`, or next to that.
function floats(r, n, codes) {
  const out = r.floats(n, 4), reach = codes && codes.type === 'int16' ? 20000 : 100;
  for (let i = 0; codes && i < n; i++) {
    if (!r.chance(0.5)) continue;
    out[i] = (r.int(-reach, reach) + 0.5) * codes.scale;
    new Int32Array(out.buffer)[i] += r.int(-2, 2);
  }
  return out;
}

// The values of an input: those that it must have, or any codes; floats by the codes that they may become.
function feed(r, t, outputs) {
  const n = product(t.shape);
  if (t.values) return ARRAYS[t.type].from(t.values);
  if (t.type === 'float32') return floats(r, n, outputs.find(o => o.scale));
  return LIMITS[t.type] && t.type !== 'int32' ? r.codes(t.type, n) : ARRAYS[t.type].from({length: n}, () => r.int(0, 1));
}

const bytesOf = a => Buffer.from(a.buffer, a.byteOffset, a.byteLength);

// A model with all its tensors shown, and inputs for it: {file, inputs, outputs, feeds}.
function prepared(bytes, r, work) {
  const m = exposed(bytes), file = path.join(work, 'model.tflite');
  fs.writeFileSync(file, m.bytes);
  const feeds = m.inputs.map(t => feed(r, t, m.outputs));
  m.inputs.forEach((t, i) => npy.write(path.join(work, `x${i}.npy`), t.type, t.shape, feeds[i]));
  return {...m, file, feeds: feeds.map(bytesOf)};
}

// Ours, in the order of the model's outputs.
function ours(o, m, scheme, work) {
  const folder = path.join(work, 'ours');
  fs.rmSync(folder, {recursive: true, force: true});
  assay(o, 'run', m.file, '-s', scheme, '--engine', 'fast', '-o', folder, ...m.inputs.flatMap((t, i) => ['-i', path.join(work, `x${i}.npy`)]));
  return fs.readdirSync(folder).sort().map(f => npy.read(path.join(folder, f)));
}

// Of the first tensor that differs: how many elements, and by how much.
function difference(m, want, got) {
  for (let i = 0; i < m.outputs.length; i++) {
    const t = m.outputs[i], bytes = got[i] && got[i].bytes;
    if (!bytes || bytes.length !== want[i].length) return `'${t.name}' has ${bytes ? bytes.length : 'no'} bytes, expected ${want[i].length}`;
    if (bytes.equals(want[i])) continue;
    const view = b => new ARRAYS[t.type](new Uint8Array(b).buffer), a = view(want[i]), b = view(bytes), bad = [];
    let most = 0;
    for (let k = 0; k < a.length; k++)
      if (a[k] !== b[k]) { bad.push(k); most = Math.max(most, Math.abs(Number(a[k]) - Number(b[k]))); }
    if (!bad.length) continue; // NaN, or zeros of two signs
    return `'${t.name}': ${bad.length} of ${a.length} elements differ, by at most ${most}; the first at ${bad[0]}: ${b[bad[0]]}, expected ${a[bad[0]]}`;
  }
  return null;
}

// {elements, trouble, refused: by whom}
async function compare(o, device, m, work) {
  let want, got;
  try { want = await device.run(m.file, m.feeds); } catch (e) { return {elements: 0, refused: 'device', note: e.message}; }
  try { got = ours(o, m, o.scheme || device.preset, work); } catch (e) {
    return {elements: 0, refused: /the network is float/.test(e.stderr) ? 'float' : 'ours', note: said(e)};
  }
  return {elements: want.reduce((n, w) => n + w.length, 0), trouble: difference(m, want, got)};
}

class Tally {
  constructor() { this.line = 0; this.bad = 0; }
  // results: of one kind on one device.
  print(device, kind, results) {
    const count = f => results.filter(f).length, bad = count(x => x.trouble), ours = count(x => x.refused === 'ours'),
      theirs = count(x => x.refused === 'device'), floats = count(x => x.refused === 'float'), claimed = !device.unclaimed.test(kind),
      bytes = results.reduce((n, x) => n + x.elements, 0);
    console.log(`${(bad || ours) && claimed ? 'not ok' : 'ok'} ${++this.line} - ${device.name}, ${kind}: ${results.length} cases, ${bytes} bytes, ${bad} differ` +
      `${ours ? `, ${ours} refused by us` : ''}${theirs ? `, ${theirs} refused there` : ''}${claimed ? '' : ' (not claimed)'}${floats ? ' # SKIP a float network' : ''}`);
    const first = [results.find(x => x.trouble), results.find(x => x.refused === 'ours'), results.find(x => x.refused === 'device')];
    for (const x of process.env.PEER_VERBOSE ? results : first) if (x && (x.trouble || x.note)) console.log(`# ${x.from}: ${x.trouble || x.note}`);
    this.bad += (bad || ours) && claimed ? 1 : 0;
  }
}

// A random network of the generators as a .tflite file's bytes.
function converted(o, net, work) {
  const text = path.join(work, 'net.assay'), file = path.join(work, 'net.tflite');
  fs.writeFileSync(text, net.text());
  assay(o, 'convert', text, '-o', file);
  return fs.readFileSync(file);
}

// A random float network, profiled, quantized and written by us, as a .tflite file's bytes.
function quantized(o, net, r, work) {
  const at = name => path.join(work, name), samples = at('samples');
  fs.rmSync(samples, {recursive: true, force: true});
  fs.mkdirSync(samples);
  for (let i = 0; i < 4; i++) npy.write(path.join(samples, `${i}.npy`), 'float32', net.input.shape, r.floats(product(net.input.shape)));
  fs.writeFileSync(at('net.onnx'), floatModel(net, new Float32Array(0), [net.layers.at(-1)]).bytes());
  assay(o, 'profile', at('net.onnx'), '-d', samples, '-o', at('net.yaml'), '-q');
  assay(o, 'quantize', at('net.onnx'), '-p', at('net.yaml'), '-s', 'tflite', '-o', at('net.assay'));
  assay(o, 'convert', at('net.assay'), '-o', at('net.tflite'));
  return fs.readFileSync(at('net.tflite'));
}

// write(r): a random model as a .tflite file's bytes.
async function runKind(o, which, kind, write, times, work, tally) {
  const results = new Map(which.map(d => [d, []]));
  for (let n = 0; n < times; n++) {
    if (o.case >= 0 && n !== o.case) continue;
    const stream = n * 1000 + [...kind].reduce((h, c) => (Math.imul(h, 31) + c.charCodeAt(0)) & 0xffff, 7);
    const r = new Random(o.seed, stream), from = `--seed ${o.seed} --only '${kind}' --case ${n}`;
    let m;
    try { m = prepared(write(r), r, work); } catch (e) {
      for (const d of which) results.get(d).push({from, elements: 0, refused: 'ours', note: said(e)});
      continue;
    }
    for (const d of which) results.get(d).push({from, ...await compare(o, d, m, work)});
  }
  for (const d of which) if (results.get(d).length) tally.print(d, kind, results.get(d));
}

async function runFiles(o, which, work, tally) {
  for (const file of o.files ? fs.readFileSync(o.files, 'utf8').split('\n').filter(l => l) : []) {
    const name = path.basename(file, '.tflite');
    if (o.only && name !== o.only) continue;
    const m = prepared(fs.readFileSync(file), new Random(o.seed, 0), work);
    for (const d of which) tally.print(d, name, [{from: file, ...await compare(o, d, m, work)}]);
  }
}

(async () => {
  const o = options(process.argv.slice(2)), tally = new Tally();
  const work = o.keep || fs.mkdtempSync(path.join(os.tmpdir(), 'peer-'));
  fs.mkdirSync(work, {recursive: true});
  const all = await devices.open(JSON.parse(process.env.ASSAY_PEER_MODULES), work);
  const which = all.filter(d => !o.device || d.name.includes(o.device));
  console.log(`# seed ${o.seed}`);
  for (const [kind, make] of Object.entries(operators))
    if (!o.only || kind === o.only) await runKind(o, which, kind, r => converted(o, make(r), work), o.cases, work, tally);
  for (const [name, make] of Object.entries(nets))
    if (!o.only || `network ${name}` === o.only) await runKind(o, which, `network ${name}`, r => quantized(o, make(r), r, work), o.nets, work, tally);
  await runFiles(o, which, work, tally);
  all.forEach(d => d.stop && d.stop());
  if (!o.keep) fs.rmSync(work, {recursive: true});
  console.log(`1..${tally.line}`);
  process.exit(tally.bad ? 1 : 0);
})();
