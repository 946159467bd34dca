// Random QDQ groups that ONNX Runtime has no kernel on codes for: it computes floats between the conversions.
'use strict';
const {Model} = require('./onnx.js');
const {product} = require('./random.js');
const q = require('./ops_qlinear.js');
const {DQ, activation, bias, finish, weights} = require('./ops_qdq.js');

const ANY = ['uint8', 'int8', 'uint16', 'int16'];

const scaleFor = (r, type) => type.endsWith('16') ? r.scale(1e-4, 1e-2) : r.scale(0.01, 0.5);

function unary(op, attrs = () => ({}), types = ANY) {
  return r => {
    const m = new Model(), type = r.pick(types), x = activation(m, r, type, r.shape(r.int(1, 4), 7));
    return finish(m, r, m.node(op, [x.real], attrs(r, x.shape)), type, scaleFor(r, type));
  };
}

function wideConv(r) {
  const m = new Model(), type = r.pick(['uint16', 'int16']), c = q.convShapes(r), x = activation(m, r, type, c.x);
  const w = weights(m, r, c.w, 0), ins = [x.real, w.real];
  if (r.chance(0.5)) ins.push(bias(m, r, x, w, c.out));
  return finish(m, r, m.node('Conv', ins, c.attrs), type, r.scale(1e-3, 1e-1));
}

function convTranspose(r) {
  const m = new Model(), type = r.pick(ANY), group = r.pick([1, 1, 2]), [inner, out] = [r.int(1, 4), r.int(1, 4)];
  const kernel = r.shape(2, 4), strides = r.shape(2, 3), x = activation(m, r, type, [r.int(1, 2), group * inner, ...r.shape(2, 6)]);
  const w = weights(m, r, [group * inner, out, ...kernel], 0);
  const pads = [...kernel, ...kernel].map(k => r.int(0, (k - 1) >> 1)), attrs = {kernel_shape: kernel, strides, group, pads};
  if (r.chance(0.3)) attrs.output_padding = strides.map(s => r.int(0, s - 1));
  return finish(m, r, m.node('ConvTranspose', [x.real, w.real], attrs), type, scaleFor(r, type));
}

function wideMatmul(r) {
  const m = new Model(), type = r.pick(['uint16', 'int16']), s = q.matrices(r), a = activation(m, r, type, s.a);
  return finish(m, r, m.node('MatMul', [a.real, activation(m, r, type, s.b).real]), type, r.scale(1e-3, 1e-1));
}

// Weights of 4 bits or in blocks: ONNX Runtime makes MatMulNBits of some, whose order of addition is another. Numbers
// are such that every order is exact.
function packedWeights(r) {
  const m = new Model(), type = r.pick(['int4', 'uint4', 'int8', 'uint8']), blocks = r.int(1, 3), block = r.pick([16, 32]), K = block * blocks, N = r.int(1, 12);
  const x = m.input('float32', [r.int(1, 5), K], Float32Array.from({length: 0})), along = r.chance(0.6);
  const shape = m.feeds[x].shape;
  m.feeds[x].data = Float32Array.from({length: product(shape)}, () => r.int(-8, 8));
  const dims = along ? [blocks, N] : r.chance(0.5) ? [N] : [], attrs = along ? {axis: 0, block_size: block} : dims.length ? {axis: 1} : {};
  const ins = [m.constant(type, [K, N], r.codes(type, K * N)), m.constant('float32', dims, Array.from({length: product(dims)}, () => 2 ** r.int(-4, 0)))];
  if (r.chance(0.6)) ins.push(m.constant(type, dims, Array.from({length: product(dims)}, () => r.zero(type))));
  m.output(m.node('MatMul', [x, m.node('DequantizeLinear', ins, attrs)]), 'float32');
  return m;
}

function reduceMean(r) {
  const m = new Model(), type = r.pick(ANY), x = activation(m, r, type, r.shape(r.int(1, 4), 8)), axis = r.int(0, x.shape.length - 1);
  const axes = r.chance(0.5) ? [axis] : x.shape.map((_, i) => i).slice(axis);
  return finish(m, r, m.node(r.pick(['ReduceMean', 'ReduceMean', 'ReduceSum']), [x.real, m.list(axes)], {keepdims: r.int(0, 1)}), type, scaleFor(r, type));
}

