// Random single conversions between floats and codes, and products with packed weights.
'use strict';
const {Model} = require('./onnx.js');
const {LIMITS, product} = require('./random.js');

// Where parameters lie: one, one an index of an axis, one per block along an axis.
function granularity(r, shape) {
  const kind = shape.length ? r.pick(['tensor', 'tensor', 'axis', 'block']) : 'tensor', axis = r.int(0, Math.max(0, shape.length - 1));
  if (kind === 'tensor') return {dims: [], attrs: {}};
  const named = r.chance(0.3) ? axis - shape.length : axis;
  if (kind === 'axis') return {dims: [shape[axis]], attrs: {axis: named}, axis: true};
  const block = r.int(1, shape[axis]);
  return {dims: shape.map((d, i) => i === axis ? Math.ceil(d / block) : d), attrs: {axis: named, block_size: block}};
}

// Floats around the steps of the codes: many at ties, some far outside, some special.
function reals(r, count, scale, special = true) {
  return Float32Array.from({length: count}, () => {
    if (special && r.chance(0.02)) return r.pick([Infinity, -Infinity, NaN, -0, 3e38, 1e-42]);
    const steps = r.chance(0.3) ? r.int(-300, 300) + 0.5 : r.normal() * 90;
    return Math.fround(steps * scale);
  });
}

const zeros = (r, type, count) => Array.from({length: count}, () => r.zero(type));

function quantizeLinear(r) {
  const m = new Model(), type = r.pick(['uint8', 'int8', 'uint16', 'int16', 'uint4', 'int4']), shape = r.shape(r.int(0, 4), 6);
  const g = granularity(r, shape), count = product(g.dims), scales = Array.from({length: count}, () => r.scale());
  // ONNX Runtime leaves undefined what is beyond 2^31 steps in codes of 4 bits, and in blocks.
  const special = !type.endsWith('int4') && !('block_size' in g.attrs);
  const x = m.input('float32', shape, reals(r, product(shape), scales[0], special));
  const ins = [x, m.constant('float32', g.dims, scales)];
  if (type !== 'uint8' || r.chance(0.7)) ins.push(m.constant(type, g.dims, zeros(r, type, count), {typed: r.chance(0.3)}));
  const y = m.node('QuantizeLinear', ins, g.attrs);
  if (!type.endsWith('int4')) m.output(y, type); // ONNX Runtime for JavaScript has no codes of 4 bits
  m.output(m.node('DequantizeLinear', [y, ...ins.slice(1)], g.attrs), 'float32');
  return m;
}

function dequantizeLinear(r) {
  const m = new Model(), type = r.pick(['uint8', 'int8', 'uint16', 'int16', 'int32', 'uint4', 'int4']), shape = r.shape(r.int(0, 4), 6);
  const g = granularity(r, shape), count = product(g.dims);
  const data = type === 'int32' ? Int32Array.from({length: product(shape)}, () => r.int(-(2 ** r.int(4, 31)), 2 ** 31 - 1)) : r.codes(type, product(shape));
  const x = type.endsWith('int4') || r.chance(0.3) ? m.constant(type, shape, data, {typed: r.chance(0.5)}) : m.input(type, shape, data);
  const ins = [x, m.constant('float32', g.dims, Array.from({length: count}, () => r.scale()))];
  if (type !== 'int32' && r.chance(0.7)) ins.push(m.constant(type, g.dims, zeros(r, type, count)));
  let y = m.node('DequantizeLinear', ins, g.attrs);
  m.output(y, 'float32');
  return m;
}

// The domain com.microsoft's conversions of 16 bits, which older opsets have not.
function microsoftConversions(r) {
  const m = new Model(17), type = r.pick(['uint8', 'int8', 'uint16', 'int16']), shape = r.shape(r.int(1, 4), 6);
  const scale = r.scale(), ins = [m.scalar('float32', scale), m.scalar(type, r.zero(type))];
  const y = m.ms('QuantizeLinear', [m.input('float32', shape, reals(r, product(shape), scale)), ...ins]);
  m.output(y, type);
  m.output(m.ms('DequantizeLinear', [y, ...ins]), 'float32');
  return m;
}

