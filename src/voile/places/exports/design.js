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
export const WORDS = @WORDS@; // of 64 random bits a draw
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
@TABLES@export const OUTPUTS = @PLACES@; // latitude, longitude

@PLANE@
function snap(value, axis) {
  const inside = Math.min(Math.max(value, LOW[axis]), HIGH[axis]);
  const steps = (inside - LOW[axis]) / STEP, floor = Math.floor(steps), rest = steps - floor;
  // halves to the even neighbour, as C's rint does
  const nearest = rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
  return Math.min(nearest, LAST[axis]);
}

@CHOICE@
// The output that random words (BigInt) draw at a lattice place.
export function drawAt(i, j, words) {
  const weights = [], nodes = [];
  let total = 0, largest = 0;
  for (let r = 0; r < STENCIL; r++) {
    for (let s = 0; s < STENCIL; s++) {
      const weight = Math.floor(BASIS[0][STENCIL * i + r] * BASIS[1][STENCIL * j + s] * 2 ** 52);
      weights.push(weight);
      total += weight;
      if (weight > weights[largest]) largest = weights.length - 1;
      nodes.push((CELLS[0][i] + r) * STRIDES[0] + (CELLS[1][j] + s) * STRIDES[1]);
    }
  }
  weights[largest] += 2 ** 52 - total;
  return choice(weights, nodes, words);
}

// One draw at a place of the plane (km), from WORDS times 64 random bits, each a BigInt.
export function draw(x, y, words) {
  return drawAt(snap(x, 0), snap(y, 1), words);
}

function systemWord() {
  return crypto.getRandomValues(new BigUint64Array(1))[0];
}

// Degrees in, degrees out. `word` gives 64 random bits; leave it out to ask the system's generator.
export function release(lat, lon, word = systemWord) {
  const [x, y] = project(lat, lon);
  if (!(Math.hypot(x, y) <= REACH)) throw new RangeError("too far from the map");
  return OUTPUTS[draw(x, y, Array.from({ length: WORDS }, () => word()))].slice();
}