function averagePool(r) { // windows that hang over the end; 16 bits
  const m = new Model(19), type = r.pick(q.ACTIVATIONS), w = q.windows(r, {dilations: false}), attrs = q.withoutCrop(w.attrs);
  const x = activation(m, r, type, [r.int(1, 2), r.int(1, 9), ...w.image]);
  if (!attrs.auto_pad) attrs.ceil_mode = 1;
  return finish(m, r, m.node('AveragePool', [x.real], {...attrs, count_include_pad: r.int(0, 1)}), type, x.scale * r.scale(0.3, 1.2));
}

// Corners are aligned at whole extents only: of others ONNX Runtime rounds before it aligns, ONNX's tests do not.
function linearResize(r) {
  const m = new Model(), type = r.pick(ANY), x = activation(m, r, type, [r.int(1, 2), r.int(1, 3), r.int(1, 9), r.int(1, 9)]);
  const corners = r.chance(0.3), factor = i => corners ? r.int(1, 3) : r.pick([1, 2, 1.5, 3, x.shape[i] > 1 ? 0.6 : 4]);
  const attrs = {mode: 'linear', coordinate_transformation_mode: corners ? 'align_corners' : r.pick(['half_pixel', 'asymmetric', 'pytorch_half_pixel'])};
  const scales = m.constant('float32', [4], [1, 1, factor(2), factor(3)]), same = r.chance(0.5);
  return finish(m, r, m.node('Resize', [x.real, '', scales], attrs), type, same ? x.scale : scaleFor(r, type), same ? x.zero : undefined);
}

function split(r) {
  const m = new Model(), type = r.pick(ANY), shape = r.shape(r.int(1, 4), 5), axis = r.int(0, shape.length - 1), sizes = r.shape(r.int(1, 3), 4);
  shape[axis] = sizes.reduce((a, b) => a + b);
  const x = activation(m, r, type, shape), same = r.chance(0.6);
  const parts = m.node('Split', [x.real, m.list(sizes)], {axis}, {outputs: sizes.length});
  for (const y of [parts].flat()) finish(m, r, y, type, same ? x.scale : r.scale(), same ? x.zero : undefined);
  return m;
}

function pad(r) {
  const m = new Model(), type = r.pick(ANY), x = activation(m, r, type, r.shape(r.int(1, 4), 5)), mode = r.pick(['constant', 'constant', 'edge', 'reflect']);
  const pads = [...x.shape, ...x.shape].map(d => r.int(0, mode === 'reflect' ? Math.min(2, d - 1) : 2)), ins = [x.real, m.list(pads)];
  if (mode === 'constant' && r.chance(0.6)) ins.push(m.scalar('float32', r.pick([0, 0, x.scale, -1.5])));
  const same = r.chance(0.6);
  return finish(m, r, m.node('Pad', ins, {mode}), type, same ? x.scale : r.scale(), same ? x.zero : undefined);
}

function prelu(r) {
  const m = new Model(), type = r.pick(ANY), x = activation(m, r, type, [r.int(1, 2), r.int(1, 5), r.int(1, 5), r.int(1, 5)]);
  const slope = r.chance(0.5) ? m.constant('float32', [x.shape[1], 1, 1], r.floats(x.shape[1], 0.3)) : DQ(m, q.input(m, r, type, [x.shape[1], 1, 1]), q.params(m, r, type));
  return finish(m, r, m.node('PRelu', [x.real, slope]), type, scaleFor(r, type));
}

function clip(r) {
  const m = new Model(), type = r.pick(ANY), x = activation(m, r, type, r.shape(r.int(1, 4), 7)), same = r.chance(0.5);
  const ins = [x.real, m.scalar('float32', r.pick([0, -1, -Math.fround(r.unit())])), m.scalar('float32', r.pick([6, 1, Math.fround(r.unit())]))];
  return finish(m, r, m.node('Clip', r.chance(0.2) ? ins.slice(0, 2) : ins), type, same ? x.scale : scaleFor(r, type), same ? x.zero : undefined);
}

// Operators on codes beside floats: the other operand is no code.
function mixed(r) {
  const m = new Model(), type = r.pick(ANY), [sa, sb] = q.broadcast(r), a = activation(m, r, type, sa);
  const b = r.chance(0.5) ? m.constant('float32', sb, r.floats(product(sb))) : m.input('float32', sb, r.floats(product(sb)));
  return finish(m, r, m.node(r.pick(['Add', 'Mul', 'Sub', 'Div', 'Min', 'Max']), r.chance(0.5) ? [a.real, b] : [b, a.real]), type, scaleFor(r, type));
}

