// ONNX models put together: a graph's parts by calls, and the bytes of the protobuf message.
'use strict';

const TYPES = {
  float32: {id: 1, array: Float32Array}, uint8: {id: 2, array: Uint8Array},
  int8: {id: 3, array: Int8Array}, uint16: {id: 4, array: Uint16Array},
  int16: {id: 5, array: Int16Array}, int32: {id: 6, array: Int32Array},
  int64: {id: 7, array: BigInt64Array}, bool: {id: 9, array: Uint8Array},
  float16: {id: 10, array: Uint16Array}, uint32: {id: 12, array: Uint32Array},
  uint4: {id: 21, array: Uint8Array}, int4: {id: 22, array: Int8Array},
};

// ---- protobuf's wire format ----

function varint(v) {
  let x = BigInt.asUintN(64, BigInt(v));
  const bytes = [];
  do {
    bytes.push(Number(x & 127n) | (x > 127n ? 128 : 0));
    x >>= 7n;
  } while (x);
  return Buffer.from(bytes);
}

const tag = (field, wire) => varint(field << 3 | wire);
const number = (field, v) => Buffer.concat([tag(field, 0), varint(v)]);
const bytes = (field, b) => Buffer.concat([tag(field, 2), varint(b.length), b]);
const text = (field, s) => bytes(field, Buffer.from(s));
const message = (field, parts) => bytes(field, Buffer.concat(parts));
const packed = (field, list) => list.length ? message(field, list.map(varint)) : Buffer.alloc(0);

function float(field, v) {
  const b = Buffer.alloc(4);
  b.writeFloatLE(v);
  return Buffer.concat([tag(field, 5), b]);
}

// ---- parts of a model ----

function attribute(name, v) {
  const head = text(1, name), kind = k => number(20, k);
  if (typeof v === 'string') return message(5, [head, text(4, v), kind(3)]);
  if (v.floats) return message(5, [head, ...v.floats.map(x => float(7, x)), kind(6)]);
  if (Array.isArray(v)) return message(5, [head, packed(8, v), kind(7)]);
  if (v instanceof Float32Array) return message(5, [head, float(2, v[0]), kind(1)]); // one float
  return message(5, [head, number(3, v), kind(2)]);
}

function halves(data) { // two codes of 4 bits a byte, the low half first
  const b = Buffer.alloc(Math.ceil(data.length / 2));
  for (let i = 0; i < data.length; i++) b[i >> 1] |= (data[i] & 15) << (i % 2 ? 4 : 0);
  return b;
}

function tensor(name, type, shape, data, typed) {
  const parts = [packed(1, shape), number(2, TYPES[type].id)];
  if (typed) // the list of the element type in place of raw bytes
    parts.push(packed(5, type.endsWith('int4') ? [...halves(data)] : [...data]));
  else
    parts.push(bytes(9, type.endsWith('int4') ? halves(data)
                                              : Buffer.from(data.buffer, data.byteOffset, data.byteLength)));
  parts.push(text(8, name));
  return message(5, parts);
}

function valueInfo(field, name, type, shape) {
  const inner = [number(1, TYPES[type].id)];
  if (shape) inner.push(message(2, shape.map(d => message(1, [number(1, d)]))));
  return message(field, [text(1, name), message(2, [message(1, inner)])]);
}

class Model {
  constructor(opset = 21) {
    this.opset = opset;
    this.nodes = [];
    this.initializers = [];
    this.ins = [];
    this.outs = [];
    this.feeds = {};
    this.names = 0;
    this.microsoft = false;
  }
  fresh(base) { return `${base}_${this.names++}`; }
  input(type, shape, data, name = this.fresh('x')) {
    this.ins.push(valueInfo(11, name, type, shape));
    this.feeds[name] = {type, shape, data};
    return name;
  }
  constant(type, shape, data, {typed = false, name = this.fresh('c')} = {}) {
    this.initializers.push(tensor(name, type, shape, TYPES[type].array.from(data), typed));
    return name;
  }
  scalar(type, v) { return this.constant(type, [], [v]); }
  list(v) { return this.constant('int64', [v.length], v.map(BigInt)); }
  // Names of the outputs: one, or a list when `outputs` says how many or which.
  node(op, inputs, attrs = {}, {domain = '', outputs = 1, names = null} = {}) {
    const out = names || Array.from({length: outputs}, () => this.fresh(op.toLowerCase()));
    const parts = [...inputs.map(i => text(1, i)), ...out.map(o => text(2, o)),
      text(3, `${op}_${this.nodes.length}`), text(4, op)];
    for (const [k, v] of Object.entries(attrs)) parts.push(attribute(k, v));
    if (domain) parts.push(text(7, domain));
    this.microsoft ||= domain === 'com.microsoft';
    this.nodes.push(message(1, parts));
    return out.length === 1 ? out[0] : out;
  }
  ms(op, inputs, attrs = {}, more = {}) { return this.node(op, inputs, attrs, {...more, domain: 'com.microsoft'}); }
  output(name, type) {
    if (this.outs.some(o => o.name === name)) return;
    this.outs.push({name, type});
  }
  bytes() {
    const graph = [...this.nodes, text(2, 'peer'), ...this.initializers, ...this.ins,
      ...this.outs.map(o => valueInfo(12, o.name, o.type))];
    const model = [number(1, this.opset > 20 ? 10 : 8), message(7, graph), message(8, [number(2, this.opset)])];
    if (this.microsoft) model.push(message(8, [text(1, 'com.microsoft'), number(2, 1)]));
    return Buffer.concat(model);
  }
}

module.exports = {Model, TYPES, wire: {text, bytes, message}};
