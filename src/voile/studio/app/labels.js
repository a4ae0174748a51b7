// The labels screen: what ε announces, what the features add, and use against an attacker.

import { ask } from "/app/ask.js";
import { away } from "/app/away.js";
import { field, fill, h, percent, select, tick } from "/app/dom.js";
import { frontier } from "/app/frontier.js";
import { columns, needFile, state, trying } from "/app/frame.js";
import { job } from "/app/job.js";

const RECORDS = 2000, QUICK = 600;
const LITTLE = 0.01; // nats: a bar is full from here on, so that chance alone fills none
const MECHANISMS = { "label DP": "rr", "label DP-CF": "cf", "local DP": "ldp", "sampled column": "sample" };
const ELSEWHERE = {
  "central DP": "Central DP is a yardstick of another trust: a curator who sees every record counts them, adds noise and makes up records from the counts. voile releases nothing so: here a label is changed before anybody is handed it. The command stays what it was; local DP (ldp) is what comes nearest.",
};

export function screen() {
  if (!state.opened) return needFile("Labels");
  const [first] = columns("label");
  const chosen = { label: first.name, epsilon: 1, mechanism: "rr", recipe: "", classes: "", risky: false };
  const left = new Set(state.opened.glance.columns.filter((c) => c.sign && c.name !== first.name).map((c) => c.name));
  const shares = h("div", {});
  const points = h("div", {}), why = h("div", {});
  const picked = h("output", { class: "epsilon", "aria-live": "polite" });
  const released = () => state.opened.glance.columns.map((c) => c.name).filter((name) => name === chosen.label || chosen.mechanism !== "rr" && !left.has(name));
  const take = away("labels protect", () => ({
    label: chosen.label, epsilon: chosen.epsilon, mechanism: chosen.mechanism,
    recipe: chosen.recipe || null, learn_from_private: chosen.risky || null,
    classes: !chosen.recipe && !chosen.risky && chosen.mechanism === "rr" && chosen.classes ? chosen.classes.split(",").map((one) => one.trim()) : null,
  }), released(), () => {
    if (chosen.recipe || chosen.risky || chosen.mechanism === "rr" && chosen.classes) return "";
    return chosen.mechanism === "rr"
      ? "Say above which values the label has, or name a public recipe, or take the risk of this file's own: the output shows them. Then the command stands here."
      : "Name a public recipe above, or take the risk of this file's own names and ranges: the output shows them. Then the command stands here.";
  });

  const audit = job(async (last) => { if (last?.report) fill(shares, announced((await trying(() => ask("result", { command: audit.identity() }))))); });
  const compare = job(async (last) => {
    if (!last?.report) return;
    const found = await trying(() => ask("result", { command: compare.identity() }));
    if (found) fill(points, frontier(found, (point) => {
      const own = MECHANISMS[point.mechanism];
      if (own) { chosen.mechanism = own; chosen.epsilon = point.epsilon; changed(); }
      fill(why, own ? h("p", { role: "status" }, `Taken: ${point.mechanism} at ε = ${point.epsilon}, below.`) : h("p", { class: "warn", role: "status" }, ELSEWHERE[point.mechanism] ?? `${point.mechanism} is for comparison; no command here releases by it.`));
    }), why);
  });
  const data = () => ({ data: state.opened.path, label: chosen.label, drop: [...left].filter((name) => name !== chosen.label) });
  function changed() {
    fill(why);
    picked.textContent = `${chosen.mechanism}, ε = ${chosen.epsilon}`;
    mechanism.value = chosen.mechanism;
    epsilon.value = chosen.epsilon;
    take.columns(released());
    take.changed();
  }
  const mechanism = select([["rr", "rr: the label alone"], ["cf", "cf: label and features"], ["ldp", "ldp: the whole record"], ["sample", "sample: one column each"]], "rr", (value) => { chosen.mechanism = value; changed(); });
  const epsilon = h("input", { type: "number", min: 0.001, step: "any", value: 1, onchange: () => { if (epsilon.value > 0) { chosen.epsilon = Number(epsilon.value); changed(); } } });
  const recipe = h("input", { type: "text", autocomplete: "off", spellcheck: "false", onchange: () => { chosen.recipe = recipe.value.trim(); changed(); } });
  const classes = h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "yes,no", onchange: () => { chosen.classes = classes.value.trim(); changed(); } });
  const names = columns("label").map((c) => [c.name, c.name]);
  const others = h("fieldset", { class: "grid-2" });
  const listed = () => fill(others, h("legend", {}, "Not features: left out of what is weighed"),
    state.opened.glance.columns.filter((c) => c.name !== chosen.label).map((c) => tick(c.name, left.has(c.name), (on) => { if (on) left.add(c.name); else left.delete(c.name); changed(); }, c.sign ? `looks like ${c.sign}` : "")));
  listed();
  queueMicrotask(changed);
  return [
    h("h1", {}, "Labels"),
    h("div", { class: "row" }, field("The secret label", select(names, chosen.label, (value) => { chosen.label = value; left.delete(value); listed(); changed(); }))),
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
        field("Values of the label", classes, "For rr, where they are public: the output shows them."), field("Public recipe", recipe, "Names and ranges that the output shows: a file that voile labels recipe made.")),
      tick("RISKY: take names and ranges from this file", false, (on) => { chosen.risky = on; changed(); }, "then the guarantee is claimed only")),
    take.place,
  ];
}

/** Ceiling and what an attacker reaches, by ε; then the features that say most. */
function announced(found) {
  if (!found) return null;
  const row = (name, share, kind) => h("li", { class: kind }, h("span", {}, name), h("meter", { min: 0, max: 1, value: share, "aria-label": name }), h("span", { class: "number" }, percent(share)));
  const features = [...found.features].sort((a, b) => b.lost - a.lost).slice(0, 8);
  const most = Math.max(...features.map((one) => one.lost), LITTLE);
  const nats = (lost) => (Math.round(1000 * lost) / 1000 + 0).toFixed(3); // + 0: no minus before nought
  return [
    h("p", { class: "answer" }, `A blind guess is right ${percent(found.guess)} of the time; the features alone give ${percent(found.epsilons[0].features_alone)}, whatever ε is.`),
    h("div", { class: "ways" }, found.epsilons.map((point) => h("div", {}, h("h3", {}, `ε = ${point.epsilon}`),
      h("ol", { class: "bars wide" }, row("announced", point.expected, ""), row("reached", point.total.value, "own"))))),
    h("h3", {}, "What is missed most when a feature is shuffled"),
    h("ol", { class: "bars wide" }, features.map((one) => h("li", {}, h("span", {}, one.name), h("meter", { min: 0, max: most, value: Math.max(0, one.lost), "aria-label": one.name }), h("span", { class: "number" }, `${nats(one.lost)} nats`)))),
  ];
}
