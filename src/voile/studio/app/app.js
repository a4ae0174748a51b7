// Which screen is shown.

import { ask } from "/app/ask.js";
import { fill } from "/app/dom.js";
import { notice, show, trying } from "/app/frame.js";

const SCREENS = ["open", "text", "places", "labels", "audit"];
const main = document.getElementById("screen");
const links = [...document.querySelectorAll("nav a")];

let asked = 0; // of several screens that are being made, only the last asked for is shown

async function route() {
  const mine = ++asked;
  const wanted = location.hash.slice(1);
  const name = SCREENS.includes(wanted) ? wanted : "open";
  for (const link of links) {
    if (link.dataset.screen === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.documentElement.dataset.ready = "";
  const { screen } = await import(`/app/${name}.js`);
  const made = await screen();
  if (mine !== asked) return;
  fill(main, made);
  document.documentElement.dataset.ready = "yes";
}

addEventListener("hashchange", async () => {
  notice("");
  await route();
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
});
await trying(async () => show((await ask("desk")).opened));
await route();
