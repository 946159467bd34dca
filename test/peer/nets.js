// Whole networks with seeded random weights, as lists of float layers: quantize.js writes them in the
// forms that quantizers give.
'use strict';
const {product} = require('./random.js');

// Layers in order; a tensor is {name, shape}. Every activation behind a layer is quantized.
class Net {
  constructor(r, shape) {
    this.r = r;
    this.layers = [];
    this.input = {name: 'x', shape};
  }
  layer(op, inputs, shape, more = {}) {
    const y = {name: `layer${this.layers.length}_${op.toLowerCase()}`, shape};
    this.layers.push({op, inputs, y, attrs: {}, ...more});
    return y;
  }
  random(shape, fan) { return {shape, data: this.r.floats(product(shape), Math.sqrt(2 / fan))}; }
  vector(count, width = 0.1, middle = 0) {
    return {shape: [count], data: this.r.floats(count, width).map(v => v + middle)};
  }
  conv(x, out, k, {stride = 1, pad = k >> 1, group = 1, act = 'Relu'} = {}) {
    const [n, c, ...image] = x.shape, inner = c / group, kernel = Array.isArray(k) ? k : [k, k];
    const pads = Array.isArray(k) ? kernel.map(v => v >> 1) : [pad, pad], strides = Array.isArray(stride) ? stride : [stride, stride];
    const size = image.map((d, i) => Math.floor((d + 2 * pads[i] - kernel[i]) / strides[i]) + 1);
    return this.layer('Conv', [x], [n, out, ...size], {act, weights: this.random([out, inner, ...kernel], inner * product(kernel)),
      bias: this.vector(out), attrs: {kernel_shape: kernel, strides, pads: [...pads, ...pads], group}});
  }
  add(a, b, act = null) { return this.layer('Add', [a, b], a.shape, {act}); }
  maxPool(x, k, stride, pad) {
    const size = x.shape.slice(2).map(d => Math.floor((d + 2 * pad - k) / stride) + 1);
    return this.layer('MaxPool', [x], [...x.shape.slice(0, 2), ...size],
      {attrs: {kernel_shape: [k, k], strides: [stride, stride], pads: [pad, pad, pad, pad]}, moves: true});
  }
  pool(x) { return this.layer('GlobalAveragePool', [x], [...x.shape.slice(0, 2), 1, 1]); }
  flatten(x) { return this.layer('Flatten', [x], [x.shape[0], product(x.shape.slice(1))], {moves: true}); }
  gemm(x, out) {
    const c = x.shape[1];
    return this.layer('Gemm', [x], [x.shape[0], out], {weights: this.random([out, c], c), bias: this.vector(out), attrs: {transB: 1}});
  }
  // x times a matrix, and a bias that is a layer of its own, as exporters of transformers write it.
  dense(x, out) {
    const c = x.shape.at(-1), y = this.layer('MatMul', [x], [...x.shape.slice(0, -1), out], {weights: this.random([c, out], c * 2)});
    return this.layer('Add', [y], y.shape, {operand: this.vector(out)});
  }
  matmul(a, b) { return this.layer('MatMul', [a, b], [...a.shape.slice(0, -1), b.shape.at(-1)]); }
  scaled(x, factor) { return this.layer('Mul', [x], x.shape, {operand: {shape: [], data: Float32Array.of(factor)}}); }
  reshape(x, shape) { return this.layer('Reshape', [x], shape, {list: shape, moves: true}); }
  transpose(x, perm) { return this.layer('Transpose', [x], perm.map(p => x.shape[p]), {attrs: {perm}, moves: true}); }
  softmax(x) { return this.layer('Softmax', [x], x.shape, {attrs: {axis: -1}}); }
  sigmoid(x) { return this.layer('Sigmoid', [x], x.shape); }
  mul(a, b) { return this.layer('Mul', [a, b], a.shape); }
}

