// A use case at work: how far it is, what it answered, and its report in a frame of its own.

import { notice, trying } from "/app/frame.js";
import { ask, watch } from "/app/ask.js";
import { fill, h } from "/app/dom.js";

export function job(finished = () => {}, told = () => {}) {
  const place = h("div", { class: "job", role: "status" });
  const frame = h("div", {});
  let running = false, current = "";

  function show(state, identity) {
    told(state);
    const share = state.total ? Math.min(1, state.done / state.total) : null;
    fill(place,
      state.finished ? null : [
        h("p", {}, state.what, share === null ? "…" : ` ${Math.round(100 * share)} %`),
        h("progress", { max: 1, value: share === null ? undefined : share, "aria-label": state.what }),
        h("button", { type: "button", onclick: () => trying(() => ask("stop", { command: identity })) }, state.keeps ? "Stop, and keep what there is" : "Stop")],
      (state.parts.length ? [] : state.lines).map((line) => h("p", {}, line)),
      state.in_clear.map((line) => h("p", { class: "warn" }, line)),
      state.answer && h("p", { class: "answer" }, state.answer),
      state.verdict && h("p", { class: `verdict ${state.verdict}` }, state.verdict),
      state.error && h("p", { class: "warn" }, state.error));
  }
  async function start(command, options) {
    if (running) return;
    running = true;
    fill(frame);
    delete place.dataset.done;
    fill(place, h("p", {}, "starting…"));
    const begun = await trying(() => ask("run", { command, options }));
    if (begun) {
      current = begun.job;
      try {
        let last;
        for await (last of watch(begun.job)) show(last, begun.job);
        if (last?.report) fill(frame, h("iframe", { src: last.report, title: "Report", sandbox: "allow-scripts allow-downloads" }));
        finished(last);
      } catch (problem) {
        notice(problem.message);
      }
    } else fill(place);
    running = false;
    place.dataset.done = "yes";
  }
  return { place: h("div", {}, place, frame), start, identity: () => current };
}
