// .npy files, little endian, C order.
'use strict';
const fs = require('fs');

const CODES = {float32: '<f4', uint8: '|u1', int8: '|i1', uint16: '<u2', int16: '<i2', int32: '<i4',
  int64: '<i8', uint32: '<u4', bool: '|b1'};

function write(file, type, shape, data) {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  let head = `{'descr': '${CODES[type]}', 'fortran_order': False, 'shape': ${tuple}, }`;
  head = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11) + '\n';
  const start = Buffer.alloc(10);
  start.write('\x93NUMPY\x01\x00', 'latin1');
  start.writeUInt16LE(head.length, 8);
  fs.writeFileSync(file, Buffer.concat([start, Buffer.from(head),
    Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}

function read(file) {
  const bytes = fs.readFileSync(file);
  const length = bytes.readUInt16LE(8); // version 1
  const head = bytes.slice(10, 10 + length).toString();
  return {
    code: /'descr': '([^']*)'/.exec(head)[1],
    shape: /\(([^)]*)\)/.exec(head)[1].split(',').filter(s => s.trim()).map(Number),
    bytes: bytes.slice(10 + length),
  };
}

module.exports = {read, write, CODES};
