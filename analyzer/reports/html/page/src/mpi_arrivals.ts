// Arrival of ranks at collectives, against the median: one image, because thousands of elements would be slow.
import * as Plot from "@observablehq/plot";
import type { MpiArrivals } from "./data";

// Colours end where all but the most extreme hundredth of the cells lie.
function limitOf(cells: (number | null)[]): number {
  const sizes = cells.filter((cell): cell is number => cell !== null).map(Math.abs).sort((a, b) => a - b);
  return Math.max(1e-3, sizes[Math.floor(sizes.length * 0.99)] ?? 0, (sizes[sizes.length - 1] ?? 0) / 20);
}

export function time(us: number): string {
  const size = Math.abs(us);
  return size >= 1e6 ? `${(us / 1e6).toPrecision(3)} s` : size >= 1e3 ? `${(us / 1e3).toPrecision(3)} ms` : `${us.toPrecision(3)} us`;
}

function part(arrivals: MpiArrivals, alone: boolean, limit: number, size: number, width: number): HTMLElement | null {
  const chosen = arrivals.rows.map((_, index) => index).filter((index) => arrivals.rows[index]![2] === alone);
  if (chosen.length === 0) return null;
  const columns = arrivals.columns.length;
  const cells = chosen.flatMap((index) => arrivals.late_us[index]!);
  const first = (row: number): number => arrivals.rows[chosen[row]!]![0];
  const tall = alone ? 14 : Math.max(2, Math.min(14, 420 / chosen.length));
  const ticks = alone || chosen.length <= 24 ? chosen.map((_, row) => row + 0.5) : undefined;
  const label = (row: number): string => {
    const index = Math.floor(row);
    return index < chosen.length ? `rank ${first(index)}` : index === chosen.length ? `${size}` : "";
  };
  return Plot.plot({
    width,
    height: (alone ? 16 : 46) + tall * chosen.length,
    marginLeft: 80,
    marginRight: 16,
    marginTop: 8,
    marginBottom: alone ? 4 : 34,
    x: {
      domain: [0, columns],
      label: alone ? null : "seconds since MPI_Init",
      axis: alone ? null : "bottom",
      tickFormat: (column: number) => arrivals.columns[Math.min(columns - 1, column)]?.[0].toPrecision(3) ?? "",
    },
    y: { domain: [0, chosen.length], reverse: true, label: null, tickSize: 0, tickFormat: label, ...(ticks ? { ticks } : {}) },
    color: { type: "diverging", scheme: "BuRd", domain: [-limit, limit], clamp: true },
    opacity: { domain: [0, 1], range: [0, 1] },
    marks: [
      Plot.frame({ stroke: "var(--rule)" }),
      Plot.raster(cells, {
        width: columns,
        height: chosen.length,
        fill: cells,
        fillOpacity: cells.map((cell) => (cell === null ? 0 : 1)),
        x1: 0,
        y1: 0,
        x2: columns,
        y2: chosen.length,
        imageRendering: "pixelated",
      }),
    ],
  }) as unknown as HTMLElement;
}

export function arrivalChart(arrivals: MpiArrivals, size: number, width: number): HTMLElement {
  const limit = limitOf(arrivals.late_us.flat());
  const block = document.createElement("div");
  block.append(
    Plot.legend({
      color: { type: "diverging", scheme: "BuRd", domain: [-limit, limit] },
      label: "early to late",
      tickFormat: time,
      ticks: 5,
      width: 320,
    }),
  );
  for (const alone of [true, false]) {
    const chart = part(arrivals, alone, limit, size, width);
    if (chart) block.append(chart);
  }
  return block;
}
