// The places screen: how far may a report be, where may one place be reported, and whole traces.

import { ask, latest } from "/app/ask.js";
import { away } from "/app/away.js";
import { eachFrame, field, fill, h, select } from "/app/dom.js";
import { columns, hold, needFile, state, trying } from "/app/frame.js";
import { map } from "/app/map.js";
import { formFor } from "/app/form.js";

const km = (length) => (length >= 1 ? `${Number(length.toPrecision(3))} km` : `${Math.round(1000 * length)} m`);

export function screen() {
  if (!state.opened) return needFile("Places");
  const [lat] = columns("latitude"), [lon] = columns("longitude");
  const look = { lat: lat.name, lon: lon.name, trace: columns("person").find((c) => c.role === "person")?.name ?? null };
  const chosen = { error: 500, epsilon: null, seed: 0, here: null, trace: "", per: "trace" };
  let drawn = null, loads = 0;
  const blurs = latest(), clouds = latest(), traced = latest();
  const names = columns("latitude", "longitude").map((c) => [c.name, c.name]);

  const strong = h("output", { class: "epsilon", "aria-live": "polite" });
  const means = h("p", { class: "means" });
  const figures = h("dl", { class: "figures" });
  const mapPlace = h("div", {});
  const said = h("p", { class: "hint", role: "status" });
  const traceSaid = h("p", { class: "hint", role: "status" });
  const tracePlace = h("div", {});
  const take = away("places protect", () => ({
    lat: look.lat, lon: look.lon, epsilon: chosen.epsilon,
    ...(chosen.trace ? { trace: look.trace, per: chosen.per } : {}),
  }), [look.lat, look.lon]);

  const blur = eachFrame(async (wish) => {
    const mine = loads;
    const found = await trying(() => blurs("places/blurred", { look, asked: { ...wish, seed: chosen.seed } }));
    if (!found || !drawn || mine !== loads) return;
    const f = found.figures;
    chosen.epsilon = f.epsilon;
    strong.textContent = `ε = ${f.epsilon} per km`;
    means.textContent = f.explanation;
    fill(figures, [["on average within", f.mean_error], ["half of the reports within", f.half_within], ["nine in ten within", f.nine_in_ten_within]]
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, km(value)))));
    drawn.after(found.points);
    epsilonBox.value = f.epsilon;
    figures.dataset.epsilon = f.epsilon;
    figures.rings = [f.half_within, f.nine_in_ten_within];
    around();
    follow();
    hold(take.place, false);
    take.changed();
  });
  async function around() {
    if (!chosen.here || !chosen.epsilon) return;
    const [lat, lon] = chosen.here;
    const found = await trying(() => clouds("places/around", { look, asked: { lat, lon, epsilon: chosen.epsilon } }));
    if (!found || !drawn) return;
    drawn.cloud([lat, lon], found, figures.rings);
    said.textContent = `A person at ${lat.toFixed(5)}, ${lon.toFixed(5)} may be reported at any of these 400 draws; the rings hold half and nine in ten of all reports.`;
  }
  async function follow() {
    if (!chosen.trace) { drawn?.trace([], []); traceSaid.textContent = ""; return; }
    const asked = { name: chosen.trace, epsilon: chosen.epsilon, per: chosen.per, seed: chosen.seed };
    const found = await trying(() => traced("places/trace", { look, asked }));
    if (!found || !drawn) return;
    drawn.trace(found.before, found.after);
    traceSaid.textContent = `${found.before.length} places, ${found.draws} drawn; together they spend ${Number(found.spent.toPrecision(3))} per km.${asked.per === "trace" ? " They share ε, so each moves further than the figures above say: those are for one place alone." : ""} The audit “places follow” says what a reader of whole traces finds.`;
  }
  async function load() {
    drawn = null;
    chosen.trace = "";
    chosen.per = "trace";
    fill(tracePlace);
    hold(take.place, true);
    take.columns([look.lat, look.lon]);
    const mine = ++loads;
    const found = await trying(() => ask("places/look", look));
    if (mine !== loads) return;
    if (!found) { fill(mapPlace); return; }
    drawn = map(found.points, (lat, lon) => { chosen.here = [lat, lon]; around(); });
    fill(mapPlace, drawn.place, h("ul", { class: "fates" }, h("li", {}, "grey: as they are"), h("li", {}, "orange: a preview of the release"), h("li", {}, "blue: where the clicked place may be reported")));
    if (found.left_out) said.textContent = `${found.left_out} of the first rows have no place.`;
    chosen.here = found.points[0];
    const whole = field("ε is for", select([["trace", "one whole trace"], ["place", "each place"]], "trace", (value) => { chosen.per = value; follow(); take.changed(); }));
    whole.hidden = true; // without a trace, ε is for each place
    fill(tracePlace, found.traces.length ? h("div", { class: "grid-2" },
      field("Trace of one person", select([["", "none: ε is for each place"], ...found.traces.map((t) => [t, t])], "", (value) => { chosen.trace = value; whole.hidden = !value; follow(); take.changed(); })),
      whole, traceSaid) : null);
    wished();
  }
  const wished = () => blur({ mean_error: `${chosen.error}m` });
  const slide = (value) => { chosen.error = Math.round(10 ** value); errorBox.value = chosen.error; wished(); };
  const range = h("input", { type: "range", min: 1.5, max: 4.3, step: 0.01, value: Math.log10(500), "aria-label": "Mean error in metres", oninput: () => slide(Number(range.value)) });
  const errorBox = h("input", { type: "number", min: 30, step: "any", value: 500, "aria-label": "Mean error in metres, as a number", onchange: () => { chosen.error = Number(errorBox.value); range.value = Math.log10(chosen.error); wished(); } });
  const epsilonBox = h("input", { type: "number", min: 0.001, step: "any", onchange: () => blur({ epsilon: Number(epsilonBox.value) }) });
  const column = (key) => select(names, look[key], (value) => { look[key] = value; load(); });
  const people = [["", "no traces"], ...columns("person").map((c) => [c.name, c.name])];
  queueMicrotask(load);
  return [
    h("h1", {}, "Places"),
    h("div", { class: "row" }, field("Latitude", column("lat")), field("Longitude", column("lon")),
      field("Traces by", select(people, look.trace ?? "", (value) => { look.trace = value || null; chosen.trace = ""; load(); }))),
    h("div", { class: "two" },
      h("section", { class: "panel", "aria-label": "How strong" },
        h("div", { class: "wish" }, h("h2", {}, "How far may a report be, on average?"), h("div", { class: "slider" }, range, errorBox, h("span", {}, "m"))),
        field("or ε per km", epsilonBox),
        h("div", { class: "result" }, strong, means), figures, tracePlace,
        h("button", { type: "button", onclick: () => { chosen.seed += 1; blur({ epsilon: chosen.epsilon }); } }, "Draw again")),
      h("section", { "aria-label": "Map" }, h("p", { class: "stamp" }, "Preview, seeded: not a release, written nowhere"), mapPlace, said)),
    take.place,
    h("details", { class: "fold" }, h("summary", {}, "Design for a map: less loss at the same ε"), formFor("places design", "Solve")),
  ];
}
