// Questions to the server. The key stays in this tab: it is handed over once, in the first page.

const given = document.querySelector('meta[name="voile-key"]');
if (given) {
  sessionStorage.setItem("voile-key", given.content);
  given.remove();
  history.replaceState(null, "", location.pathname + location.hash);
}
const key = () => sessionStorage.getItem("voile-key") ?? "";

export class Refused extends Error {}
export class Superseded extends Error {}

async function answer(response) {
  const type = response.headers.get("content-type") ?? "";
  const found = type.includes("json") ? await response.json() : { error: await response.text() };
  if (response.status === 409) throw new Superseded();
  if (!response.ok) throw new Refused(found.error);
  return found;
}

export async function ask(name, body = {}, signal) {
  const headers = { "content-type": "application/json", "x-voile-key": key() };
  return answer(await fetch(`/api/${name}`, { method: "POST", headers, body: JSON.stringify(body), signal }));
}

export async function drop(file) {
  const headers = { "content-type": "application/octet-stream", "x-voile-key": key() };
  return answer(await fetch(`/api/drop?name=${encodeURIComponent(file.name)}`, { method: "POST", headers, body: file }));
}

/** Only the latest of the questions of one kind is answered; older ones are dropped. */
export function latest() {
  let running = null;
  return async (name, body) => {
    running?.abort();
    const mine = (running = new AbortController());
    try {
      const found = await ask(name, body, mine.signal);
      return mine.signal.aborted ? null : found;
    } catch (problem) {
      if (mine.signal.aborted || problem instanceof Superseded) return null;
      throw problem;
    }
  };
}

/** The states of a job as the server sends them; ends with the job. */
export async function* watch(job) {
  const response = await fetch(`/api/jobs/${encodeURIComponent(job)}`, { headers: { "x-voile-key": key() } });
  if (!response.ok) await answer(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    let end;
    while ((end = text.indexOf("\n\n")) >= 0) {
      yield JSON.parse(text.slice(0, end).replace(/^data: /, ""));
      text = text.slice(end + 2);
    }
  }
}
