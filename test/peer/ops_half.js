// QDQ groups whose floats are float16: ONNX Runtime leaves them in float, with casts around its operators of float32.
'use strict';
const {Model} = require('./onnx.js');
const {product} = require('./random.js');
const q = require('./ops_qlinear.js');

// The bits of the float16 nearest to x, even on a tie; of numbers from 2^-14 to 65504.
function half(x) {
  const bits = new Uint32Array(Float32Array.of(x).buffer)[0], kept = bits >>> 13, rest = bits & 0x1fff;
  const up = rest > 0x1000 || (rest === 0x1000 && kept & 1) ? 1 : 0;
  return ((kept & 0x3ffff) - (112 << 10) + up) & 0x7fff;
}

const halves = (m, dims, list) => m.constant('float16', dims, Array.from(list, half));

function params(m, r, type, scale = r.scale(), zero = r.zero(type)) {
  return {scale, zero, names: [halves(m, [], [scale]), m.constant(type, [], [zero])]};
}

function activation(m, r, type, shape) {
  const p = params(m, r, type);
  return {...p, shape, real: m.node('DequantizeLinear', [q.input(m, r, type, shape), ...p.names])};
}

function weights(m, r, shape, axis) {
  const each = r.chance(0.5), dims = each ? [shape[axis]] : [], count = product(dims);
  const names = [halves(m, dims, Array.from({length: count}, () => r.scale(0.001, 0.02))), m.constant('int8', dims, new Array(count).fill(0))];
  return m.node('DequantizeLinear', [m.constant('int8', shape, r.weights('int8', product(shape))), ...names], each ? {axis} : {});
}

function finish(m, r, real, type, scale, zero) {
  const p = params(m, r, type, scale, zero), y = m.node('QuantizeLinear', [real, ...p.names]);
  m.output(y, type);
  return m;
}

function conv(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), c = q.convShapes(r), x = activation(m, r, type, c.x);
  return finish(m, r, m.node('Conv', [x.real, weights(m, r, c.w, 0)], c.attrs), type, q.outScale(r, c.depth));
}

function products(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), [M, K, N] = [r.int(1, 9), r.int(1, 60), r.int(1, 24)], x = activation(m, r, type, [M, K]);
  return finish(m, r, m.node(r.pick(['Gemm', 'MatMul']), [x.real, weights(m, r, [K, N], 1)]), type, q.outScale(r, K));
}

function binary(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), op = r.pick(['Add', 'Mul', 'Sub', 'Min']), [sa, sb] = q.broadcast(r);
  const a = activation(m, r, type, sa), b = activation(m, r, type, sb);
  return finish(m, r, m.node(op, [a.real, b.real]), type, op === 'Mul' ? a.scale * b.scale * r.scale(20, 200) : r.scale(0.01, 0.5));
}

function unary(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), x = activation(m, r, type, r.shape(r.int(2, 4), 8));
  const [op, scale] = r.pick([['Sigmoid', 1 / 256], ['Softmax', 1 / 256], ['Relu', r.scale()], ['LeakyRelu', r.scale()], ['Tanh', 1 / 128]]);
  return finish(m, r, m.node(op, [x.real]), type, scale);
}

function moves(r) { // other parameters behind it half of the time
  const m = new Model(), type = r.pick(q.ACTIVATIONS), x = activation(m, r, type, [2, 3, 6, 6]), same = r.chance(0.5);
  const op = r.pick(['MaxPool', 'Transpose', 'Identity', 'Flatten']);
  return finish(m, r, m.node(op, [x.real], op === 'MaxPool' ? {kernel_shape: [2, 2]} : {}), type, same ? x.scale : r.scale(), same ? x.zero : undefined);
}

module.exports = {
  cases: {
    'QDQ Conv of float16': conv, 'QDQ products of float16': products, 'QDQ binary of float16': binary, 'QDQ unary of float16': unary,
    'QDQ moves of float16': moves,
  },
};
