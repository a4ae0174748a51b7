// Open a file: by its path, or dropped on the page; then what its columns seem to hold.

import { notice, show, state, trying } from "/app/frame.js";
import { ask, drop } from "/app/ask.js";
import { field, fill, h } from "/app/dom.js";

const ROLES = { text: "text", latitude: "latitude", longitude: "longitude", label: "label", person: "person", time: "time", number: "number", other: "" };

export function screen() {
  const seen = h("div", {});
  const path = h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "reviews.csv", value: state.opened && !state.opened.dropped ? state.opened.path : "" });
  const opened = (found) => { if (found) { show(found); fill(seen, glance(found)); } };
  const byPath = async (event) => {
    event.preventDefault();
    if (!path.value.trim()) { notice("Say which file."); return; }
    opened(await trying(() => ask("open", { path: path.value.trim() })));
  };
  const byDrop = async (file) => file && opened(await trying(() => drop(file)));
  const chooser = h("input", { type: "file", onchange: () => byDrop(chooser.files[0]) });
  const area = h("div", { class: "drop" }, field("or drop a file here, or choose one", chooser,
    "A dropped file is kept for you alone while the studio runs, at most 512 MB."));
  for (const kind of ["dragover", "dragleave", "drop"]) {
    area.addEventListener(kind, (event) => {
      event.preventDefault();
      area.classList.toggle("over", kind === "dragover");
      if (kind === "drop") byDrop(event.dataTransfer.files[0]);
    });
  }
  if (state.opened) fill(seen, glance(state.opened));
  return [
    h("h1", {}, "Open a file"),
    h("form", { class: "row", onsubmit: byPath },
      field("A file on this machine", path, "CSV, JSONL, Parquet or text; only its first rows are read here."),
      h("button", { type: "submit", class: "main" }, "Open")),
    area, seen,
  ];
}

function glance(opened) {
  const { columns, rows, looked_at, more, bad } = opened.glance;
  const signs = columns.filter((column) => column.sign);
  const texts = columns.find((column) => column.role === "text");
  if (texts) import("/app/text.js").then(({ warm }) => warm(texts.name));
  const has = (role) => columns.some((column) => column.role === role);
  const doors = [
    ["text", "Text", "Draw each word anew, and see what still shows.", has("text")],
    ["places", "Places", "Blur where people are.", has("latitude") && has("longitude")],
    ["labels", "Labels", "Share labelled records.", has("label")],
    ["audit", "Audit", "Attack a release, of this or any other tool.", true],
  ];
  return h("section", { "aria-labelledby": "seen" },
    h("h2", { id: "seen" }, opened.name),
    h("p", {}, more
      ? `${looked_at.toLocaleString("en")} rows were looked at; there are more, which a release reads too.`
      : `${looked_at.toLocaleString("en")} rows, all of them.`,
    bad ? ` ${bad} could not be read.` : ""),
    h("div", { class: "doors" }, doors.map(([key, title, about, fits]) =>
      h("a", { class: fits ? "door fits" : "door", href: `#${key}` }, h("strong", {}, title), h("span", {}, fits ? about : `${about} Nothing here looks like it.`)))),
    columns.some((c) => /^[-+]?\d[\d.,:TZ+-]*$/.test(c.name)) ? h("p", { class: "warn", role: "note" },
      "The first line was taken for the names of columns, and looks like data: add a line of names, or its values would stand in commands and reports.") : null,
    signs.length ? h("p", { class: "warn", role: "note" },
      `Would identify people if released in clear: ${signs.map((c) => `${c.name} (${c.sign})`).join(", ")}.`) : null,
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "First rows" },
      h("table", {}, h("caption", {}, "First rows, with what each column seems to hold"),
        h("thead", {}, h("tr", {}, columns.map((c) => h("th", { scope: "col" }, c.name,
          ROLES[c.role] && h("span", { class: "role" }, ROLES[c.role]),
          c.sign && h("span", { class: "role sign" }, c.sign))))),
        h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, h("div", { class: "cell" }, cell)))))))));
}
