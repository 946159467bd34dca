// Operators that put or read elements at computed places, bits of integers, products of codes that come out as floats,
// and attention in groups behind a past. Floats are compared within 2^-17 of a tensor's greatest magnitude.
'use strict';
const {Model} = require('./onnx.js');
const {product} = require('./random.js');

function near(make, opset = 18) {
  return r => {
    const m = new Model(opset);
    make(r, m);
    m.near = 2 ** -17;
    return m;
  };
}

const one = v => Float32Array.of(v);
const input = (m, r, shape, width = 2) => m.input('float32', shape, r.floats(product(shape), width));
const constant = (m, r, shape, width = 1) => m.constant('float32', shape, r.floats(product(shape), width));
const long = (m, r, shape, pick) => {
  const data = BigInt64Array.from({length: product(shape)}, (_, i) => BigInt(pick(i)));
  return r.chance(0.5) ? m.input('int64', shape, data) : m.constant('int64', shape, [...data]);
};
const reduction = (r, unique) => unique ? r.pick(['none', 'add', 'mul', 'min', 'max']) : r.pick(['none', 'add', 'min', 'max']);

const scatterND = near((r, m) => {
  const shape = r.shape(r.int(1, 4), 5), k = r.int(1, shape.length), rows = r.shape(r.int(0, 2), 3);
  const index = long(m, r, [...rows, k], i => r.int(-shape[i % k], shape[i % k] - 1));
  m.output(m.node('ScatterND', [input(m, r, shape), index, input(m, r, [...rows, ...shape.slice(k)])], {reduction: reduction(r, false)}), 'float32');
});

const scatterElements = near((r, m) => {
  const shape = r.shape(r.int(1, 4), 5), axis = r.int(0, shape.length - 1), picked = shape.map((d, i) => i === axis ? r.int(1, 6) : r.int(1, d));
  m.output(m.node('ScatterElements', [input(m, r, shape), long(m, r, picked, () => r.int(-shape[axis], shape[axis] - 1)), input(m, r, picked)],
    {axis: r.chance(0.5) ? axis : axis - shape.length, reduction: reduction(r, true)}), 'float32');
});

// Dilated blocks of one and of three axes ONNX Runtime (1.30) lays elsewhere than the specification says: two axes alone.
const col2im = near((r, m) => {
  const axes = r.int(1, 3), each = (lo, hi) => Array.from({length: axes}, () => r.int(lo, hi));
  const block = each(1, 3), strides = each(1, 3), dilations = each(1, axes === 2 ? 2 : 1), pads = [...each(0, 2), ...each(0, 2)];
  const image = block.map((b, i) => Math.max(dilations[i] * (b - 1) + 1 - pads[i] - pads[axes + i], 1) + r.int(0, 4));
  const steps = image.map((d, i) => Math.floor((d + pads[i] + pads[axes + i] - dilations[i] * (block[i] - 1) - 1) / strides[i]) + 1);
  const x = input(m, r, [r.int(1, 2), r.int(1, 3) * product(block), product(steps)]), list = v => m.constant('int64', [axes], v.map(BigInt));
  m.output(m.node('Col2Im', [x, list(image), list(block)], {strides, dilations, pads}), 'float32');
});

const gridSample = opset => near((r, m) => {
  const axes = opset < 20 ? 2 : r.pick([2, 2, 3]), x = r.shape(axes + 2, 5), modes = opset < 20 ? ['bilinear', 'nearest', 'bicubic'] : ['linear', 'nearest', 'cubic'];
  const grid = input(m, r, [x[0], ...r.shape(axes, 4), axes], 1.5), mode = r.pick(axes === 2 ? modes : modes.slice(0, 2));
  m.output(m.node('GridSample', [input(m, r, x), grid], {mode, padding_mode: r.pick(['zeros', 'border', 'reflection']), align_corners: r.int(0, 1)}), 'float32');
}, opset);

const roiAlign = near((r, m) => {
  const x = r.shape(4, 7), n = r.int(1, 4), corner = Float32Array.from({length: 4 * n}, (_, i) => (i % 4 < 2 ? 0 : 3) + 8 * r.unit() - 2);
  m.output(m.node('RoiAlign', [input(m, r, x), m.input('float32', [n, 4], corner), long(m, r, [n], () => r.int(0, x[0] - 1))],
    {coordinate_transformation_mode: r.pick(['half_pixel', 'output_half_pixel']), output_height: r.int(1, 4), output_width: r.int(1, 4),
      sampling_ratio: r.int(0, 3), spatial_scale: one(r.pick([1, 0.5, 0.25]))}), 'float32');
});

