// What all screens share: the open file, what went wrong, and which columns there are.

import { fill, h } from "/app/dom.js";

export const state = { opened: null };

export function notice(text) {
  fill(document.getElementById("notice"), text && h("p", {}, text,
    h("button", { type: "button", class: "quiet", "aria-label": "Dismiss", onclick: () => notice("") }, "×")));
}

/** Do something that may be refused; what is refused is said at the top. */
export async function trying(work) {
  try {
    notice("");
    return await work();
  } catch (problem) {
    const lost = problem instanceof TypeError;
    notice(lost ? "The studio does not answer; is it still running?" : problem.message);
    return null;
  }
}

/** Nothing is taken away while what is shown is not what would be released. */
export function hold(panel, held) {
  for (const part of panel.querySelectorAll(".ways, .buttons")) {
    if (part.hidden && !held && part.matches(".ways")) fill(part);
    part.hidden = held;
  }
}

export function show(opened) {
  state.opened = opened;
  document.getElementById("file").textContent = opened ? opened.name : "";
}

/** The columns of the open file of some roles, then the others: a guess first, a choice always. */
export function columns(...roles) {
  const all = state.opened?.glance.columns ?? [];
  return [...all.filter((c) => roles.includes(c.role)), ...all.filter((c) => !roles.includes(c.role))];
}

export function needFile(what) {
  return h("section", { class: "empty" }, h("h1", {}, what),
    h("p", {}, "No file is open. ", h("a", { href: "#open" }, "Open one"), " first."));
}
