// What was lost while noise was measured: by length, over time, by node, and by the node's place in a repeating structure.
import * as Plot from "@observablehq/plot";
import type { NoiseData } from "./data";

// Never as a power of ten.
const digits = (value: number, count = 2): string => String(Number(value.toPrecision(count)));
const percent = (part: number): string => `${digits(100 * part)} %`;

export function duration(seconds: number): string {
  if (seconds >= 1) return `${digits(seconds)} s`;
  if (seconds >= 1e-3) return `${digits(seconds * 1e3)} ms`;
  if (seconds >= 1e-6) return `${digits(seconds * 1e6)} us`;
  return `${digits(seconds * 1e9, 3)} ns`;
}

export function noiseLengths({ lengths }: NoiseData, width: number): HTMLElement {
  const block = document.createElement("div");
  if (lengths.length === 0) {
    block.textContent = "No quantum lost anything.";
    return block;
  }
  block.append(
    Plot.plot({
      width,
      height: 260,
      marginLeft: 60,
      x: { type: "log", label: "lost by a quantum", grid: true, tickFormat: duration, ticks: 8 },
      y: { type: "log", label: "quanta", grid: true, tickFormat: "~s", ticks: 5 },
      marks: [
        Plot.rect(lengths, {
          x1: (bin: NoiseData["lengths"][number]) => bin[0],
          x2: (bin: NoiseData["lengths"][number]) => bin[1],
          y1: 0.5,
          y2: (bin: NoiseData["lengths"][number]) => bin[2],
          fill: "var(--own)",
          title: ([from, to, count, lost]: NoiseData["lengths"][number]) =>
            `${duration(from)} to ${duration(to)}\n${count.toLocaleString("en")} quanta, ${duration(lost)} in all`,
        }),
      ],
    }),
  );
  return block;
}

interface Column {
  row: string;
  begin: number;
  end: number;
  mean: number;
  most: number;
}

export function noiseTime({ timelines }: NoiseData, seconds: number, width: number): HTMLElement {
  const several = new Set(timelines.map(({ node }) => node)).size > 1;
  const name = ({ node, cpu }: NoiseData["timelines"][number]): string => (several ? `node ${node} CPU ${cpu}` : `CPU ${cpu}`);
  const columns: Column[] = timelines.flatMap((timeline) =>
    timeline.columns.map(([mean, most], index) => ({
      row: name(timeline),
      begin: index * timeline.step_s,
      end: (index + 1) * timeline.step_s,
      mean,
      most,
    })),
  );
  const bar = { fy: "row", x1: "begin", x2: "end", y1: 0 } as const;
  const block = document.createElement("div");
  block.append(
    Plot.plot({
      width,
      height: 46 + 54 * timelines.length,
      marginLeft: 100,
      marginRight: 44,
      x: { domain: [0, Math.max(seconds, ...columns.map(({ end }) => end))], label: "seconds", nice: false },
      y: { domain: [0, 1], ticks: [0, 1], tickFormat: percent, axis: "right", label: null },
      fy: { domain: timelines.map(name), label: null, axis: "left", padding: 0.14 },
      marks: [
        Plot.frame({ stroke: "var(--rule)" }),
        Plot.rect(columns, { ...bar, y2: "most", fill: "var(--steal)", fillOpacity: 0.35 }),
        Plot.rect(columns, {
          ...bar,
          y2: "mean",
          fill: "var(--steal)",
          title: ({ row, begin, mean, most }: Column) =>
            `${row}, ${begin.toPrecision(4)} s\nlost ${percent(mean)}, at worst ${percent(most)}`,
        }),
      ],
    }),
  );
  return block;
}

type NodeBar = NoiseData["nodes"][number];

export function noiseNodes({ nodes }: NoiseData, width: number): HTMLElement {
  const block = document.createElement("div");
  block.append(
    Plot.plot({
      width,
      height: 220,
      marginLeft: 60,
      x: { label: "node", nice: false },
      y: { label: "lost", grid: true, tickFormat: percent, ticks: 4 },
      marks: [
        Plot.rect(nodes, {
          x1: ([node]: NodeBar) => node - 0.45,
          x2: ([node, count]: NodeBar) => node + count - 0.55,
          y1: 0,
          y2: ([, , lost]: NodeBar) => lost,
          fill: "var(--own)",
          title: ([node, count, lost]: NodeBar) =>
            count > 1 ? `nodes ${node}-${node + count - 1}\nat worst ${percent(lost)} lost` : `node ${node}\n${percent(lost)} lost`,
        }),
      ],
    }),
  );
  return block;
}

export function noisePeriod({ nodes, every }: NoiseData, width: number): HTMLElement {
  const rows = Math.ceil(nodes.length / every);
  const block = document.createElement("div");
  block.append(
    Plot.plot({
      width,
      height: 60 + Math.min(600, Math.max(12, 400 / rows) * rows),
      marginLeft: 60,
      x: { label: `place among ${every} nodes`, padding: 0.04, ticks: Array.from({ length: every }, (_, at) => at).filter((at) => at % Math.ceil(every / 32) === 0) },
      y: { label: "first node", padding: 0.04, tickFormat: (row: number) => String(row * every) },
      color: { type: "sqrt", scheme: "viridis", label: "lost", legend: true, tickFormat: percent },
      marks: [
        Plot.cell(nodes, {
          x: ([node]: NodeBar) => node % every,
          y: ([node]: NodeBar) => Math.floor(node / every),
          fill: ([, , lost]: NodeBar) => lost,
          title: ([node, , lost]: NodeBar) => `node ${node}\n${percent(lost)} lost`,
        }),
      ],
    }),
  );
  return block;
}
