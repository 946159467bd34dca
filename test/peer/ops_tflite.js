// Single operators of TFLite at random, in text form; each gives a Net. KIND is the type of activations.
'use strict';
const {Net, LIMITS, product} = require('./net_text.js');

const same = (n, x, shape = x.t.shape) => n.codes(x.t.kind, shape);

// Windows of TFLite: SAME or VALID. {shape, attributes}
function window(r, x, kernel, stride, dilation = [1, 1]) {
  const [b, h, w, c] = x.t.shape, at = {layout: 'nhwc', stride, dilation}, out = [];
  const padding = r.chance(0.5) ? 'same' : 'valid', begin = [], end = [];
  [h, w].forEach((size, i) => {
    const reach = (kernel[i] - 1) * dilation[i] + 1;
    const o = padding === 'same' ? Math.ceil(size / stride[i]) : Math.floor((size - reach) / stride[i]) + 1;
    const total = padding === 'same' ? Math.max(0, (o - 1) * stride[i] + reach - size) : 0;
    out.push(o);
    begin.push(Math.floor(total / 2));
    end.push(total - Math.floor(total / 2));
  });
  if (padding === 'same') Object.assign(at, {pad_begin: begin, pad_end: end});
  return {out: [b, ...out, c], at};
}

const image = (n, kind, most = 9) => {
  const r = n.r, kernel = [r.int(1, 4), r.int(1, 4)];
  const x = n.input(n.codes(kind, [1, kernel[0] + r.int(0, most), kernel[1] + r.int(0, most), r.int(1, 20)]));
  return {x, kernel, stride: r.pick([[1, 1], [1, 1], [2, 2], [1, 2]])};
};

const biased = (n, x, w, channels, bare) => n.r.chance(bare) ? [x, w] : [x, w, n.bias(x, w, channels)];

const conv = kind => r => {
  const n = new Net(r), {x, kernel, stride} = image(n, kind), channels = r.int(1, 20), depth = product(kernel) * x.t.shape[3];
  const w = n.weights(kind, [channels, ...kernel, x.t.shape[3]], channels, r.chance(0.7), 0);
  const {out, at} = window(r, x, kernel, stride);
  n.node(n.sumType(kind, [...out.slice(0, 3), channels], x, w, depth), 'conv', biased(n, x, w, channels, 0.2), at, n.activation());
  return n;
};

// Weights, a bias, or both that the network is given as inputs.
const given = (op, kind) => r => {
  const n = new Net(r), [rows, inner, channels] = [r.int(2, 9), r.int(1, 40), r.int(1, 12)], kernel = [r.int(1, 2), r.int(1, 2)];
  const flat = op === 'fc', x = n.input(n.codes(kind, flat ? [rows * 8, inner] : [1, rows, rows, inner]));
  const shape = flat ? [channels, inner] : [channels, ...kernel, inner], which = r.pick(['weights', 'bias', 'both']);
  const w = which === 'bias' ? n.weights(kind, shape, channels, false, 0)
    : n.input({kind, shape, scale: r.scale(0.002, 0.05), zero: kind === 'u8' ? 128 : 0});
  const b = n.bias(x, w, channels, which !== 'weights'), grow = op === 'conv' ? -1 : 1;
  const out = flat ? [rows * 8] : [1, rows + grow * (kernel[0] - 1), rows + grow * (kernel[1] - 1)];
  n.node(n.sumType(kind, [...out, channels], x, w, product(shape) / channels), op, [x, w, b], flat ? {} : {layout: 'nhwc'});
  return n;
};

const depthwise = kind => r => {
  const n = new Net(r), {x, kernel, stride} = image(n, kind), groups = x.t.shape[3], channels = groups * r.pick([1, 1, 2, 3]);
  const w = n.weights(kind, [channels, ...kernel, 1], channels, r.chance(0.7), 0);
  const {out, at} = window(r, x, kernel, stride);
  n.node(n.sumType(kind, [...out.slice(0, 3), channels], x, w, product(kernel)), 'conv', biased(n, x, w, channels, 0.2),
    {...at, group: groups}, n.activation());
  return n;
};

