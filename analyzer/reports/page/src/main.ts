// Draws the charts of the report, and again when the page changes its width. Whatever goes wrong is said on the page:
// the rest of the report does not need this script.
import { cpuChart } from "./cpus";
import { readPageData, type PageData } from "./data";
import { threadChart } from "./threads";

function say(problem: unknown): void {
  document.body.dataset.error = String(problem);
  const note = document.createElement("p");
  note.className = "warning";
  note.textContent = `The charts could not be drawn: ${String(problem)}`;
  document.getElementById("timeline")?.append(note);
}

function draw(id: string, data: PageData, chart: (data: PageData, width: number) => HTMLElement): void {
  const place = document.getElementById(id);
  if (!place) return;
  try {
    place.replaceChildren(chart(data, Math.max(480, place.clientWidth)));
    place.dataset.drawn = "true";
  } catch (problem) {
    say(problem);
  }
}

function drawAll(data: PageData): void {
  draw("chart-threads", data, threadChart);
  draw("chart-cpus", data, cpuChart);
}

window.addEventListener("error", (event) => say(event.message));
try {
  const data = readPageData();
  drawAll(data);
  let width = window.innerWidth;
  let timer = 0;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => drawAll(data), 150);
  });
} catch (problem) {
  say(problem);
}
