// Operators that the importer makes of others, in floats: recurrent layers, picks by computed places, einsum, group
// normalization. Sums come in other orders than in ONNX Runtime: compared within 2^-17 of a tensor's greatest magnitude.
'use strict';
const {Model} = require('./onnx.js');
const {product} = require('./random.js');

function near(make, opset = 17) {
  return r => {
    const m = new Model(opset);
    make(r, m);
    m.near = 2 ** -17;
    return m;
  };
}

const input = (m, r, shape, width = 2) => m.input('float32', shape, r.floats(product(shape), width));
const constant = (m, r, shape, width = 1) => m.constant('float32', shape, r.floats(product(shape), width));
const long = (m, r, shape, lo, hi) => {
  const data = BigInt64Array.from({length: product(shape)}, () => BigInt(r.int(lo, hi)));
  return r.chance(0.5) ? m.input('int64', shape, data) : m.constant('int64', shape, [...data]);
};

// gates: G; states: how many states there are. Inputs: x, W, R, B, lengths, h, c, P.
const recurrent = (op, gates, states) => near((r, m) => {
  const [s, b, i, h] = r.shape(4, 6), direction = r.pick(['forward', 'reverse', 'bidirectional']), d = direction === 'bidirectional' ? 2 : 1;
  const ins = [input(m, r, [s, b, i]), constant(m, r, [d, gates * h, i], 0.5), constant(m, r, [d, gates * h, h], 0.5),
    r.chance(0.7) ? constant(m, r, [d, 2 * gates * h], 0.5) : '', r.chance(0.2) ? m.constant('int32', [b], Array(b).fill(s)) : ''];
  for (let k = 0; k < states; k++) ins.push(r.chance(0.5) ? input(m, r, [d, b, h], 1) : '');
  if (states === 2 && r.chance(0.3)) ins.push(constant(m, r, [d, 3 * h], 0.5));
  while (ins[ins.length - 1] === '') ins.pop();
  const attrs = {hidden_size: h, direction}, names = ['y', 'h', 'c'].slice(0, 1 + states).map(n => r.chance(0.8) ? m.fresh(n) : '');
  if (gates === 3) attrs.linear_before_reset = r.int(0, 1);
  if (names.every(n => !n)) names[0] = m.fresh('y');
  while (names[names.length - 1] === '') names.pop();
  m.node(op, ins, attrs, {names});
  names.filter(n => n).forEach(n => m.output(n, 'float32'));
});

const gatherElements = near((r, m) => {
  const shape = r.shape(r.int(1, 4), 5), axis = r.int(0, shape.length - 1);
  const picked = shape.map((d, i) => i === axis ? r.int(1, 6) : r.int(1, d));
  m.output(m.node('GatherElements', [input(m, r, shape), long(m, r, picked, -shape[axis], shape[axis] - 1)],
    {axis: r.chance(0.5) ? axis : axis - shape.length}), 'float32');
});

const gatherND = near((r, m) => {
  const shape = r.shape(r.int(2, 4), 4), batch = r.int(0, shape.length - 1), k = r.int(1, shape.length - batch);
  const least = Math.min(...shape.slice(batch, batch + k)), rows = r.shape(r.int(0, 2), 3);
  m.output(m.node('GatherND', [input(m, r, shape), long(m, r, [...shape.slice(0, batch), ...rows, k], -least, least - 1)], {batch_dims: batch}), 'float32');
});

const oneHot = near((r, m) => {
  const shape = r.shape(r.int(1, 3), 5), depth = r.int(1, 6), axis = r.int(-shape.length - 1, shape.length);
  m.output(m.node('OneHot', [long(m, r, shape, -depth - 1, depth + 1), m.constant('int64', [1], [BigInt(depth)]), constant(m, r, [2])], {axis}), 'float32');
});

const trilu = near((r, m) => {
  const shape = r.shape(r.int(2, 4), 6);
  m.output(m.node('Trilu', [input(m, r, shape), m.constant('int64', [], [BigInt(r.int(-4, 4))])], {upper: r.int(0, 1)}), 'float32');
});