const fc = (kind, {perChannel = false, bare = 0.2} = {}) => r => {
  const n = new Net(r), depth = r.int(1, 70), channels = r.int(1, 30);
  const x = n.input(n.codes(kind, [r.pick([1, 1, 4, 7]), depth])), w = n.weights(kind, [channels, depth], channels, perChannel, 0);
  n.node(n.sumType(kind, [x.t.shape[0], channels], x, w, depth), 'fc', biased(n, x, w, channels, bare), {}, n.activation());
  return n;
};

const transposed = kind => r => {
  const n = new Net(r), [h, w, inner, channels] = [r.int(1, 6), r.int(1, 6), r.int(1, 12), r.int(1, 12)];
  const kernel = [r.int(1, 4), r.int(1, 4)], stride = [r.int(1, 3), r.int(1, 3)];
  const x = n.input(n.codes(kind, [1, h, w, inner])), f = n.weights(kind, [channels, ...kernel, inner], channels, r.chance(0.7), 0);
  const out = [(h - 1) * stride[0] + kernel[0], (w - 1) * stride[1] + kernel[1]], b = n.bias(x, f, channels);
  n.node(n.sumType(kind, [1, ...out, channels], x, f, product(kernel) * inner / product(stride)), 'conv_transpose', [x, f, b],
    {layout: 'nhwc', stride}, n.activation());
  return n;
};

const matmul = kind => r => {
  const n = new Net(r), [m, k, o] = [r.int(1, 9), r.int(1, 40), r.int(1, 9)], batch = r.int(1, 3);
  const a = n.input(n.codes(kind, [batch, m, k])), b = n.input(n.codes(kind, [batch, k, o]));
  n.node(n.sumType(kind, [batch, m, o], a, b, k), 'matmul', [a, b]);
  return n;
};

const shapes = r => {
  const full = [1, r.int(1, 6), r.int(1, 6), r.int(1, 9)];
  return r.pick([[full, full], [full, full], [full, [1, 1, 1, full[3]]], [full, [full[3]]], [full, [1]]]);
};

// scale of the result: `of(a, b)`, two octaves around it.
const binary = (op, kind, of, {act = true, equal = 0.15} = {}) => r => {
  const n = new Net(r), [sa, sb] = shapes(r), a = n.input(n.codes(kind, sa)), alike = r.chance(equal);
  const b = n.input(alike ? {...a.t, shape: sb} : n.codes(kind, sb));
  const y = alike && op === 'max' ? {...a.t} : n.codes(kind, sa);
  if (of) y.scale = Math.fround(of(a.t.scale, b.t.scale) * 2 ** (r.unit() * 3 - 1));
  n.node(y, op, r.chance(0.3) ? [b, a] : [a, b], {}, act ? n.activation() : null);
  return n;
};

// Divided by a constant without zeros, which TFLite leaves undefined.
const div = kind => r => {
  const n = new Net(r), a = n.input(n.codes(kind, [1, r.int(1, 6), r.int(1, 6), r.int(1, 9)])), t = n.codes(kind, a.t.shape);
  const b = n.constant(t, n.values(t).map(v => v === t.zero ? (t.zero > 0 ? v - 1 : v + 1) : v)), y = same(n, a);
  y.scale = Math.fround(a.t.scale / t.scale / 32 * 2 ** (r.unit() * 3 - 1));
  n.node(y, 'div', [a, b]);
  return n;
};

const selected = (op, kind) => r => { // one set of parameters, as converters write it
  const n = new Net(r), [sa, sb] = shapes(r), a = n.input(n.codes(kind, sa)), b = n.input({...a.t, shape: sb});
  n.node({...a.t}, op, [a, b]);
  return n;
};

const unary = (op, kind, {scale, zero, near = false, attributes = () => ({}), input = [0.004, 0.3]} = {}) => r => {
  const n = new Net(r), x = n.input(n.codes(kind, [1, r.int(1, 7), r.int(1, 7), r.int(1, 9)], ...input)), y = same(n, x);
  if (scale !== undefined) y.scale = scale;
  if (zero !== undefined) y.zero = zero;
  if (near) y.scale = Math.fround(x.t.scale * 2 ** (r.unit() * 2 - 1));
  else if (scale === undefined && r.chance(0.3)) y.scale = Math.fround(x.t.scale * 2 ** r.int(-1, 4)); // ties
  n.node(y, op, [x], attributes(r));
  return n;
};