function resnet50(r, size = 32 * r.int(1, 3)) {
  const n = new Net(r, [1, 3, size, size]);
  let x = n.maxPool(n.conv(n.input, 64, 7, {stride: 2}), 3, 2, 1);
  for (const [depth, width, stride] of [[3, 64, 1], [4, 128, 2], [6, 256, 2], [3, 512, 2]])
    for (let i = 0; i < depth; i++) {
      const s = i ? 1 : stride, short = i ? x : n.conv(x, width * 4, 1, {stride: s, act: null});
      x = n.add(n.conv(n.conv(n.conv(x, width, 1), width, 3, {stride: s}), width * 4, 1, {act: null}), short, 'Relu');
    }
  n.gemm(n.flatten(n.pool(x)), 1000);
  return n;
}

function resnet8(r) {
  const n = new Net(r, [r.int(1, 2), 3, 32, 32]);
  let x = n.conv(n.input, 16, 3);
  for (const [width, stride] of [[16, 1], [32, 2], [64, 2]])
    x = n.add(n.conv(n.conv(x, width, 3, {stride}), width, 3, {act: null}),
      stride === 1 ? x : n.conv(x, width, 1, {stride, act: null}), 'Relu');
  n.gemm(n.flatten(n.pool(x)), 10);
  return n;
}

function mobilenetV2(r, size = 32 * r.int(1, 4)) {
  const n = new Net(r, [1, 3, size, size]), act = 'Relu6';
  let x = n.conv(n.input, 32, 3, {stride: 2, act});
  for (const [t, c, depth, stride] of [[1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 3, 2], [6, 64, 4, 2], [6, 96, 3, 1], [6, 160, 3, 2], [6, 320, 1, 1]])
    for (let i = 0; i < depth; i++) {
      const s = i ? 1 : stride, hidden = x.shape[1] * t, wide = t === 1 ? x : n.conv(x, hidden, 1, {act});
      const y = n.conv(n.conv(wide, hidden, 3, {stride: s, group: hidden, act}), c, 1, {act: null});
      x = i ? n.add(x, y) : y;
    }
  n.gemm(n.flatten(n.pool(n.conv(x, 1280, 1, {act}))), 1000);
  return n;
}

// Key words in audio: a convolution over the spectrogram, then depthwise-separable blocks.
function dsCnn(r) {
  const n = new Net(r, [r.int(1, 3), 1, 49, 10]);
  let x = n.conv(n.input, 64, [10, 4], {stride: [2, 2]});
  for (let i = 0; i < 4; i++) x = n.conv(n.conv(x, 64, 3, {group: 64}), 64, 1);
  n.gemm(n.flatten(n.pool(x)), 12);
  return n;
}

// Attention and a gated feed-forward of sigmoids; normalization is in float there and not compared here.
function encoder(r) {
  const heads = r.pick([2, 4]), width = heads * r.pick([16, 32]), length = r.int(8, 40), batch = r.int(1, 2), inner = width / heads;
  const n = new Net(r, [batch, length, width]);
  const split = (x, perm) => n.transpose(n.reshape(n.dense(x, width), [batch, length, heads, inner]), perm);
  const q = split(n.input, [0, 2, 1, 3]), k = split(n.input, [0, 2, 3, 1]), v = split(n.input, [0, 2, 1, 3]);
  const weights = n.softmax(n.scaled(n.matmul(q, k), 1 / Math.sqrt(inner)));
  const mixed = n.reshape(n.transpose(n.matmul(weights, v), [0, 2, 1, 3]), [batch, length, width]);
  const x = n.add(n.dense(mixed, width), n.input), h = n.dense(x, width * 4);
  n.add(n.dense(n.mul(h, n.sigmoid(h)), width), x);
  return n;
}

module.exports = {Net, nets: {'ResNet-50': resnet50, 'ResNet-8': resnet8, MobileNetV2: mobilenetV2, 'DS-CNN': dsCnn, encoder}};
