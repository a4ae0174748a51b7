const charts = JSON.parse(document.getElementById("charts").textContent);
const options = { renderer: "svg", actions: false, ast: true, tooltip: { disableDefaultStyle: true } };
const room = (place, spec) => Math.min(spec.height, Math.round(place.clientWidth * spec.usermeta.ratio));
for (const { id, spec } of charts) {
  const place = document.getElementById(id);
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
document.documentElement.dataset.ready = "yes";
