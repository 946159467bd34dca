// As much of a .tflite file as a peer needs: the tensors of its first subgraph; and the same file with the
// result of every operator among its outputs, so that a runtime shows each tensor.
// Slots of tables: tensorflow/compiler/mlir/lite/schema/schema.fbs.
'use strict';

const TYPES = {0: 'float32', 2: 'int32', 3: 'uint8', 4: 'int64', 6: 'bool', 7: 'int16', 9: 'int8'};
const MODEL_CODES = 1, MODEL_SUBGRAPHS = 2, MODEL_SIGNATURES = 7;
const CODE_DEPRECATED = 0, CODE_BUILTIN = 3;
const TRANSPOSE_CONV = 67;
const TENSOR_QUANTIZATION = 4, QUANTIZATION_SCALE = 2;
const GRAPH_TENSORS = 0, GRAPH_INPUTS = 1, GRAPH_OUTPUTS = 2, GRAPH_OPERATORS = 3;

// Where a table's field stands, or 0.
function field(b, table, slot) {
  const vtable = table - b.readInt32LE(table), at = 4 + 2 * slot;
  const offset = at < b.readUInt16LE(vtable) ? b.readUInt16LE(vtable + at) : 0;
  return offset ? table + offset : 0;
}
const target = (b, at) => at + b.readUInt32LE(at);

function vector(b, table, slot, size, each) {
  const at = field(b, table, slot);
  if (!at) return [];
  const start = target(b, at);
  return Array.from({length: b.readUInt32LE(start)}, (_, i) => each(start + 4 + i * size));
}
const numbers = (b, table, slot) => vector(b, table, slot, 4, at => b.readInt32LE(at));
const tables = (b, table, slot) => vector(b, table, slot, 4, at => target(b, at));

function text(b, table, slot) {
  const at = field(b, table, slot);
  if (!at) return '';
  const start = target(b, at);
  return b.toString('utf8', start + 4, start + 4 + b.readUInt32LE(start));
}

// The first scale of a quantized tensor, or 0.
function scale(b, tensor) {
  const at = field(b, tensor, TENSOR_QUANTIZATION);
  return at ? vector(b, target(b, at), QUANTIZATION_SCALE, 4, i => b.readFloatLE(i))[0] || 0 : 0;
}

// {tensors: [{name, type, shape, scale, values: where only those make sense}], inputs, outputs, results, builtins}: results are what operators give.
function read(b) {
  const model = target(b, 0), graphs = tables(b, model, MODEL_SUBGRAPHS), graph = graphs[0];
  const tensors = tables(b, graph, GRAPH_TENSORS).map(t => ({
    name: text(b, t, 3),
    type: TYPES[field(b, t, 1) ? b.readInt8(field(b, t, 1)) : 0],
    shape: numbers(b, t, 0),
    scale: scale(b, t),
    state: field(b, t, 5) ? b.readUInt8(field(b, t, 5)) !== 0 : false,
  }));
  const codes = tables(b, model, MODEL_CODES).map(c => {
    const byte = field(b, c, CODE_DEPRECATED), int = field(b, c, CODE_BUILTIN);
    return Math.max(byte ? b.readInt8(byte) : 0, int ? b.readInt32LE(int) : 0);
  });
  const operators = tables(b, graph, GRAPH_OPERATORS);
  const builtins = operators.map(o => codes[field(b, o, 0) ? b.readUInt32LE(field(b, o, 0)) : 0]);
  operators.forEach((o, i) => { // the first operand is the shape of the result, which may be an input
    if (builtins[i] === TRANSPOSE_CONV) tensors[numbers(b, o, 1)[0]].values = tensors[numbers(b, o, 2)[0]].shape;
  });
  return {
    tensors, graph, graphs: graphs.length,
    inputs: numbers(b, graph, GRAPH_INPUTS),
    outputs: numbers(b, graph, GRAPH_OUTPUTS),
    results: operators.flatMap(o => numbers(b, o, 2)),
    builtins,
  };
}

// The file's bytes with these tensors as outputs, and without signatures, which would name other ones.
function withOutputs(bytes, outputs) {
  const at = Math.ceil(bytes.length / 16) * 16;
  const b = Buffer.concat([bytes, Buffer.alloc(at - bytes.length + 4 * (outputs.length + 1))]);
  b.writeUInt32LE(outputs.length, at);
  outputs.forEach((t, i) => b.writeInt32LE(t, at + 4 + 4 * i));
  const slot = field(b, read(bytes).graph, GRAPH_OUTPUTS), signatures = field(b, target(b, 0), MODEL_SIGNATURES);
  b.writeUInt32LE(at - slot, slot);
  if (signatures) b.writeUInt32LE(0, target(b, signatures));
  return b;
}

// Every operator's result is an output; {bytes, inputs, outputs}, tensors as read() gives them.
function exposed(bytes) {
  const m = read(bytes), seen = new Set();
  const outputs = [...m.results, ...m.outputs].filter(t => t >= 0 && !m.tensors[t].state && !seen.has(t) && seen.add(t));
  return {bytes: withOutputs(bytes, outputs), inputs: m.inputs.map(t => m.tensors[t]),
    outputs: outputs.map(t => m.tensors[t]), builtins: m.builtins};
}

module.exports = {read, exposed, withOutputs};
