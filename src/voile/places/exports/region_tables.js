// Where each node's entries begin; their outputs; their running sums out of 2**62, what is left of
// which is the floor's: all outputs, by running sums out of 2**32.
const ROWS = new BigInt64Array(bytes("@ROWS@"));
const LISTED = new Int32Array(bytes("@LISTED@"));
const SUMS = new BigInt64Array(bytes("@SUMS@"));
const FLOOR = new BigInt64Array(bytes("@FLOOR@"));
