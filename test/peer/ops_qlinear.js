// Random single operators on codes: the QLinear forms, and integer products.
'use strict';
const {Model} = require('./onnx.js');
const {product} = require('./random.js');

const ACTIVATIONS = ['uint8', 'int8'];

// Scale and zero point as constants; the values too.
function params(m, r, type, scale = r.scale(), zero = r.zero(type)) {
  return {scale, zero, names: [m.scalar('float32', scale), m.scalar(type, zero)]};
}

function input(m, r, type, shape) { return m.input(type, shape, r.codes(type, product(shape))); }

// ONNX Runtime's pools crop the image where SAME would need padding below zero: no such windows.
function withoutCrop(attrs) {
  if (attrs.auto_pad !== 'VALID') attrs.strides = attrs.strides.map((s, i) => Math.min(s, attrs.kernel_shape[i]));
  return attrs;
}

// Windows over an image: {image, kernel, attrs} such that the output is not empty.
function windows(r, {dilations = true, most = 12} = {}) {
  const rank = r.pick([1, 2, 2, 2, 2, 3]);
  const kernel = r.shape(rank, rank === 3 ? 2 : r.pick([1, 3, 5]));
  const strides = r.shape(rank, 3), attrs = {kernel_shape: kernel, strides};
  const dilation = dilations && r.chance(0.3) ? r.shape(rank, 3) : kernel.map(() => 1);
  const span = kernel.map((k, i) => (k - 1) * dilation[i] + 1);
  const image = span.map(s => s + r.int(0, most));
  if (dilation.some(d => d > 1)) attrs.dilations = dilation;
  if (r.chance(0.2)) attrs.auto_pad = r.pick(['SAME_UPPER', 'SAME_LOWER', 'VALID']);
  else if (r.chance(0.6)) attrs.pads = [...kernel, ...kernel].map(k => r.int(0, k - 1));
  return {image, kernel, attrs};
}

// Channels and groups: plain, grouped, depthwise with a multiplier.
function channels(r) {
  const kind = r.int(0, 3);
  if (kind === 0) { const g = r.int(1, 20); return {group: g, inner: 1, out: g * r.pick([1, 1, 2])}; }
  if (kind === 1) { const g = r.int(2, 4); return {group: g, inner: r.int(1, 5), out: g * r.int(1, 5)}; }
  return {group: 1, inner: r.int(1, 40), out: r.int(1, 40)};
}

function perChannel(m, r, type, count) {
  const scales = Float32Array.from({length: count}, () => r.scale(0.001, 0.02));
  const zeros = Array.from({length: count}, () => r.chance(0.7) ? 0 : r.int(0, 5));
  return [m.constant('float32', [count], scales), m.constant(type, [count], zeros)];
}

// Weights' type that goes with the activations'; their parameters for one or for each of `count`.
function weightParams(m, r, type, count) {
  const w = type === 'int8' ? 'int8' : r.pick(['int8', 'int8', 'uint8']);
  if (r.chance(0.5)) return {w, names: perChannel(m, r, w, count)};
  return {w, names: params(m, r, w, r.scale(0.001, 0.02), r.chance(0.6) ? 0 : r.zero(w)).names};
}

// An output scale under which sums of `depth` products of about these scales fill the codes.
function outScale(r, depth) { return r.scale(0.02, 0.2) * Math.fround(Math.sqrt(depth) / 4 + 0.2); }

function bias(m, r, count) {
  const most = r.pick([1000, 100000]);
  return m.constant('int32', [count], Array.from({length: count}, () => r.int(-most, most)));
}

function convShapes(r) {
  const {image, kernel, attrs} = windows(r, {most: 9}), c = channels(r);
  return {x: [r.int(1, 2), c.group * c.inner, ...image], w: [c.out, c.inner, ...kernel], out: c.out,
    attrs: {...attrs, group: c.group}, depth: c.inner * product(kernel)};
}

function qlinearConv(r) {
  const m = new Model(), type = r.pick(ACTIVATIONS), c = convShapes(r);
  const x = input(m, r, type, c.x), xp = params(m, r, type), wp = weightParams(m, r, type, c.out);
  const w = m.constant(wp.w, c.w, r.weights(wp.w, product(c.w)));
  const yp = params(m, r, type, Math.fround(outScale(r, c.depth)));
  const ins = [x, ...xp.names, w, ...wp.names, ...yp.names];
  if (r.chance(0.6)) ins.push(bias(m, r, c.out));
  m.output(m.node('QLinearConv', ins, c.attrs), type);
  return m;
}