function dynamicQuantizeLinear(r) {
  const m = new Model(), shape = r.shape(r.int(0, 4), 7), offset = r.pick([0, 0, 3, -3]) * r.unit(), width = 10 ** r.int(-3, 3);
  const data = r.chance(0.1) ? new Float32Array(product(shape)) : Float32Array.from(r.floats(product(shape), width), v => v + offset * width);
  const [y, s, z] = m.node('DynamicQuantizeLinear', [m.input('float32', shape, data)], {}, {outputs: 3});
  m.output(y, 'uint8');
  m.output(s, 'float32');
  m.output(z, 'uint8');
  return m;
}

// Weights of 4 or 8 bits in blocks. Float sums are taken in any order there: numbers are such that
// every order is exact.
function matmulNBits(r) {
  const m = new Model(), bits = r.pick([4, 4, 8]), block = r.pick([16, 32, 64]), [M, N] = [r.int(1, 5), r.int(1, 12)];
  const K = r.chance(0.5) ? block * r.int(1, 3) : r.int(1, 150), blocks = Math.ceil(K / block), blob = block * bits / 8;
  const bytes = count => Uint8Array.from({length: count}, () => r.int(0, 255));
  const x = m.input('float32', [M, K], Float32Array.from({length: M * K}, () => r.int(-8, 8)));
  const ins = [x, m.constant('uint8', [N, blocks, blob], bytes(N * blocks * blob)),
    m.constant('float32', [N, blocks], Array.from({length: N * blocks}, () => (r.chance(0.3) ? -1 : 1) * 2 ** r.int(-4, 0)))];
  // ONNX Runtime takes no notice of packed zero points beside g_idx: not both.
  const groups = r.chance(0.3) && bits === 4, zeros = !groups && r.chance(0.5);
  if (zeros || groups) ins.push(zeros ? m.constant('uint8', [N, Math.ceil(blocks * bits / 8)], bytes(N * Math.ceil(blocks * bits / 8))) : '');
  if (groups) ins.push(m.constant('int32', [K], Array.from({length: K}, () => r.int(0, blocks - 1))));
  m.output(m.ms('MatMulNBits', ins, {N, K, bits, block_size: block}), 'float32');
  return m;
}

// A table in blocks; ONNX Runtime takes uint8 with rows to pick and blocks along the last axis only.
function gatherBlocks(r) {
  const m = new Model(21), type = r.pick(['uint8', 'uint4', 'int4']), bits = type === 'uint8' ? r.pick([4, 8]) : 4, block = r.pick([16, 32]);
  const packed = type === 'uint8' && bits === 4, rank = r.int(2, 3), axis = type === 'uint8' ? rank - 1 : r.int(0, rank - 1);
  const shape = r.shape(rank, 6).map((d, i) => i === axis ? 2 * r.int(1, 40) : d), gather = type === 'uint8' ? 0 : r.pick(shape.map((_, i) => i).filter(i => i !== axis));
  const blocks = shape.map((d, i) => i === axis ? Math.ceil(d / block) : d), stored = s => s.map((d, i) => packed && i === rank - 1 ? Math.ceil(d / 2) : d);
  const codes = s => m.constant(type, stored(s), Array.from({length: stored(s).reduce((a, b) => a * b)}, () =>
    type === 'int4' ? r.int(-8, 7) : type === 'uint4' ? r.int(0, 15) : r.int(0, 255)));
  const count = blocks.reduce((a, b) => a * b), index = r.shape(r.int(0, 2), 4), picks = index.reduce((a, b) => a * b, 1);
  const ins = [codes(shape), m.input('int64', index, BigInt64Array.from({length: picks}, () => BigInt(r.int(0, shape[gather] - 1)))),
    m.constant('float32', blocks, Array.from({length: count}, () => r.scale()))];
  if (r.chance(0.5)) ins.push(codes(blocks));
  m.output(m.ms('GatherBlockQuantized', ins, {bits, block_size: block, gather_axis: gather, quantize_axis: axis}), 'float32');
  return m;
}

module.exports = {
  cases: {MatMulNBits: matmulNBits, GatherBlockQuantized: gatherBlocks, QuantizeLinear: quantizeLinear, DequantizeLinear: dequantizeLinear,
    'com.microsoft conversions': microsoftConversions, DynamicQuantizeLinear: dynamicQuantizeLinear},
  reals,
};
