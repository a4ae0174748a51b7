// A text and its release side by side; each word says what became of it, and its law on hover.

import { h } from "/app/dom.js";

const FATES = {
  kept: "came out as itself", drawn: "drawn anew", placeholder: "replaced by a placeholder",
  "stand-in": "another of its kind",
  clear: "stands IN CLEAR", dropped: "left out",
};

export function legend() {
  return h("ul", { class: "fates", "aria-label": "What the marks mean" },
    Object.entries(FATES).map(([fate, says]) => h("li", {}, h("span", { class: `word ${fate}` }, fate), ` ${says}`)));
}

/** Both sides of one text; `about(piece, element)` is called for the word under eye or focus. */
export function pair(text, number, about) {
  if (text.refused) return h("article", { class: "pair" }, h("p", {}, `Text ${number} would be refused: ${text.refused}.`));
  return h("article", { class: "pair", "aria-label": `Text ${number}` },
    h("p", { class: "before", "aria-label": "Original" }, side(text.pieces, "before", about)),
    h("p", { class: "after", "aria-label": "Preview of the release" }, side(text.pieces, "after", about)));
}

function side(pieces, which, about) {
  const words = [];
  const shown = pieces.map((piece) => {
    if (piece.fate === "between") return piece[which];
    const written = piece[which] || (piece.fate === "dropped" ? "▯" : "");
    const made = h("span", {
      class: `word ${piece.fate}`, tabindex: words.length ? "-1" : "0", role: "button",
      "aria-label": `${written}, ${FATES[piece.fate]}`,
      onpointerenter: () => about(piece, made), onfocus: () => about(piece, made), onclick: () => made.focus(),
      onkeydown: (event) => along(event, words, made),
    }, written);
    words.push(made);
    return made;
  });
  return shown;
}

/** One stop of the tab key for a whole text; the arrows go from word to word. */
function along(event, words, here) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const place = words.indexOf(here);
  const next = event.key === "Home" ? words[0] : event.key === "End" ? words.at(-1) : step ? words[place + step] : null;
  if (!next) return;
  event.preventDefault();
  here.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