function convInteger(r) {
  const m = new Model(), type = 'uint8', c = convShapes(r), w = r.pick(ACTIVATIONS);
  const ins = [input(m, r, type, c.x), m.constant(w, c.w, r.codes(w, product(c.w)))];
  if (r.chance(0.6)) ins.push(m.scalar(type, r.zero(type)));
  if (ins.length === 3 && r.chance(0.6)) ins.push(m.scalar(w, r.zero(w)));
  m.output(m.node('ConvInteger', ins, c.attrs), 'int32');
  return m;
}

// Two matrices with batch dimensions that broadcast.
function matrices(r) {
  const [M, K, N] = [r.int(1, 20), r.int(1, 70), r.int(1, 30)];
  const batch = r.chance(0.5) ? [] : r.shape(r.int(1, 2), 3);
  const second = r.chance(0.4) ? [] : r.chance(0.3) ? batch.map(d => r.chance(0.5) ? 1 : d) : batch;
  return {a: [...batch, M, K], b: [...second, K, N], K, N};
}

function matmulParts(m, r) {
  const a = r.pick(ACTIVATIONS), b = a === 'int8' ? 'int8' : r.pick(ACTIVATIONS), s = matrices(r);
  const constant = r.chance(0.6);
  const B = constant ? m.constant(b, s.b, r.weights(b, product(s.b))) : input(m, r, b, s.b);
  return {a, b, s, A: input(m, r, a, s.a), B, columns: s.b.length === 2 && r.chance(0.4)};
}

function qlinearMatmul(r) {
  const m = new Model(), p = matmulParts(m, r);
  const bp = p.columns ? perChannel(m, r, p.b, p.s.N) : params(m, r, p.b, r.scale(0.001, 0.02)).names;
  m.output(m.node('QLinearMatMul', [p.A, ...params(m, r, p.a).names, p.B, ...bp,
    ...params(m, r, p.a, Math.fround(outScale(r, p.s.K))).names]), p.a);
  return m;
}

function matmulInteger(r) {
  const m = new Model(), p = matmulParts(m, r), ins = [p.A, p.B];
  if (r.chance(0.6)) ins.push(m.scalar(p.a, r.zero(p.a)));
  if (ins.length === 3 && r.chance(0.6))
    ins.push(p.columns ? m.constant(p.b, [p.s.N], r.codes(p.b, p.s.N)) : m.scalar(p.b, r.zero(p.b)));
  m.output(m.node('MatMulInteger', ins), 'int32');
  return m;
}

function qgemm(r) {
  const m = new Model(), type = r.pick(ACTIVATIONS), [M, K, N] = [r.int(1, 12), r.int(1, 60), r.int(1, 24)];
  const transA = r.int(0, 1), transB = r.int(0, 1), wp = weightParams(m, r, type, N);
  const x = input(m, r, type, transA ? [K, M] : [M, K]);
  const w = m.constant(wp.w, transB ? [N, K] : [K, N], r.weights(wp.w, N * K));
  const ins = [x, ...params(m, r, type).names, w, ...wp.names, r.chance(0.6) ? bias(m, r, N) : ''];
  const real = r.chance(0.3), attrs = {transA, transB};
  if (r.chance(0.3)) attrs.alpha = Float32Array.of(r.pick([0.5, 2, 0.7, 1.3]));
  if (!real) ins.push(...params(m, r, type, Math.fround(outScale(r, K))).names);
  m.output(m.ms('QGemm', ins, attrs), real ? 'float32' : type);
  return m;
}

// b's shape broadcasts with a's, either way.
function broadcast(r) {
  const a = r.shape(r.int(1, 4), 7), b = a.map(d => r.chance(0.3) ? 1 : d).slice(r.chance(0.3) ? r.int(0, a.length - 1) : 0);
  return r.chance(0.5) ? [a, b] : [b, a];
}

function qlinearBinary(op) {
  return r => {
    const m = new Model(), type = r.pick(ACTIVATIONS), [sa, sb] = broadcast(r);
    const b = r.chance(0.3) ? m.constant(type, sb, r.codes(type, product(sb))) : input(m, r, type, sb);
    const ap = params(m, r, type), bp = params(m, r, type);
    const out = op === 'QLinearMul' ? ap.scale * bp.scale * r.scale(20, 200) : r.scale(0.01, 0.5);
    m.output(m.ms(op, [input(m, r, type, sa), ...ap.names, b, ...bp.names,
      ...params(m, r, type, Math.fround(out)).names]), type);
    return m;
  };
}

function nhwc(r, shape) { return r ? [shape[0], ...shape.slice(2), shape[1]] : shape; }

