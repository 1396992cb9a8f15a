// What each thread did in its life, one bar a thread.
import * as Plot from "@observablehq/plot";
import type { PageData } from "./data";
import { swatches } from "./legend";

const parts = [
  { name: "on a CPU", colour: "var(--own)" },
  { name: "waiting for a CPU", colour: "var(--steal)" },
  { name: "blocked", colour: "var(--other)" },
  { name: "waiting for work, by design", colour: "var(--rule)" },
];
const longestName = 32;

interface Part {
  row: string;
  from: number;
  to: number;
  part: number;
}

// Two threads may have one name: the invisible number keeps their rows apart.
function shown(row: string): string {
  const name = row.slice(0, row.indexOf("\u0000"));
  return name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name;
}

export function accountOfThreads(data: PageData, width: number): HTMLElement {
  const rows = data.threads.map(([name], index) => `${name}\u0000${index}`);
  const bars: Part[] = data.threads.flatMap(([, running, withoutCpu, blocked, idles], index) => {
    let end = 0;
    return [running, withoutCpu, idles ? 0 : blocked, idles ? blocked : 0].map((seconds, part) => {
      const from = end;
      end += seconds;
      return { row: rows[index]!, from, to: end, part };
    });
  });
  const height = rows.length > 24 ? 14 : 20;
  const chart = Plot.plot({
    width,
    height: 46 + height * rows.length,
    marginLeft: Math.min(230, 24 + 6.2 * Math.max(...rows.map((row) => shown(row).length))),
    marginRight: 16,
    marginTop: 8,
    x: { label: "seconds", nice: false, zero: true },
    y: { domain: rows, label: null, tickFormat: shown, tickSize: 0, padding: 0.22 },
    color: { type: "identity" },
    marks: [
      Plot.barX(
        bars.filter((bar) => bar.to > bar.from),
        {
          x1: "from",
          x2: "to",
          y: "row",
          fill: (bar: Part) => parts[bar.part]!.colour,
          title: (bar: Part) => `${shown(bar.row)}\n${parts[bar.part]!.name} ${(bar.to - bar.from).toPrecision(3)} s`,
        },
      ),
    ],
  });
  const block = document.createElement("div");
  block.append(swatches(parts.filter((_, part) => bars.some((bar) => bar.part === part && bar.to > bar.from))), chart);
  return block;
}
