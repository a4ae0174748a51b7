// The places screen: how far may a report be, where may one place be reported, and whole traces.

import { ask, latest } from "/app/ask.js";
import { away } from "/app/away.js";
import { design } from "/app/design.js";
import { eachFrame, field, fill, h, length, select } from "/app/dom.js";
import { columns, hold, needFile, state, trying } from "/app/frame.js";
import { map } from "/app/map.js";

const PER = [["place", "each place by itself"], ["trace", "one whole trace"], ["window", "any 10 places of a trace in a row"]];
const WAYS = [["each", "each place is drawn"], ["every", "every 5th is drawn, lines between"], ["predict", "repeated while near, else drawn"], ["stays", "each square of 200 m once"]];

export function screen() {
  if (!state.opened) return needFile("Places");
  const [lat] = columns("latitude"), [lon] = columns("longitude");
  const guess = (role) => columns(role).find((c) => c.role === role)?.name ?? null;
  const look = { lat: lat.name, lon: lon.name, trace: guess("person"), time: guess("time") };
  const chosen = { error: 500, wish: "error", epsilon: null, seed: 0, here: null, trace: "", per: "place", way: "each", roads: "" };
  let drawn = null, loads = 0, waiting;
  const blurs = latest(), clouds = latest(), traced = latest(), readers = latest();
  const names = columns("latitude", "longitude").map((c) => [c.name, c.name]);

  const strong = h("output", { class: "epsilon", "aria-live": "polite" });
  const means = h("p", { class: "means" });
  const figures = h("dl", { class: "figures" });
  const whom = h("h3", {});
  const mapPlace = h("div", {});
  const said = h("p", { class: "hint", role: "status" });
  const roadsSaid = h("p", { class: "hint", role: "status" });
  const traceSaid = h("p", { class: "hint", role: "status" });
  const readSaid = h("p", { class: "hint", role: "status" });
  const tracePlace = h("div", {});
  const shared = () => chosen.per !== "place";
  const way = () => (shared() ? chosen.way : "each");
  const take = away("places protect", () => ({
    lat: look.lat, lon: look.lon, epsilon: chosen.epsilon,
    ...(shared() ? { trace: look.trace, time: look.time, per: chosen.per, way: chosen.way } : {}),
  }), [look.lat, look.lon]);

  const blur = eachFrame(async () => {
    const mine = loads;
    const wish = chosen.wish === "error" ? { mean_error: `${chosen.error}m` } : { epsilon: chosen.epsilon };
    const asked = { ...wish, seed: chosen.seed, per: chosen.per, way: way(), name: chosen.trace };
    const found = await trying(() => blurs("places/blurred", { look, asked }));
    if (mine !== loads) return;
    if (!found) { hold(take.place, true); return; }
    if (!drawn) return;
    chosen.epsilon = found.epsilon;
    strong.textContent = `ε = ${chosen.epsilon} per km`;
    drawn.after(found.points);
    epsilonBox.value = chosen.epsilon;
    figures.dataset.epsilon = chosen.epsilon;
    tell(found.figures, !shared() ? "" : chosen.trace ? "A draw of this trace" : "A draw of a middling trace");
    around(found.figures);
    await follow();
    hold(take.place, false);
    take.changed();
  });
  /** How far reports fall; of one draw of a trace where its places share ε. */
  function tell(f, whose) {
    means.textContent = f.explanation;
    whom.textContent = whose;
    fill(figures, [["on average within", f.mean_error], ["half of the reports within", f.half_within], ["nine in ten within", f.nine_in_ten_within]]
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, length(value)))));
  }
  async function around(f) {
    if (f) figures.drawn = f;
    if (!chosen.here || !figures.drawn) return;
    const [lat, lon] = chosen.here, { epsilon, half_within: half, nine_in_ten_within: most } = figures.drawn;
    const found = await trying(() => clouds("places/around", { look, asked: { lat, lon, epsilon } }));
    if (!found || !drawn) return;
    drawn.cloud([lat, lon], found, [half, most]);
    said.textContent = `A person at ${lat.toFixed(5)}, ${lon.toFixed(5)} may be reported at any of these 400 draws${shared() ? ` (each with ε = ${Number(epsilon.toPrecision(3))} per km, as in the trace)` : ""}; the rings hold half and nine in ten of all reports.`;
  }
  async function follow() {
    clearTimeout(waiting);
    readSaid.textContent = "";
    if (!chosen.trace) { drawn?.trace([], [], []); traceSaid.textContent = shared() ? "Look at the trace of one person to see what its places get." : ""; return; }
    const asked = { name: chosen.trace, epsilon: chosen.epsilon, per: chosen.per, way: way(), seed: chosen.seed };
    const found = await trying(() => traced("places/trace", { look, asked }));
    if (!found || !drawn) return;
    drawn.trace(found.before, found.after, []);
    const spent = Number(found.spent.toPrecision(3));
    traceSaid.textContent = `${found.places.toLocaleString("en")} places, ${found.draws.toLocaleString("en")} drawn, each with ε = ${Number(found.figures.epsilon.toPrecision(3))} per km; together they spend ${spent}.`;
    waiting = setTimeout(() => read(asked), 500);
  }
  async function read(asked) {
    readSaid.textContent = "What a reader of the whole trace gets is being worked out…";
    const mine = loads, answer = await trying(() => readers("places/read", { look, asked }));
    if (!answer || mine !== loads || asked.name !== chosen.trace || asked.epsilon !== chosen.epsilon) return;
    const found = answer.found;
    if (!found) { readSaid.textContent = "Too few other traces, or too long a one, to say here what a reader of it gets: use places follow."; return; }
    drawn.guessed(found.guesses);
    readSaid.textContent = `Somebody who knows ${found.others} other traces of this file and reads the whole of this one is ${length(found.guess_error_m / 1000)} off on average, where the release is ${length(found.released_error_m / 1000)} off; the home is ${found.home_found ? "FOUND" : "not found"} within ${length(found.home_within_m / 1000)}${found.home_in_release ? ", as it is in the release itself" : ""}. (Purple on the map: the reader’s guesses.)`;
    readSaid.dataset.done = asked.epsilon;
  }
  async function roads() {
    const mine = loads, found = await trying(() => ask("places/roads", { look, asked: { roads: chosen.roads || null } }));
    if (!found || mine !== loads || !drawn) return;
    drawn.roads(found.streets);
    roadsSaid.textContent = found.description && `${found.description}${found.left_out ? `, without the ${found.left_out.toLocaleString("en")} shortest` : ""}.`;
  }
  async function load() {
    drawn = null;
    Object.assign(chosen, { trace: "", per: "place", way: "each" });
    fill(tracePlace);
    hold(take.place, true);
    take.columns([look.lat, look.lon]);
    const mine = ++loads;
    const found = await trying(() => ask("places/look", look));
    if (mine !== loads) return;
    if (!found) { fill(mapPlace); return; }
    drawn = map(found.points, (lat, lon) => { chosen.here = [lat, lon]; around(); });
    fill(mapPlace, drawn.place, h("ul", { class: "fates" }, h("li", {}, "grey: as they are"), h("li", {}, "orange: a preview of the release"), h("li", {}, "blue: where the clicked place may be reported")));
    said.textContent = found.left_out ? `${found.left_out} of the rows that were read have no place, time or trace.` : "";
    chosen.here = found.points[0];
    const ways = field("A trace is drawn so", select(WAYS, "each", (value) => { chosen.way = value; blur(); }));
    ways.hidden = true;
    const per = select(PER, "place", (value) => { chosen.per = value; ways.hidden = !shared(); blur(); });
    const whose = select([["", "nobody"], ...found.traces.map((t) => [t, t])], "", (value) => {
      if (value && !chosen.trace && !shared()) { chosen.per = per.value = "trace"; ways.hidden = false; }
      chosen.trace = value;
      blur();
    });
    fill(tracePlace, found.traces.length ? h("div", { class: "grid-2" }, field("ε is for", per), ways, field("Trace of one person", whose,
      found.more ? "Traces among the first 200,000 rows; a longer one has less for each place." : "")) : null, traceSaid, readSaid);
    roads();
    blur();
  }
  const slide = (value) => { chosen.error = Math.round(10 ** value); errorBox.value = chosen.error; chosen.wish = "error"; blur(); };
  const range = h("input", { type: "range", min: 1.5, max: 4.3, step: 0.01, value: Math.log10(500), "aria-label": "Mean error in metres", oninput: () => slide(Number(range.value)) });
  const errorBox = h("input", { type: "number", min: 30, step: "any", value: 500, "aria-label": "Mean error in metres, as a number", onchange: () => { chosen.error = Number(errorBox.value); chosen.wish = "error"; range.value = Math.log10(chosen.error); blur(); } });
  const epsilonBox = h("input", { type: "number", min: 0.001, step: "any", onchange: () => { if (Number(epsilonBox.value) > 0) { chosen.epsilon = Number(epsilonBox.value); chosen.wish = "epsilon"; blur(); } } });
  const roadsBox = h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "city.graphml", onchange: () => { chosen.roads = roadsBox.value.trim(); roads(); } });
  const column = (key) => select(names, look[key], (value) => { look[key] = value; load(); });
  const other = (key, none, role) => select([["", none], ...columns(role).map((c) => [c.name, c.name])], look[key] ?? "", (value) => { look[key] = value || null; load(); });
  queueMicrotask(load);
  return [
    h("h1", {}, "Places"),
    h("div", { class: "row four" }, field("Latitude", column("lat")), field("Longitude", column("lon")),
      field("Traces by", other("trace", "no traces", "person")), field("In the order of", other("time", "their rows", "time"))),
    h("div", { class: "two" },
      h("section", { class: "panel", "aria-label": "How strong" },
        h("div", { class: "wish" }, h("h2", {}, "How far may a report be, on average?"), h("div", { class: "slider" }, range, errorBox, h("span", {}, "m"))),
        field("or ε per km", epsilonBox), tracePlace,
        h("div", { class: "result" }, strong, means), whom, figures,
        h("button", { type: "button", onclick: () => { chosen.seed += 1; blur(); } }, "Draw again")),
      h("section", { "aria-label": "Map" }, h("p", { class: "stamp" }, "Preview, seeded: not a release, written nowhere"), mapPlace, said,
        field("Roads under the map", roadsBox, "A file on this machine: GraphML, OpenStreetMap, or a folder with points.csv and edges.csv."), roadsSaid)),
    take.place,
    design(() => ({ epsilon: chosen.epsilon, roads: chosen.roads })),
  ];
}