// The result has the parameters of the operand.
const kept = (op, kind, attributes) => r => {
  const n = new Net(r), x = n.input(n.codes(kind, [1, r.int(2, 8), r.int(2, 8), r.int(1, 9)]));
  const {shape, at} = attributes(r, x);
  n.node({...x.t, shape}, op, [x], at);
  return n;
};

const pool = op => (r, x) => {
  const kernel = [r.int(1, Math.min(3, x.t.shape[1])), r.int(1, Math.min(3, x.t.shape[2]))];
  const {out, at} = window(r, x, kernel, r.pick([[1, 1], [2, 2]]));
  const {dilation, ...rest} = at;
  return {shape: out, at: {...rest, kernel}};
};

const reduce = (op, kind, grows) => r => {
  const n = new Net(r), x = n.input(n.codes(kind, [1, r.int(1, 8), r.int(1, 8), r.int(1, 9)]));
  const axes = r.pick([[1, 2], [1, 2], [3], [1], [1, 2, 3]]), count = axes.reduce((p, a) => p * x.t.shape[a], 1);
  const y = {...same(n, x, x.t.shape.map((d, i) => axes.includes(i) ? 1 : d))};
  y.scale = Math.fround(x.t.scale * (grows ? Math.sqrt(count) : 1) * 2 ** (r.unit() * 2 - 1));
  if (r.chance(0.2) && !grows) Object.assign(y, {scale: x.t.scale, zero: x.t.zero});
  n.node(y, op, [x], {axes, keepdims: 'true'});
  return n;
};

const softmax = kind => r => {
  const n = new Net(r), x = n.input(n.codes(kind, [r.int(1, 4), r.int(1, 40)], 0.01, 0.3));
  const fixed = {i8: [1 / 256, -128], u8: [1 / 256, 0], i16: [1 / 32768, 0]}[kind];
  n.node({...x.t, scale: fixed[0], zero: fixed[1]}, 'softmax', [x], r.chance(0.2) ? {beta: r.pick([0.5, 2])} : {});
  return n;
};

const concat = kind => r => {
  const n = new Net(r), axis = r.int(1, 3), shape = [1, r.int(1, 5), r.int(1, 5), r.int(1, 9)], x = n.input(n.codes(kind, shape));
  const y = n.input({...x.t, shape: shape.map((d, i) => i === axis ? r.int(1, 5) : d)});
  n.node({...x.t, shape: shape.map((d, i) => i === axis ? d + y.t.shape[axis] : d)}, 'concat', [x, y], {axis});
  return n;
};

const COORDINATES = {
  linear: [{coordinate: 'half_pixel'}, {coordinate: 'asymmetric'}, {coordinate: 'align_corners'}],
  nearest: [{coordinate: 'tflite_half_pixel', nearest: 'floor'}, {coordinate: 'asymmetric', nearest: 'floor'},
    {coordinate: 'align_corners', nearest: 'round_prefer_ceil'}],
};

const resize = (kind, mode) => r => {
  const n = new Net(r), x = n.input(n.codes(kind, [1, r.int(1, 6), r.int(1, 6), r.int(1, 9)]));
  const shape = [1, r.int(1, 9), r.int(1, 9), x.t.shape[3]];
  n.node({...x.t, shape}, 'resize', [x], {layout: 'nhwc', mode, size: shape, ...r.pick(COORDINATES[mode])});
  return n;
};

const prelu = kind => r => {
  const n = new Net(r), x = n.input(n.codes(kind, [1, r.int(1, 6), r.int(1, 6), r.int(1, 9)]));
  const t = n.codes(kind, [1, 1, x.t.shape[3]], 0.002, 0.01), a = n.constant(t, n.values(t));
  n.node(same(n, x), 'prelu', [x, a]);
  return n;
};

const quantize = kind => r => {
  const n = new Net(r), x = n.input({kind: 'f32', shape: [1, r.int(1, 200)]}), y = n.node(n.codes(kind, x.t.shape), 'quantize', [x]);
  n.node({kind: 'f32', shape: x.t.shape}, 'dequantize', [y]);
  return n;
};