const einsum = near((r, m) => {
  const n = r.pick([1, 2, 2, 2, 3, 4]), hidden = r.chance(0.3) ? r.shape(r.int(1, 2), 3) : [], dots = hidden.length ? '...' : '';
  const all = ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, n > 2 || dots ? 4 : 6); // results, products too, have at most 6 axes
  const extent = Object.fromEntries(all.map(c => [c, r.int(1, 4)])), some = () => all.filter(() => r.chance(0.5));
  const mixed = list => list.map(c => [r.unit(), c]).sort((x, y) => x[0] - y[0]).map(x => x[1]);
  const operands = Array.from({length: n}, () => mixed(some()).slice(0, 4)).map(l => l.length ? l : ['a'])
    .map(l => l.length < 4 && r.chance(0.2) ? mixed([...l, r.pick(l)]) : l); // twice: the diagonal
  const out = mixed([...new Set(operands.flat())].filter(() => r.chance(0.6))).slice(0, 4);
  const text = operands.map(l => dots + l.join('')).join(r.pick([',', ', '])) + (r.chance(0.85) ? `->${dots}${out.join('')}` : '');
  m.output(m.node('Einsum', operands.map(l => input(m, r, [...hidden, ...l.map(c => extent[c])])), {equation: text}), 'float32');
});

const groupNorm = opset => near((r, m) => {
  const [b, g, per] = r.shape(3, 4), c = g * per, n = opset < 21 ? g : c;
  m.output(m.node('GroupNormalization', [input(m, r, [b, c, ...r.shape(r.int(1, 3), 5)]), constant(m, r, [n]), constant(m, r, [n])],
    {num_groups: g, epsilon: Float32Array.of(10 ** -r.int(1, 3))}), 'float32');
}, opset);

const attention = near((r, m) => {
  const [b, s, h, hv] = [r.int(1, 2), r.int(1, 5), r.int(1, 6), r.int(1, 6)], kv = r.int(1, 3), q = kv * r.int(1, 3), l = r.chance(0.5) ? s : r.int(1, 5);
  const past = r.chance(0.3) ? r.int(1, 3) : 0, t = past + l, flat = r.chance(0.5);
  const of = (rows, heads, width) => input(m, r, flat ? [b, rows, heads * width] : [b, heads, rows, width]);
  const mask = () => {
    const shape = r.pick([[s, t], [r.pick([1, b]), 1, s, t], [b, q, s, t]]);
    return r.chance(0.5) ? input(m, r, shape, 1) : m.input('bool', shape, Uint8Array.from({length: product(shape)}, () => r.int(0, 1))); // rows that see nothing among them
  };
  const ins = [of(s, q, h), of(l, kv, h), of(l, kv, hv), r.chance(0.4) ? mask() : '', ...(past ? [input(m, r, [b, kv, past, h]), input(m, r, [b, kv, past, hv])] : [])];
  while (ins[ins.length - 1] === '') ins.pop();
  const attrs = {is_causal: r.int(0, 1), ...(flat ? {q_num_heads: q, kv_num_heads: kv} : {})};
  if (r.chance(0.3)) attrs.scale = Float32Array.of(r.unit());
  if (r.chance(0.3)) attrs.softcap = Float32Array.of(1 + r.unit());
  [].concat(m.node('Attention', ins, attrs, {outputs: past ? 3 : 1})).forEach(o => m.output(o, 'float32'));
}, 23);

const rotary = microsoft => near((r, m) => {
  const [b, s, n] = [r.int(1, 3), r.int(1, 5), r.int(1, 3)], half = r.int(1, 4), more = !microsoft && r.chance(0.3) ? 2 * r.int(1, 2) : 0, h = 2 * half + more;
  const flat = r.chance(0.5), places = s + r.int(0, 3), x = input(m, r, flat ? [b, s, n * h] : [b, n, s, h]), given = microsoft || r.chance(0.6);
  const attrs = {interleaved: r.int(0, 1), ...(more ? {rotary_embedding_dim: 2 * half} : {}), ...(more || (flat && (!microsoft || r.chance(0.5))) ? {num_heads: n} : {})};
  const cache = () => input(m, r, given ? [places, half] : [b, s, half], 1), ids = shape => m.input('int64', shape, BigInt64Array.from({length: product(shape)}, () => BigInt(r.int(0, places - 1))));
  if (!microsoft) return m.output(m.node('RotaryEmbedding', [x, cache(), cache(), ...(given ? [ids([b, s])] : [])], attrs), 'float32');
  const rows = r.chance(0.5) ? ids([b, s]) : m.input('int64', [1], BigInt64Array.of(BigInt(r.int(0, places - s))));
  m.output(m.ms('RotaryEmbedding', [x, rows, cache(), cache()], attrs), 'float32');
}, 23);

module.exports = {
  cases: {
    LSTM: recurrent('LSTM', 4, 2), GRU: recurrent('GRU', 3, 1), RNN: recurrent('RNN', 1, 1), GatherElements: gatherElements,
    'GatherND with a batch': gatherND, OneHot: oneHot, Trilu: trilu, Einsum: einsum,
    'Attention of ONNX': attention, RotaryEmbedding: rotary(false), 'RotaryEmbedding of microsoft': rotary(true), GroupNormalization: groupNorm(21), 'GroupNormalization by group': groupNorm(18),
  },
};
