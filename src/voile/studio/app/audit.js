// The audit screen: attacks on what was released, as forms made from the commands themselves.

import { field, fill, h, select } from "/app/dom.js";
import { formFor } from "/app/form.js";

const AUDITS = [
  ["text calibrate", "Text: releases in a second column or file, a program, or a function of your own"],
  ["text audit", "Text: two files, word by word, by an attacker who is trained on a part"],
  ["text membership", "Text: was a document among those trained on?"],
  ["places audit", "Places: a design or releases of places"],
  ["places follow", "Places: traces, followed over time"],
  ["labels audit", "Labels: what the features give away"],
];

export function screen() {
  const place = h("div", {});
  const choose = (command) => fill(place, formFor(command, "Attack it"));
  choose(AUDITS[0][0]);
  return [h("h1", {}, "Audit"), field("What is attacked", select(AUDITS, AUDITS[0][0], choose)), place];
}
