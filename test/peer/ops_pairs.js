// Random QDQ networks that ONNX Runtime's passes change: two and three pairs of conversions in a row, which it merges
// where nothing else sees them, activations that clamp more than the codes behind them, or as much, clips within a
// float's epsilon of them, and products some of whose conversions have no zero point.
'use strict';
const {Model} = require('./onnx.js');
const q = require('./ops_qlinear.js');
const {DQ, activation, weights} = require('./ops_qdq.js');

// Scale and zero point in the forms that files have: scalars, lists of one, no zero point.
function written(m, r, type, p, form = r.pick(['scalar', 'scalar', 'list', 'none'])) {
  const dims = form === 'list' ? [1] : [], zero = form === 'none' ? 0 : p.zero;
  const names = [m.constant('float32', dims, [p.scale])];
  if (form !== 'none' || !type.startsWith('u') || type.endsWith('16')) names.push(m.constant(type, dims, [zero]));
  return {type, scale: p.scale, zero, names};
}

const drawn = (m, r, type) => written(m, r, type, {scale: type.endsWith('16') ? r.scale(1e-5, 1e-3) : r.scale(), zero: r.zero(type)});

const Q = (m, x, p) => m.node('QuantizeLinear', [x, ...p.names]);

// What stands in front: floats, an operator on codes, or codes alone.
function source(m, r, type) {
  const narrow = type.endsWith('16') ? r.pick(q.ACTIVATIONS) : type, shape = [r.int(1, 9), r.int(1, 40)];
  switch (r.int(0, 3)) {
  case 0: return m.input('float32', shape, r.floats(shape[0] * shape[1], 3));
  case 1: return m.node('MatMul', [activation(m, r, narrow, shape).real, weights(m, r, [shape[1], r.int(1, 9)], 1).real]);
  case 2: return m.node('Add', [activation(m, r, narrow, shape).real, activation(m, r, narrow, shape).real]);
  default: return activation(m, r, narrow, shape).real;
  }
}

// Two or three pairs; now and then somebody else reads in between, or the network gives what is there.
function pairs(r) {
  const m = new Model(21), types = ['uint8', 'int8', 'uint8', 'int8', 'uint16', 'int16'], type = r.pick(types);
  let x = source(m, r, type), p = drawn(m, r, type);
  for (let k = r.pick([1, 2, 2, 2, 3]); k > 0; k--) {
    const codes = Q(m, x, p);
    x = DQ(m, codes, p);
    if (r.chance(0.08)) m.output(codes, p.type);
    if (r.chance(0.08)) m.output(x, 'float32');
    if (r.chance(0.08)) m.output(m.node('Neg', [r.chance(0.5) ? x : DQ(m, codes, p)]), 'float32');
    if (k === 1 || r.chance(0.15)) continue;
    if (r.chance(0.1)) x = r.chance(0.5) ? m.node('Add', [x, m.scalar('float32', 0)]) : m.node('Mul', [m.scalar('float32', 1), x]);
    if (r.chance(0.08)) { // a second way from here
      const other = drawn(m, r, type);
      m.output(m.node('Neg', [DQ(m, Q(m, x, other), other)]), 'float32');
    }
    p = r.chance(0.15) ? p : drawn(m, r, r.chance(0.08) ? r.pick(types) : type);
  }
  if (r.chance(0.3)) { m.output(m.node('Abs', [x]), 'float32'); return m; }
  if (r.chance(0.5)) { m.output(x, 'float32'); return m; }
  const end = q.params(m, r, 'uint8'), y = m.node('Sigmoid', [x]);
  m.output(Q(m, y, end), 'uint8');
  return m;
}

