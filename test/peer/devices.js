// Runtimes of .tflite networks as devices: {name, preset, run(file, inputs), unclaimed}; inputs and outputs are raw
// bytes. unclaimed: what the preset's contract does not call bit-exact; differences there are shown, not failures.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const {spawn} = require('child_process');
const {LiteRt} = require('./litert_wasm.js');

// A program that answers a line of JSON with one; started again after it died.
class Child {
  constructor(argv, work) {
    this.argv = argv;
    this.work = work;
  }
  start() {
    this.child = spawn(this.argv[0], this.argv.slice(1), {stdio: ['pipe', 'pipe', 'pipe']});
    this.errors = '';
    this.child.stderr.on('data', d => { this.errors = (this.errors + d).slice(-2000); });
    this.child.stdin.on('error', () => {});
    this.lines = readline.createInterface({input: this.child.stdout})[Symbol.asyncIterator]();
  }
  async ask(what) {
    if (!this.child || this.child.exitCode !== null || this.child.signalCode !== null) this.start();
    this.errors = '';
    this.child.stdin.write(JSON.stringify(what) + '\n');
    const {value, done} = await this.lines.next();
    if (done) {
      this.child = null;
      throw new Error(`the runtime died; ${this.errors.trim().split('\n').pop()}`);
    }
    return JSON.parse(value);
  }
  stop() { if (this.child) this.child.stdin.end(); }
}

class TfLite extends Child {
  async run(file, inputs) {
    const files = inputs.map((x, i) => {
      const at = path.join(this.work, `in${i}`);
      fs.writeFileSync(at, x);
      return at;
    });
    const out = path.join(this.work, 'out'), answer = await this.ask({model: file, inputs: files, out});
    if (answer.error) throw new Error(`${answer.error}; ${this.errors.trim().split('\n').pop()}`);
    return Array.from({length: answer.outputs}, (_, i) => fs.readFileSync(`${out}.${i}`));
  }
}

const C_LIBRARY = path.join(__dirname, 'tflite_c.py');

// Networks with layers that .tflite has no operator for are refused by our export. Where the shape of a result is an
// input LiteRT.js gives another result than TFLite 2.9 and we.
// int8 weights under floats (kws_ref_model_float32): the codes of activations are XNNPACK's own, and floats are added in other orders.
// Of fully connected with a scale each channel TFLite 2.9 takes the first for all: our own networks have such ones.
const OF_2_9 = /^(mean|sum|(sigmoid|tanh) i16|resize bilinear u8|div|log softmax|fully connected (by channel|without bias)|network (?!U-Net)|kws_ref_model_float32|plain_cnn|res_dsconv|dtln|trained_lstm)/;

// Those whose files are there: folders of npm modules by package.
async function open(modules, work) {
  const devices = [];
  const add = (name, preset, device, unclaimed) => devices.push(Object.assign(device, {name, preset, unclaimed}));
  const c = (folder, mode) => new TfLite(['python3', C_LIBRARY, folder, mode], work);
  if (modules.litertjs) add('LiteRT.js 2.5.3, XNNPACK', 'litert-xnnpack', await LiteRt.open(modules.litertjs),
    /^(requantize (i8 u8|u8 i8|i8 i16)|seanet_transpose|network (MobileNetV3|audio|attention|encoder)|resize bilinear|div|batch matmul i8|.* of inputs (i8|u8)|kws_ref_model_float32|sum i16|(sigmoid|tanh) i16|log softmax)/);
  if (modules.tflite29) {
    add('TFLite 2.9, x86', 'tflite-2.9-x86', c(modules.tflite29, 'builtin'), OF_2_9);
    add('TFLite 2.9, XNNPACK', 'litert-xnnpack', c(modules.tflite29, 'xnnpack'), /./); // the preset is of 2.5.3
  }
  if (modules.tflite22) add('TFLite 2.2, x86', 'tflite', c(modules.tflite22, 'builtin'), /./); // no preset is of 2.2
  return devices;
}

module.exports = {open, Child};
