// A float network (nets.js) calibrated by its own runtime and written as QDQ or as QLinear operators.
'use strict';
const fs = require('fs');
const path = require('path');
const {Model} = require('./onnx.js');
const {LIMITS, product} = require('./random.js');
const {theirs} = require('./peer.js');

// ---- the float network, and what its tensors reach on one input ----

function activate(m, act, x, names) {
  if (act === 'Relu6') return m.node('Clip', [x, m.scalar('float32', 0), m.scalar('float32', 6)], {}, {names});
  return m.node(act, [x], {}, {names});
}

// Inputs that are not tensors of the network: shapes, places, scales.
function listsOf(m, l) {
  if (l.scales) return ['', m.constant('float32', [l.scales.length], l.scales)];
  if (l.floats) return l.floats.map(t => constantOf(m, t));
  return (l.lists || (l.list ? [l.list] : [])).map(v => m.list(v));
}

const constantOf = (m, t) => m.constant('float32', t.shape, t.data);

// With every layer's result as an output, or the last one's alone.
function floatModel(net, data, shown = net.layers) {
  const m = new Model();
  m.input('float32', net.input.shape, data, net.input.name);
  for (const l of net.layers) {
    const ins = l.inputs.map(t => t.name);
    for (const c of [l.weights, l.bias, l.operand]) if (c) ins.push(constantOf(m, c));
    ins.push(...listsOf(m, l));
    const y = m.node(l.op, ins, l.attrs, l.act ? {} : {names: [l.y.name]});
    if (l.act) activate(m, l.act, y, [l.y.name]);
    if (shown.includes(l)) m.output(l.y.name, 'float32');
  }
  return m;
}

function rangeOf(data) {
  let lo = 0, hi = 0;
  for (const v of data) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
  return [lo, hi];
}

const floats = b => new Float32Array(b.buffer.slice(b.byteOffset, b.byteOffset + b.length));

async function calibrate(ort, net, data, work) {
  const file = path.join(work, 'float.onnx');
  fs.writeFileSync(file, floatModel(net, data).bytes());
  const out = await theirs(ort, file, {x: {type: 'float32', shape: net.input.shape, data}});
  const ranges = {x: rangeOf(data)};
  for (const [name, t] of Object.entries(out)) ranges[name] = rangeOf(floats(t.bytes));
  return ranges;
}

// ---- codes ----

const down = Math.fround(1 - 2 ** -22);

// Scale and zero point of an activation; the greatest code is never beyond the range, so that the
// bounds of an activation function are implied.
function activationParams(type, [lo, hi]) {
  const [least, most] = LIMITS[type], scale = Math.fround(Math.max(hi - lo, 1e-4) / 255 * down);
  const zero = Math.max(least, Math.min(most, Math.round(least - lo / scale)));
  return {scale, zero};
}

// int8 around 0, one scale or one for each index of `axis`.
function quantizeWeights(w, axis, each) {
  const count = each ? w.shape[axis] : 1, inner = product(w.shape.slice(axis + 1)), peak = new Float32Array(count);
  const channel = i => each ? Math.floor(i / inner) % count : 0;
  w.data.forEach((v, i) => { peak[channel(i)] = Math.max(peak[channel(i)], Math.abs(v)); });
  const scales = peak.map(p => Math.fround(p / 127 || 1));
  return {scales, codes: Int8Array.from(w.data, (v, i) => Math.max(-127, Math.min(127, Math.round(v / scales[channel(i)]))))};
}

const quantizeBias = (b, x, scales) =>
  Int32Array.from(b.data, (v, i) => Math.round(v / (x * scales[scales.length > 1 ? i : 0])));

// What both forms share: parameters of tensors, constants of layers.
class Quantized {
  constructor(net, ranges, {type, each}) {
    Object.assign(this, {net, type, each, m: new Model(), params: {}, real: {}});
    // What only moves codes keeps its input's parameters.
    for (const t of [net.input, ...net.layers.map(l => l.y)]) {
      const l = net.layers.find(k => k.y === t);
      const p = l && l.moves ? this.params[l.inputs[0].name] : activationParams(type, ranges[t.name]);
      this.params[t.name] = p.names ? p : {...p, names: this.scalars(p)};
    }
  }
  scalars(p, type = this.type) { return [this.m.scalar('float32', p.scale), this.m.scalar(type, p.zero)]; }
  // Weights as codes, and the names of their parameters.
  weights(l) {
    const axis = l.op === 'MatMul' ? 1 : 0, q = quantizeWeights(l.weights, axis, this.each), dims = this.each ? [q.scales.length] : [];
    return {...q, axis, name: this.m.constant('int8', l.weights.shape, q.codes),
      names: [this.m.constant('float32', dims, q.scales), this.m.constant('int8', dims, new Array(q.scales.length).fill(0))]};
  }
  // An operand of an elementwise layer, quantized as an activation.
  operand(l) {
    const p = activationParams(this.type, rangeOf(l.operand.data)), [lo, hi] = LIMITS[this.type];
    const codes = Array.from(l.operand.data, v => Math.max(lo, Math.min(hi, Math.round(v / p.scale) + p.zero)));
    return {...p, names: this.scalars(p), name: this.m.constant(this.type, l.operand.shape, codes)};
  }
  bias(l, w) {
    const x = this.params[l.inputs[0].name].scale;
    return {name: this.m.constant('int32', l.bias.shape, quantizeBias(l.bias, x, w.scales)),
      scales: w.scales.map(s => Math.fround(x * s))};
  }
  codes(t) { return `${t.name}_q`; }
  begin(data) {
    this.m.input('float32', this.net.input.shape, data, 'x');
    this.m.node('QuantizeLinear', ['x', ...this.params.x.names], {}, {names: ['x_q']});
    this.m.output('x_q', this.type);
  }
  end() {
    const last = this.net.layers.at(-1).y;
    this.m.output(this.m.node('DequantizeLinear', [this.codes(last), ...this.params[last.name].names], {}, {names: ['y']}), 'float32');
    return this.m;
  }
}

