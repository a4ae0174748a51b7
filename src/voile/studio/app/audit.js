// The audit screen: attacks on what was released, as forms made from the commands themselves.

import { state, trying } from "/app/frame.js";
import { ask } from "/app/ask.js";
import { field, fill, h, select, tick } from "/app/dom.js";
import { job } from "/app/job.js";

const AUDITS = [
  ["text calibrate", "Text: two columns, a program or your own function"],
  ["text audit", "Text: originals and releases, read by a trained attacker"],
  ["text membership", "Text: was a document among those trained on?"],
  ["places audit", "Places: a design or releases of places"],
  ["places follow", "Places: traces, followed over time"],
  ["labels audit", "Labels: what the features give away"],
];
const FIRST = ["What", "How strong", "Restoring", "Budget"];

export async function screen() {
  const place = h("div", {});
  const work = job();
  const choose = async (command) => {
    const form = await trying(() => ask("form", { command }));
    if (form) fill(place, filled(form, work));
  };
  await choose(AUDITS[0][0]);
  return [h("h1", {}, "Audit"),
    field("What is attacked", select(AUDITS, AUDITS[0][0], choose)), place, work.place];
}

function filled(form, work) {
  const values = {};
  const made = form.fields.map((one) => [one, control(one, values)]);
  const main = made.filter(([one]) => one.required || FIRST.includes(one.panel)).map(([, element]) => element);
  const rest = made.filter(([one]) => !one.required && !FIRST.includes(one.panel)).map(([, element]) => element);
  const run = (event) => { event.preventDefault(); work.start(form.command, values); };
  return h("form", { class: "panel", onsubmit: run }, h("p", {}, form.about),
    h("div", { class: "grid-2" }, main),
    rest.length ? h("details", { class: "fold" }, h("summary", {}, "More options"), h("div", { class: "grid-2" }, rest)) : null,
    h("button", { type: "submit", class: "main" }, "Attack it"));
}

/** A field for an option; what is left empty is left to its default. */
function control(one, values) {
  const set = (value) => { if (value === "" || value === null) delete values[one.name]; else values[one.name] = value; };
  if (one.kind === "flag") return tick(one.label, Boolean(one.default), (on) => set(on === Boolean(one.default) ? null : on), one.help);
  if (one.kind === "choice") return field(one.label, select([["", one.required ? "choose" : "default"], ...one.choices.map((c) => [c, c])], "", set), one.help);
  const data = one.reads === "private" && one.required && state.opened;
  const input = h("input", {
    type: one.kind === "number" ? "number" : "text", step: "any", autocomplete: "off", spellcheck: "false",
    required: one.required, value: data ? state.opened.path : "",
    placeholder: one.default === null ? "" : String(one.default),
    onchange: () => set(read(one, input.value.trim())),
  });
  if (data) set(state.opened.path);
  return field(one.label, input, one.help);
}

function read(one, text) {
  if (text === "") return "";
  if (one.kind === "number") return Number(text);
  if (one.kind !== "words") return text;
  const parts = text.split(",").map((part) => part.trim());
  return parts.every((part) => part !== "" && Number.isFinite(Number(part))) ? parts.map(Number) : parts;
}
