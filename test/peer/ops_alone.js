// Operators in floats that stand alone beside codes: what the preset's exact_float_ops claim.
'use strict';
const {Model} = require('./onnx.js');
const {product} = require('./random.js');

const one = v => Float32Array.of(v);
const image = r => [r.int(1, 2), r.int(1, 9), ...r.shape(2, 9)];

// The model around an operator of x: codes of x beside it, so that the network counts as quantized.
function beside(r, shape, width, make, type = 'float32') {
  const m = new Model(22), x = m.input('float32', shape, r.floats(product(shape), width));
  m.output(make(m, x), type);
  m.output(m.node('DynamicQuantizeLinear', [x], {}, {outputs: 3})[0], 'uint8');
  return m;
}

const unary = (op, attrs = () => ({})) => r => beside(r, r.shape(r.int(1, 4), 9), r.pick([1, 4]), (m, x) => m.node(op, [x], attrs(r)));

const binary = op => r => {
  const a = r.shape(r.int(1, 4), 9), b = a.map(d => r.chance(0.5) ? 1 : d);
  return beside(r, a, 1, (m, x) => m.node(op, [x, m.input('float32', b, r.floats(product(b)))]));
};

const reduction = op => r => {
  const shape = r.shape(r.int(1, 4), 9), axes = shape.map((_, i) => i).filter(() => r.chance(0.5));
  return beside(r, shape, 1, (m, x) => m.node(op, axes.length ? [x, m.list(axes)] : [x], {keepdims: r.int(0, 1)}));
};

function batchNorm(r) {
  const shape = image(r), c = shape[1];
  return beside(r, shape, 1, (m, x) => m.node('BatchNormalization', [x, ...[0, 1, 2].map(() => m.constant('float32', [c], r.floats(c))),
    m.constant('float32', [c], Array.from({length: c}, () => r.unit() + 0.1))]));
}

function cast(r) { // what lies beyond 32 bits is not claimed of uint32
  const [type, to] = r.pick([['uint8', 2], ['int8', 3], ['uint16', 4], ['int16', 5], ['int32', 6], ['int64', 7]]);
  return beside(r, r.shape(r.int(1, 4), 9), r.pick([100, 1e3, 1e6, 1e12, 1e20]), (m, x) => m.node('Cast', [x], {to}), type);
}

const gentle = ['Relu', 'Sigmoid', 'Tanh', 'HardSwish', 'Erf', 'Exp', 'Sqrt', 'Reciprocal', 'Abs', 'Neg', 'Sign', 'Floor', 'Ceil', 'Round', 'Softsign'];

module.exports = {
  cases: {
    ...Object.fromEntries(gentle.map(op => [`${op} alone`, unary(op)])),
    'LeakyRelu alone': unary('LeakyRelu', r => ({alpha: one(r.unit())})),
    'HardSigmoid alone': unary('HardSigmoid', r => ({alpha: one(r.unit()), beta: one(r.unit())})),
    'Gelu alone': unary('Gelu', r => ({approximate: r.pick(['none', 'tanh'])})),
    ...Object.fromEntries(['Add', 'Sub', 'Mul', 'Div', 'Min', 'Max'].map(op => [`${op} alone`, binary(op)])),
    ...Object.fromEntries(['ReduceSum', 'ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceL1', 'ReduceL2', 'ReduceSumSquare'].map(op => [`${op} alone`, reduction(op)])),
    'BatchNormalization alone': batchNorm, 'Cast alone': cast,
  },
};