const recast = (from, to) => r => {
  const n = new Net(r), x = n.input(n.codes(from, [1, r.int(1, 200)])), y = n.codes(to, x.t.shape);
  y.scale = Math.fround(x.t.scale * 2 ** (r.unit() * 4 - 2));
  n.node(y, 'rescale', [x]);
  return n;
};

function ofKind(k) {
  const wide = k === 'i16', [lo] = LIMITS[k], out = {
    [`conv ${k}`]: conv(k), [`depthwise ${k}`]: depthwise(k), [`fully connected ${k}`]: fc(k, {bare: wide ? 0 : 0.2}),
    [`add ${k}`]: binary('add', k, (a, b) => Math.max(a, b)), [`sub ${k}`]: binary('sub', k, (a, b) => Math.max(a, b)),
    [`mul ${k}`]: binary('mul', k, (a, b) => a * b * (wide ? 16384 : 64)),
    [`max pool ${k}`]: kept('max_pool', k, pool('max_pool')), [`average pool ${k}`]: kept('avg_pool', k, pool('avg_pool')),
    [`mean ${k}`]: reduce('reduce_mean', k, false), [`sum ${k}`]: reduce('reduce_sum', k, true),
    [`softmax ${k}`]: softmax(k), [`concat ${k}`]: concat(k),
    [`sigmoid ${k}`]: unary('sigmoid', k, wide ? {scale: 1 / 32768, zero: 0} : {scale: 1 / 256, zero: lo}),
    [`tanh ${k}`]: unary('tanh', k, wide ? {scale: 1 / 32768, zero: 0} : {scale: 1 / 128, zero: lo + 128}),
    [`leaky relu ${k}`]: unary('leaky_relu', k, {near: true, attributes: r => ({alpha: Math.fround(r.pick([0.05 + r.unit() * 0.45, 0.01 * r.unit(), 0, -0.2]))})}),
    [`max ${k}`]: selected('max', k), [`min ${k}`]: selected('min', k),
    [`relu ${k}`]: unary('relu', k),
    [`quantize ${k}`]: quantize(k), [`requantize ${k}`]: recast(k, k),
    [`resize bilinear ${k}`]: resize(k, 'linear'), [`resize nearest ${k}`]: resize(k, 'nearest'),
  };
  if (wide) return {...out, [`batch matmul ${k}`]: matmul(k), [`transposed conv ${k}`]: transposed(k),
    [`fully connected without bias ${k}`]: fc(k, {bare: 1})};
  return {
    ...out,
    [`transposed conv ${k}`]: transposed(k),
    [`max of different scales ${k}`]: binary('max', k, null, {act: false, equal: 0}),
    [`hard swish ${k}`]: unary('hard_swish', k),
    [`prelu ${k}`]: prelu(k),
    [`conv of inputs ${k}`]: given('conv', k), [`fully connected of inputs ${k}`]: given('fc', k),
    [`transposed conv of inputs ${k}`]: given('conv_transpose', k),
    ...(k === 'u8' ? {[`div ${k}`]: div(k)} : {
      [`fully connected by channel ${k}`]: fc(k, {perChannel: true}),
      [`batch matmul ${k}`]: matmul(k),
      [`div ${k}`]: div(k),
      [`squared difference ${k}`]: binary('squared_difference', k, (a, b) => a * b * 64, {act: false}),
      [`elu ${k}`]: unary('elu', k, {attributes: () => ({alpha: 1})}), [`gelu ${k}`]: unary('gelu', k), [`abs ${k}`]: unary('abs', k),
      [`log softmax ${k}`]: unary('log_softmax', k, {scale: 16 / 256, zero: 127}),
      [`l2 norm ${k}`]: unary('l2_norm', k, {scale: 1 / 128, zero: 0, attributes: () => ({epsilon: 1e-6})}),
      [`requantize ${k} u8`]: recast('i8', 'u8'), [`requantize u8 ${k}`]: recast('u8', 'i8'),
      [`requantize ${k} i16`]: recast('i8', 'i16'), [`requantize i16 ${k}`]: recast('i16', 'i8'),
    }),
  };
}

const cases = {...ofKind('i8'), ...ofKind('u8'), ...ofKind('i16')};

module.exports = {cases};
