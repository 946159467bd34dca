// A quantized network in ONNX Runtime as a device: every tensor between its conversions, dumped under the name
// that it has in Assay's bundle.
//
//   node dumps.js MODEL.onnx GOLDEN DEVICE
//
// GOLDEN is the bundle (its inputs are the network's), DEVICE the folder that is made.
'use strict';
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');
const npy = require('./npy.js');
const {exposed} = require('./exposed.js');
const {theirs} = require('./peer.js');
const {Random} = require('./random.js');

const ARRAYS = {'|i1': Int8Array, '|u1': Uint8Array, '<f4': Float32Array, '<i4': Int32Array};

function feedOf(file) {
  const {code, shape, bytes} = npy.read(file), make = ARRAYS[code];
  const type = Object.keys(npy.CODES).find(t => npy.CODES[t] === code);
  return {type, shape, data: new make(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))};
}

(async () => {
  const [file, golden, device] = process.argv.slice(2);
  const tensors = JSON.parse(fs.readFileSync(path.join(golden, 'manifest.json'), 'utf8')).tensors;
  const model = exposed(file, null, new Random(1, 0)), named = new Map(tensors.map(t => [t.name, t]));
  for (const name of Object.keys(model.feeds)) model.feeds[name] = feedOf(path.join(golden, named.get(name).file));
  fs.mkdirSync(device, {recursive: true});
  fs.writeFileSync(path.join(device, 'exposed.onnx'), model.bytes());
  const out = await theirs(ort, path.join(device, 'exposed.onnx'), model.feeds);
  fs.unlinkSync(path.join(device, 'exposed.onnx'));
  let n = 0;
  for (const [name, t] of Object.entries(out)) {
    // the names of an output and its codes in files: graph/core/outputs.h
    const floats = t.type === 'float32' && named.get(name + ':f32');
    const tensor = floats || named.get(name.replace(/:codes$/, ''));
    if (!tensor) continue;
    npy.write(path.join(device, path.basename(tensor.file)), t.type, t.shape, t.bytes);
    n++;
  }
  console.log(`${n} of ${tensors.length} tensors`);
})();
