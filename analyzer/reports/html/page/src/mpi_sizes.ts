// Messages by size, one small histogram for each call site.
import * as Plot from "@observablehq/plot";
import type { MpiSizes } from "./data";
import { bytes } from "./mpi_matrix";

const from = (size: number): number => (size === 0 ? 0 : 2 ** (size - 1));

export function sizeChart(sites: MpiSizes[], width: number): HTMLElement {
  const block = document.createElement("div");
  if (sites.length === 0) {
    block.textContent = "No call moved any bytes.";
    return block;
  }
  const bars = sites.flatMap(({ site, counts }) => counts.map(([size, messages]) => ({ site, size, messages })));
  const least = Math.min(...bars.map((bar) => bar.size));
  const most = Math.max(...bars.map((bar) => bar.size));
  const domain = Array.from({ length: most - least + 1 }, (_, index) => least + index);
  const longest = Math.max(...sites.map(({ site }) => site.length));
  block.append(
    Plot.plot({
      width,
      height: 50 + 56 * sites.length,
      marginLeft: 60,
      marginRight: Math.min(320, 20 + 6.2 * longest),
      x: { domain, label: "bytes, from", tickFormat: (size: number) => bytes(from(size)), padding: 0.06 },
      y: { label: "messages", grid: true, ticks: 2, tickFormat: "~s" },
      fy: { domain: sites.map(({ site }) => site), label: null, padding: 0.2 },
      marks: [
        Plot.barY(bars, {
          fy: "site",
          x: "size",
          y: "messages",
          fill: "var(--own)",
          title: (bar: { size: number; messages: number }) =>
            `${bar.messages.toLocaleString("en")} messages of ${bytes(from(bar.size))} to ${bytes(from(bar.size + 1))}`,
        }),
        Plot.ruleY([0], { stroke: "var(--rule)" }),
      ],
    }),
  );
  return block;
}
