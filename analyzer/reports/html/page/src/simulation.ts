// A simulated job: what changes gain, which classes of noise cost it, the lengths of their events, and larger jobs.
import * as Plot from "@observablehq/plot";
import type { SimulationData } from "./data";
import { swatches } from "./legend";
import { duration } from "./noise";

const colours = ["own", "other", "allocator", "spinning", "interrupt", "steal", "runtime"].map((name) => `var(--${name})`);
const colour = (index: number): string => colours[index % colours.length] ?? "var(--own)";
const percent = (part: number): string => `${Number((100 * part).toPrecision(2))} %`;

const panel = (granularity: string): string => (granularity === "no work" ? granularity : `work ${granularity}`);

function keyOf({ granularities }: SimulationData): HTMLElement {
  return swatches(granularities.map((name, index) => ({ name: panel(name), colour: colour(index) })));
}

function block(...parts: (HTMLElement | SVGElement)[]): HTMLElement {
  const place = document.createElement("div");
  place.append(...parts);
  return place;
}

// The left margin that the longest name of the rows needs, and the names, cut where they are too long.
function shortened(names: string[]): { margin: number; name: (full: string) => string } {
  const most = 34;
  const longest = Math.min(most, Math.max(4, ...names.map((name) => name.length)));
  return { margin: 20 + 6.4 * longest, name: (full) => (full.length > most ? `${full.slice(0, most - 1)}…` : full) };
}

// Panels beside one another share the width.
const ticksOf = ({ granularities }: SimulationData, width: number): number => (width / granularities.length < 220 ? 2 : 4);

interface Gain {
  change: string;
  granularity: string;
  gain: number;
  low: number;
  high: number;
}

export function simulationGains(data: SimulationData, width: number): HTMLElement {
  const rows = data.changes.map(([change]) => change);
  const gains: Gain[] = data.changes.flatMap(([change, values]) =>
    values.map(([gain, half], index) => ({
      change,
      granularity: panel(data.granularities[index] ?? ""),
      gain,
      low: gain - half,
      high: gain + half,
    })),
  );
  const { margin, name } = shortened(rows);
  return block(
    Plot.plot({
      width,
      height: 70 + 20 * rows.length,
      marginLeft: margin,
      marginRight: 24,
      x: { label: "part of the job's time saved", tickFormat: percent, grid: true, ticks: ticksOf(data, width - margin) },
      y: { domain: rows, label: null, tickFormat: name, padding: 0.25 },
      fx: { domain: data.granularities.map(panel), label: null },
      marks: [
        Plot.ruleX([0], { stroke: "var(--muted)" }),
        Plot.barX(gains, {
          fx: "granularity",
          y: "change",
          x: "gain",
          fill: ({ change }: Gain) => (change === "all together" ? "var(--allocator)" : "var(--own)"),
          title: ({ change, granularity, gain, low, high }: Gain) =>
            `${change}, ${granularity}\nsaves ${percent(gain)}, 95 % confidence ${percent(low)} to ${percent(high)}`,
        }),
        Plot.ruleY(gains, { fx: "granularity", y: "change", x1: "low", x2: "high", stroke: "var(--ink)", strokeWidth: 1.5 }),
      ],
    }),
  );
}

interface Share {
  row: string;
  group: string;
  granularity: string;
  share: number;
}

export function simulationClasses(data: SimulationData, width: number): HTMLElement {
  const groups = [...new Set(data.classes.map(([, group]) => group))];
  const shares: Share[] = data.classes.flatMap(([row, group, , values]) =>
    values.map((share, index) => ({ row, group, granularity: panel(data.granularities[index] ?? ""), share })),
  );
  const rows = data.classes.map(([row]) => row);
  const { margin, name } = shortened(rows);
  return block(
    swatches(groups.map((group, index) => ({ name: group || "no group", colour: colour(index) }))),
    Plot.plot({
      width,
      height: 70 + 20 * rows.length,
      marginLeft: margin,
      marginRight: 24,
      x: { label: "share of the lost time", tickFormat: percent, grid: true, ticks: ticksOf(data, width - margin) },
      y: { domain: rows, label: null, tickFormat: name, padding: 0.25 },
      fx: { domain: data.granularities.map(panel), label: null },
      marks: [
        Plot.ruleX([0], { stroke: "var(--muted)" }),
        Plot.barX(shares, {
          fx: "granularity",
          y: "row",
          x: "share",
          fill: ({ group }: Share) => colour(groups.indexOf(group)),
          title: ({ row, group, granularity, share }: Share) => `${group ? `${group}: ` : ""}${row}, ${granularity}\n${percent(share)}`,
        }),
      ],
    }),
  );
}

interface Step {
  length: number;
  share: number;
  series: number;
  name: string;
}

interface Mark {
  name: string;
  length: number;
}

