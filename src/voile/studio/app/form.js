// A form made from a command's own signature, and the job that it starts.

import { ask } from "/app/ask.js";
import { field, fill, h, select, tick } from "/app/dom.js";
import { state, trying } from "/app/frame.js";
import { job } from "/app/job.js";

const FIRST = ["What", "How strong", "Restoring", "Budget"];

/** The form of a command, filled when it is there. */
export function formFor(command, verb) {
  const place = h("div", {});
  const work = job();
  trying(async () => fill(place, filled(await ask("form", { command }), verb, work), work.place));
  return place;
}

function filled(form, verb, work) {
  const values = {};
  const made = form.fields.map((one) => [one.required || FIRST.includes(one.panel), control(one, values)]);
  const [main, rest] = [true, false].map((first) => made.filter(([is]) => is === first).map(([, element]) => element));
  const run = (event) => { event.preventDefault(); work.start(form.command, values); };
  return h("form", { class: "panel", onsubmit: run }, h("p", {}, form.about),
    h("div", { class: "grid-2" }, main),
    rest.length ? h("details", { class: "fold" }, h("summary", {}, "More options"), h("div", { class: "grid-2" }, rest)) : null,
    h("button", { type: "submit", class: "main" }, verb));
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
