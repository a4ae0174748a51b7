// Curves over ε, drawn here so that the chosen point follows a drag within a frame.

import { fill, h } from "/app/dom.js";

const HEIGHT = 240, LEFT = 44, RIGHT = 12, TOP = 12, BOTTOM = 36;

/** y at x on a polyline, linear in ln x; ends are held. */
export function at(xs, ys, x) {
  if (x <= xs[0]) return ys[0];
  for (let i = 1; i < xs.length; i++) {
    if (x <= xs[i]) {
      const t = Math.log(x / xs[i - 1]) / Math.log(xs[i] / xs[i - 1]);
      return ys[i - 1] + t * (ys[i] - ys[i - 1]);
    }
  }
  return ys.at(-1);
}

/** The largest x at which a growing curve stays at or below y, to three digits, rounded down. */
export function solve(xs, ys, y) {
  if (ys[0] > y) return null;
  let low = xs[0], high = xs.at(-1);
  if (ys.at(-1) <= y) return floor3(high);
  for (let k = 0; k < 40; k++) {
    const middle = Math.sqrt(low * high);
    if (at(xs, ys, middle) <= y) low = middle; else high = middle;
  }
  return floor3(low);
}

/** The least x at which a growing curve reaches y, to three digits, rounded up; null if it never does. */
export function reach(xs, ys, y) {
  if (ys.at(-1) < y) return null;
  let low = xs[0], high = xs.at(-1);
  if (ys[0] >= y) return ceil3(low);
  for (let k = 0; k < 40; k++) {
    const middle = Math.sqrt(low * high);
    if (at(xs, ys, middle) >= y) high = middle; else low = middle;
  }
  return ceil3(high);
}

function ceil3(x) {
  const step = 10 ** (Math.floor(Math.log10(x)) - 2);
  return Number((Math.ceil(x / step - 1e-9) * step).toPrecision(3));
}

export function floor3(x) {
  const step = 10 ** (Math.floor(Math.log10(x)) - 2);
  return Number((Math.floor(x / step + 1e-9) * step).toPrecision(3));
}

/** A chart of several shares over ε. `pick(ε)` is called on a click or drag. */
export function chart(xs, series, pick) {
  const place = h("div", { class: "curves" });
  let width = 0, epsilon = xs[0], point;
  const x = (value) => LEFT + (width - LEFT - RIGHT) * Math.log(value / xs[0]) / Math.log(xs.at(-1) / xs[0]);
  const y = (share) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);

  function draw() {
    width = Math.max(280, place.clientWidth || 600);
    const ticks = [0.5, 1, 2, 3, 5, 7, 10, 20, 50].filter((t) => t >= xs[0] && t <= xs.at(-1));
    point = h("g", {});
    const svg = h("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": spoken() },
      [0, 0.25, 0.5, 0.75, 1].map((share) => h("g", { class: "grid" },
        h("line", { x1: LEFT, x2: width - RIGHT, y1: y(share), y2: y(share) }),
        h("text", { x: LEFT - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share} %`))),
      ticks.map((t) => h("text", { class: "tick-text", x: x(t), y: HEIGHT - 16, "text-anchor": "middle" }, t)),
      h("text", { class: "tick-text", x: width - RIGHT, y: HEIGHT - 2, "text-anchor": "end" }, "ε of a word"),
      series.filter((s) => s.ys).map((s) => h("polyline", { class: `line ${s.key}`,
        points: s.xs.map((e, i) => `${x(e).toFixed(1)},${y(s.ys[i]).toFixed(1)}`).join(" ") })), point);
    const move = (event) => {
      const box = svg.getBoundingClientRect();
      const share = ((event.clientX - box.left) / box.width * width - LEFT) / (width - LEFT - RIGHT);
      pick(floor3(xs[0] * (xs.at(-1) / xs[0]) ** Math.min(1, Math.max(0, share))));
    };
    svg.addEventListener("pointerdown", (event) => { svg.setPointerCapture(event.pointerId); move(event); });
    svg.addEventListener("pointermove", (event) => { if (event.buttons) move(event); });
    fill(place, svg, h("ul", { class: "legend" }, series.map((s) => h("li", { class: s.key }, s.name, s.ys ? "" : " (being worked out)"))));
    mark();
  }
  const spoken = () => `Curves over ε from ${xs[0].toPrecision(2)} to ${xs.at(-1).toPrecision(2)}. At the chosen ${epsilon}: `
    + series.filter((s) => s.ys).map((s) => `${s.name} ${(100 * at(s.xs, s.ys, epsilon)).toPrecision(3)} percent`).join(", ");
  function mark() {
    const here = Math.min(xs.at(-1), Math.max(xs[0], epsilon));
    fill(point, h("line", { class: "chosen", x1: x(here), x2: x(here), y1: TOP, y2: HEIGHT - BOTTOM }),
      series.filter((s) => s.ys).map((s) => h("circle", { class: `dot ${s.key}`, cx: x(here), cy: y(at(s.xs, s.ys, here)), r: 5 })));
    place.firstElementChild?.setAttribute("aria-label", spoken());
  }
  new ResizeObserver(() => { if (place.clientWidth !== width) draw(); }).observe(place);
  return { place, draw, move: (value) => { epsilon = value; if (width) mark(); } };
}
