// Random QDQ groups: DequantizeLinear -> op -> QuantizeLinear, as exporters and quantizers write them.
'use strict';
const {Model} = require('./onnx.js');
const {product} = require('./random.js');
const q = require('./ops_qlinear.js');

const DQ = (m, x, p, attrs = {}) => m.node('DequantizeLinear', [x, ...p.names], attrs);

// Codes as an input of the network, and their real values.
function activation(m, r, type, shape, p = q.params(m, r, type)) {
  return {...p, shape, real: DQ(m, q.input(m, r, type, shape), p)};
}

// The codes of `real`, which the network gives; real values behind them too, as in a larger network.
function finish(m, r, real, type, scale, zero) {
  const p = q.params(m, r, type, Math.fround(scale), zero), y = m.node('QuantizeLinear', [real, ...p.names]);
  m.output(y, type);
  if (r.chance(0.3)) m.output(DQ(m, y, p), 'float32');
  return m;
}

// Weights of int8 at one scale or one for each index of `axis`; scales come back for the bias.
function weights(m, r, shape, axis, type = 'int8') {
  const each = r.chance(0.6), count = each ? shape[axis] : 1, dims = each ? [count] : [];
  const scales = Float32Array.from({length: count}, () => r.scale(0.001, 0.02));
  const zeros = new Array(count).fill(type === 'uint8' ? 128 : 0);
  const p = {names: [m.constant('float32', dims, scales), m.constant(type, dims, zeros)]};
  return {scales, real: DQ(m, m.constant(type, shape, r.weights(type, product(shape))), p, each ? {axis} : {})};
}

function bias(m, r, x, w, count) {
  const scales = Float32Array.from(w.scales, s => x.scale * s), dims = scales.length > 1 ? [count] : [];
  const names = [m.constant('float32', dims, scales)];
  if (r.chance(0.5)) names.push(m.constant('int32', dims, new Array(scales.length).fill(0)));
  const codes = m.constant('int32', [count], Array.from({length: count}, () => r.int(-20000, 20000)));
  return DQ(m, codes, {names}, dims.length ? {axis: 0} : {});
}

const least = type => type === 'uint8' ? 0 : -128;

// Relu behind an op, and the zero point that goes with it, or nothing.
function maybeRelu(m, r, real, type) {
  return r.chance(0.4) ? [m.node('Relu', [real]), least(type)] : [real, undefined];
}

function conv(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), c = q.convShapes(r), x = activation(m, r, type, c.x);
  const w = weights(m, r, c.w, 0), ins = [x.real, w.real];
  if (r.chance(0.7)) ins.push(bias(m, r, x, w, c.out));
  const [y, zero] = maybeRelu(m, r, m.node('Conv', ins, c.attrs), type);
  return finish(m, r, y, type, q.outScale(r, c.depth), zero);
}

function matmul(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), s = q.matrices(r), a = activation(m, r, type, s.a);
  const b = s.b.length === 2 && r.chance(0.7) ? weights(m, r, s.b, 1).real : activation(m, r, type, s.b).real;
  return finish(m, r, m.node('MatMul', [a.real, b]), type, q.outScale(r, s.K) * 3);
}

function gemm(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), [M, K, N] = [r.int(1, 9), r.int(1, 60), r.int(1, 24)];
  const transB = r.int(0, 1), x = activation(m, r, type, [M, K]), w = weights(m, r, transB ? [N, K] : [K, N], transB ? 0 : 1);
  const ins = [x.real, w.real];
  if (r.chance(0.7)) ins.push(bias(m, r, x, w, N));
  const [y, zero] = maybeRelu(m, r, m.node('Gemm', ins, {transB}), type);
  return finish(m, r, y, type, q.outScale(r, K), zero);
}

function binary(op) {
  return r => {
    const m = new Model(), type = r.pick(q.ACTIVATIONS), [sa, sb] = q.broadcast(r);
    const a = activation(m, r, type, sa), b = activation(m, r, type, sb);
    const scale = op === 'Mul' ? a.scale * b.scale * r.scale(20, 200) : r.scale(0.01, 0.5);
    const [y, zero] = maybeRelu(m, r, m.node(op, [a.real, b.real]), type);
    return finish(m, r, y, type, scale, zero);
  };
}

