// A job in its network: routers or switches as dots, links as half lines, by what a cable of each carries.
import * as Plot from "@observablehq/plot";
import type { NetworkPicture, TopologyData } from "./data";
import { swatches } from "./legend";
import { bytes } from "./mpi_matrix";

interface Half {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  load: number;
  title: string;
}

interface Dot {
  x: number;
  y: number;
  own: number; // part of its nodes that the job has; -1: it has no nodes
  title: string;
}

function halves({ links }: NetworkPicture, inBetterOrder: boolean): Half[] {
  return links
    .map(([[x1, y1], [x2, y2], name, now, better]) => {
      const load = inBetterOrder ? better : now;
      return { x1, y1, x2, y2, load, title: `${name}: ${bytes(load)} a cable` };
    })
    .filter(({ load }) => load > 0)
    .sort((left, right) => left.load - right.load);
}

function dots({ places }: NetworkPicture): Dot[] {
  return places.map(([[x, y], name, own, nodes]) => ({
    x,
    y,
    own: nodes > 0 ? own / nodes : -1,
    title: nodes > 0 ? `${name}: ${own} of ${nodes} ${nodes > 1 ? "nodes" : "node"}` : name,
  }));
}

function drawing(picture: NetworkPicture, inBetterOrder: boolean, most: number, width: number): SVGElement | HTMLElement {
  const places = dots(picture);
  const xs = places.map(({ x }) => x);
  const ys = places.map(({ y }) => y);
  const least = (values: number[]): number => values.reduce((a, b) => Math.min(a, b), Infinity) - 0.6;
  const largest = (values: number[]): number => values.reduce((a, b) => Math.max(a, b), -Infinity) + 0.6;
  const x: [number, number] = [least(xs), largest(xs)];
  const y: [number, number] = [least(ys), largest(ys)];
  const height = Math.min(900, Math.max(90, (width * (y[1] - y[0])) / (x[1] - x[0])));
  const step = Math.min(width / (x[1] - x[0]), height / (y[1] - y[0]));
  return Plot.plot({
    width,
    height,
    margin: 4,
    axis: null,
    x: { domain: x },
    y: { domain: y },
    color: { type: "linear", scheme: "YlOrRd", domain: [0, most] },
    marks: [
      Plot.link(halves(picture, inBetterOrder), {
        x1: "x1",
        y1: "y1",
        x2: "x2",
        y2: "y2",
        stroke: "load",
        strokeWidth: ({ load }: Half) => Math.max(0.8, Math.min(0.3 * step, 5) * (load / most)),
        title: "title",
      }),
      Plot.dot(places, {
        x: "x",
        y: "y",
        r: Math.max(0.8, Math.min(4, 0.18 * step)),
        fill: ({ own }: Dot) => (own > 0 ? "var(--own)" : "var(--paper)"),
        fillOpacity: ({ own }: Dot) => (own > 0 && own < 1 ? 0.45 : 1),
        stroke: ({ own }: Dot) => (own > 0 ? "var(--own)" : "var(--muted)"),
        strokeWidth: 0.6,
        title: "title",
      }),
    ],
  });
}

export function networkChart({ picture, order_is_better }: TopologyData, width: number): HTMLElement {
  const block = document.createElement("div");
  if (!picture) return block;
  const most = picture.links.reduce((largest, [, , , now, better]) => Math.max(largest, now, better), 0);
  block.append(
    swatches([
      { name: "the job's nodes", colour: "var(--own)" },
      { name: "other nodes", colour: "var(--muted)" },
    ]),
  );
  if (most > 0)
    block.append(
      Plot.legend({
        color: { type: "linear", scheme: "YlOrRd", domain: [0, most] },
        label: "bytes a cable",
        tickFormat: bytes,
        ticks: 4,
        width: 320,
      }),
    );
  const titled = (title: string, inBetterOrder: boolean): void => {
    const heading = document.createElement("h3");
    heading.textContent = title;
    if (order_is_better) block.append(heading);
    block.append(drawing(picture, inBetterOrder, Math.max(1, most), width));
  };
  titled("Now", false);
  if (order_is_better) titled("In the better order", true);
  return block;
}
