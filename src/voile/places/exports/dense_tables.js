// For each coefficient the running sums over the outputs, out of 2**62.
const SUMS = new BigInt64Array(bytes("@SUMS@"));
