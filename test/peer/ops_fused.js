// Operators that ONNX Runtime's own passes write (com.microsoft), in floats: GELU with its bias, normalization of sums,
// embeddings, attention, products with an activation. Its kernels add in orders of their own: compared within 2^-17 of
// a tensor's greatest magnitude.
'use strict';
const {Model} = require('./onnx.js');
const {product} = require('./random.js');

const one = v => Float32Array.of(v);

function near(make) {
  return r => {
    const m = make(r, new Model(17));
    m.near = 2 ** -17;
    return m;
  };
}

const input = (m, r, shape, width = 2) => m.input('float32', shape, r.floats(product(shape), width));
const constant = (m, r, shape, width = 1) => m.constant('float32', shape, r.floats(product(shape), width));
const either = (m, r, shape) => r.chance(0.5) ? constant(m, r, shape) : input(m, r, shape, 1);
const out = (m, name, type = 'float32') => { m.output(name, type); return m; };

const gelu = (op, bias, attrs = () => ({})) => near((r, m) => {
  const shape = r.shape(r.int(1, 4), 9), ins = [input(m, r, shape, 3)];
  if (bias === 'always' || (bias && r.chance(0.5))) ins.push(either(m, r, shape.slice(-1)));
  return out(m, m.ms(op, ins, attrs(r)));
});

const skip = (op, beta) => near((r, m) => {
  const [b, s, h] = r.shape(3, 9), other = r.pick([[b, s, h], [b, s, h], [1, s, h], [s, h]]), sum = r.chance(0.5);
  const ins = [input(m, r, [b, s, h]), input(m, r, other), constant(m, r, [h])];
  if (beta) ins.push(r.chance(0.7) ? constant(m, r, [h]) : '');
  if (r.chance(0.5)) ins.push(constant(m, r, [h]));
  while (ins[ins.length - 1] === '') ins.pop();
  const names = sum ? [m.fresh('y'), '', '', m.fresh('sum')] : [m.fresh('y')];
  m.ms(op, ins, {epsilon: one(10 ** -r.int(3, 12))}, {names});
  names.filter(n => n).forEach(n => m.output(n, 'float32'));
  return m;
});

const simplified = near((r, m) => {
  const shape = r.shape(r.int(2, 4), 9), rank = shape.length;
  return out(m, m.node('SimplifiedLayerNormalization', [input(m, r, shape), constant(m, r, shape.slice(-1))],
    {axis: r.pick([-1, rank - 1]), epsilon: one(1e-5), stash_type: 1}));
});

const embed = near((r, m) => {
  const [b, s, h] = r.shape(3, 8), words = r.int(2, 20), places = s + r.int(0, 5), masked = r.chance(0.5);
  const ids = (n, shape) => m.input('int32', shape, Int32Array.from({length: product(shape)}, () => r.int(0, n - 1)));
  const segments = r.chance(0.6), ins = [ids(words, [b, s]), segments ? ids(2, [b, s]) : '', constant(m, r, [words, h]),
    constant(m, r, [places, h]), segments ? constant(m, r, [2, h]) : '', constant(m, r, [h]), constant(m, r, [h])];
  const given = r.chance(0.4);
  if (masked || given) ins.push(masked ? m.input('int32', [b, s], Int32Array.from({length: b * s}, () => r.int(0, 1))) : '');
  if (given) ins.push(ids(places, [r.pick([1, b]), s]));
  const names = [m.fresh('y'), m.fresh('mask_index'), ...(r.chance(0.5) ? [m.fresh('sum')] : [])];
  m.ms('EmbedLayerNormalization', ins, {epsilon: one(1e-12), ...(masked || r.chance(0.5) ? {mask_index_type: 1} : {})}, {names});
  names.forEach((n, i) => m.output(n, i === 1 ? 'int32' : 'float32'));
  return m;
});

// A key padding mask of one of its forms; '' for none. Each row keeps its first key: what is left of a row without any,
// -10000 more than its scores, depends on the last bits of them.
function mask(m, r, b, s, t, starts = true) {
  const ints = (shape, f) => m.input('int32', shape, Int32Array.from({length: product(shape)}, f));
  switch (r.pick(starts ? [0, 1, 2, 3, 4] : [0, 2, 3, 4])) {
  case 0: return ints([b], () => r.int(1, t));
  case 1: return ints([2 * b], (_, i) => i < b ? r.int(1, t) : 0);
  case 2: return ints([b, t], (_, i) => i % t === 0 ? 1 : r.int(0, 1));
  case 3: return ints([b, s, t], (_, i) => i % t === 0 ? 1 : r.int(0, 1));
  default: return '';
  }
}

const attention = near((r, m) => {
  const [b, s, n, h] = [r.int(1, 3), r.int(1, 7), r.int(1, 3), r.int(1, 8)], wide = r.int(1, 12), past = r.chance(0.3) ? r.int(1, 4) : 0;
  const hv = past || r.chance(0.7) ? h : r.int(1, 8), columns = n * (2 * h + hv), t = past + s;
  const ins = [input(m, r, [b, s, wide]), constant(m, r, [wide, columns]), constant(m, r, [columns]), mask(m, r, b, s, t),
    past ? input(m, r, [2, b, n, past, h]) : '', !past && r.chance(0.3) ? input(m, r, [r.pick([1, b]), r.pick([1, n]), s, t]) : ''];
  while (ins[ins.length - 1] === '') ins.pop();
  const attrs = {num_heads: n, unidirectional: r.int(0, 1)};
  if (hv !== h) attrs.qkv_hidden_sizes = [n * h, n * h, n * hv];
  if (r.chance(0.3)) attrs.scale = one(r.unit());
  if (r.chance(0.3)) attrs.mask_filter_value = one(-r.pick([5, 100, 3e38]));
  const outs = [].concat(m.ms('Attention', ins, attrs, {outputs: past ? 2 : 1}));
  outs.forEach(o => m.output(o, 'float32'));
  return m;
});

