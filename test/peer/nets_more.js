// More networks with seeded random weights, with operators that ONNX Runtime has no kernel on codes for: QDQ only.
'use strict';
const {Net} = require('./nets.js');
const {product} = require('./random.js');

class Wide extends Net {
  constructor(r, shape) { super(r, shape); this.qdqOnly = true; }
  unary(op, x, attrs = {}) { return this.layer(op, [x], x.shape, {attrs}); }
  concat(parts, axis) {
    const shape = [...parts[0].shape];
    shape[axis] = parts.reduce((n, p) => n + p.shape[axis], 0);
    return this.layer('Concat', parts, shape, {attrs: {axis}});
  }
  averagePool(x, k, attrs = {}) {
    const kernel = x.shape.slice(2).map(() => k), size = x.shape.slice(2).map(d => Math.floor((d - k) / k) + 1);
    return this.layer('AveragePool', [x], [...x.shape.slice(0, 2), ...size], {attrs: {kernel_shape: kernel, strides: kernel, ...attrs}});
  }
  // To twice the size, codes as they are.
  upsample(x, mode = 'nearest') {
    const shape = [...x.shape.slice(0, 2), ...x.shape.slice(2).map(d => 2 * d)], nearest = mode === 'nearest';
    return this.layer('Resize', [x], shape, {scales: [1, 1, 2, 2], moves: nearest,
      attrs: {mode, coordinate_transformation_mode: nearest ? 'asymmetric' : 'half_pixel', ...(nearest ? {nearest_mode: 'floor'} : {})}});
  }
  norm(x) {
    const width = x.shape.at(-1);
    return this.layer('LayerNormalization', [x], x.shape, {floats: [this.vector(width, 0.1, 1), this.vector(width)],
      attrs: {axis: -1, epsilon: Float32Array.of(1e-5)}});
  }
  slice(x, axis, from, to) {
    const shape = [...x.shape];
    shape[axis] = to - from;
    return this.layer('Slice', [x], shape, {lists: [[from], [to], [axis]], moves: true});
  }
}

// Squeeze-and-excite in inverted residuals, as MobileNetV3 has them.
function mobilenetV3(r) {
  const size = 32 * r.int(1, 3), n = new Wide(r, [r.int(1, 2), 3, size, size]);
  const hard = x => n.unary('HardSwish', x), act = null;
  let x = hard(n.conv(n.input, 16, 3, {stride: 2, act}));
  for (const [k, hidden, c, squeeze, swish, stride] of [[3, 16, 16, true, false, 2], [3, 72, 24, false, false, 2], [5, 96, 24, true, true, 1], [5, 120, 48, true, true, 2]]) {
    const wide = (h => swish ? hard(h) : h)(n.conv(x, hidden, 1, {act: swish ? null : 'Relu'}));
    let y = (h => swish ? hard(h) : h)(n.conv(wide, hidden, k, {stride, group: hidden, act: swish ? null : 'Relu'}));
    if (squeeze) {
      const s = n.conv(n.conv(n.pool(y), hidden >> 2, 1), hidden, 1, {act});
      const gate = r.chance(0.5) ? n.unary('HardSigmoid', s, {alpha: Float32Array.of(1 / 6), beta: Float32Array.of(0.5)}) : n.sigmoid(s);
      y = n.layer('Mul', [y, gate], y.shape);
    }
    y = n.conv(y, c, 1, {act});
    x = y.shape.join() === x.shape.join() ? n.add(x, y) : y;
  }
  n.gemm(n.flatten(n.pool(hard(n.conv(x, 128, 1, {act})))), 100);
  return n;
}

function unet(r) {
  const size = 16 * r.int(1, 3), n = new Wide(r, [1, r.pick([1, 3]), size, size]), skips = [];
  let x = n.input;
  for (const c of [8, 16]) { x = n.conv(n.conv(x, c, 3), c, 3); skips.push(x); x = n.maxPool(x, 2, 2, 0); }
  x = n.conv(x, 32, 3);
  for (const c of [16, 8]) {
    x = n.conv(n.concat([n.conv(n.upsample(x), c, 1), skips.pop()], 1), c, 3);
  }
  n.sigmoid(n.conv(x, 2, 1, {act: null}));
  return n;
}

// Dilated convolutions over time, pooled.
function audio(r) {
  const n = new Wide(r, [r.int(1, 2), 1, r.int(800, 1600)]);
  const conv = (x, out, k, {stride = 1, dilation = 1, group = 1, act = 'Relu'} = {}) => {
    const pad = dilation * (k - 1) >> 1, size = Math.floor((x.shape[2] + 2 * pad - dilation * (k - 1) - 1) / stride) + 1, inner = x.shape[1] / group;
    return n.layer('Conv', [x], [x.shape[0], out, size], {act, weights: n.random([out, inner, k], inner * k), bias: n.vector(out),
      attrs: {kernel_shape: [k], strides: [stride], dilations: [dilation], pads: [pad, pad], group}});
  };
  let x = n.unary('LeakyRelu', conv(n.input, 16, 15, {stride: 4, act: null}), {alpha: Float32Array.of(0.1)});
  for (const dilation of [1, 2, 4]) {
    const y = n.unary('Tanh', conv(x, 16, 3, {dilation, act: null})), g = n.sigmoid(conv(x, 16, 3, {dilation, act: null}));
    x = n.add(conv(n.mul(y, g), 16, 1, {act: null}), x);
  }
  x = n.averagePool(x, 2);
  n.gemm(n.flatten(n.pool(conv(x, 24, 3, {group: 8}))), 12);
  return n;
}

// Blocks of a transformer, normalized first; queries, keys and values of one product, cut apart.
function attention(r) {
  const heads = r.pick([1, 3, 4, 6]), inner = r.pick([8, 16, 24]), width = heads * inner, length = r.int(5, 33), batch = r.int(1, 3);
  const n = new Wide(r, [batch, length, width]);
  let x = n.input;
  for (let block = r.int(1, 2); block > 0; block--) {
    const all = n.dense(n.norm(x), 3 * width);
    const part = (i, perm) => n.transpose(n.reshape(n.slice(all, 2, i * width, (i + 1) * width), [batch, length, heads, inner]), perm);
    const weights = n.softmax(n.scaled(n.matmul(part(0, [0, 2, 1, 3]), part(1, [0, 2, 3, 1])), 1 / Math.sqrt(inner)));
    const mixed = n.reshape(n.transpose(n.matmul(weights, part(2, [0, 2, 1, 3])), [0, 2, 1, 3]), [batch, length, width]);
    x = n.add(n.dense(mixed, width), x);
    x = n.add(n.dense(n.unary('Gelu', n.dense(n.norm(x), width * 2), {approximate: r.pick(['none', 'tanh'])}), width), x);
  }
  return n;
}

module.exports = {nets: {MobileNetV3: mobilenetV3, 'U-Net': unet, 'audio 1-D': audio, attention}};