function averagePool(r) {
  const m = new Model(19), type = r.pick(q.ACTIVATIONS), w = q.windows(r, {dilations: false});
  const x = activation(m, r, type, [r.int(1, 2), r.int(1, 9), ...w.image]);
  return finish(m, r, m.node('AveragePool', [x.real], {...q.withoutCrop(w.attrs), count_include_pad: r.int(0, 1)}), type, x.scale * r.scale(0.3, 1.2));
}

function globalAveragePool(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), x = activation(m, r, type, [r.int(1, 3), r.int(1, 20), ...r.shape(2, 14)]);
  return finish(m, r, m.node('GlobalAveragePool', [x.real]), type, x.scale * r.scale(0.1, 1.2));
}

function unary(op, attrs = () => ({}), scale = r => r.scale()) {
  return r => {
    const m = new Model(), type = r.pick(q.ACTIVATIONS), x = activation(m, r, type, r.shape(r.int(1, 4), 8));
    return finish(m, r, m.node(op, [x.real], attrs(r, x.shape)), type, scale(r));
  };
}

function softmax(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), x = activation(m, r, type, r.shape(r.int(2, 4), r.pick([4, 12])));
  return finish(m, r, m.node('Softmax', [x.real], {axis: r.int(-1, x.shape.length - 1)}), type,
    r.pick([1 / 256, 1 / 255, r.scale(0.003, 0.02)]), least(type));
}

function concat(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), shape = r.shape(r.int(1, 4), 6), axis = r.int(0, shape.length - 1);
  const parts = Array.from({length: r.int(2, 4)}, () => activation(m, r, type, shape.map((d, k) => k === axis ? r.int(1, 5) : d)));
  return finish(m, r, m.node('Concat', parts.map(p => p.real), {axis}), type, r.scale());
}

function where(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), shape = r.shape(r.int(1, 3), 7);
  const cond = m.input('bool', shape, Uint8Array.from({length: product(shape)}, () => r.int(0, 1)));
  const [a, b] = [activation(m, r, type, shape), activation(m, r, type, shape)];
  return finish(m, r, m.node('Where', [cond, a.real, b.real]), type, r.scale());
}

// What ONNX Runtime has no form on codes for: floats between the conversions.
function floatBinary(op) {
  return r => {
    const m = new Model(), type = r.pick(['uint8', 'int8', 'uint16', 'int16']), [sa, sb] = q.broadcast(r);
    const a = activation(m, r, type, sa), b = activation(m, r, type, sb);
    return finish(m, r, m.node(op, [a.real, b.real]), type, type.endsWith('16') ? r.scale(1e-4, 1e-2) : r.scale(0.01, 0.5));
  };
}

// Pairs of 16 bits: no fused form either.
function wide(r) {
  const m = new Model(), type = r.pick(['uint16', 'int16']), shape = r.shape(r.int(1, 4), 7), op = r.pick(['Add', 'Mul', 'Relu', 'LeakyRelu', 'Concat']);
  const a = activation(m, r, type, shape), b = activation(m, r, type, shape), scale = r.scale(1e-4, 1e-2);
  const y = op === 'Relu' || op === 'LeakyRelu' ? m.node(op, [a.real])
    : op === 'Concat' ? m.node(op, [a.real, b.real], {axis: 0}) : m.node(op, [a.real, b.real]);
  return finish(m, r, y, type, scale);
}

// Two types around an operator: tables and changes of parameters aside, no fused form either.
function twoTypes(r) {
  const m = new Model(19), shape = [1, r.int(1, 4), r.int(2, 8), r.int(2, 8)], types = ['uint8', 'int8', 'uint16', 'int16'];
  const from = r.pick(q.ACTIVATIONS), to = r.pick(types.filter(t => t !== from)), x = activation(m, r, from, shape);
  const op = r.pick(['Conv', 'MatMul', 'Add', 'Mul', 'Softmax', 'Sigmoid', 'LeakyRelu', 'AveragePool', 'GlobalAveragePool', 'Relu', 'Transpose', 'MaxPool']);
  let y;
  if (op === 'Conv') y = m.node(op, [x.real, weights(m, r, [r.int(1, 5), shape[1], 1, 1], 0).real], {kernel_shape: [1, 1]});
  else if (op === 'MatMul') y = m.node(op, [x.real, weights(m, r, [shape[3], r.int(1, 9)], 1).real]);
  else if (op === 'Add' || op === 'Mul') y = m.node(op, [x.real, activation(m, r, r.pick(q.ACTIVATIONS), shape).real]);
  else if (op === 'AveragePool' || op === 'MaxPool') y = m.node(op, [x.real], {kernel_shape: [2, 2], strides: [r.int(1, 2), 1]});
  else y = m.node(op, [x.real]);
  return finish(m, r, y, to, to.endsWith('16') ? r.scale(2e-5, 1e-3) : r.scale());
}

