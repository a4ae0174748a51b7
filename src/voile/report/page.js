// The contents follow the reader: the link of the section that is being read is marked.
const links = [...document.querySelectorAll("nav a")];
const places = links.map((link) => document.getElementById(link.hash.slice(1)));
const nav = document.querySelector("nav");
function follow() {
  const line = innerHeight * 0.2;
  const begin = scrollY < 2;
  const end = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
  const read = places.findLastIndex((place) => place.getBoundingClientRect().top <= line);
  const current = links[begin ? 0 : end ? links.length - 1 : Math.max(0, read)];
  for (const link of links) {
    if (link !== current) link.removeAttribute("aria-current");
  }
  if (current.hasAttribute("aria-current")) return;
  current.setAttribute("aria-current", "true");
  const strip = nav.getBoundingClientRect(), box = current.getBoundingClientRect();
  if (box.left < strip.left || box.right > strip.right) nav.scrollLeft += box.left - strip.left - 20;
  if (box.top < strip.top || box.bottom > strip.bottom) nav.scrollTop += box.top - strip.top - 40;
}
addEventListener("scroll", follow, { passive: true });
addEventListener("resize", follow);
follow();

// A link opens what is folded. In a frame, which has no address of its own, it also scrolls the
// frame, and not the notebook around it.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  const place = link && document.getElementById(link.hash.slice(1));
  if (!place) return;
  const fold = place.querySelector(":scope > details.fold");
  if (fold) fold.open = true;
  if (location.protocol === "about:") {
    event.preventDefault();
    const free = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
    scrollTo(0, scrollY + place.getBoundingClientRect().top - free);
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
  }
});
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details.fold")) fold.open = true;
});

const charts = JSON.parse(document.getElementById("charts")?.textContent ?? "[]");
const options = { renderer: "svg", actions: false, ast: true, tooltip: { disableDefaultStyle: true } };
// Names of a legend stand under each other where there is no room for two of them.
const slim = (key, value) => (key === "legend" && value ? { ...value, columns: 1 } : value);
const fitted = (place, spec) =>
  place.clientWidth < 420 ? JSON.parse(JSON.stringify(spec), slim) : spec;
const room = (place, spec) => Math.min(spec.height, Math.round(place.clientWidth * spec.usermeta.ratio));
for (const { id, spec: given } of charts) {
  const place = document.getElementById(id);
  const spec = fitted(place, given);
  const still = place.firstElementChild;
  const live = document.createElement("div");
  place.append(live);
  try {
    still.style.display = "none";
    const map = spec.usermeta?.ratio;
    const drawn = await window.vegaEmbed(live, map ? { ...spec, height: room(place, spec) } : spec, options);
    if (map) {
      addEventListener("resize", () => drawn.view.height(room(place, spec)).runAsync());
    }
    still.remove();
    place.dataset.drawn = "live";
  } catch (problem) {
    live.remove();
    still.style.display = "";
    place.dataset.drawn = "still";
    console.error(problem);
  }
}
follow();
document.documentElement.dataset.ready = "yes";
