// An ONNX file with the result of every QuantizeLinear among its outputs, to compare them all.
'use strict';
const fs = require('fs');
const npy = require('./npy.js');
const {TYPES, wire: {text, bytes, message}} = require('./onnx.js');
const {product} = require('./random.js');

// The fields of a protobuf message in order, as {field, raw, data, value}: raw with the tag, data of what
// is length-delimited, value of a varint.
function* fields(b) {
  let at = 0;
  const varint = () => {
    let v = 0, shift = 1;
    for (;;) {
      const c = b[at++];
      v += (c & 127) * shift;
      if (c < 128) return v;
      shift *= 128;
    }
  };
  while (at < b.length) {
    const from = at, tag = varint(), wire = tag % 8;
    if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    const value = wire === 0 ? varint() : 0;
    const length = wire === 2 ? varint() : 0, data = b.subarray(at, at + length);
    at += length;
    yield {field: (tag - wire) / 8, raw: b.subarray(from, at), data, value};
  }
}

const all = (b, field) => [...fields(b)].filter(f => f.field === field);

// A random tensor for an input: ValueInfo has name 1 and type 2, of a tensor 1: element 1, shape 2.
function feedOf(info, r) {
  const tensor = all(all(info, 2)[0].data, 1)[0].data, id = all(tensor, 1)[0].value;
  const shape = all(all(tensor, 2)[0].data, 1).map(d => all(d.data, 1)[0].value);
  const type = Object.keys(TYPES).find(t => TYPES[t].id === id), count = product(shape);
  return {type, shape, data: type === 'float32' ? r.floats(count) : r.codes(type, count)};
}

function feedFrom(file) {
  const x = npy.read(file), b = x.bytes;
  return {type: 'float32', shape: x.shape, data: new Float32Array(b.buffer.slice(b.byteOffset, b.byteOffset + b.length))};
}

// As compare() of peer.js takes it. `input` is the .npy of the only input, float32; without it inputs are
// random.
function exposed(file, input, r) {
  const graph = [], rest = [], outs = [], codes = [], feeds = {};
  for (const f of fields(fs.readFileSync(file))) {
    if (f.field !== 7) { rest.push(f.raw); continue; }
    for (const g of fields(f.data)) {
      const name = k => all(g.data, k)[0].data.toString();
      graph.push(g.raw);
      if (g.field === 12) outs.push({name: name(1)});
      if (g.field === 11) feeds[name(1)] = input ? feedFrom(input) : feedOf(g.data, r);
      if (g.field === 1 && name(4) === 'QuantizeLinear') codes.push(name(2));
    }
  }
  for (const c of codes)
    if (!outs.some(o => o.name === c)) {
      outs.push({name: c});
      graph.push(message(12, [text(1, c)]));
    }
  return {outs, feeds, bytes: () => Buffer.concat([...rest, bytes(7, Buffer.concat(graph))])};
}

module.exports = {exposed};
