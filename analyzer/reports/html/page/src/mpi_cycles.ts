// How long the cycles of the job took: as a series, and how often which length came. One axis of lengths serves both.
import * as Plot from "@observablehq/plot";
import type { MpiCycles } from "./data";
import { time } from "./mpi_arrivals";

interface Point {
  first: number;
  cycles: number;
  begin: number;
  middle: number;
  least: number;
  mean: number;
  most: number;
}

interface Bin {
  from: number;
  to: number;
  cycles: number;
}

const height = 260;

function title(point: Point): string {
  const at = `${point.begin.toPrecision(4)} s after MPI_Init`;
  return point.cycles === 1
    ? `cycle ${point.first + 1}, ${at}: ${time(point.mean)}`
    : `cycles ${point.first + 1} to ${point.first + point.cycles}, ${at}: mean ${time(point.mean)}, ` +
        `${time(point.least)} to ${time(point.most)}`;
}

// A logarithmic axis without a tenfold span would have a single tick.
function ticksOf(least: number, most: number): number[] {
  const count = 6;
  const steps = Array.from({ length: count }, (_, step) => least * (most / least) ** (step / (count - 1)));
  return [...new Set(steps.map((value) => Number(value.toPrecision(2))))].filter((value) => value >= least && value <= most);
}

export function cycleChart(cycles: MpiCycles, width: number): HTMLElement {
  const points: Point[] = cycles.series.map(([first, count, begin, end, least, mean, most]) => ({
    first,
    cycles: count,
    begin,
    middle: (begin + end) / 2,
    least,
    mean,
    most,
  }));
  const bins: Bin[] = cycles.histogram.map(([from, to, count]) => ({ from, to, cycles: count }));
  const marked = cycles.expected_us === null ? [] : [cycles.expected_us];
  const least = Math.min(...bins.map((bin) => bin.from), ...marked);
  const most = Math.max(...bins.map((bin) => bin.to), ...marked);
  const y = { type: "log" as const, domain: [least, most], ticks: ticksOf(least, most), tickFormat: (us: number) => time(us), grid: true };
  const lines = [
    Plot.ruleY([cycles.attainable_us], { stroke: "var(--muted)", strokeDasharray: "2,3" }),
    ...(cycles.expected_us === null ? [] : [Plot.ruleY([cycles.expected_us], { stroke: "var(--high)", strokeDasharray: "6,3" })]),
  ];
  const beside = Math.max(150, Math.round(width * 0.26));
  const series = Plot.plot({
    width: width - beside,
    height,
    marginLeft: 70,
    marginRight: 8,
    x: { label: "seconds since MPI_Init" },
    y: { ...y, label: "length of a cycle" },
    marks: [
      Plot.ruleX(points, { x: "middle", y1: "least", y2: "most", stroke: "var(--own)", strokeOpacity: 0.35 }),
      Plot.line(points, { x: "middle", y: "mean", stroke: "var(--own)", strokeWidth: 1.2 }),
      Plot.dot(points, { x: "middle", y: "mean", r: points.length > 128 ? 1 : 2, fill: "var(--own)", title }),
      ...lines,
    ],
  });
  const histogram = Plot.plot({
    width: beside,
    height,
    marginLeft: 8,
    marginRight: 16,
    x: { label: "cycles", ticks: 3, tickFormat: "~s" },
    y: { ...y, label: null, axis: null },
    marks: [
      Plot.rect(bins, {
        x1: 0,
        x2: "cycles",
        y1: "from",
        y2: "to",
        fill: "var(--own)",
        inset: 0.5,
        title: (bin: Bin) => `${bin.cycles.toLocaleString("en")} cycles of ${time(bin.from)} to ${time(bin.to)}`,
      }),
      ...lines,
    ],
  });
  const block = document.createElement("div");
  const row = document.createElement("div");
  row.style.display = "flex";
  row.append(series, histogram);
  const key = document.createElement("p");
  key.className = "muted";
  key.textContent =
    `Dotted: ${time(cycles.attainable_us)}, the mean if each cycle were as fast as the fastest tenth of like ones.` +
    (cycles.expected_us === null ? "" : ` Dashed: ${time(cycles.expected_us)}, which the model expects.`);
  block.append(row, key);
  return block;
}
