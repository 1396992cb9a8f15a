// Where the time of each rank went, as stacked bars; of many ranks means of consecutive ones, below those that stand out.
import * as Plot from "@observablehq/plot";
import type { MpiBar, MpiData } from "./data";
import { swatches } from "./legend";

const parts = [
  { name: "computing", colour: "var(--own)" },
  { name: "waiting in collectives", colour: "var(--steal)" },
  { name: "collectives", colour: "var(--interrupt)" },
  { name: "late senders", colour: "var(--other)" },
  { name: "late receivers", colour: "#9c7a53" },
  { name: "other MPI", colour: "#8a9a2e" },
];

interface Part {
  row: string;
  from: number;
  to: number;
  part: number;
  seconds: number;
}

function rowName([first, ranks, alone]: MpiBar): string {
  if (alone) return `rank ${first}!`;
  return ranks === 1 ? `rank ${first}` : `ranks ${first}-${first + ranks - 1}`;
}

const shown = (name: string): string => name.replace("!", "");

export function rankChart(mpi: MpiData, width: number): HTMLElement {
  const bars: Part[] = mpi.bars.flatMap((bar) => {
    let end = 0;
    const [, , , , ...seconds] = bar;
    return seconds.map((value, part) => {
      const from = end;
      end += Math.max(0, value);
      return { row: rowName(bar), from, to: end, part, seconds: value };
    });
  });
  const names = mpi.bars.map(rowName);
  const every = Math.ceil(names.length / 40);
  const alone = mpi.bars.filter((bar) => bar[2]).length;
  const height = names.length > 24 ? 7 : 20;
  const chart = Plot.plot({
    width,
    height: 46 + height * names.length,
    marginLeft: 110,
    marginRight: 16,
    marginTop: 8,
    x: { label: "seconds", nice: false },
    y: {
      domain: names,
      label: null,
      tickSize: 0,
      padding: names.length > 24 ? 0.05 : 0.2,
      tickFormat: shown,
      ticks: names.filter((_, index) => index >= alone && (index - alone) % every === 0),
    },
    color: { type: "identity" },
    marks: [
      Plot.barX(
        bars.filter((bar) => bar.to > bar.from),
        { x1: "from", x2: "to", y: "row", fill: (bar: Part) => parts[bar.part]!.colour },
      ),
      Plot.tip(
        bars,
        Plot.pointer({
          x1: "from",
          x2: "to",
          y: "row",
          maxRadius: 20,
          title: (bar: Part) => `${shown(bar.row)}\n${parts[bar.part]!.name} ${bar.seconds.toPrecision(3)} s`,
        }),
      ),
    ],
  });
  const block = document.createElement("div");
  const used = parts.filter((_, part) => bars.some((bar) => bar.part === part && bar.to > bar.from));
  block.append(swatches(used));
  if (alone > 0) {
    const note = document.createElement("p");
    note.className = "muted";
    note.textContent = `First, alone: ${mpi.bars
      .slice(0, alone)
      .map((bar) => shown(rowName(bar)))
      .join(", ")}.`;
    block.append(note);
  }
  block.append(chart);
  return block;
}
