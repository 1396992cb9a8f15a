// The communication matrix as one image: sender from top to bottom, receiver from left to right, bytes on a scale
// that begins at zero, or on a logarithmic one where the largest is a hundred times the least and more.
import * as Plot from "@observablehq/plot";
import type { MpiMatrix } from "./data";

export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const unit = count > 0 ? Math.min(units.length - 1, Math.floor(Math.log2(count) / 10)) : 0;
  return `${Number((count / 1024 ** unit).toPrecision(3))} ${units[unit]!}`;
}

export function matrixChart(matrix: MpiMatrix, size: number, width: number): HTMLElement {
  const side = Math.max(1, Math.ceil(size / matrix.bin));
  const cells: (number | null)[] = new Array<number | null>(side * side).fill(null);
  for (const [from, to, , sent] of matrix.places)
    if (from < side && to < side) cells[from * side + to] = Math.max(1, sent);
  const values = cells.filter((cell): cell is number => cell !== null);
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const type: "log" | "linear" = most >= 100 * least ? "log" : "linear";
  const domain = type === "log" ? [least, most] : [0, Math.max(1, most)];
  const end = side * matrix.bin;
  const extent = Math.min(520, width);
  const chart = Plot.plot({
    width: extent,
    height: extent,
    marginLeft: 60,
    marginBottom: 40,
    x: { domain: [0, end], label: "to rank", tickFormat: "d" },
    y: { domain: [0, end], label: "from rank", reverse: true, tickFormat: "d" },
    color: { type, scheme: "viridis", domain },
    opacity: { domain: [0, 1], range: [0, 1] },
    marks: [
      Plot.frame({ stroke: "var(--rule)" }),
      Plot.raster(cells, {
        width: side,
        height: side,
        fill: cells,
        fillOpacity: cells.map((cell) => (cell === null ? 0 : 1)),
        x1: 0,
        y1: 0,
        x2: end,
        y2: end,
        imageRendering: "pixelated",
      }),
    ],
  });
  const block = document.createElement("div");
  block.append(
    Plot.legend({
      color: { type, scheme: "viridis", domain },
      label: [
        matrix.bin > 1 ? `bytes, ${matrix.bin} x ${matrix.bin} ranks` : "bytes",
        type === "log" ? "logarithmic" : "from zero",
      ].join(", "),
      tickFormat: bytes,
      ticks: 4,
      width: 320,
    }),
    chart,
  );
  return block;
}
