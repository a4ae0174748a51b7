// Elements from plain values. Text is always set as text: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "g", "path", "line", "circle", "text", "rect", "polyline", "title"]);

/** An element: attributes, `on*` listeners, then children (elements, strings, arrays, nothing). */
export function h(tag, attributes = {}, ...children) {
  const made = DRAWN.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value") made.value = value;
    else if (name === "checked") made.checked = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Replace what an element holds. */
export function fill(place, ...children) {
  place.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return place;
}

let numbers = 0;
/** A label above its control, tied to it; a hint below is read with it. */
export function field(label, control, hint) {
  control.id ||= `field-${++numbers}`;
  const help = hint && h("p", { class: "hint", id: `${control.id}-hint` }, hint);
  if (help) control.setAttribute("aria-describedby", help.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, help);
}

/** A box that is ticked or not, its words behind it. */
export function tick(label, checked, change, hint) {
  const box = h("input", { type: "checkbox", checked, onchange: () => change(box.checked) });
  box.id = `field-${++numbers}`;
  return h("div", { class: "tick" }, box, h("label", { for: box.id }, label, hint && h("span", { class: "hint" }, ` ${hint}`)));
}

export function select(options, value, change) {
  const made = h("select", { onchange: () => change(made.value) },
    options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
  return made;
}

/** Call at most once a frame, with the latest arguments. */
export function eachFrame(work) {
  let waiting = null, latest;
  return (...given) => {
    latest = given;
    waiting ??= requestAnimationFrame(() => { waiting = null; work(...latest); });
  };
}

/** A length in km as the reports say it: to three digits, in metres below a kilometre. */
export const length = (km) => (km >= 1 ? `${Number(km.toPrecision(3))} km` : `${Number((1000 * km).toPrecision(3))} m`);

export const percent = (share, digits = 3) =>
  share === null || share === undefined ? "–" : `${Number((100 * share).toPrecision(digits))} %`;
