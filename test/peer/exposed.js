// An ONNX file with the result of every QuantizeLinear among its outputs, to compare them all.
'use strict';
const fs = require('fs');
const npy = require('./npy.js');
const {text, bytes, message} = require('./onnx.js').wire;

// The fields of a protobuf message in order, as {field, raw, data}; raw has the tag too.
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
    const from = at, tag = varint(), wire = tag % 8, start = at;
    if (wire === 0) varint();
    else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    const length = wire === 2 ? varint() : 0, data = b.subarray(at, at + length);
    at += length;
    yield {field: (tag - wire) / 8, raw: b.subarray(from, at), data: wire === 2 ? data : b.subarray(start, at)};
  }
}

// As compare() of peer.js takes it; `input` is the .npy of the only input, float32.
function exposed(file, input) {
  const x = npy.read(input), graph = [], rest = [], outs = [], codes = [];
  let name = null;
  for (const f of fields(fs.readFileSync(file))) {
    if (f.field !== 7) { rest.push(f.raw); continue; }
    for (const g of fields(f.data)) {
      graph.push(g.raw);
      if (g.field === 12) outs.push({name: [...fields(g.data)][0].data.toString()});
      if (g.field === 11) name ||= [...fields(g.data)][0].data.toString();
      if (g.field !== 1) continue;
      const node = [...fields(g.data)], part = k => node.filter(n => n.field === k).map(n => n.data.toString());
      if (part(4)[0] === 'QuantizeLinear') codes.push(part(2)[0]);
    }
  }
  for (const c of codes)
    if (!outs.some(o => o.name === c)) {
      outs.push({name: c});
      graph.push(message(12, [text(1, c)]));
    }
  const data = new Float32Array(x.bytes.buffer.slice(x.bytes.byteOffset, x.bytes.byteOffset + x.bytes.length));
  return {outs, feeds: {[name]: {type: 'float32', shape: x.shape, data}},
    bytes: () => Buffer.concat([...rest, bytes(7, Buffer.concat(graph))])};
}

module.exports = {exposed};
