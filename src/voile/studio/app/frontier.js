// Use against an attacker's success: a point for each way and ε, to be picked by mouse or keys.

import { h } from "/app/dom.js";

const WIDTH = 640, HEIGHT = 300, LEFT = 50, RIGHT = 20, TOP = 16, BOTTOM = 40;
const KINDS = ["watched", "kept", "named", "moved", "fifth"];

export function frontier(found, pick) {
  const { points, clean_auc: clean } = found;
  const span = (values) => { const low = Math.min(...values), high = Math.max(...values), room = (high - low || 0.1) * 0.1; return [low - room, high + room]; };
  const [left, right] = span(points.map((p) => p.leakage)), [low, high] = span([...points.map((p) => p.auc), clean]);
  const x = (v) => LEFT + (WIDTH - LEFT - RIGHT) * (v - left) / (right - left);
  const y = (v) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (v - low) / (high - low));
  const ways = [...new Set(points.map((p) => p.mechanism))];
  const kind = (way) => KINDS[ways.indexOf(way) % KINDS.length];
  const choose = (point, made) => {
    for (const other of place.querySelectorAll(".picked")) other.classList.remove("picked");
    made.classList.add("picked");
    pick(point);
  };
  const dots = points.map((point) => {
    const made = h("g", { class: "pick", tabindex: "0", role: "button",
      "aria-label": `${point.mechanism}, ε ${point.epsilon}: attacker ${(100 * point.leakage).toFixed(1)} %, AUC ${point.auc.toFixed(3)}`,
      onclick: () => choose(point, made), onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(point, made); } } },
    h("circle", { class: `dot ${kind(point.mechanism)}`, cx: x(point.leakage), cy: y(point.auc), r: 7 }),
    h("text", { class: "tick-text", x: x(point.leakage) + 9, y: y(point.auc) - 6 }, point.epsilon));
    return made;
  });
  const ticks = (from, to) => [0, 1, 2, 3, 4].map((k) => from + (to - from) * (0.05 + 0.225 * k));
  const place = h("div", { class: "curves" },
    h("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "frontier" },
      ticks(low, high).map((v) => h("g", { class: "grid" }, h("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(v), y2: y(v) }), h("text", { x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }, v.toFixed(2)))),
      ticks(left, right).map((v) => h("text", { class: "tick-text", x: x(v), y: HEIGHT - 20, "text-anchor": "middle" }, `${(100 * v).toFixed(0)} %`)),
      h("text", { class: "tick-text", x: WIDTH - RIGHT, y: HEIGHT - 3, "text-anchor": "end" }, "an attacker names the label"),
      h("text", { class: "tick-text", x: LEFT, y: 11 }, "AUC of a model"),
      h("line", { class: "chosen", x1: LEFT, x2: WIDTH - RIGHT, y1: y(clean), y2: y(clean) }), dots),
    h("ul", { class: "legend" }, ways.map((way) => h("li", { class: kind(way) }, way)), h("li", {}, "dashed: clean records")),
    h("p", { class: "hint" }, "Left and up is better. ε stands at each point."));
  return place;
}
