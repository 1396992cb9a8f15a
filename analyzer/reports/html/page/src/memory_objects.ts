// Where each part of an object lies and who uses it: two strips an object, coloured by node.
import * as Plot from "@observablehq/plot";
import type { MemoryObject } from "./data";
import { swatches } from "./legend";
import { bytes } from "./mpi_matrix";
import { cpuScale } from "./palette";

interface Strip {
  row: number;
  lower: boolean;
  begin: number; // 0..1 of the object
  end: number;
  node: number;
}

const unseen = -1;
const several = -2;
const longestName = 42;
const rowHeight = 26;

// Parts side by side on one node are one piece.
function strips(object: MemoryObject, row: number, lower: boolean): Strip[] {
  const pieces: Strip[] = [];
  object.parts.forEach((part, index) => {
    const node = part[lower ? 1 : 0];
    const last = pieces[pieces.length - 1];
    const end = (index + 1) / object.parts.length;
    if (last && last.node === node) last.end = end;
    else pieces.push({ row, lower, begin: index / object.parts.length, end, node });
  });
  return pieces.filter((piece) => piece.node !== unseen);
}

const box = {
  x1: (piece: Strip): number => 100 * piece.begin,
  x2: (piece: Strip): number => 100 * piece.end,
  y1: (piece: Strip): number => piece.row + (piece.lower ? 0.52 : 0.1),
  y2: (piece: Strip): number => piece.row + (piece.lower ? 0.9 : 0.48),
};

const shown = (name: string): string => (name.length > longestName ? `…${name.slice(name.length - longestName + 1)}` : name);

function tip(objects: MemoryObject[], strip: Strip): string {
  const object = objects[strip.row]!;
  const place = object.bytes
    ? `${bytes(strip.begin * object.bytes)} to ${bytes(strip.end * object.bytes)} of ${bytes(object.bytes)}`
    : `${Math.round(100 * strip.begin)} to ${Math.round(100 * strip.end)} %`;
  const where = strip.node === several ? "several nodes" : `node ${strip.node}`;
  const what = strip.lower ? `used by threads of ${where}` : `lies on ${where}`;
  return `${object.name}\n${place}: ${what}\n${object.remote_seconds.toPrecision(3)} of ${object.seconds.toPrecision(3)} s from other nodes`;
}

export function memoryObjects(objects: MemoryObject[], width: number): HTMLElement {
  const pieces = objects.flatMap((object, row) => [...strips(object, row, false), ...strips(object, row, true)]);
  const scale = cpuScale(pieces.map((piece) => piece.node).filter((node) => node !== several));
  const shared = pieces.filter((piece) => piece.node === several);
  const names = objects.map((object) => shown(object.name));
  const chart = Plot.plot({
    width,
    height: 46 + rowHeight * objects.length,
    marginLeft: Math.min(290, 24 + 6.2 * Math.max(1, ...names.map((name) => name.length))),
    marginRight: 16,
    marginTop: 8,
    x: { domain: [0, 100], label: "% of the object", nice: false },
    y: {
      domain: [0, objects.length],
      reverse: true,
      label: null,
      tickSize: 0,
      ticks: objects.map((_, row) => row + 0.5),
      tickFormat: (place: number) => names[Math.floor(place)] ?? "",
    },
    color: { ...scale },
    marks: [
      Plot.rect(objects.map((_, row) => row), {
        x1: 0,
        x2: 100,
        y1: (row: number) => row + 0.1,
        y2: (row: number) => row + 0.9,
        fill: "var(--tint)",
      }),
      Plot.rect(pieces.filter((piece) => piece.node !== several), {
        ...box,
        fill: "node",
        title: (piece: Strip) => tip(objects, piece),
      }),
      Plot.rect(shared, { ...box, fill: "var(--muted)", title: (piece: Strip) => tip(objects, piece) }),
    ],
  });
  const block = document.createElement("div");
  const range = scale.range;
  if (range)
    block.append(
      swatches([
        ...scale.domain.map((node, index) => ({ name: `node ${node}`, colour: range[index]! })),
        ...(shared.length > 0 ? [{ name: "several nodes", colour: "var(--muted)" }] : []),
      ]),
    );
  else block.append(Plot.legend({ color: { ...scale, label: "node" }, width: 260 }));
  block.append(chart);
  return block;
}
