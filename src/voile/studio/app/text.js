// The text screen: say how much may show, see what comes out, and what ε that takes.

import { columns, hold, needFile, notice, state, trying } from "/app/frame.js";
import { ask, latest } from "/app/ask.js";
import { away } from "/app/away.js";
import { at, chart, floor3, reach, solve } from "/app/curve.js";
import { eachFrame, field, fill, h, percent, select, tick } from "/app/dom.js";
import { legend, pair } from "/app/words.js";

const WISHES = {
  watched: { name: "At most this share of a watched word survives", hint: "Watched: names, illnesses, places, beliefs, money, numbers. The one that is kept most counts.", start: 0.2 },
  reader: { name: "An attacker names at most this share of the words", hint: "The best reader of single words there can be: it knows the law and how often words occur.", start: 0.15 },
  topic: { name: "A row's topic is still right in at least this share", hint: "What use is left, in sampled releases of your rows; what a topic is stands under the curves.", start: null },
  epsilon: { name: "Set ε myself", hint: "" },
};

/** How a column is looked at before anybody chose anything. */
const first = (column) => ({ column, mechanism: "tem", language: null, tiers: null, find: ["patterns"], keep_stopwords: false, pseudonyms: false, remap: false, restore: null, public: null, public_column: null });

/** Begin to load what this screen will need; whoever goes elsewhere is not told of a problem. */
export function warm(column) {
  ask("text/look", first(column)).then(() => ask("text/curves", first(column))).catch(() => {});
}

