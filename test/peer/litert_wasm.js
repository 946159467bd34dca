// LiteRT.js (npm package @litertjs/core) in node: its WebAssembly module without the browser around it.
// The variant without relaxed SIMD, whose results no engine may choose.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');
const {wrap} = require('module');

const READ = 0, WRITE = 1; // litert::TensorBuffer::LockMode

// The package calls itself a module, its script is a common one.
function factory(file) {
  const module = {exports: {}};
  vm.runInThisContext(wrap(fs.readFileSync(file, 'utf8')), {filename: file})(
    module.exports, require, module, file, path.dirname(file));
  return module.exports;
}

class LiteRt {
  static async open(modules) {
    const file = path.join(modules, '@litertjs/core/wasm/litert_wasm_compat_internal.js'), self = new LiteRt();
    self.log = [];
    const tell = line => { self.log.push(line); };
    self.m = await factory(file)({print: tell, printErr: tell});
    self.environment = await self.m.LiteRtEnvironment.create(null);
    return self;
  }

  put(type, bytes) {
    const {m} = this, b = m.LiteRtTensorBuffer.createManaged(this.environment,
      m.LiteRtTensorBufferType.HOST_MEMORY, type, type.bytes());
    m.HEAPU8.set(bytes, b.lock({value: WRITE}));
    b.unlock();
    return b;
  }

  take(b) {
    const at = b.lock({value: READ}), bytes = Buffer.from(this.m.HEAPU8.slice(at, at + b.packedSize()));
    b.unlock();
    return bytes;
  }

  // The bytes of every output of a .tflite file, in its order.
  async run(file, inputs) {
    const {m} = this, bytes = fs.readFileSync(file), at = m._malloc(bytes.length), owned = [];
    const own = x => { owned.unshift(x); return x; };
    this.log.length = 0;
    m.HEAPU8.set(bytes, at);
    try {
      const model = own(m.loadModel(this.environment, at, bytes.length));
      const options = {environment: {liteRtEnvironment: this.environment}, accelerator: 'wasm', numThreads: 1};
      const compiled = own(await m.compileModel(this.environment, model, options));
      const feeds = inputs.map((x, i) => own(this.put(model.getInputTensorType(0, i), x)));
      const out = (await compiled.run(0, feeds)).map(own);
      if (this.log.some(l => l.startsWith('ERROR'))) throw new Error('a node failed'); // run() returns what memory held
      return out.map(b => this.take(b));
    } catch (e) {
      const said = this.log.filter(l => l.startsWith('ERROR')).pop();
      throw new Error(said || (typeof e === 'number' ? 'the module failed' : e.message));
    } finally {
      owned.forEach(o => o.delete());
      m._free(at);
    }
  }
}

module.exports = {LiteRt};