function qlinearAveragePool(r) {
  const m = new Model(), type = r.pick(ACTIVATIONS), w = windows(r, {dilations: false}), image = w.image, attrs = withoutCrop(w.attrs);
  const last = r.chance(0.2) ? 1 : 0;
  attrs.count_include_pad = r.int(0, 1);
  attrs.channels_last = last;
  if (r.chance(0.2) && !attrs.auto_pad) attrs.ceil_mode = 1;
  const x = input(m, r, type, nhwc(last, [r.int(1, 2), r.int(1, 9), ...image])), xp = params(m, r, type);
  m.output(m.ms('QLinearAveragePool', [x, ...xp.names, ...params(m, r, type, Math.fround(xp.scale * r.scale(0.3, 1.2))).names], attrs), type);
  return m;
}

function qlinearGlobalAveragePool(r) {
  const m = new Model(), type = r.pick(ACTIVATIONS), last = r.chance(0.3) ? 1 : 0;
  const x = input(m, r, type, nhwc(last, [r.int(1, 3), r.int(1, 20), ...r.shape(2, 14)])), xp = params(m, r, type);
  m.output(m.ms('QLinearGlobalAveragePool', [x, ...xp.names,
    ...params(m, r, type, Math.fround(xp.scale * r.scale(0.1, 1.2))).names], {channels_last: last}), type);
  return m;
}

function qlinearUnary(op) {
  return r => {
    const m = new Model(), type = r.pick(ACTIVATIONS), shape = r.shape(r.int(1, 4), 8);
    const attrs = op === 'QLinearLeakyRelu' ? {alpha: Float32Array.of(r.pick([0.01, 0.1, 0.25, 1.5]))} : {};
    const out = op === 'QLinearSigmoid' ? Math.fround(r.pick([1 / 256, 1 / 255, r.scale(0.002, 0.02)])) : r.scale();
    m.output(m.ms(op, [input(m, r, type, shape), ...params(m, r, type).names, ...params(m, r, type, out).names], attrs), type);
    return m;
  };
}

function qlinearConcat(r) {
  const m = new Model(), type = r.pick(ACTIVATIONS), shape = r.shape(r.int(1, 4), 6), axis = r.int(0, shape.length - 1);
  const y = params(m, r, type), ins = [...y.names];
  for (let i = r.int(1, 4); i > 0; i--) {
    const own = shape.map((d, k) => k === axis ? r.int(1, 5) : d);
    ins.push(input(m, r, type, own), ...(r.chance(0.3) ? params(m, r, type, y.scale, y.zero) : params(m, r, type)).names);
  }
  m.output(m.ms('QLinearConcat', ins, {axis}), type);
  return m;
}

function qlinearSoftmax(r) {
  const m = new Model(), type = r.pick(ACTIVATIONS), shape = r.shape(r.int(2, 4), r.pick([4, 12]));
  const attrs = {axis: r.int(-1, shape.length - 1), opset: r.pick([13, 13, 11])};
  const y = params(m, r, type, Math.fround(r.pick([1 / 256, 1 / 255, r.scale(0.003, 0.02)])),
    r.chance(0.7) ? (type === 'int8' ? -128 : 0) : r.zero(type));
  m.output(m.ms('QLinearSoftmax', [input(m, r, type, shape), ...params(m, r, type).names, ...y.names], attrs), type);
  return m;
}

function qlinearWhere(r) {
  const m = new Model(), type = r.pick(ACTIVATIONS), shape = r.shape(r.int(1, 3), 7);
  const part = () => r.chance(0.6) ? shape : shape.map(d => r.chance(0.5) ? 1 : d);
  const c = part(), cond = m.input('bool', c, Uint8Array.from({length: product(c)}, () => r.int(0, 1)));
  const y = params(m, r, type);
  const operand = () => [input(m, r, type, part()), ...(r.chance(0.3) ? params(m, r, type, y.scale, y.zero) : params(m, r, type)).names];
  m.output(m.ms('QLinearWhere', [cond, ...operand(), ...operand(), ...y.names]), type);
  return m;
}

module.exports = {
  cases: {
    QLinearConv: qlinearConv, QLinearMatMul: qlinearMatmul, QGemm: qgemm, ConvInteger: convInteger,
    MatMulInteger: matmulInteger, QLinearAdd: qlinearBinary('QLinearAdd'), QLinearMul: qlinearBinary('QLinearMul'),
    QLinearAveragePool: qlinearAveragePool, QLinearGlobalAveragePool: qlinearGlobalAveragePool,
    QLinearSigmoid: qlinearUnary('QLinearSigmoid'), QLinearLeakyRelu: qlinearUnary('QLinearLeakyRelu'),
    QLinearConcat: qlinearConcat, QLinearSoftmax: qlinearSoftmax, QLinearWhere: qlinearWhere,
  },
  ACTIVATIONS, params, input, windows, withoutCrop, convShapes, matrices, broadcast, outScale,
};
