/* Laplace noise for places, made by voile @VERSION@; do not edit.
 *
 * @PROMISE@
 *
 *   import { release } from "./noise.mjs";
 *   const [lat, lon] = release(45.0, 5.0);        // draws with crypto.getRandomValues
 *
 * One release is one draw: draw once for a place, keep what was drawn, and count ε for each.
 * An ES module without imports: browsers, Node, React Native with a crypto polyfill.
 *
 * The noise is exact: doubles settle a trial only where they cannot be wrong, otherwise (once in
 * 2**40 trials) integers as long as it takes do.
 */
const AXES = @AXES@;
const TABLE = 80;
const STEP = @STEP@; // of the lattice, km
@MAP@
// The scales of the noise in eights of steps, and the running sums of their weights of 2**62; the
// rest is the chain past them: 5, 6, 7, 8, 10 … quarters of the last, each half as likely.
const EIGHTHS = [@EIGHTHS@];
const SUMS = [@SUMS@];
// Of a Gaussian: weights ⌈B·e^(−k²/128)⌉ of eighths of σ, and their running sums with the rest.
const HEIGHT = @HEIGHT@n;
const WEIGHTS = [@WEIGHTS@];
const BELOW = [@BELOW@];

@GROUND@
// e^(−y)·2**places for y·2**places at most 2**places, within 2**16.
function power(y, places) {
  let term = 1n << places, sum = term, sign = -1n;
  for (let n = 1n; term > 0n; n++, sign = -sign) {
    term = (term * y >> places) / n;
    sum += sign * term;
  }
  return sum;
}

// Whether a uniform number that begins with 64 bits is below (B·2**more / weight)·e^(−z²/2σ²).
function accepts(size, t, first, weight, more, word) {
  const q = 128n * t * t, whole = size * size / q, rest = size * size % q;
  for (let bits = 64n, value = first; ; bits += 64n, value = value << 64n | word()) {
    const places = bits + 160n, inverse = power(1n << places, places);
    let found = power((rest << places) / q, places);
    for (let n = 0n; n < whole && found > 0n; n++) found = found * inverse >> places;
    const top = HEIGHT << more, slack = 1n << 40n, low = found > slack ? found - slack : 0n;
    if ((value + 1n) * weight << 160n <= low * top) return true;
    if (value * weight << 160n >= (found + slack) * top) return false;
  }
}

// |z| of a trial if it is accepted, or null; past the table it grows by t with chance ½ a step.
function settled(k, size, t, first, word) {
  let more = 0n;
  if (k === TABLE) {
    for (;;) {
      more++;
      if (word() >> 63n) break;
      size += t;
    }
  }
  return accepts(size, t, first, k === TABLE ? 1n : WEIGHTS[k], more, word) ? size : null;
}

function search(sums, target) {
  let first = 0, last = sums.length;
  while (first < last) {
    const middle = (first + last) >> 1;
    if (sums[middle] > target) last = middle; else first = middle + 1;
  }
  return first;
}

// An integer for each axis, Gaussian with σ = 8t: trials for all, then again for those refused.
function gaussian(t, word) {
  const drawn = new Array(AXES).fill(0n);
  let left = drawn.map((_, axis) => axis);
  while (left.length) {
    const words = [0, 1, 2].map(() => left.map(() => word()));
    const refused = [];
    left.forEach((axis, i) => {
      const k = search(BELOW, words[0][i] >> 2n), negative = (words[0][i] & 1n) === 1n;
      // The high half of a 32-bit word times t is uniform below t, but for some words.
      const product = (words[1][i] >> 32n) * t;
      let taken = k <= TABLE && (product & 0xFFFFFFFFn) >= (1n << 32n) % t;
      let size = BigInt(k) * t + (product >> 32n);
      if (taken) {
        const reach = Number(size) / (8 * Number(t));
        const ratio = k < TABLE ? Number(HEIGHT) / Number(WEIGHTS[k]) : 0;
        const gap = ratio * Math.exp(-0.5 * reach * reach) - Number(words[2][i]) * 2 ** -64;
        taken = gap > 0;
        if (k === TABLE || Math.abs(gap) < @DOUBT@) {
          const found = settled(k, size, t, words[2][i], word);
          taken = found !== null;
          size = found ?? 0n;
        }
      }
      if (taken && !(negative && size === 0n)) drawn[axis] = negative ? -size : size;
      else refused.push(axis);
    });
    left = refused;
  }
  return drawn;
}

// One integer of a scale past the table: once in 2**54 draws.
function far(t, word) {
  for (;;) {
    const first = word(), second = word(), k = search(BELOW, first >> 2n);
    if (k > TABLE) continue;
    const length = BigInt(t.toString(2).length);
    let below = t;
    while (below >= t) { // uniform below t
      below = 0n;
      for (let i = 0n; 64n * i < length; i++) below += word() << 64n * i;
      below &= (1n << length) - 1n;
    }
    const size = settled(k, BigInt(k) * t + below, t, second, word);
    if (size !== null && !(size === 0n && first & 1n)) return first & 1n ? -size : size;
  }
}

// A point of the lattice (BigInts, in steps) with noise; `word` gives 64 random bits as a BigInt.
export function noise(point, word) {
  const chosen = search(SUMS, word() >> 2n);
  const drawn = gaussian(EIGHTHS[chosen < SUMS.length ? chosen : 0], word);
  if (chosen < SUMS.length) return point.map((x, axis) => x + drawn[axis]);
  let place = 0n;
  while (!(word() >> 63n)) place++;
  const t = EIGHTHS[EIGHTHS.length - 1] / 4n * (5n + place % 4n) << place / 4n;
  const limit = 1n << 62n, cut = (x) => x > limit ? limit : x < -limit ? -limit : x;
  return point.map((x) => cut(x + far(t, word)));
}

function rint(value) { // halves to the even neighbour, as C's rint does
  const floor = Math.floor(value), rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

function systemWord() {
  return crypto.getRandomValues(new BigUint64Array(1))[0];
}

// Degrees in, degrees out. `word` gives 64 random bits; leave it out to ask the system's generator.
export function release(lat, lon, word = systemWord) {
  const lattice = space(lat, lon).map((x) => BigInt(rint(x / STEP)));
  return ground(noise(lattice, word).map((x) => Number(x) * STEP));
}
