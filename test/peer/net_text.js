// A network in Assay's text form (graph/text.h), made line by line, images channels last. Types are
// {kind: 'i8', shape, scale, zero, axis}; scale and zero may be lists, by axis.
'use strict';
const {product} = require('./random.js');

const KINDS = {i8: 'int8', u8: 'uint8', i16: 'int16', i32: 'int32', i64: 'int64', f32: 'float32'};
const LIMITS = {i8: [-128, 127], u8: [0, 255], i16: [-32768, 32767]};

const float = x => {
  const s = String(Math.fround(x));
  return s === 'Infinity' ? 'inf' : s === '-Infinity' ? '-inf' : s;
};

function printed(t) {
  const shape = `${t.kind}[${t.shape.join(',')}]`;
  if (t.scale === undefined) return shape;
  return Array.isArray(t.scale)
    ? `${shape} q(axis=${t.axis || 0},[${t.scale.map(float)}],[${t.scale.map((_, i) => Array.isArray(t.zero) ? t.zero[i] : t.zero || 0)}])`
    : `${shape} q(${float(t.scale)},${t.zero || 0})`;
}

class Net {
  constructor(r) {
    this.r = r;
    this.lines = [];
    this.inputs = [];
    this.count = 0;
    this.last = null;
  }
  name(prefix) { return `${prefix}${this.count++}`; }
  input(t) {
    const name = this.name('x');
    this.lines.push(`input ${name}: ${printed(t)}`);
    this.inputs.push({...t, type: KINDS[t.kind]});
    return {name, t};
  }
  constant(t, values) {
    const name = this.name('c');
    this.lines.push(`const ${name}: ${printed(t)} = [${Array.from(values).join(',')}]`);
    return {name, t};
  }
  // attributes: {stride: [1,1], ...}; act: the bounds of a fused activation, real numbers.
  node(t, op, ins, attributes = {}, act = null) {
    const name = this.name('y');
    const a = Object.entries(attributes).map(([k, v]) => `${k}=${Array.isArray(v) ? `[${v}]` : v}`).join(', ');
    this.lines.push(`${name}: ${printed(t)} = ${op}(${ins.map(i => i.name).join(', ')})` +
      `${a ? ` {${a}}` : ''}${act ? ` act[${act.map(float)}]` : ''}`);
    this.last = {name, t};
    return this.last;
  }
  text(outputs = [this.last]) {
    return `graph main {\n${this.lines.map(l => `  ${l}\n`).join('')}${outputs.map(o => `  output ${o.name}\n`).join('')}}\n`;
  }

  // Types of codes at random.
  zero(kind) { return kind === 'i16' ? 0 : this.r.zero(KINDS[kind]); }
  codes(kind, shape, lo = 0.004, hi = 0.3) {
    const s = kind === 'i16' ? 1 / 256 : 1;
    return {kind, shape, scale: this.r.scale(lo * s, hi * s), zero: this.zero(kind)};
  }
  values(t) { return this.r.codes(KINDS[t.kind], product(t.shape)); }
  // Weights with a scale each output channel, or one; and a bias. Of unsigned codes they have a zero point.
  weights(kind, shape, channels, perChannel, axis) {
    const n = product(shape), r = this.r;
    if (kind === 'u8') {
      const t = {kind: 'u8', shape, scale: r.scale(0.002, 0.05), zero: r.int(100, 156)};
      return this.constant(t, Array.from({length: n}, () => r.int(1, 255)));
    }
    const scale = perChannel ? Array.from({length: channels}, () => r.scale(0.002, 0.05)) : r.scale(0.002, 0.05);
    const values = r.weights('int8', n).map(v => Math.max(-127, v));
    return this.constant({kind: 'i8', shape, scale, zero: 0, axis}, values);
  }
  bias(x, w, channels, asInput = false) {
    const scale = Array.isArray(w.t.scale) ? w.t.scale.map(s => Math.fround(Math.fround(s) * Math.fround(x.t.scale)))
      : Math.fround(Math.fround(w.t.scale) * Math.fround(x.t.scale));
    const wide = x.t.kind === 'i16';
    const t = {kind: wide ? 'i64' : 'i32', shape: [channels], scale, zero: 0};
    if (asInput) return this.input(t);
    return this.constant(t,
      Array.from({length: channels}, () => Math.round(this.r.normal() * (wide ? 200000 : 2000))));
  }
  // An output scale under which sums of so many products mostly stay inside the type.
  sumType(kind, shape, x, w, depth) {
    const ws = Array.isArray(w.t.scale) ? Math.max(...w.t.scale) : w.t.scale;
    const width = kind === 'i16' ? 32768 : 128;
    const real = x.t.scale * ws * (kind === 'i16' ? 15000 : 70) * 40 * Math.sqrt(depth) / width * 2 ** (this.r.unit() * 4 - 2);
    const ties = this.r.chance(0.3) ? Math.fround(x.t.scale * ws) : 0; // a power of two times the products' scale
    return {kind, shape, scale: Math.fround(ties ? ties * 2 ** Math.round(Math.log2(real / ties)) : real), zero: this.zero(kind)};
  }
  // Bounds of an activation that TFLite can fuse, or none.
  activation() { return this.r.pick([null, null, [0, Infinity], [0, 6], [-1, 1]]); }
}

module.exports = {Net, KINDS, LIMITS, product};
