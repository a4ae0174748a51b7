// Take it away: the same release as a command, as Python and as a recipe; or run it here.

import { state, trying } from "/app/frame.js";
import { ask, latest } from "/app/ask.js";
import { field, fill, h, select } from "/app/dom.js";
import { job } from "/app/job.js";

/** The panel for a releasing command; `options()` are what the screen chose, `missing()` says what it still needs. */
export function away(command, options, changedColumns, missing = () => "") {
  const asked = latest();
  const fates = new Map();
  const columnsPlace = h("div", { class: "grid-2" });
  const shown = h("div", { class: "ways" });
  const work = job();
  const out = h("input", { type: "text", autocomplete: "off", spellcheck: "false", onchange: changed, placeholder: state.opened.dropped ? "where to write it" : "beside the file, FILE.protected.…" });
  const ledger = h("input", { type: "text", autocomplete: "off", spellcheck: "false", onchange: changed });
  const budget = h("input", { type: "number", min: 0, step: "any", onchange: changed });
  const names = state.opened.glance.columns.map((c) => c.name);
  const person = select([["", "nobody"], ...names.map((n) => [n, n])], "", changed);

  function columns(protectedOnes) {
    fates.clear();
    const others = state.opened.glance.columns.filter((c) => !protectedOnes.includes(c.name));
    fill(columnsPlace, others.map((c) => {
      fates.set(c.name, "drop");
      const choice = select([["drop", "leave out"], ["pass", "release IN CLEAR"]], "drop", (value) => { fates.set(c.name, value); changed(); });
      return field(c.name, choice, c.sign ? `Looks like ${c.sign}.` : "");
    }));
    if (!others.length) fill(columnsPlace, h("p", { class: "hint" }, "There are no other columns."));
  }
  function all() {
    const chosen = (fate) => [...fates].filter(([, value]) => value === fate).map(([name]) => name);
    const data = state.opened.path;
    const charged = ledger.value.trim() ? { ledger: ledger.value.trim(), person: person.value, budget: budget.value ? Number(budget.value) : null } : {};
    return { data, ...options(), pass_: chosen("pass"), drop: chosen("drop"), out: out.value.trim() || null, ...charged };
  }
  const lacking = () => missing() || (state.opened.dropped && !out.value.trim() ? "Say under Output where to write it: then the command stands here." : "");
  let current = 0;
  async function changed() {
    const mine = (current += 1);
    release.disabled = true;
    if (lacking()) return fill(shown, h("p", { class: "hint" }, lacking()));
    const found = await trying(() => asked("away", { command, options: all() }));
    if (mine !== current) return;
    if (!found) return fill(shown, h("p", { class: "hint" }, "It cannot be released so; why stands at the top."));
    release.disabled = false;
    fill(shown, state.opened.dropped && h("p", { class: "hint" }, "The path of a dropped file ends with the studio: put your own in its place."), way("Command", found.command), way("Python", found.python), way("release.toml", found.recipe, found.left_out.length ? `Without ${found.left_out.join(", ")}: give it to voile run.` : "voile run release.toml"));
  }
  const start = (more) => work.start(command, { ...all(), ...more });
  const release = h("button", { type: "button", class: "main", onclick: () => start({}) }, "Release now");
  columns(changedColumns);
  const place = h("section", { class: "panel", "aria-label": "Take it away" },
    h("h2", {}, "Take it away"),
    h("h3", {}, "The other columns"), columnsPlace,
    h("div", { class: "grid-2" }, field("Output", out, state.opened.dropped ? "A dropped file has no folder of its own: say where." : "")),
    h("details", { class: "fold" }, h("summary", {}, "Charge a ledger"), h("div", { class: "grid-2" },
      field("Ledger", ledger, "A file that voile ledger init made; its key comes from VOILE_LEDGER_KEY."), field("Whose row it is", person), field("Budget of a person", budget))),
    shown,
    h("div", { class: "buttons" },
      command === "text protect" && h("button", { type: "button", onclick: () => start({ dry_run: true }) }, "Check, release nothing"),
      release),
    work.place);
  return { place, changed, columns: (given) => { columns(given); } };
}

function way(title, text, hint) {
  const said = h("span", { role: "status" });
  const copy = async () => { await navigator.clipboard.writeText(text); said.textContent = " copied"; setTimeout(() => { said.textContent = ""; }, 1500); };
  return h("div", { class: "way" }, h("h3", {}, title, said), h("pre", { tabindex: "0", "aria-label": title }, text),
    hint && h("p", { class: "hint" }, hint), h("button", { type: "button", class: "quiet", onclick: copy, "aria-label": `Copy: ${title}` }, "Copy"));
}
