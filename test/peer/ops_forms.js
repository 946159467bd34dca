// Random QDQ groups in the forms that exporters leave around the operator: float biases, weights behind a
// QuantizeLinear, packed weights in blocks, conversions that several nodes share, chains.
'use strict';
const {Model} = require('./onnx.js');
const {product} = require('./random.js');
const q = require('./ops_qlinear.js');
const {DQ, activation, finish, weights, bias, maybeRelu} = require('./ops_qdq.js');

const anyOpset = r => new Model(r.pick([13, 14, 15, 17, 18, 19, 21, 23]));

// Weights of uint8, whose zero point is in the middle.
function unsignedWeights(r) {
  const m = anyOpset(r), c = q.convShapes(r), x = activation(m, r, 'uint8', c.x), w = weights(m, r, c.w, 0, 'uint8');
  const [y, zero] = maybeRelu(m, r, m.node('Conv', [x.real, w.real, bias(m, r, x, w, c.out)], c.attrs), 'uint8');
  return finish(m, r, y, 'uint8', q.outScale(r, c.depth), zero);
}

// A bias that stays float beside quantized weights, as PyTorch writes it.
function floatBias(r) {
  const m = anyOpset(r), type = r.pick(q.ACTIVATIONS), c = q.convShapes(r), x = activation(m, r, type, c.x), w = weights(m, r, c.w, 0);
  const b = m.constant('float32', [c.out], Array.from({length: c.out}, () => Math.fround(r.normal() * x.scale * w.scales[0] * 5000)));
  const [y, zero] = maybeRelu(m, r, m.node('Conv', [x.real, w.real, b], c.attrs), type);
  return finish(m, r, y, type, q.outScale(r, c.depth), zero);
}

// Weights that the network quantizes itself: float constants behind a pair of conversions.
function weightPair(r) {
  const m = new Model(), type = r.pick(q.ACTIVATIONS), [M, K, N] = [r.int(1, 9), r.int(1, 40), r.int(1, 20)], x = activation(m, r, type, [M, K]);
  const each = r.chance(0.5), dims = each ? [N] : [], scales = Float32Array.from({length: each ? N : 1}, () => r.scale(0.001, 0.02));
  const p = [m.constant('float32', dims, scales), m.constant('int8', dims, new Array(scales.length).fill(0))], attrs = each ? {axis: 1} : {};
  const codes = m.node('QuantizeLinear', [m.constant('float32', [K, N], r.floats(K * N, 0.5)), ...p], attrs);
  return finish(m, r, m.node('MatMul', [x.real, m.node('DequantizeLinear', [codes, ...p], attrs)]), type, q.outScale(r, K) * 3);
}

// The same conversion read by two operators, each with its own result.
function shared(r) {
  const m = anyOpset(r), type = r.pick(q.ACTIVATIONS), shape = [1, r.int(1, 6), r.int(2, 8), r.int(2, 8)], x = activation(m, r, type, shape);
  const [c, out] = [shape[1], r.int(1, 8)], w = weights(m, r, [out, c, 1, 1], 0), b = bias(m, r, x, w, out);
  finish(m, r, m.node('Conv', [x.real, w.real, b], {kernel_shape: [1, 1]}), type, q.outScale(r, c));
  finish(m, r, m.node('GlobalAveragePool', [x.real]), type, x.scale * r.scale(0.1, 1.2));
  return finish(m, r, m.node('Mul', [x.real, x.real]), type, x.scale * x.scale * r.scale(20, 200));
}

// Bounds that are not the codes' own.
function bounds(r) {
  const m = anyOpset(r), type = r.pick(q.ACTIVATIONS), c = q.convShapes(r), x = activation(m, r, type, c.x), w = weights(m, r, c.w, 0);
  const y = m.node('Conv', [x.real, w.real, bias(m, r, x, w, c.out)], c.attrs), scale = Math.fround(q.outScale(r, c.depth));
  const lo = Math.fround(r.pick([0, 0, -1, -r.unit() * 90 * scale])), hi = Math.fround(r.pick([6, r.unit() * 150 * scale + 1]));
  const bounded = r.chance(0.3) ? m.node('Relu', [y]) : m.node('Clip', [y, m.scalar('float32', lo), m.scalar('float32', hi)]);
  return finish(m, r, bounded, type, scale);
}

// A row of operators, codes in between, as a body of a network has them; every code is compared.
function chain(r) {
  const m = new Model(r.pick([14, 17, 19, 21])), type = r.pick(q.ACTIVATIONS), size = r.int(2, 8);
  let shape = [r.int(1, 2), r.int(1, 6), size, size], x = activation(m, r, type, shape), last = null;
  const next = (real, scale, zero) => {
    const p = q.params(m, r, type, Math.fround(scale), zero), y = m.node('QuantizeLinear', [real, ...p.names]);
    m.output(y, type);
    last = x;
    x = {...p, shape, real: DQ(m, y, p)};
  };
  for (let k = r.int(2, 6); k > 0; k--) {
    const kind = r.pick(['Conv', 'Add', 'Mul', 'Concat', 'Sigmoid', 'LeakyRelu', 'Transpose', 'AveragePool', 'MaxPool', 'HardSwish', 'Relu', 'Scale']);
    if (kind === 'Conv') {
      const out = r.int(1, 8), w = weights(m, r, [out, shape[1], 3, 3], 0), b = bias(m, r, x, w, out);
      const [y, zero] = maybeRelu(m, r, m.node('Conv', [x.real, w.real, b], {kernel_shape: [3, 3], pads: [1, 1, 1, 1]}), type);
      shape = [shape[0], out, ...shape.slice(2)];
      next(y, q.outScale(r, shape[1] * 9), zero);
    } else if (kind === 'Add' || kind === 'Mul') {
      const b = last && last.shape.join() === shape.join() ? last : x;
      next(m.node(kind, r.chance(0.5) ? [x.real, b.real] : [b.real, x.real]), kind === 'Mul' ? x.scale * b.scale * r.scale(20, 200) : r.scale(0.01, 0.5));
    } else if (kind === 'Scale') { // by constants, one per channel
      const p = q.params(m, r, type), c = m.constant(type, [shape[1], 1, 1], r.codes(type, shape[1]));
      next(m.node(r.pick(['Add', 'Mul']), [x.real, DQ(m, c, p)]), r.scale(0.01, 0.5));
    } else if (kind === 'Concat') {
      const y = m.node('Concat', [x.real, x.real], {axis: 1});
      shape = [shape[0], 2 * shape[1], ...shape.slice(2)];
      next(y, r.scale());
    } else if (kind === 'Transpose') {
      const y = m.node(kind, [x.real], {perm: [0, 1, 3, 2]}), same = r.chance(0.6);
      next(y, same ? x.scale : r.scale(), same ? x.zero : undefined);
    } else if (kind === 'AveragePool' || kind === 'MaxPool') {
      const y = m.node(kind, [x.real], {kernel_shape: [3, 3], pads: [1, 1, 1, 1]}), same = kind === 'MaxPool' && r.chance(0.7);
      next(y, same ? x.scale : x.scale * r.scale(0.3, 1.2), same ? x.zero : undefined);
    } else {
      next(m.node(kind, [x.real], kind === 'LeakyRelu' ? {alpha: Float32Array.of(0.1)} : {}), r.scale());
    }
  }
  return m;
}

module.exports = {
  cases: {'QDQ unsigned weights': unsignedWeights, 'QDQ float bias': floatBias, 'QDQ weight pair': weightPair, 'QDQ shared': shared, 'QDQ bounds': bounds, 'QDQ chain': chain},
};
