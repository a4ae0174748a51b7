// The labels screen: what ε announces, what the features add, and use against an attacker.

import { ask } from "/app/ask.js";
import { away } from "/app/away.js";
import { field, fill, h, percent, select, tick } from "/app/dom.js";
import { frontier } from "/app/frontier.js";
import { columns, needFile, state, trying } from "/app/frame.js";
import { job } from "/app/job.js";

const RECORDS = 2000, QUICK = 600;
const MECHANISMS = { "label DP": "rr", "label DP-CF": "cf", "local DP": "ldp" };

export function screen() {
  if (!state.opened) return needFile("Labels");
  const [first] = columns("label");
  const chosen = { label: first.name, epsilon: 1, mechanism: "rr", recipe: "", risky: false };
  const left = new Set(state.opened.glance.columns.filter((c) => c.sign && c.name !== first.name).map((c) => c.name));
  const shares = h("div", {});
  const points = h("div", {});
  const picked = h("output", { class: "epsilon", "aria-live": "polite" });
  const released = () => state.opened.glance.columns.map((c) => c.name).filter((name) => name === chosen.label || chosen.mechanism !== "rr" && !left.has(name));
  const take = away("labels protect", () => ({
    label: chosen.label, epsilon: chosen.epsilon, mechanism: chosen.mechanism,
    recipe: chosen.recipe || null, learn_from_private: chosen.risky || null,
  }), released());

  const audit = job(async (last) => { if (last?.report) fill(shares, announced((await trying(() => ask("result", { command: audit.identity() }))))); });
  const compare = job(async (last) => {
    if (!last?.report) return;
    const found = await trying(() => ask("result", { command: compare.identity() }));
    if (found) fill(points, frontier(found, (point) => {
      if (MECHANISMS[point.mechanism]) { chosen.mechanism = MECHANISMS[point.mechanism]; chosen.epsilon = point.epsilon; changed(); }
    }));
  });
  const data = () => ({ data: state.opened.path, label: chosen.label, drop: [...left].filter((name) => name !== chosen.label) });
  function changed() {
    picked.textContent = `${chosen.mechanism}, ε = ${chosen.epsilon}`;
    mechanism.value = chosen.mechanism;
    epsilon.value = chosen.epsilon;
    take.columns(released());
    take.changed();
  }
  const mechanism = select([["rr", "rr: noise on the label, features clear"], ["cf", "cf: label and what features say of it"], ["ldp", "ldp: the whole record"]], "rr", (value) => { chosen.mechanism = value; changed(); });
  const epsilon = h("input", { type: "number", min: 0.001, step: "any", value: 1, onchange: () => { if (epsilon.value > 0) { chosen.epsilon = Number(epsilon.value); changed(); } } });
  const recipe = h("input", { type: "text", autocomplete: "off", spellcheck: "false", onchange: () => { chosen.recipe = recipe.value.trim(); changed(); } });
  const names = columns("label").map((c) => [c.name, c.name]);
  const others = h("fieldset", { class: "grid-2" }, h("legend", {}, "Not features: left out of what is weighed"),
    state.opened.glance.columns.map((c) => tick(c.name, left.has(c.name), (on) => { if (on) left.add(c.name); else left.delete(c.name); changed(); }, c.sign ? `looks like ${c.sign}` : "")));
  queueMicrotask(changed);
  return [
    h("h1", {}, "Labels"),
    h("div", { class: "row" }, field("The secret label", select(names, chosen.label, (value) => { chosen.label = value; changed(); }))),
    others,
    h("section", { class: "panel", "aria-label": "What features add" },
      h("h2", {}, "What ε announces, and what the features add"),
      h("p", {}, "Noise on the label promises that nobody guesses it more often than ε allows. The features beside it may give it away all the same: here they are weighed, each by itself."),
      h("button", { type: "button", onclick: () => audit.start("labels audit", { ...data(), records: RECORDS }) }, `Weigh the features (${RECORDS.toLocaleString("en")} records at most)`),
      shares, audit.place),
    h("section", { class: "panel", "aria-label": "Use against leakage" },
      h("h2", {}, "Use against an attacker's success"),
      h("p", {}, "Each way to share, at several ε: how well a model learns from it, and how often an attacker names the label. Pick a point."),
      h("button", { type: "button", onclick: () => compare.start("labels compare", { ...data(), records: QUICK, repeats: 2, draws: 1 }) }, `Compare the ways (a quick look: ${QUICK} records, two splits)`),
      points, compare.place),
    h("section", { class: "panel", "aria-label": "Chosen" }, h("h2", {}, "Chosen"), picked,
      h("div", { class: "grid-2" }, field("Mechanism", mechanism), field("ε of a record's label", epsilon),
        field("Public recipe", recipe, "Names and ranges that the output shows: a file that voile labels recipe made.")),
      tick("RISKY: take names and ranges from this file", false, (on) => { chosen.risky = on; changed(); }, "then the guarantee is claimed only")),
    take.place,
  ];
}

/** Ceiling and what an attacker reaches, by ε; then the features that say most. */
function announced(found) {
  if (!found) return null;
  const row = (name, share, kind) => h("li", { class: kind }, h("span", {}, name), h("meter", { min: 0, max: 1, value: share, "aria-label": name }), h("span", { class: "number" }, percent(share)));
  const features = [...found.features].sort((a, b) => b.lost - a.lost).slice(0, 8);
  const most = Math.max(...features.map((one) => one.lost), 1e-9);
  return [
    h("p", { class: "answer" }, `A blind guess is right ${percent(found.guess)} of the time; the features alone give ${percent(found.epsilons[0].features_alone)}, whatever ε is.`),
    h("div", { class: "ways" }, found.epsilons.map((point) => h("div", {}, h("h3", {}, `ε = ${point.epsilon}`),
      h("ol", { class: "bars wide" }, row("announced", point.expected, ""), row("reached", point.total.value, "own"))))),
    h("h3", {}, "What is missed most when a feature is shuffled"),
    h("ol", { class: "bars wide" }, features.map((one) => h("li", {}, h("span", {}, one.name), h("meter", { min: 0, max: most, value: Math.max(0, one.lost), "aria-label": one.name }), h("span", { class: "number" }, `${one.lost.toFixed(3)} nats`)))),
  ];
}
