// ONNX Runtime (npm package onnxruntime-node), run on demand. Reads lines from standard input and
// answers each with one line, ns or "error: ...". With the argument --cpu the time of runs is CPU time
// of the process, which a busy machine lengthens less:
//   open ID THREADS MODEL     opens a model with all optimizations; time to open
//   run ID N                  N runs on fixed input
//   close ID
//   hello
'use strict';
const ort = require('onnxruntime-node');
const readline = require('readline');

const arrays = {
  float32: Float32Array, uint8: Uint8Array, int8: Int8Array, int32: Int32Array, int16: Int16Array,
};
const sessions = new Map();
const cpuTime = process.argv.includes('--cpu');

function now() {
  if (!cpuTime) return process.hrtime.bigint();
  const used = process.cpuUsage();
  return BigInt(used.user + used.system) * 1000n;
}

function fixedInput(meta) {
  const count = meta.shape.reduce((a, b) => a * b, 1);
  const data = new arrays[meta.type](count);
  for (let i = 0; i < count; i++) {
    const byte = (Math.imul(i, 2654435761) >>> 13) & 255;
    data[i] = meta.type === 'float32' ? byte / 128 - 1 : byte;
  }
  return new ort.Tensor(meta.type, data, meta.shape);
}

async function open(id, threads, model) {
  const start = process.hrtime.bigint();
  const session = await ort.InferenceSession.create(model, {
    graphOptimizationLevel: 'all', // the default of the library
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    // int8 activations stay int8; threads spin during a run (the default) and not after it
    extra: {session: {qdqisint8allowed: '1', force_spinning_stop: '1'}},
  });
  const end = process.hrtime.bigint();
  const feed = {};
  for (const meta of session.inputMetadata) feed[meta.name] = fixedInput(meta);
  sessions.set(id, {session, feed});
  return end - start;
}

async function run(id, n) {
  const {session, feed} = sessions.get(id);
  const start = now();
  for (let i = 0; i < n; i++) await session.run(feed);
  return now() - start;
}

async function close(id) {
  await sessions.get(id).session.release();
  sessions.delete(id);
  return 0n;
}

(async () => {
  for await (const line of readline.createInterface({input: process.stdin})) {
    const [verb, id, number, ...path] = line.split(' ');
    try {
      const ns = verb === 'open' ? await open(id, number, path.join(' '))
        : verb === 'run' ? await run(id, Number(number))
        : verb === 'close' ? await close(id) : 0n;
      process.stdout.write(`${ns}\n`);
    } catch (e) {
      process.stdout.write(`error: ${String(e.message || e).replace(/\s+/g, ' ')}\n`);
    }
  }
})();