// Of the classes that cost most, names that do not cover one another on an axis of so many pixels a factor of ten.
function marksOf({ classes }: SimulationData, pixelsPerDecade: number): Mark[] {
  const least = 0.02;
  const marks: Mark[] = [];
  for (const [name, , length, shares] of classes) // the most costly first
    if (Math.max(...shares) >= least && length > 0 && marks.every((mark) => Math.abs(Math.log10(mark.length / length)) * pixelsPerDecade > 11))
      marks.push({ name, length });
  return marks;
}

export function simulationLengths(data: SimulationData, width: number): HTMLElement {
  const steps: Step[] = data.granularities.flatMap((name, series) =>
    data.lengths.map(([length, shares]) => ({ length, share: shares[series] ?? 0, series, name: panel(name) })),
  );
  const first = (data.lengths[0]?.[0] ?? 1e-6) / 1.6;
  const last = (data.lengths[data.lengths.length - 1]?.[0] ?? 1) * 1.6;
  const ends: Step[] = data.granularities.flatMap((name, series) => [
    { length: first, share: 0, series, name: panel(name) },
    { length: last, share: 1, series, name: panel(name) },
  ]);
  const marginLeft = 60;
  const marks = marksOf(data, (width - marginLeft - 20) / Math.log10(last / first)).filter(({ length }) => length > first && length < last);
  const all = [...steps, ...ends].sort((left, right) => left.length - right.length || left.share - right.share);
  return block(
    keyOf(data),
    Plot.plot({
      width,
      height: 360,
      marginLeft,
      marginTop: 24,
      x: { type: "log", domain: [first, last], label: "length of the event", grid: true, tickFormat: duration, ticks: 8 },
      y: { domain: [0, 1], label: "share of the lost time", grid: true, tickFormat: percent, ticks: 5 },
      marks: [
        Plot.ruleX(marks, { x: "length", stroke: "var(--muted)", strokeDasharray: "2,3" }),
        Plot.text(marks, {
          x: "length",
          y: 0.99,
          text: "name",
          rotate: -90,
          textAnchor: "end",
          lineAnchor: "bottom",
          dx: -2,
          fill: "var(--muted)",
          stroke: "var(--paper)",
          strokeWidth: 3,
        }),
        Plot.line(all, { x: "length", y: "share", z: "series", stroke: ({ series }: Step) => colour(series), strokeWidth: 1.8 }),
        Plot.dot(steps, {
          x: "length",
          y: "share",
          r: 2.2,
          fill: ({ series }: Step) => colour(series),
          title: ({ length, share, name }: Step) => `${name}: events of at most ${duration(length)} make ${percent(share)}`,
        }),
        Plot.ruleY([0]),
      ],
    }),
  );
}

interface Size {
  ranks: number;
  nodes: number;
  series: number;
  name: string;
  mean: number;
  low: number;
  high: number;
  changed: number;
  quiet: number;
}

export function simulationSizes(data: SimulationData, width: number): HTMLElement {
  const sizes: Size[] = data.granularities.flatMap((granularity, series) =>
    data.sizes.flatMap(([ranks, nodes, cycles]) => {
      const at = cycles[series];
      if (!at) return [];
      const [[mean, half], [changed], quiet] = at;
      return [{ ranks, nodes, series, name: panel(granularity), mean, low: Math.max(mean / 10, mean - half), high: mean + half, changed, quiet }];
    }),
  );
  const stroke = ({ series }: Size): string => colour(series);
  // A logarithmic axis has no place for 0: without work and latency a quiet cycle takes no time.
  const positive = (key: "changed" | "quiet"): Size[] => sizes.filter((size) => size[key] > 0);
  const line = { x: "ranks", z: "series", stroke } as const;
  return block(
    keyOf(data),
    Plot.plot({
      width,
      height: 340,
      marginLeft: 70,
      x: {
        type: "log",
        base: 2,
        label: "ranks",
        ticks: data.sizes.map(([ranks]) => ranks),
        tickFormat: (ranks: number) => ranks.toLocaleString("en"),
        grid: true,
      },
      y: { type: "log", label: "time of a cycle", tickFormat: duration, ticks: 6, grid: true },
      marks: [
        Plot.areaY(sizes, { x: "ranks", z: "series", y1: "low", y2: "high", fill: stroke, fillOpacity: 0.2 }),
        Plot.line(positive("quiet"), { ...line, y: "quiet", strokeDasharray: "1,4", strokeWidth: 1.4 }),
        Plot.line(positive("changed"), { ...line, y: "changed", strokeDasharray: "6,4", strokeWidth: 1.4 }),
        Plot.line(sizes, { ...line, y: "mean", strokeWidth: 2 }),
        Plot.dot(sizes, {
          x: "ranks",
          y: "mean",
          r: 3.5,
          fill: stroke,
          title: ({ ranks, nodes, name, mean, low, high, changed, quiet }: Size) =>
            `${ranks.toLocaleString("en")} ranks on ${nodes.toLocaleString("en")} nodes, ${name}\n${duration(mean)} with the noise (${duration(low)} to ${duration(high)})\n` +
            `${duration(changed)} with all changes\n${duration(quiet)} without noise`,
        }),
      ],
    }),
  );
}
