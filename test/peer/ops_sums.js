// Operators that ONNX Runtime computes in floats, on any numbers: the order of its additions shows in the last bits,
// which the network gives as they are. Extents lie around those at which the order changes.
'use strict';
const {Model} = require('./onnx.js');
const {product} = require('./random.js');
const q = require('./ops_qlinear.js');
const {DQ, finish} = require('./ops_qdq.js');

const near = (r, ...marks) => Math.max(1, r.pick(marks) + r.int(-2, 2));
const input = (m, r, shape) => m.input('float32', shape, r.floats(product(shape)));
const constant = (m, r, shape, width = 0.1) => m.constant('float32', shape, r.floats(product(shape), width));

// Weights behind a DequantizeLinear: ONNX Runtime has no constant to lay out beforehand.
function weights(m, r, shape) {
  return DQ(m, m.constant('int8', shape, r.weights('int8', product(shape))), {names: [m.scalar('float32', r.scale(0.001, 0.02))]});
}

function give(m, r, y) {
  m.output(y, 'float32');
  return finish(m, r, y, 'uint8', r.scale(0.01, 0.5));
}

function convolve(m, r, x, w, attrs) {
  const ins = [input(m, r, x), weights(m, r, w)];
  if (r.chance(0.6)) ins.push(constant(m, r, [w[0]]));
  return give(m, r, m.node('Conv', ins, attrs));
}

function conv(r) { // windows of all kinds
  const c = q.convShapes(r);
  return convolve(new Model(), r, c.x, c.w, c.attrs);
}

function deepConv(r) { // depths of several blocks
  const kernel = r.pick([[1, 1], [1, 1], [3, 3], [5, 2], [3], [1]]), inner = near(r, 16, 64, 128, 256, 300), group = r.pick([1, 1, 1, 2]);
  const image = kernel.map(k => k + r.pick([0, 0, 1, 3, r.int(0, 14)])), out = r.pick([1, 2, 3, 8, r.int(1, 40)]);
  const pads = [...kernel, ...kernel].map(() => r.chance(0.3) ? 1 : 0);
  return convolve(new Model(), r, [r.int(1, 2), group * inner, ...image], [group * out, inner, ...kernel], {group, pads, kernel_shape: kernel});
}

function depthwise(r) {
  const kernel = r.pick([[3, 3], [5, 5], [3], [7, 7], [2, 3], [2, 2, 3], [1, 1]]), group = r.int(2, 12), times = r.pick([1, 1, 1, 2, 3]);
  const image = kernel.map(k => k + r.int(0, 12)), strides = kernel.map(() => r.pick([1, 1, 2])), pads = [...kernel, ...kernel].map(k => r.int(0, k >> 1));
  return convolve(new Model(), r, [r.int(1, 2), group, ...image], [group * times, 1, ...kernel], {group, pads, strides, kernel_shape: kernel});
}

function wholeWidthConv(r) { // one channel, a kernel of the image's width or height
  const image = r.shape(2, 12), out = r.pick([1, 1, 2, 5]);
  const kernel = r.chance(0.6) ? [r.int(1, image[0]), image[1]] : [image[0], 1];
  return convolve(new Model(), r, [1, 1, ...image], [out, 1, ...kernel], {kernel_shape: kernel});
}

const extents = r => [r.pick([1, 1, 2, r.int(2, 30)]), r.pick([r.int(1, 20), near(r, 64, 128, 256, 512), near(r, 1024, 1100)]),
  r.pick([1, 1, 2, 3, r.int(1, 20), near(r, 32, 64, 128)])];

function matmul(r) {
  const m = new Model(), [M, K, N] = extents(r), batch = r.chance(0.6) ? [] : r.shape(r.int(1, 2), 3), kind = r.int(0, 3);
  const second = kind < 2 || r.chance(0.3) ? [] : batch.map(d => r.chance(0.5) ? 1 : d), shape = [...second, K, N];
  const b = kind === 0 ? constant(m, r, shape) : kind === 1 ? weights(m, r, shape) : input(m, r, shape);
  return give(m, r, m.node('MatMul', [input(m, r, [...batch, M, K]), b]));
}

function vectors(r) {
  const m = new Model(), [M, K, N] = extents(r), batch = r.shape(r.int(0, 2), 3), row = r.chance(0.5), both = r.chance(0.2);
  const a = row || both ? [K] : [...batch, M, K], b = !row || both ? [K] : [...batch, K, N];
  return give(m, r, m.node('MatMul', [input(m, r, a), input(m, r, b)]));
}

