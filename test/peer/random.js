// Seeded random choices: the same seed and case give the same model on every machine.
'use strict';
const {TYPES} = require('./onnx.js');

const LIMITS = {uint8: [0, 255], int8: [-128, 127], uint16: [0, 65535], int16: [-32768, 32767],
  uint4: [0, 15], int4: [-8, 7], int32: [-(2 ** 31), 2 ** 31 - 1]};

class Random {
  constructor(seed, stream) { // mulberry32 on a mix of both
    this.state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b)) >>> 0;
    for (let i = 0; i < 4; i++) this.unit();
  }
  unit() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ t >>> 15, t | 1);
    t ^= t + Math.imul(t ^ t >>> 7, t | 61);
    return ((t ^ t >>> 14) >>> 0) / 2 ** 32;
  }
  int(lo, hi) { return lo + Math.floor(this.unit() * (hi - lo + 1)); }
  chance(p) { return this.unit() < p; }
  pick(list) { return list[this.int(0, list.length - 1)]; }
  normal() { return Math.sqrt(-2 * Math.log(1 - this.unit())) * Math.cos(2 * Math.PI * this.unit()); }
  shape(rank, most) { return Array.from({length: rank}, () => this.int(1, most)); }

  // A positive float32 between lo and hi, sometimes a power of two, which makes ties.
  scale(lo = 0.002, hi = 0.2) {
    const v = lo * (hi / lo) ** this.unit();
    return Math.fround(this.chance(0.2) ? 2 ** Math.round(Math.log2(v)) : v);
  }
  zero(type) {
    const [lo, hi] = LIMITS[type];
    return this.pick([0, lo, hi, type.startsWith('u') ? Math.ceil(hi / 2) : 0, this.int(lo, hi), this.int(lo, hi)]);
  }
  codes(type, count) {
    const [lo, hi] = LIMITS[type], mode = this.int(0, 5), data = new TYPES[type].array(count);
    for (let i = 0; i < count; i++)
      data[i] = mode === 0 ? this.pick([lo, hi, this.int(lo, hi)]) : this.int(lo, hi);
    return data;
  }
  // Centred and not too wide, as weights are.
  weights(type, count) {
    const [lo, hi] = LIMITS[type], data = new TYPES[type].array(count), middle = (lo + hi + 1) / 2;
    const spread = (hi - lo) / this.pick([2, 4, 8]);
    for (let i = 0; i < count; i++)
      data[i] = Math.max(lo, Math.min(hi, Math.round(middle + this.normal() * spread)));
    return data;
  }
  floats(count, width = 1) { return Float32Array.from({length: count}, () => this.normal() * width); }
}

const product = list => list.reduce((a, b) => a * b, 1);

module.exports = {Random, LIMITS, product};