// What only moves codes, or chooses among them; other parameters behind it half of the time.
function moves(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), shape = [r.int(1, 3), r.int(1, 4), 2 * r.int(1, 4), r.int(2, 6)];
  const x = activation(m, r, type, shape), kind = r.pick(['Reshape', 'Transpose', 'MaxPool', 'Flatten', 'Slice', 'Unsqueeze', 'Gather', 'Relu', 'ReduceMax']);
  let y;
  if (kind === 'Reshape') y = m.node(kind, [x.real, m.list([shape[0], -1])]);
  else if (kind === 'Transpose') y = m.node(kind, [x.real], {perm: r.pick([[0, 2, 3, 1], [3, 1, 0, 2], [0, 1, 3, 2]])});
  else if (kind === 'MaxPool') y = m.node(kind, [x.real], {kernel_shape: [2, 2], strides: [r.int(1, 2), 1], pads: r.pick([[0, 0, 0, 0], [1, 0, 1, 1]])});
  else if (kind === 'Flatten') y = m.node(kind, [x.real], {axis: r.int(0, 3)});
  else if (kind === 'Slice') y = m.node(kind, [x.real, m.list([0, 1]), m.list([1, 2]), m.list([2, 3])]);
  else if (kind === 'Unsqueeze') y = m.node(kind, [x.real, m.list([r.int(0, 4)])]);
  else if (kind === 'Gather') y = m.node(kind, [x.real, m.constant('int64', [3], [0n, 1n, 0n])], {axis: 2});
  else if (kind === 'ReduceMax') y = m.node(kind, [x.real, m.list([1])], {keepdims: 1});
  else y = m.node(kind, [x.real]);
  const same = r.chance(0.5);
  return finish(m, r, y, type, same ? x.scale : r.scale(), same ? x.zero : undefined);
}

// Nearest, by whole factors. Means over floats and linear interpolation are not here: their sums depend on
// ONNX Runtime's order of addition.
function resize(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), shape = [1, r.int(1, 3), r.int(1, 6), r.int(1, 6)], x = activation(m, r, type, shape);
  const scales = m.constant('float32', [4], [1, 1, r.int(1, 3), r.int(1, 3)]), same = r.chance(0.5);
  const attrs = {mode: 'nearest', coordinate_transformation_mode: r.pick(['half_pixel', 'asymmetric', 'align_corners']),
    nearest_mode: r.pick(['floor', 'round_prefer_floor', 'ceil', 'round_prefer_ceil'])};
  return finish(m, r, m.node('Resize', [x.real, '', scales], attrs), type, same ? x.scale : r.scale(), same ? x.zero : undefined);
}

module.exports = {
  cases: {
    'QDQ Conv': conv, 'QDQ MatMul': matmul, 'QDQ Gemm': gemm, 'QDQ Add': binary('Add'), 'QDQ Mul': binary('Mul'),
    'QDQ AveragePool': averagePool, 'QDQ GlobalAveragePool': globalAveragePool,
    'QDQ Sigmoid': unary('Sigmoid', undefined, r => r.pick([1 / 256, 1 / 255, r.scale(0.002, 0.02)])),
    'QDQ LeakyRelu': unary('LeakyRelu', r => ({alpha: Float32Array.of(r.pick([0.01, 0.1, 0.25, 1.5]))})),
    'QDQ Softmax': softmax, 'QDQ Concat': concat, 'QDQ Where': where, 'QDQ moves': moves,
    'QDQ Sub': floatBinary('Sub'), 'QDQ Min': floatBinary('Min'), 'QDQ Max': floatBinary('Max'), 'QDQ 16 bits': wide,
    'QDQ two types': twoTypes,
    'QDQ Clip': unary('Clip'), 'QDQ Resize': resize,
  },
  DQ, activation, finish, weights, bias, maybeRelu,
};