// Products some of whose conversions have no zero point: then Gemm stays in float, and MatMul does not.
function bare(r) {
  const m = new Model(r.pick([13, 17, 21])), type = r.pick(q.ACTIVATIONS), [M, K, N] = [r.int(1, 9), r.int(1, 60), r.int(1, 24)];
  const any = (t, scale) => written(m, r, t, {scale, zero: t === type ? r.zero(t) : 0}, t === 'uint8' ? r.pick(['scalar', 'none']) : 'scalar');
  const x = any(type, r.scale()), gemm = r.chance(0.7), transB = gemm ? r.int(0, 1) : 0;
  const from = DQ(m, q.input(m, r, type, [M, K]), x), names = [m.scalar('float32', r.scale(0.001, 0.02))];
  if (r.chance(0.5)) names.push(m.scalar('int8', 0));
  const w = DQ(m, m.constant('int8', transB ? [N, K] : [K, N], r.weights('int8', K * N)), {names});
  const y = gemm ? m.node('Gemm', [from, w], {transB}) : m.node('MatMul', [from, w]);
  m.output(Q(m, y, any(type, q.outScale(r, K))), type);
  return m;
}

// Relu or Clip behind an operator, before any codes.
function clamped(r) {
  const m = new Model(r.pick([13, 17, 19, 21])), type = r.pick(q.ACTIVATIONS), shape = [r.int(1, 2), r.int(1, 6), r.int(1, 6), r.int(1, 6)], x = activation(m, r, type, shape);
  const op = r.pick(['MatMul', 'MatMul', 'Add', 'Mul', 'AveragePool', 'GlobalAveragePool', 'LeakyRelu', 'MaxPool']);
  let y;
  if (op === 'MatMul') y = m.node(op, [x.real, weights(m, r, [shape[3], r.int(1, 9)], 1).real]);
  else if (op === 'Add' || op === 'Mul') y = m.node(op, [x.real, activation(m, r, type, shape).real]);
  else if (op.endsWith('Pool')) y = m.node(op, [x.real], op[0] === 'G' ? {} : {kernel_shape: [1, 1]});
  else y = m.node(op, [x.real], {alpha: Float32Array.of(0.1)});
  const p = written(m, r, type, {scale: r.scale(0.005, 0.3), zero: r.zero(type)}, r.pick(['scalar', 'scalar', 'list']));
  const clip = y => m.node('Clip', [y, m.scalar('float32', r.pick([0, 0, -1, -100])), m.scalar('float32', r.pick([6, 1, 100, Math.fround(p.scale * 255)]))]);
  y = r.chance(0.5) ? m.node('Relu', [y]) : clip(y);
  if (r.chance(0.1)) y = clip(y);
  if (r.chance(0.15)) y = m.node('Neg', [y]); // what reads the activation makes no codes
  const codes = Q(m, y, p);
  if (r.chance(0.5)) m.output(codes, type);
  else m.output(m.node('Neg', [DQ(m, codes, p)]), 'float32');
  return m;
}

// Codes so fine that all of them lie within a float's epsilon: there a clip before them vanishes, whatever it clamps.
function tinyClip(r) {
  const m = new Model(), type = r.pick(['uint8', 'int8', 'uint16', 'int16']), zero = r.zero(type), scale = Math.fround(10 ** r.pick([-12, -10, -9.5, -9, -8, -6]) * (1 + r.unit()));
  const most = scale * (type.endsWith('16') ? 65535 : 255), shape = [1, 3, 4, 4], from = type.endsWith('16') ? 'uint8' : type;
  const x = r.chance(0.3) ? m.input('float32', shape, r.floats(48, most)) : activation(m, r, from, shape, q.params(m, r, from, scale)).real;
  const y = r.chance(0.3) ? m.node('Neg', [x]) : x, ends = [0, 1].map(() => Math.fround(r.pick([0, 6, 1e-8, -1e-8, most / 3, -most / 3, most / 7]))).sort((a, b) => a - b);
  const p = written(m, r, type, {scale, zero}, r.pick(['scalar', 'scalar', 'list']));
  m.output(Q(m, m.node('Clip', [y, ...ends.map(e => m.scalar('float32', e))]), p), type);
  return m;
}

module.exports = {cases: {'QDQ pairs in a row': pairs, 'QDQ clamped': clamped, 'QDQ no zero points': bare, 'QDQ clips of tiny scales': tinyClip}};