export function screen() {
  if (!state.opened) return needFile("Text");
  const choices = columns("text").map((c) => [c.name, c.name]);
  const look = first(choices[0][0]);
  const chosen = { wish: "watched", watched: WISHES.watched.start, reader: WISHES.reader.start, topic: WISHES.topic.start, epsilon: null, seed: 0, first: 0, label: columns("label").find((c) => c.role === "label" && c.name !== look.column)?.name ?? "" };
  let bench = null, curves = null, reader = null, use = null, drawing = null;
  let known = null, waiting, remapping, useless = false, loads = 0;
  const previews = latest(), remaps = latest(), laws = latest(), exacts = latest(), uses = latest();

  const law = h("div", { class: "law", role: "status" }, h("p", { class: "hint" }, "Point at a word, or reach it with Tab and the arrows: here you see what it may come out as."));
  const texts = h("div", { class: "texts" });
  const stamp = h("p", { class: "stamp" });
  const figures = h("dl", { class: "figures" });
  const strong = h("output", { class: "epsilon", "aria-live": "polite" });
  const means = h("p", { class: "means" });
  const curvePlace = h("div", {}, h("p", { class: "hint" }, "Curves are being worked out…"));
  const wishes = h("div", { class: "wishes" });
  const take = away("text protect", () => ({ column: look.column, epsilon: chosen.epsilon, ...given() }), [look.column]);

  const given = () => ({
    mechanism: look.mechanism, language: look.language, tiers: look.tiers, find: look.find,
    keep_stopwords: look.keep_stopwords, pseudonyms: look.pseudonyms, remap: look.remap,
    restore: look.restore, public: look.public, public_column: look.public_column,
  });

  // ── from a wish to ε ──
  function settle(epsilon) {
    if (!curves) return;
    notice("");
    chosen.epsilon = epsilon;
    if (epsilon === null) {
      blank(chosen.wish === "topic" ? `No ε of the curve does that: even in the originals ${percent(use.originals)} are right. Ask for less.` : "No ε keeps that in this vocabulary: allow a little more.");
      fill(texts);
      return;
    }
    show();
    preview();
    exact();
  }
  /** There is no strength to speak of: nothing is shown of one, and nothing can be released. */
  function blank(why) {
    clearTimeout(waiting);
    hold(take.place, true);
    strong.textContent = "no ε";
    means.textContent = why;
    fill(figures);
    delete figures.dataset.exact;
    known = null;
  }
  function wished() {
    if (!curves) return;
    if (chosen.wish === "watched" && curves.watched) settle(solve(curves.epsilons, curves.watched, chosen.watched));
    else if (chosen.wish === "reader" && reader) settle(solve(reader.epsilons, reader.named, chosen.reader));
    else if (chosen.wish === "topic" && use) settle(reach(use.epsilons, use.right, chosen.topic));
    else if (chosen.wish === "epsilon") settle(chosen.epsilon ?? floor3(Math.exp(Number(wishes.querySelector("#range-epsilon").value))));
  }
  function show(given) {
    const e = chosen.epsilon;
    if (!curves || e === null) return;
    if (given) known = given;
    const found = known?.epsilon === e ? known : null;
    strong.textContent = `ε = ${e}`;
    drawing?.move(e);
    const named = found?.named ?? (reader ? at(reader.epsilons, reader.named, e) : null);
    const worst = found?.worst ?? (curves.watched && at(curves.epsilons, curves.watched, e));
    const before = look.restore ? ", before the draws are read as a whole" : look.remap ? ", before the remap" : "";
    const clear = look.keep_stopwords ? "stop words in clear among them" : "";
    const rows = [
      [`watched word kept most${before}`, percent(worst), found?.worst_word ?? ""],
      [`an attacker names${before}`, percent(named), `of single words${clear && `, ${clear}`}`],
      [`words kept, as they occur${before}`, percent(found?.kept ?? at(curves.epsilons, curves.kept, e)), clear],
      ["topic still right", use ? percent(at(use.epsilons, use.right, e)) : useless ? "–" : "…", use ? `± ${percent(use.within, 2)}; originals ${percent(use.originals)}` : ""],
      ["meaning lost", percent(at(curves.epsilons, curves.moved, e)), "of what a blind draw loses"],
    ];
    fill(figures, rows.map(([name, value, more]) => h("div", {}, h("dt", {}, name), h("dd", {}, value, more && h("span", { class: "hint" }, ` ${more}`)))));
    for (const control of wishes.querySelectorAll("[data-epsilon]")) control.value = control.type === "range" ? Math.log(e) : e;
    hold(take.place, false);
    take.changed();
  }

  // ── what comes out ──
  const preview = eachFrame(async () => {
    if (chosen.epsilon === null) return;
    const asked = { epsilon: chosen.epsilon, seed: chosen.seed, first: chosen.first, count: 5 };
    clearTimeout(remapping);
    const found = await trying(() => previews("text/preview", { look, asked }));
    if (!found || !curves || chosen.epsilon === null) return;
    fill(texts, found.texts.map((text, k) => pair(text, chosen.first + k + 1, tell)));
    stamp.textContent = look.remap ? `${found.stamp}; before the remap, which follows` : found.stamp;
    means.textContent = `Two words as near as nearest words typically are: whatever comes out, the odds between them change by at most ${found.meant.median}; for one in twenty, by ${found.meant.five_percent}.`;
    texts.dataset.epsilon = asked.epsilon;
    if (look.remap) remapping = setTimeout(() => remap(asked), 400);
  });
  /** The remap of a whole vocabulary takes about a minute at an ε: it follows when one is settled on. */
  async function remap(asked) {
    const mine = loads;
    stamp.textContent = "Preview before the remap, which is being worked out: a minute for an ε that is new…";
    const found = await trying(() => remaps("text/preview", { look, asked: { ...asked, remap: true } }));
    if (!found || mine !== loads || asked.epsilon !== chosen.epsilon || asked.seed !== chosen.seed || asked.first !== chosen.first) return;
    fill(texts, found.texts.map((text, k) => pair(text, asked.first + k + 1, tell)));
    stamp.textContent = `${found.stamp}; remapped`;
    texts.dataset.remapped = asked.epsilon;
  }
  function exact() {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const asked = { epsilon: chosen.epsilon, reader: true }, mine = loads;
      const found = await trying(() => exacts("text/figures", { look, asked }));
      if (!found || mine !== loads || found.epsilon !== chosen.epsilon) return;
      // a curve is drawn through points: between two of them the law itself decides
      const over = chosen.wish === "watched" ? found.worst > chosen.watched : chosen.wish === "reader" && found.named > chosen.reader;
      if (over) settle(floor3(chosen.epsilon * 0.99));
      else { show(found); figures.dataset.exact = "yes"; }
    }, 250);
    delete figures.dataset.exact;
  }
  let pointed;
  async function tell(piece, element) {
    pointed?.classList.remove("pointed");
    pointed = element;
    element.classList.add("pointed");
    if (piece.word < 0) {
      const says = { "stand-in": "A name or identifier of the same form, drawn from public lists: it says nothing of who stood there.", placeholder: "What looks personal is replaced as a whole, whatever it says.", clear: "This word is released as it is.", dropped: "This was left out." };
      fill(law, h("p", {}, says[piece.fate] ?? ""));
      return;
    }
    const found = await trying(() => laws("text/law", { look, asked: { word: piece.word, level: piece.level, epsilon: chosen.epsilon } }));
    if (!found || pointed !== element) return;
    fill(law, h("h3", {}, found.word), h("p", {}, `Kept with probability ${percent(found.kept)}; ${found.nine_in_ten.toLocaleString("en")} ${found.nine_in_ten === 1 ? "word holds" : "words share"} nine tenths of it.`),
      h("ol", { class: "bars" }, found.likeliest.map(([word, chance]) => h("li", { class: word === found.word ? "own" : "" },
        h("span", {}, word), h("meter", { min: 0, max: 1, value: chance, "aria-label": `chance of ${word}` }), h("span", { class: "number" }, percent(chance, 2))))));
  }

  // ── loading ──
  async function load() {
    const mine = ++loads;
    look.public = reads() && publicBox.value.trim() || null;
    look.public_column = look.public && publicColumn.value.trim() || null;
    curves = reader = use = null;
    blank("");
    take.columns([look.column]);
    fill(texts, h("p", { class: "hint" }, "Reading the texts and their vocabulary…"));
    const read = await trying(() => ask("text/look", look));
    if (mine !== loads) return;
    if (!read) { fill(texts); return; }
    bench = read;
    const found = await trying(() => ask("text/curves", look));
    if (!found || mine !== loads) return;
    curves = found;
    draw();
    controls();
    wished();
    const more = await trying(() => ask("text/reader", look));
    if (!more || mine !== loads) return;
    reader = more;
    draw();
    controls();
    if (chosen.wish === "reader") wished(); else show();
    await judge();
  }
  /** How often topics are still right; worked out behind the page's back, then read off a curve. */
  async function judge() {
    const mine = loads, label = chosen.label;
    use = null;
    useless = false;
    draw();
    const found = await trying(() => uses("text/use", { look, asked: { label: label || null } }));
    if (!found || mine !== loads || label !== chosen.label) return;
    if (found.why) { topicSaid.textContent = `Not measured: ${found.why}.`; useless = true; draw(); controls(); show(); return; }
    use = found;
    chosen.topic ??= Math.floor(90 * use.originals) / 100;
    topicSaid.textContent = `${use.rows} rows, ${use.by ? "a classifier trained on other originals names the column’s value" : "the nearest of 20 groups of public words is that of the original"}: right in ${percent(use.originals)} of the originals; the commonest alone is ${percent(use.guess)}.`;
    draw();
    controls();
    if (chosen.wish === "topic") wished(); else show();
  }
  function draw() {
    const line = (key, name, xs, ys) => ({ key, name, xs, ys });
    drawing = chart(curves.epsilons, [
      ...(curves.watched ? [line("watched", "watched word kept most", curves.epsilons, curves.watched)] : []),
      line("kept", "words kept", curves.epsilons, curves.kept),
      line("named", "an attacker names", reader?.epsilons, reader?.named),
      line("moved", "meaning lost", curves.epsilons, curves.moved),
      ...(useless ? [] : [line("topic", "topic still right", use?.epsilons, use?.right)]),
    ], (epsilon) => { chosen.wish = "epsilon"; radios(); settle(epsilon); });
    fill(curvePlace, drawing.place);
    drawing.draw();
    if (chosen.epsilon) drawing.move(chosen.epsilon);
  }
  const radios = () => { for (const radio of wishes.querySelectorAll("input[type=radio]")) radio.checked = radio.value === chosen.wish; };
  function controls() {
    const kind = (key) => {
      const { name, hint } = WISHES[key];
      const busy = key === "reader" && !reader || key === "topic" && !use;
      const radio = h("input", { type: "radio", name: "wish", value: key, id: `wish-${key}`, checked: chosen.wish === key, disabled: busy, onchange: () => { chosen.wish = key; wished(); } });
      return h("div", { class: "wish" }, h("div", { class: "tick" }, radio, h("label", { for: `wish-${key}` }, name)), hint && h("p", { class: "hint" }, busy ? (useless && key === "topic" ? "Not measured here." : "Being worked out…") : hint), slider(key, busy));
    };
    const focused = document.activeElement?.id;
    fill(wishes, h("fieldset", {}, h("legend", {}, "How much may show?"), Object.keys(WISHES).map(kind)));
    if (focused) document.getElementById(focused)?.focus();
  }
  function slider(key, busy) {
    const share = key !== "epsilon";
    const [low, high] = share ? [0.5, 99] : [Math.log(curves.epsilons[0]), Math.log(curves.epsilons.at(-1))];
    const value = share ? 100 * chosen[key] : Math.log(chosen.epsilon ?? curves.epsilons[0]);
    const take = (number) => {
      chosen.wish = key;
      if (share) chosen[key] = number / 100; else chosen.epsilon = number;
      radios();
      wished();
    };
    const label = share ? WISHES[key].name : "ε of a word";
    const range = h("input", { type: "range", id: `range-${key}`, min: low, max: high, step: share ? 0.5 : 0.005, value, disabled: busy, "aria-label": label, "data-epsilon": share ? undefined : "", oninput: () => { const v = Number(range.value); if (share) exactBox.value = v; take(share ? v : floor3(Math.exp(v))); } });
    const exactBox = h("input", { type: "number", id: `number-${key}`, min: share ? 0.1 : 0.001, max: share ? 99.9 : undefined, step: "any", value: share ? value : chosen.epsilon ?? "", disabled: busy, "aria-label": `${label}, as a number`, "data-epsilon": share ? undefined : "", onchange: () => { const v = Number(exactBox.value); if (v > 0) { if (share) range.value = v; take(v); } } });
    return h("div", { class: "slider" }, range, exactBox, h("span", {}, share ? "%" : ""));
  }
  function changed(key) { return (value) => { look[key] = value || null; if (key === "mechanism" || key === "column") look[key] = value; load(); }; }
  const finders = h("div", {}, tick("numbers of countries (tax, health, phone)", false, (on) => find("numbers", on)), tick("postal addresses", false, (on) => find("addresses", on)));
  function find(name, on) { look.find = on ? [...look.find, name] : look.find.filter((one) => one !== name); load(); }
  const publicBox = h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "word frequencies alone", onchange: () => { if (reads()) load(); } });
  const publicColumn = h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "the only one, or text", onchange: () => { if (reads()) load(); } });
  const reads = () => Boolean(look.restore || look.remap); // public text is of use only then
  const topicSaid = h("p", { class: "hint", role: "status" });
  const labels = columns("label").filter((c) => c.name !== look.column);
  const topicBy = field("A row’s topic is", select([["", "a group of public words"], ...labels.map((c) => [c.name, `the column ${c.name}`])], chosen.label, (value) => { chosen.label = value; chosen.topic = null; judge(); }));
  const options = h("details", { class: "fold" }, h("summary", {}, "How texts are read"),
    h("div", { class: "grid-2" },
      field("Law of a word", select([["tem", "truncated exponential (TEM)"], ["word-exponential", "exponential"]], look.mechanism, changed("mechanism"))),
      field("Language", select([["", "English, if they are"], ["en", "English"], ["de", "German"], ["fr", "French"], ["es", "Spanish"], ["auto", "each row's own"]], "", changed("language"))),
      field("Names", select([["", "as other words"], ["pii", "stricter: 0.3 ε"], ["pii,poii", "names 0.3 ε, words close to them 0.6 ε"]], "", changed("tiers")), "Needs a model that finds names."),
      field("Read the draws as a whole", select([["", "no"], ["reading", "for reading"], ["training", "for training"], ["retrieval", "for retrieval"]], "", changed("restore")), "Post-processing: costs no ε."),
      field("Public text to read them with", publicBox, "A file of the same kind of text, never the private one."), field("Its column", publicColumn)),
    tick("stand-ins for names and identifiers", false, (on) => { look.pseudonyms = on; load(); }, "of the same kind and form; needs a model that finds names"),
    tick("remap each draw to the word that serves best", false, (on) => { look.remap = on; load(); }, "costs no ε; about a minute for each new ε"),
    tick("leave stop words in clear", false, (on) => { look.keep_stopwords = on; load(); }),
    h("fieldset", {}, h("legend", {}, "Replaced by placeholders: e-mails, phones, cards and the like, and"), finders));
  const turn = (by) => { chosen.first = Math.max(0, Math.min(chosen.first + by, Math.max(0, bench.texts - 1))); preview(); };
  queueMicrotask(load);
  return [
    h("h1", {}, "Text"),
    h("div", { class: "row" }, field("Column", select(choices, look.column, changed("column")))),
    h("div", { class: "two" },
      h("section", { class: "panel", "aria-label": "How strong" }, wishes, h("div", { class: "result" }, strong, means), figures),
      h("section", { class: "panel", "aria-label": "Curves" }, h("h2", {}, "What each ε does"), curvePlace, topicBy, topicSaid, options)),
    h("section", { "aria-label": "Before and after" },
      h("div", { class: "heading" }, h("h2", {}, "Before and after"), stamp,
        h("div", { class: "buttons" },
          h("button", { type: "button", onclick: () => { chosen.seed += 1; preview(); } }, "Draw again"),
          h("button", { type: "button", onclick: () => turn(-5) }, "Earlier texts"),
          h("button", { type: "button", onclick: () => turn(5) }, "Later texts"))),
      legend(), h("div", { class: "beside" }, texts, law)),
    take.place,
  ];
}
