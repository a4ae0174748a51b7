// The first position from `first` to `last` whose running sum exceeds the target, or `last`.
function search(sums, first, last, target) {
  while (first < last) {
    const middle = (first + last) >> 1;
    if (sums[middle] > target) last = middle; else first = middle + 1;
  }
  return first;
}

// A node by its weight, then an output of its row or of the floor: 52, 62 and 32 bits.
function choice(weights, nodes, words) {
  let rest = Number(words[0] >> 12n), which = 0;
  while (rest >= weights[which]) rest -= weights[which++];
  const first = Number(ROWS[nodes[which]]), last = Number(ROWS[nodes[which] + 1]);
  const found = search(SUMS, first, last, words[1] >> 2n);
  if (found < last) return LISTED[found];
  return search(FLOOR, 0, OUTPUTS.length, words[2] >> 32n);
}
