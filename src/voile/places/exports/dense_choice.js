// The first output whose running sum exceeds the target, of 62 bits.
function choice(weights, nodes, words) {
  const whole = weights.map(BigInt), target = words[0] >> 2n, count = OUTPUTS.length;
  let first = 0, last = count - 1;
  while (first < last) {
    const middle = (first + last) >> 1;
    let sum = 0n;
    for (let k = 0; k < whole.length; k++) sum += whole[k] * SUMS[nodes[k] * count + middle];
    if (sum >> 52n > target) last = middle; else first = middle + 1;
  }
  return first;
}