function gemm(r) {
  const m = new Model(), [M, K, N] = extents(r), transA = r.chance(0.2) ? 1 : 0, transB = r.int(0, 1), kind = r.int(0, 2);
  const shape = transB ? [N, K] : [K, N], b = [constant, weights, input][kind](m, r, shape);
  const ins = [input(m, r, transA ? [K, M] : [M, K]), b];
  if (kind !== 2 && r.chance(0.6)) ins.push(constant(m, r, [N])); // beside a computed matrix it is added last here, first there
  return give(m, r, m.node('Gemm', ins, {transA, transB}));
}

function averagePool(r) {
  const m = new Model(r.pick([13, 19])), w = q.windows(r, {dilations: false}), x = input(m, r, [r.int(1, 2), r.pick([16, r.int(1, 5)]), ...w.image]);
  return give(m, r, m.node('AveragePool', [x], {...q.withoutCrop(w.attrs), count_include_pad: r.int(0, 1)}));
}

function globalAveragePool(r) { // 16 channels of the network's input it brings to a layout of its own
  const m = new Model(), x = input(m, r, [r.int(1, 3), r.int(1, 15), ...r.shape(r.int(1, 3), 14)]);
  return give(m, r, m.node('GlobalAveragePool', [x]));
}

function reduce(r) {
  const m = new Model(), shape = r.shape(r.int(1, 4), r.pick([6, 20])), axes = shape.map((_, i) => i).filter(() => r.chance(0.5));
  return give(m, r, m.node(r.pick(['ReduceMean', 'ReduceSum']), [input(m, r, shape), m.list(axes.length ? axes : [0])], {keepdims: r.int(0, 1)}));
}

function softmax(r) {
  const m = new Model(), shape = r.shape(r.int(1, 3), r.pick([6, 40, 120])), x = m.input('float32', shape, r.floats(product(shape), r.pick([1, 10])));
  return give(m, r, m.node(r.pick(['Softmax', 'Softmax', 'LogSoftmax']), [x], {axis: r.int(-1, shape.length - 1)}));
}

function convTranspose(r) {
  const m = new Model(), rank = r.pick([1, 2, 2, 2, 3]), group = r.pick([1, 1, 2]), [inner, out] = [r.pick([1, 2, r.int(1, 40), near(r, 128, 256)]), r.int(1, 5)];
  const kernel = r.shape(rank, 4), strides = r.shape(rank, 3), ins = [input(m, r, [r.int(1, 2), group * inner, ...r.shape(rank, 6)])];
  const pads = [...kernel, ...kernel].map(k => r.int(0, (k - 1) >> 1)), attrs = {kernel_shape: kernel, strides, group, pads};
  if (r.chance(0.3)) attrs.output_padding = strides.map(s => r.int(0, s - 1));
  if (r.chance(0.3)) attrs.dilations = r.shape(rank, 2);
  ins.push((r.chance(0.5) ? weights : constant)(m, r, [group * inner, out, ...kernel]));
  if (r.chance(0.5)) ins.push(constant(m, r, [group * out]));
  return give(m, r, m.node('ConvTranspose', ins, attrs));
}

function layerNorm(r) {
  const m = new Model(), shape = [...r.shape(r.int(0, 2), 5), r.int(1, 40)], width = shape.at(-1);
  const ins = [input(m, r, shape), constant(m, r, [width]), constant(m, r, [width])];
  return give(m, r, m.node('LayerNormalization', r.chance(0.8) ? ins : ins.slice(0, 2), {axis: -1, epsilon: Float32Array.of(r.pick([1e-5, 1e-12, 1e-3]))}));
}

function unary(op, attrs = () => ({})) {
  return r => {
    const m = new Model(), shape = r.shape(r.int(1, 3), 9);
    return give(m, r, m.node(op, [m.input('float32', shape, r.floats(product(shape), r.pick([0.3, 2, 8])))], attrs(r)));
  };
}

module.exports = {
  cases: {
    'Conv in floats': conv, 'deep Conv in floats': deepConv, 'depthwise Conv in floats': depthwise, 'Conv of whole rows in floats': wholeWidthConv,
    'MatMul in floats': matmul, 'MatMul of vectors in floats': vectors, 'Gemm in floats': gemm, 'AveragePool in floats': averagePool,
    'GlobalAveragePool in floats': globalAveragePool, 'reductions in floats': reduce, 'Softmax in floats': softmax,
    'ConvTranspose in floats': convTranspose, 'LayerNormalization in floats': layerNorm,
    'Sigmoid in floats': unary('Sigmoid'), 'Tanh in floats': unary('Tanh'), 'Erf in floats': unary('Erf'), 'Exp in floats': unary('Exp'),
    'Gelu in floats': unary('Gelu', r => ({approximate: r.pick(['none', 'tanh'])})),
  },
};