function binary(op) {
  return r => {
    const m = new Model(), type = r.pick(ANY), [sa, sb] = q.broadcast(r), a = activation(m, r, type, sa), b = activation(m, r, type, sb);
    return finish(m, r, m.node(op, [a.real, b.real]), type, scaleFor(r, type));
  };
}

function moves(r) { // of 16 bits, and what the 8-bit list has not
  const m = new Model(), type = r.pick(ANY), x = activation(m, r, type, [r.int(1, 2), 4 * r.int(1, 2), 2 * r.int(1, 3), 2 * r.int(1, 3)]);
  const kind = r.pick(['DepthToSpace', 'SpaceToDepth', 'Tile', 'Expand', 'Squeeze', 'Identity', 'ReduceMin', 'GlobalMaxPool', 'Transpose', 'MaxPool']);
  const same = r.chance(0.5), ins = [x.real], attrs = {};
  if (kind.includes('To')) attrs.blocksize = 2;
  if (kind === 'DepthToSpace') attrs.mode = r.pick(['DCR', 'CRD']);
  if (kind === 'Tile') ins.push(m.list([1, 2, 1, 3]));
  if (kind === 'Expand') ins.push(m.list([2, 1, 1, 1, 1]));
  if (kind === 'Squeeze' && x.shape[0] === 1) ins.push(m.list([0]));
  if (kind === 'ReduceMin') ins.push(m.list([1, 3]));
  if (kind === 'MaxPool') Object.assign(attrs, {kernel_shape: [2, 2], ceil_mode: 1, strides: [2, 1]});
  return finish(m, r, m.node(kind, ins, attrs), type, same ? x.scale : scaleFor(r, type), same ? x.zero : undefined);
}

function cumsum(r) {
  const m = new Model(), type = r.pick(ANY), x = activation(m, r, type, r.shape(r.int(1, 3), 7)), axis = m.constant('int64', [], [BigInt(r.int(0, x.shape.length - 1))]);
  return finish(m, r, m.node('CumSum', [x.real, axis], {reverse: r.int(0, 1)}), type, scaleFor(r, type));
}

function layerNorm(r) {
  const m = new Model(), type = r.pick(ANY), x = activation(m, r, type, [...r.shape(r.int(1, 3), 5), r.int(1, 90)]), width = x.shape.at(-1);
  const ins = [x.real, m.constant('float32', [width], r.floats(width, 0.2).map(v => v + 1)), m.constant('float32', [width], r.floats(width, 0.3))];
  const y = m.node('LayerNormalization', ins, {axis: -1, epsilon: Float32Array.of(r.pick([1e-5, 1e-12, 1e-3]))});
  m.output(y, 'float32');
  return finish(m, r, y, type, type.endsWith('16') ? r.scale(1e-4, 1e-3) : r.scale(0.01, 0.05));
}

const alpha = (...list) => r => ({alpha: Float32Array.of(r.pick(list))});

module.exports = {
  cases: {
    'QDQ Conv of 16 bits': wideConv, 'QDQ ConvTranspose': convTranspose, 'QDQ MatMul of 16 bits': wideMatmul, 'MatMul of packed weights': packedWeights,
    'QDQ ReduceMean': reduceMean, 'QDQ AveragePool, ceil': averagePool, 'QDQ linear Resize': linearResize, 'QDQ Split': split, 'QDQ Pad': pad,
    'QDQ PRelu': prelu, 'QDQ Clip with bounds': clip, 'QDQ with floats': mixed, 'QDQ Div': binary('Div'), 'QDQ more moves': moves,
    'QDQ HardSwish': unary('HardSwish'), 'QDQ HardSigmoid': unary('HardSigmoid', r => ({alpha: Float32Array.of(r.pick([0.2, 1 / 6])), beta: Float32Array.of(0.5)})),
    'QDQ Elu': unary('Elu', alpha(1, 0.5), q.ACTIVATIONS), 'QDQ Tanh': unary('Tanh'),
    'QDQ Gelu': unary('Gelu', r => ({approximate: r.pick(['none', 'tanh'])})), 'QDQ Erf': unary('Erf'), 'QDQ CumSum': cumsum, 'QDQ LayerNormalization': layerNorm,
    'QDQ Sqrt': unary('Sqrt'), 'QDQ Abs': unary('Abs'), 'QDQ Neg': unary('Neg'), 'QDQ Exp': unary('Exp'),
    'QDQ Floor': unary('Floor'), 'QDQ Softplus': unary('Softplus', undefined, q.ACTIVATIONS),
  },
};
