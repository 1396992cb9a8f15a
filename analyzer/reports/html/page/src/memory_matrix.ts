// Time of memory accesses between nodes: from the node of the CPU (top to bottom) to that of the memory (left to right).
import * as Plot from "@observablehq/plot";
import type { MemoryFlow } from "./data";

const fewNodes = 12;

export function memoryMatrix(flows: MemoryFlow[], width: number): HTMLElement {
  const nodes = [...new Set(flows.flatMap(([from, to]) => [from, to]))].sort((a, b) => a - b);
  const all = flows.reduce((sum, [, , seconds]) => sum + seconds, 0);
  const wide = Math.max(14, Math.min(160, (width - 140) / Math.max(1, nodes.length)));
  const tall = Math.min(44, wide);
  const most = flows.reduce((largest, [, , seconds]) => Math.max(largest, seconds), 0);
  const share = ([, , seconds]: MemoryFlow): string => `${((100 * seconds) / (all || 1)).toFixed(1)} %`;
  return Plot.plot({
    width: 110 + wide * nodes.length,
    height: 56 + tall * nodes.length,
    marginLeft: 80,
    marginTop: 40,
    marginRight: 16,
    marginBottom: 8,
    x: { domain: nodes, label: "memory of node", axis: "top", tickSize: 0 },
    y: { domain: nodes, label: "CPUs of node", tickSize: 0 },
    color: { type: "identity" },
    marks: [
      Plot.cell(flows, {
        ...place,
        fill: ([, , seconds]: MemoryFlow) => shade(seconds / (most || 1)),
        inset: 0.5,
        title: (flow: MemoryFlow) => tip(flow, share(flow)),
      }),
      Plot.cell(
        flows.filter(([from, to]) => from === to),
        { ...place, stroke: "var(--muted)", inset: 1 },
      ),
      ...(nodes.length <= fewNodes ? [Plot.text(flows, { ...place, text: share, fill: "var(--ink)" })] : []),
    ],
  }) as unknown as HTMLElement;
}

// Colours that follow the page's light or dark scheme cannot be computed here: the browser mixes them.
const shade = (part: number): string => `color-mix(in srgb, var(--own) ${Math.round(80 * part)}%, var(--tint))`;
const place = { x: ([, to]: MemoryFlow): number => to, y: ([from]: MemoryFlow): number => from };

function tip([from, to, seconds, samples]: MemoryFlow, share: string): string {
  const where = from === to ? `node ${from} to its own memory` : `CPUs of node ${from} to memory of node ${to}`;
  return `${where}\n${seconds.toPrecision(3)} s, ${share}, ${samples.toLocaleString("en")} samples`;
}
