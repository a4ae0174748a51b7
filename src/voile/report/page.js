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
// A map can be moved: buttons, a drag once it is enlarged, two fingers, or the wheel with Ctrl held,
// so that a page scrolls past it. Only what part of the drawing is seen changes; nothing is loaded.
function movable(place, drawing) {
  const whole = () => drawing.viewBox.baseVal.width
    ? (drawing.dataset.whole ??= drawing.getAttribute("viewBox")).split(/[ ,]+/).map(Number)
    : [0, 0, drawing.clientWidth, drawing.clientHeight];
  const fingers = new Map();
  let view = whole();
  const show = () => {
    const [x, y, wide, high] = whole();
    view[2] = Math.min(wide, Math.max(wide / 40, view[2]));
    view[3] = view[2] * high / wide;
    view[0] = Math.min(x + wide - view[2], Math.max(x, view[0]));
    view[1] = Math.min(y + high - view[3], Math.max(y, view[1]));
    drawing.setAttribute("viewBox", view.join(" "));
    place.classList.toggle("enlarged", view[2] < wide * 0.999);
  };
  const zoom = (factor, across = 0.5, down = 0.5) => {
    const before = [view[2], view[3]], wide = whole()[2];
    const after = Math.min(wide, Math.max(wide / 40, before[0] / factor)) / before[0];
    view[0] += before[0] * across * (1 - after);
    view[1] += before[1] * down * (1 - after);
    view[2] = before[0] * after;
    show();
  };
  const share = (event) => {
    const box = drawing.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  const buttons = document.createElement("div");
  buttons.className = "zoom";
  const all = () => { view = whole(); show(); };
  for (const [sign, name, act] of [["+", "Enlarge", () => zoom(1.6)],
    ["\u2212", "Reduce", () => zoom(1 / 1.6)], ["\u2922", "The whole map", all]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = sign;
    button.setAttribute("aria-label", name);
    button.title = name;
    button.addEventListener("click", act);
    buttons.append(button);
  }
  place.append(buttons);
  drawing.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 300), ...share(event));
  }, { passive: false });
  drawing.addEventListener("dblclick", (event) => zoom(1.6, ...share(event)));
  drawing.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event);
    if (place.classList.contains("enlarged")) drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener("pointermove", (event) => {
    const last = fingers.get(event.pointerId);
    if (!last) return;
    const box = drawing.getBoundingClientRect();
    if (fingers.size === 2) {
      const other = [...fingers.values()].find((one) => one.pointerId !== event.pointerId);
      const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      zoom(apart(event) / Math.max(1, apart(last)), ...share(other));
    } else {
      view[0] -= (event.clientX - last.clientX) / box.width * view[2];
      view[1] -= (event.clientY - last.clientY) / box.height * view[3];
      show();
    }
    fingers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    drawing.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
}

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
      movable(place, live.querySelector("svg"));
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
