// Designs for a map: all methods side by side while the solver works, then one to keep.

import { fill, field, h, length } from "/app/dom.js";
import { job } from "/app/job.js";

const BOUND = "lower bound";

/** The panel; `here()` says which ε and which roads the screen has chosen. */
export function design(here) {
  const table = h("div", { class: "scroll", hidden: true, tabindex: "0", role: "region", "aria-label": "Methods side by side" });
  const work = job(() => {}, (state) => fill(table, rows(state.parts), table.toggleAttribute("hidden", !state.parts.length)));
  const input = (value, more = {}) => h("input", { type: "text", autocomplete: "off", spellcheck: "false", value, ...more });
  const epsilon = h("input", { type: "number", min: 0.01, max: 100, step: "any", value: 0.8 });
  const cells = input("6x8"), box = input("", { placeholder: "south,west,north,east" }), out = input("", { placeholder: "city.voile" });
  const roads = input("", { placeholder: "the embedded made-up city" });
  const options = () => ({
    epsilon: Number(epsilon.value), cells: cells.value.trim() || null, roads: roads.value.trim() || null,
    box: box.value.trim() ? box.value.split(",").map(Number) : null,
  });
  const start = (more) => { if (!roads.value) roads.value = here().roads; fill(table); work.start("places design", { ...options(), ...more }); };
  return h("details", { class: "fold", "data-panel": "design" }, h("summary", {}, "Design for a map: less loss at the same ε"),
    h("section", { class: "panel", "aria-label": "Design for a map" },
      h("p", {}, "Noise ignores the map. A design is solved for it: where people tend to be, along roads. Compare the methods as they are solved, with a bound that none can go below; stop when you have seen enough, and what is there stays. Then keep the best one and release with it (--mechanism)."),
      h("div", { class: "grid-2" }, field("ε per km of the design", epsilon), field("Cells, rows x columns", cells, "More are better and slower: 6x8 takes a minute or so, 15x20 many."),
        field("Public roads", roads), field("or a box, in degrees", box), field("Keep the design as", out, "Only for the button Solve.")),
      h("div", { class: "buttons" },
        h("button", { type: "button", onclick: () => start({ compare: true }) }, "Compare the methods"),
        h("button", { type: "button", class: "main", onclick: () => start({ out: out.value.trim() || null }) }, "Solve the best one")),
      table, work.place));
}

/** A row a method, as they come; the gap is known as soon as the bound is. */
function rows(parts) {
  const bound = parts.find((one) => one.method === BOUND)?.loss;
  const gap = (one) => (one.supremum === null || !bound ? "–" : `${(100 * (one.loss / bound - 1)).toFixed(1)} %`);
  const least = Math.min(...parts.filter((one) => one.supremum !== null && one.supremum <= one.epsilon).map((one) => one.loss));
  return h("table", {}, h("caption", {}, "Methods, as they are solved"),
    h("thead", {}, h("tr", {}, ["method", "mean loss", "at most above the optimum", "largest loss per km", "seconds"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, parts.map((one) => h("tr", { class: one.loss === least ? "best" : "" }, h("th", { scope: "row" }, one.method), h("td", {}, length(one.loss)), h("td", {}, gap(one)),
      h("td", {}, one.supremum === null ? "a bound" : one.supremum <= one.epsilon ? one.supremum.toPrecision(3) : `${one.supremum.toPrecision(3)}: NOT PRIVATE`), h("td", {}, one.seconds.toFixed(1))))));
}
