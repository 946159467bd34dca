// Random operators and networks in ONNX Runtime (npm package onnxruntime-node, full optimization) and
// in Assay under the preset of this host's kernels (onnxruntime; without VNNI onnxruntime-prevnni): every
// tensor, bit for bit. Prints TAP, one line a kind.
//
//   node onnxruntime.js ASSAY [--seed N] [--cases N] [--nets N] [--only KIND] [--case N] [--keep DIR]
//                       [--exported FILE]
//
// A difference names its seed and case: --case N (with --keep) runs that one alone and leaves its files.
// --nets N: each network N times, with other weights and sizes; in four forms each.
// --exported FILE: also models that Assay wrote, a line "MODEL.onnx [INPUT.npy]" each.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const ort = require('onnxruntime-node');
const {Random} = require('./random.js');
const {PRESET, compare} = require('./peer.js');
const {exposed} = require('./exposed.js');
const nets = {...require('./nets.js').nets, ...require('./nets_more.js').nets};
const {eachForm} = require('./quantize.js');

const kinds = Object.entries({
  ...require('./ops_qlinear.js').cases,
  ...require('./ops_convert.js').cases,
  ...require('./ops_qdq.js').cases,
  ...require('./ops_forms.js').cases,
  ...require('./ops_float.js').cases,
  ...require('./ops_sums.js').cases,
  ...require('./ops_alone.js').cases,
  ...require('./ops_fused.js').cases,
  ...require('./ops_made.js').cases,
  ...require('./ops_placed.js').cases,
  ...require('./ops_pairs.js').cases,
  ...require('./ops_half.js').cases,
});

function options(argv) {
  const o = {assay: argv[0], seed: 1, cases: 200, nets: 1, only: null, case: -1, keep: null, exported: null};
  for (let i = 1; i < argv.length; i += 2) {
    const name = argv[i].replace(/^--/, '');
    if (!(name in o) || argv[i + 1] === undefined) throw new Error(`unknown option ${argv[i]}`);
    o[name] = typeof o[name] === 'number' ? Number(argv[i + 1]) : argv[i + 1];
  }
  return o;
}

// What was compared, a row a kind, printed when the kind is done.
class Tally {
  constructor() { this.rows = new Map(); this.line = 0; this.bad = 0; }
  add(kind, from, r) {
    if (!this.rows.has(kind)) this.rows.set(kind, {cases: 0, tensors: 0, elements: 0, bad: 0, beside: 0, refused: 0, notes: []});
    const t = this.rows.get(kind), note = r.refused ? `refused by ONNX Runtime: ${r.refused}` : r.trouble;
    t.cases++;
    t.tensors += r.tensors;
    t.elements += r.elements;
    t.refused += r.refused ? 1 : 0;
    t.bad += r.trouble && r.claimed ? 1 : 0;
    t.beside += r.trouble && !r.claimed ? 1 : 0;
    if (note && (process.env.PEER_VERBOSE || (r.trouble && t.bad + t.beside === 1) || (r.refused && t.refused === 1)))
      t.notes.push(`# ${from}: ${note}`);
  }
  print() { // the rows since the last time
    for (const [kind, t] of this.rows) {
      console.log(`${t.bad ? 'not ok' : 'ok'} ${++this.line} - ${kind}: ${t.cases} cases, ${t.tensors} tensors, ` +
        `${t.elements} elements, ${t.bad} cases differ${t.beside ? `, ${t.beside} where nothing is claimed` : ''}${t.refused ? `, ${t.refused} refused by ONNX Runtime` : ''}`);
      t.notes.forEach(n => console.log(n));
      this.bad += t.bad;
    }
    this.rows.clear();
  }
  finish() { // how many cases differ
    console.log(`1..${this.line}`);
    return this.bad;
  }
}

// Without optimizations ONNX Runtime computes a QDQ network as it says, in floats; so does --literal.
async function attempt(o, model, work, engine, literal = false) {
  try {
    return await compare(ort, o.assay, model, work, ['--engine', engine, ...(literal ? ['--literal'] : [])], literal ? 'disabled' : 'all');
  } catch (e) {
    return {elements: 0, tensors: 0, refused: String(e.message).split('\n')[0]};
  }
}

// Case n is of kind n modulo the number of kinds.
async function runOperators(o, work, tally) {
  for (const [first, [kind, make]] of kinds.entries()) {
    for (let n = first; n < o.cases; n += kinds.length) {
      if ((o.case >= 0 && n !== o.case) || (o.only && kind !== o.only)) continue;
      const from = `--seed ${o.seed} --case ${n}`;
      tally.add(kind, from, await attempt(o, make(new Random(o.seed, n)), work, 'ref'));
      if (kind.startsWith('QDQ') || kind.endsWith('in floats'))
        tally.add(`${kind}, literally`, from, await attempt(o, make(new Random(o.seed, n)), work, 'ref', true));
    }
    tally.print();
  }
}

async function runNetworks(o, work, tally) {
  for (const [i, [name, make]] of Object.entries(nets).entries()) {
    for (let k = 0; k < o.nets; k++) {
      const r = new Random(o.seed, 1e6 + 100 * k + i);
      if (o.case >= 0 || (o.only && !name.startsWith(o.only))) continue;
      await eachForm(ort, make(r), r, work, async (form, model) =>
        tally.add(`${name} ${form}`, `--seed ${o.seed} --nets ${k + 1} --only ${name}`, await attempt(o, model, work, 'fast')));
    }
    tally.print();
  }
}

async function runExported(o, work, tally) {
  for (const line of o.exported ? fs.readFileSync(o.exported, 'utf8').split('\n').filter(l => l) : []) {
    const [file, input] = line.split(' '), name = path.basename(file, '.onnx');
    tally.add(`exported ${name}`, file, await attempt(o, exposed(file, input, new Random(o.seed, 0)), work, 'fast'));
    tally.print();
  }
}

(async () => {
  const o = options(process.argv.slice(2)), tally = new Tally();
  const work = o.keep || fs.mkdtempSync(path.join(os.tmpdir(), 'peer-'));
  fs.mkdirSync(work, {recursive: true});
  await runOperators(o, work, tally);
  await runNetworks(o, work, tally);
  await runExported(o, work, tally);
  if (!o.keep) fs.rmSync(work, {recursive: true});
  process.exit(tally.finish() ? 1 : 0);
})();
