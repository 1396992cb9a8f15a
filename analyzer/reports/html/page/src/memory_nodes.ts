// What the memory of each node was filled with while the program ran.
import * as Plot from "@observablehq/plot";
import type { MemoryNode } from "./data";
import { swatches } from "./legend";
import { bytes } from "./mpi_matrix";

const uses = [
  { name: "programs (anonymous)", colour: "var(--own)" },
  { name: "cached files", colour: "var(--other)" },
  { name: "kernel and others", colour: "var(--interrupt)" },
  { name: "free", colour: "var(--tint)" },
];

interface Piece {
  row: string;
  begin: number;
  end: number;
  from: number;
  to: number;
  use: number;
  size: number;
}

const rowName = ({ host, node, bytes: size }: MemoryNode): string => `${host ? `${host} ` : ""}node ${node}, ${bytes(size)}`;

function pieces(row: MemoryNode, seconds: number): Piece[] {
  return row.moments.flatMap(([begin, anonymous, file, free], index) => {
    const end = row.moments[index + 1]?.[0] ?? Math.max(seconds, begin);
    const rest = Math.max(0, row.bytes - anonymous - file - free);
    let below = 0;
    return [anonymous, file, rest].map((size, use) => {
      const from = below;
      below = Math.min(1, below + size / row.bytes);
      return { row: rowName(row), begin, end, from, to: below, use, size };
    });
  });
}

export function memoryNodes(rows: MemoryNode[], seconds: number, width: number): HTMLElement {
  const names = rows.map(rowName);
  const all = rows.flatMap((row) => pieces(row, seconds)).filter((piece) => piece.end > piece.begin && piece.to > piece.from);
  const chart = Plot.plot({
    width,
    height: 46 + 52 * rows.length,
    marginLeft: Math.min(230, 24 + 6.2 * Math.max(1, ...names.map((name) => name.length))),
    marginRight: 16,
    marginTop: 8,
    x: { domain: [0, seconds], label: "seconds", nice: false },
    y: { domain: [0, 1], axis: null },
    color: { type: "identity" },
    fy: { domain: names, label: null, axis: "left", padding: 0.14 },
    marks: [
      Plot.frame({ stroke: "var(--rule)", fill: "var(--tint)" }),
      Plot.rect(all, {
        fy: "row",
        x1: "begin",
        x2: "end",
        y1: "from",
        y2: "to",
        fill: (piece: Piece) => uses[piece.use]!.colour,
        title: (piece: Piece) =>
          `${piece.row}\n${piece.begin.toFixed(2)} to ${piece.end.toFixed(2)} s\n${uses[piece.use]!.name}: ${bytes(piece.size)}`,
      }),
    ],
  });
  const block = document.createElement("div");
  block.append(swatches(uses), chart);
  return block;
}