// ---- QDQ ----

function qdqModel(net, ranges, data, options) {
  const s = new Quantized(net, ranges, options), {m} = s;
  const real = (name, names, attrs) => m.node('DequantizeLinear', [name, ...names], attrs);
  s.begin(data);
  for (const l of net.layers) {
    const ins = l.inputs.map(t => real(s.codes(t), s.params[t.name].names));
    const w = l.weights && s.weights(l);
    if (w) ins.push(real(w.name, w.names, s.each ? {axis: w.axis} : {}));
    if (l.bias) {
      const b = s.bias(l, w), dims = s.each ? [b.scales.length] : [];
      ins.push(real(b.name, [m.constant('float32', dims, b.scales)], s.each ? {axis: 0} : {}));
    }
    if (l.operand) { const o = s.operand(l); ins.push(real(o.name, o.names)); }
    ins.push(...listsOf(m, l));
    let y = m.node(l.op, ins, l.attrs);
    if (l.act) y = activate(m, l.act, y);
    m.output(m.node('QuantizeLinear', [y, ...s.params[l.y.name].names], {}, {names: [s.codes(l.y)]}), s.type);
  }
  return s.end();
}

// ---- QLinear operators ----

function qlinearModel(net, ranges, data, options) {
  const s = new Quantized(net, ranges, options), {m} = s;
  const pair = t => [s.codes(t), ...s.params[t.name].names];
  s.begin(data);
  for (const l of net.layers) {
    const y = s.params[l.y.name].names, more = {names: [s.codes(l.y)]}, a = l.inputs[0], w = l.weights && s.weights(l);
    const two = () => l.operand ? (o => [o.name, ...o.names])(s.operand(l)) : pair(l.inputs[1]);
    switch (l.op) {
      case 'Conv': m.node('QLinearConv', [...pair(a), w.name, ...w.names, ...y, s.bias(l, w).name], l.attrs, more); break;
      case 'Gemm': m.ms('QGemm', [...pair(a), w.name, ...w.names, s.bias(l, w).name, ...y], l.attrs, more); break;
      case 'MatMul': m.node('QLinearMatMul', [...pair(a), ...(w ? [w.name, ...w.names] : pair(l.inputs[1])), ...y], {}, more); break;
      case 'Add': case 'Mul': m.ms(`QLinear${l.op}`, [...pair(a), ...two(), ...y], {}, more); break;
      case 'GlobalAveragePool': m.ms('QLinearGlobalAveragePool', [...pair(a), ...y], {channels_last: 0}, more); break;
      case 'Sigmoid': m.ms('QLinearSigmoid', [...pair(a), ...y], {}, more); break;
      case 'Softmax': m.ms('QLinearSoftmax', [...pair(a), ...y], {axis: -1, opset: 13}, more); break;
      default: m.node(l.op, l.list ? [s.codes(a), m.list(l.list)] : [s.codes(a)], l.attrs, more);
    }
    m.output(s.codes(l.y), s.type);
  }
  return s.end();
}

const FORMS = [
  {name: 'QDQ U8S8', write: qdqModel, type: 'uint8'}, {name: 'QDQ S8S8', write: qdqModel, type: 'int8'},
  {name: 'QLinear U8S8', write: qlinearModel, type: 'uint8'}, {name: 'QLinear S8S8', write: qlinearModel, type: 'int8'},
];

// The network in every form: calls visit(form's name, model) one by one, for memory's sake.
async function eachForm(ort, net, r, work, visit) {
  const data = r.floats(product(net.input.shape)), ranges = await calibrate(ort, net, data, work);
  const each = r.chance(0.7);
  for (const f of FORMS.filter(k => !net.qdqOnly || k.name.startsWith('QDQ'))) await visit(f.name, f.write(net, ranges, data, {type: f.type, each}));
}

module.exports = {eachForm, floatModel};