const bits = (op, type) => near((r, m) => {
  const shape = r.shape(r.int(1, 3), 5), codes = width => {
    const data = r.codes(type, product(shape));
    return m.input(type, shape, width ? data.map(v => Math.abs(v) % width) : data);
  };
  const shifts = op === 'BitShift', ins = op === 'BitwiseNot' ? [codes()] : [codes(), codes(shifts ? 8 : 0)];
  m.output(m.node(op, ins, shifts ? {direction: r.pick(['LEFT', 'RIGHT'])} : {}), type);
});

const codes = (m, r, type, shape) => m.constant(type, shape, r.codes(type, product(shape)), {typed: true});
// Weights: of 7 bits where they are signed, whose products with codes of uint8 do not saturate in pairs on hosts without VNNI.
const weights = (m, r, type, shape) =>
  m.constant(type, shape, r.codes(type, product(shape)).map(v => type === 'int8' ? v >> 1 : v), {typed: true});
const scales = (m, r, count) => m.constant('float32', count, Float32Array.from({length: product(count)}, () => r.scale()));

const dynamicMatmul = near((r, m) => {
  const [x, k, y] = r.shape(3, 9), type = r.pick(['int8', 'uint8']), of = r.chance(0.5) ? [y] : [1];
  const ins = [input(m, r, [...r.shape(r.int(0, 1), 3), x, k]), weights(m, r, type, [k, y]), scales(m, r, of), r.chance(0.6) ? codes(m, r, type, of) : '', r.chance(0.5) ? constant(m, r, [y]) : ''];
  while (ins[ins.length - 1] === '') ins.pop();
  m.output(m.ms('DynamicQuantizeMatMul', ins), 'float32');
});

const integerMatmul = near((r, m) => {
  const [x, k, y] = r.shape(3, 9), [a, b] = [r.pick(['int8', 'uint8']), r.pick(['int8', 'uint8'])], of = r.chance(0.5) ? [y] : [1];
  const ins = [m.input(a, [x, k], r.codes(a, x * k)), weights(m, r, b, [k, y]), scales(m, r, [1]), scales(m, r, of), r.chance(0.6) ? codes(m, r, a, [1]) : '',
    r.chance(0.6) ? codes(m, r, b, of) : '', r.chance(0.5) ? constant(m, r, [y]) : ''];
  while (ins[ins.length - 1] === '') ins.pop();
  m.output(m.ms('MatMulIntegerToFloat', ins), 'float32');
});

const grouped = near((r, m) => {
  const kv = r.int(1, 2), q = kv * r.int(1, 3), h = 16 * r.int(1, 2), s = r.pick([1, 1, r.int(2, 5)]), past = s === 1 || r.chance(0.3) ? r.int(1, 5) : 0;
  const b = past ? 1 : r.int(1, 2), rotary = r.int(0, 1), packed = r.chance(0.3), t = past + s;
  const ins = packed ? [input(m, r, [b, s, (q + 2 * kv) * h]), '', ''] : [input(m, r, [b, s, q * h]), input(m, r, [b, s, kv * h]), input(m, r, [b, s, kv * h])];
  const before = () => m.input('float32', [b, kv, past, h], r.floats(b * kv * past * h, 2));
  ins.push(past ? before() : '', past ? before() : '', m.input('int32', [b], new Int32Array(b).fill(t - 1)), m.constant('int32', [1], [t]));
  if (rotary) ins.push(input(m, r, [t + 2, h / 2], 1), input(m, r, [t + 2, h / 2], 1));
  const attrs = {num_heads: q, kv_num_heads: kv, do_rotary: rotary, ...(rotary ? {rotary_interleaved: r.int(0, 1)} : {})};
  if (r.chance(0.3)) attrs.scale = one(r.unit());
  if (r.chance(0.3)) attrs.softcap = one(1 + r.unit());
  if (r.chance(0.3)) attrs.local_window_size = r.int(1, 4);
  m.ms('GroupQueryAttention', ins, attrs, {outputs: 3}).forEach(o => m.output(o, 'float32'));
});

module.exports = {
  cases: {
    ScatterND: scatterND, Col2Im: col2im, ScatterElements: scatterElements, GridSample: gridSample(16), 'GridSample of opset 20': gridSample(20), RoiAlign: roiAlign,
    BitwiseAnd: bits('BitwiseAnd', 'int8'), BitwiseOr: bits('BitwiseOr', 'uint8'), BitwiseXor: bits('BitwiseXor', 'int8'),
    BitwiseNot: bits('BitwiseNot', 'uint8'), BitShift: bits('BitShift', 'uint8'), DynamicQuantizeMatMul: dynamicMatmul,
    MatMulIntegerToFloat: integerMatmul, GroupQueryAttention: grouped,
  },
};
