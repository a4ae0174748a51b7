/* A mechanism for places, made by voile @VERSION@ from a design; do not edit.
 *
 * @PROMISE@
 *
 *   import { release } from "./city.mjs";
 *   const [lat, lon] = release(45.0, 5.0);        // draws with crypto.getRandomValues
 *
 * One release is one draw: draw once for a place, keep what was drawn, and count ε for each.
 * An ES module without imports: browsers, Node, React Native with a crypto polyfill.
 */
const STENCIL = @STENCIL@; // coefficients along an axis that count at a place
const LOW = [@LOW@], HIGH = [@HIGH@]; // the map, km
const STEP = @STEP@; // of the lattice, km
const REACH = @REACH@; // km from the centre: farther places are refused
const CENTRE = [@CENTRE@]; // latitude, longitude
const LAST = [@LAST@], STRIDES = [@STRIDES@];

function bytes(text) {
  const raw = atob(text);
  const found = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) found[i] = raw.charCodeAt(i);
  return found.buffer;
}

// Along each axis, for each lattice place: its cell, and the weights of the coefficients there.
const CELLS = [new Uint16Array(bytes("@CELLS_0@")), new Uint16Array(bytes("@CELLS_1@"))];
const BASIS = [new Float64Array(bytes("@BASIS_0@")), new Float64Array(bytes("@BASIS_1@"))];
// For each coefficient the running sums over the outputs, out of 2**62.
const SUMS = new BigInt64Array(bytes("@SUMS@"));
export const OUTPUTS = @PLACES@; // latitude, longitude

// Degrees to kilometres on the map's plane: azimuthal equidistant on WGS 84 (Vincenty 1975).
export function project(lat, lon) {
  const a = 6378.137, f = 1 / 298.257223563, b = a * (1 - f), degree = Math.PI / 180;
  if (!(Math.abs(lat) <= 90 && Math.abs(lon) <= 180)) throw new RangeError("not degrees");
  const u1 = Math.atan((1 - f) * Math.tan(CENTRE[0] * degree));
  const u2 = Math.atan((1 - f) * Math.tan(lat * degree));
  const s1 = Math.sin(u1), c1 = Math.cos(u1), s2 = Math.sin(u2), c2 = Math.cos(u2);
  let apart = (lon - CENTRE[1]) * degree;
  if (apart > Math.PI) apart -= 2 * Math.PI;
  if (apart < -Math.PI) apart += 2 * Math.PI;
  let l = apart, sine, cosine, angle, squared, twice, p, q, near = false;
  for (let i = 0; i < 50 && !near; i++) {
    p = c2 * Math.sin(l);
    q = c1 * s2 - s1 * c2 * Math.cos(l);
    sine = Math.sqrt(p * p + q * q);
    cosine = s1 * s2 + c1 * c2 * Math.cos(l);
    angle = Math.atan2(sine, cosine);
    if (sine === 0 && cosine > 0) return [0, 0];
    const alpha = c1 * c2 * Math.sin(l) / sine;
    squared = 1 - alpha * alpha;
    twice = squared > 0 ? cosine - 2 * s1 * s2 / squared : 0;
    const c = f / 16 * squared * (4 + f * (4 - 3 * squared));
    const before = l;
    l = apart + (1 - c) * f * alpha
      * (angle + c * sine * (twice + c * cosine * (2 * twice * twice - 1)));
    near = Math.abs(l - before) < 1e-14;
  }
  if (!near) throw new RangeError("too far from the map");
  const u = squared * (a * a - b * b) / (b * b);
  const big = 1 + u / 16384 * (4096 + u * (-768 + u * (320 - 175 * u)));
  const small = u / 1024 * (256 + u * (-128 + u * (74 - 47 * u)));
  const change = small * sine * (twice + small / 4 * (cosine * (2 * twice * twice - 1)
    - small / 6 * twice * (4 * sine * sine - 3) * (4 * twice * twice - 3)));
  const away = b * big * (angle - change), size = Math.sqrt(p * p + q * q);
  return [away * p / size, away * q / size];
}

function snap(value, axis) {
  const inside = Math.min(Math.max(value, LOW[axis]), HIGH[axis]);
  const steps = (inside - LOW[axis]) / STEP, floor = Math.floor(steps), rest = steps - floor;
  // halves to the even neighbour, as C's rint does
  const nearest = rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
  return Math.min(nearest, LAST[axis]);
}

// The first output whose running sum exceeds the target, of 62 bits, at a lattice place.
export function drawAt(i, j, target) {
  const weights = [], rows = [];
  let total = 0, largest = 0;
  for (let r = 0; r < STENCIL; r++) {
    for (let s = 0; s < STENCIL; s++) {
      const weight = Math.floor(BASIS[0][STENCIL * i + r] * BASIS[1][STENCIL * j + s] * 2 ** 52);
      weights.push(weight);
      total += weight;
      if (weight > weights[largest]) largest = weights.length - 1;
      rows.push(((CELLS[0][i] + r) * STRIDES[0] + (CELLS[1][j] + s) * STRIDES[1])
        * OUTPUTS.length);
    }
  }
  weights[largest] += 2 ** 52 - total;
  const whole = weights.map(BigInt);
  let first = 0, last = OUTPUTS.length - 1;
  while (first < last) {
    const middle = (first + last) >> 1;
    let sum = 0n;
    for (let k = 0; k < whole.length; k++) sum += whole[k] * SUMS[rows[k] + middle];
    if (sum >> 52n > target) last = middle; else first = middle + 1;
  }
  return first;
}

// One draw at a place of the plane (km), from 64 random bits as a BigInt.
export function draw(x, y, word) {
  return drawAt(snap(x, 0), snap(y, 1), word >> 2n);
}

function systemWord() {
  return crypto.getRandomValues(new BigUint64Array(1))[0];
}

// Degrees in, degrees out. `word` gives 64 random bits; leave it out to ask the system's generator.
export function release(lat, lon, word = systemWord) {
  const [x, y] = project(lat, lon);
  if (!(Math.hypot(x, y) <= REACH)) throw new RangeError("too far from the map");
  return OUTPUTS[draw(x, y, word())].slice();
}
