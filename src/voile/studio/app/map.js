// A map of one's own points, without tiles: zoom and pan by buttons, wheel, drag and keys.

import { fill, h } from "/app/dom.js";

const WIDTH = 800, HEIGHT = 520, MARGIN = 30, KM = 111.2;

/** A map that shows these degrees; `clicked(lat, lon)` for a place on it. */
export function map(points, clicked) {
  const lats = points.map((p) => p[0]), lons = points.map((p) => p[1]);
  const middle = [(Math.min(...lats) + Math.max(...lats)) / 2, (Math.min(...lons) + Math.max(...lons)) / 2];
  const narrow = Math.cos(middle[0] * Math.PI / 180);
  const wide = Math.max(0.2, (Math.max(...lons) - Math.min(...lons)) * narrow * KM, (Math.max(...lats) - Math.min(...lats)) * KM * WIDTH / HEIGHT);
  const scale = (WIDTH - 2 * MARGIN) / wide;  // drawing units a km
  const at = ([lat, lon]) => [WIDTH / 2 + (lon - middle[1]) * narrow * KM * scale, HEIGHT / 2 - (lat - middle[0]) * KM * scale];
  const back = (x, y) => [middle[0] - (y - HEIGHT / 2) / scale / KM, middle[1] + (x - WIDTH / 2) / scale / KM / narrow];
  const layers = Object.fromEntries(["roads", "points", "after", "cloud", "trace", "guessed", "length"].map((name) => [name, h("g", { class: name })]));
  const svg = h("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, tabindex: "0", role: "img", "aria-label": "Map of the first places. Arrows move it, plus and minus enlarge and reduce." }, Object.values(layers));
  let view = [0, 0, WIDTH, HEIGHT];
  const size = () => view[2] / WIDTH;
  function show() {
    view[2] = Math.min(8 * WIDTH, Math.max(WIDTH / 60, view[2]));
    view[3] = view[2] * HEIGHT / WIDTH;
    svg.setAttribute("viewBox", view.join(" "));
    for (const dot of svg.querySelectorAll("circle[data-r]")) dot.setAttribute("r", dot.dataset.r * size());
    bar();
  }
  function zoom(factor, across = 0.5, down = 0.5) {
    const before = [view[2], view[3]];
    view[2] /= factor;
    view[0] += across * (before[0] - view[2]);
    view[1] += down * (before[1] - view[2] * HEIGHT / WIDTH);
    show();
  }
  /** A bar of a round length, at the lower left. */
  function bar() {
    const km = view[2] / scale / 5;
    const round = [1, 2, 5, 10].map((d) => d * 10 ** Math.floor(Math.log10(km))).findLast((v) => v <= km) ?? km;
    const [x, y] = [view[0] + 0.03 * view[2], view[1] + 0.95 * view[3]];
    fill(layers.length, h("line", { class: "road", x1: x, x2: x + round * scale, y1: y, y2: y }),
      h("text", { x, y: y - 6 * size(), "font-size": 14 * size() }, round >= 1 ? `${round} km` : `${Math.round(1000 * round)} m`));
  }
  const share = (event) => { const box = svg.getBoundingClientRect(); return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]; };
  let last = null, moved = 0;
  svg.addEventListener("wheel", (event) => { if (!event.ctrlKey && !event.metaKey) return; event.preventDefault(); zoom(Math.exp(-event.deltaY / 300), ...share(event)); }, { passive: false });
  svg.addEventListener("pointerdown", (event) => { last = share(event); moved = 0; svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointermove", (event) => {
    if (!last) return;
    const now = share(event);
    view[0] -= (now[0] - last[0]) * view[2];
    view[1] -= (now[1] - last[1]) * view[3];
    moved += Math.hypot(now[0] - last[0], now[1] - last[1]);
    last = now;
    show();
  });
  svg.addEventListener("pointerup", (event) => {
    const [across, down] = share(event);
    last = null;
    if (moved < 0.01) clicked(...back(view[0] + across * view[2], view[1] + down * view[3]));
  });
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) { view[0] += step[0] * view[2] / 10; view[1] += step[1] * view[3] / 10; show(); }
    else if (event.key === "+" || event.key === "=") zoom(1.6);
    else if (event.key === "-") zoom(1 / 1.6);
    else if (event.key === "Enter") clicked(...back(view[0] + view[2] / 2, view[1] + view[3] / 2));
    else return;
    event.preventDefault();
  });
  const button = (sign, name, act) => h("button", { type: "button", "aria-label": name, title: name, onclick: act }, sign);
  const place = h("div", { class: "map" }, svg, h("div", { class: "zoom" },
    button("+", "Enlarge", () => zoom(1.6)), button("−", "Reduce", () => zoom(1 / 1.6)),
    button("⤢", "The whole map", () => { view = [0, 0, WIDTH, HEIGHT]; show(); })));
  const dots = (list, kind, r) => list.map((p) => { const [x, y] = at(p); return h("circle", { class: kind, cx: x.toFixed(2), cy: y.toFixed(2), r: r * size(), "data-r": r }); });
  const line = (list, kind) => h("polyline", { class: kind, points: list.map((p) => at(p).map((v) => v.toFixed(2)).join(",")).join(" ") });
  fill(layers.points, dots(points, "point", 3.5));
  show();
  return {
    place,
    after: (list) => fill(layers.after, dots(list, "after-point", 2.5)),
    cloud: (here, list, rings) => fill(layers.cloud, dots(list, "cell", 2.2), rings.map((km) => { const [x, y] = at(here); return h("circle", { class: "ring", cx: x, cy: y, r: km * scale }); }),
      dots([here], "here", 7)),
    trace: (before, after) => { fill(layers.trace, line(before, "trace"), line(after, "trace after")); fill(layers.guessed); },
    guessed: (list) => fill(layers.guessed, line(list, "trace guess")),
    roads: (streets) => fill(layers.roads, h("path", { class: "street", d: streets.map(([a, b, c, d]) => `M${at([a, b]).map((v) => v.toFixed(1))}L${at([c, d]).map((v) => v.toFixed(1))}`).join("") })),
    middle: () => middle,
  };
}