const multiHead = near((r, m) => {
  const [b, s, n, h] = [r.int(1, 3), r.int(1, 7), r.int(1, 3), r.int(1, 8)], past = r.chance(0.3) ? r.int(1, 4) : 0;
  const l = r.chance(0.5) ? s : r.int(1, 7), hv = past || r.chance(0.7) ? h : r.int(1, 8), t = past + l;
  const split = !past && hv === h && r.chance(0.25); // keys and values come as heads
  const ins = [input(m, r, [b, s, n * h]), input(m, r, split ? [b, n, l, h] : [b, l, n * h]), input(m, r, split ? [b, n, l, hv] : [b, l, n * hv]),
    !split && r.chance(0.5) ? constant(m, r, [n * (2 * h + hv)]) : '', r.chance(0.4) ? mask(m, r, b, s, t, false) : '',
    r.chance(0.3) ? input(m, r, [r.pick([1, b]), r.pick([1, n]), s, t]) : '', ...(past ? [input(m, r, [b, n, past, h]), input(m, r, [b, n, past, hv])] : [])];
  while (ins[ins.length - 1] === '') ins.pop();
  const attrs = {num_heads: n, ...(r.chance(0.4) ? {unidirectional: 1} : {})};
  if (r.chance(0.3)) attrs.scale = one(r.unit());
  const outs = [].concat(m.ms('MultiHeadAttention', ins, attrs, {outputs: past ? 3 : 1}));
  outs.forEach(o => m.output(o, 'float32'));
  return m;
});

function activation(r, kinds = ['Relu', 'Tanh', 'Sigmoid', 'LeakyRelu', 'HardSigmoid', 'Clip']) {
  const activation = r.pick(kinds);
  const params = {LeakyRelu: [0.1], Clip: [-0.5, 1.5], HardSigmoid: [0.3, 0.4]}[activation];
  return {activation, params};
}

const fusedConv = near((r, m) => {
  const [b, c, k, x, y] = [r.int(1, 2), r.int(1, 4), r.int(1, 5), r.int(3, 8), r.int(3, 8)], a = activation(r), kernel = r.shape(2, 3);
  const ins = [input(m, r, [b, c, x, y]), constant(m, r, [k, c, ...kernel]), r.chance(0.6) ? constant(m, r, [k]) : ''];
  if (r.chance(0.3)) ins.push(input(m, r, [b, k, x - kernel[0] + 1, y - kernel[1] + 1]));
  while (ins[ins.length - 1] === '') ins.pop();
  return out(m, m.ms('FusedConv', ins, {kernel_shape: kernel, activation: a.activation,
    ...(a.params ? {activation_params: {floats: a.params}} : {})}));
});

const fusedGemm = near((r, m) => {
  const [x, k, y] = r.shape(3, 8), a = activation(r, ['Relu', 'Tanh', 'Sigmoid', 'LeakyRelu', 'HardSigmoid']), [ta, tb] = [r.int(0, 1), r.int(0, 1)];
  const attrs = {activation: a.activation, alpha: one(r.pick([1, 0.5])), beta: one(r.pick([1, 2])), transA: ta, transB: tb};
  if (a.params) attrs.activation_alpha = one(a.params[0]);
  if (a.params && a.params.length > 1) attrs.activation_beta = one(a.params[1]);
  return out(m, m.ms('FusedGemm', [input(m, r, ta ? [k, x] : [x, k]), either(m, r, tb ? [y, k] : [k, y]), constant(m, r, [y])], attrs));
});

const fusedMatmul = near((r, m) => {
  const batch = r.shape(r.int(0, 2), 3), [x, k, y] = r.shape(3, 7), some = batch.length > 0;
  const [ta, tb, ba, bb] = [r.int(0, 1), r.int(0, 1), some ? r.int(0, 1) : 0, some ? r.int(0, 1) : 0];
  const shape = (i, j, swap, lead) => { // as it is stored: the last two exchanged, then the row in front of the batch
    const s = [...batch, ...(swap ? [j, i] : [i, j])], rank = s.length;
    return lead ? [s[rank - 2], ...batch, s[rank - 1]] : s;
  };
  return out(m, m.ms('FusedMatMul', [input(m, r, shape(x, k, ta, ba)), either(m, r, shape(k, y, tb, bb))],
    {transA: ta, transB: tb, transBatchA: ba, transBatchB: bb, alpha: one(r.pick([1, 0.25, 3]))}));
});

module.exports = {
  cases: {
    'Gelu of microsoft': gelu('Gelu', false), BiasGelu: gelu('BiasGelu', 'always'), FastGelu: gelu('FastGelu', true),
    QuickGelu: gelu('QuickGelu', false, r => r.chance(0.5) ? {alpha: one(r.unit() * 2)} : {}),
    SkipLayerNormalization: skip('SkipLayerNormalization', true), SkipSimplifiedLayerNormalization: skip('SkipSimplifiedLayerNormalization', false),
    SimplifiedLayerNormalization: simplified, EmbedLayerNormalization: embed, Attention: attention, MultiHeadAttention: multiHead,
    FusedConv: fusedConv, FusedGemm: fusedGemm, FusedMatMul: fusedMatmul,
  },
};
