// The call tree as a flame graph: callers above, each box as wide as its time, coloured by what most of the time is.
// Not the package's bundle, which carries a second copy of d3.
import flamegraph from "d3-flame-graph/src/flamegraph";
import { select } from "d3-selection";
import { timerFlush } from "d3-timer";
import type { CallTree } from "./data";
import { swatches } from "./legend";

const kinds: Record<string, { name: string; colour: string }> = {
  computing: { name: "computing", colour: "var(--flame-computing)" },
  kernel: { name: "kernel", colour: "var(--flame-kernel)" },
  blocked: { name: "blocked", colour: "var(--flame-blocked)" },
  mpi: { name: "running in MPI", colour: "var(--flame-mpi)" },
  spinning: { name: "spinning for another thread", colour: "var(--flame-spinning)" },
  "openmp-runtime": { name: "in the OpenMP runtime", colour: "var(--flame-mpi)" },
  plumb: { name: "plumb itself", colour: "var(--rule)" },
};
const cellHeight = 20;

interface Frame {
  name: string;
  value: number;
  kind: string;
  module: string;
  children: Frame[];
}

interface Drawn {
  data: Frame;
  x0: number; // of the run, 0 to 1
  x1: number;
}

function frameOf([name, module, kind, value, children]: CallTree): Frame {
  return { name, value, kind, module, children: children.map(frameOf) };
}

function depthOf(frame: Frame): number {
  return 1 + Math.max(0, ...frame.children.map(depthOf));
}

function kindsIn(frame: Frame, found = new Set<string>()): Set<string> {
  found.add(frame.kind);
  for (const child of frame.children) kindsIn(child, found);
  return found;
}

export function callTreeChart(tree: CallTree, width: number): HTMLElement {
  const root = { ...frameOf(tree), name: "the run" };
  const block = document.createElement("div");
  const found = kindsIn(root);
  block.append(swatches(Object.entries(kinds).flatMap(([kind, entry]) => (found.has(kind) ? [entry] : []))));
  const place = document.createElement("div");
  block.append(place);
  const share = (value: number): string => `${((100 * value) / root.value).toPrecision(2)} %`;
  const chart = flamegraph()
    .width(width)
    .height(cellHeight * depthOf(root))
    .cellHeight(cellHeight)
    .inverted(true)
    .sort(false)
    .minFrameSize(1)
    .transitionDuration(0)
    .label(({ data }: Drawn) =>
      [data.name, data.module, `${data.value.toPrecision(3)} s, ${share(data.value)}`].filter(Boolean).join("\n"),
    )
    .setColorMapper(({ data }: Drawn) => kinds[data.kind]?.colour ?? "var(--rule)");
  select(place).datum(root).call(chart);
  // Its boxes grow in transitions, which a page that is printed at once would show half done.
  for (let tick = 0; tick < 3; ++tick) timerFlush();
  const boxes = select(place).selectAll<SVGRectElement, Drawn>("g.frame > rect");
  (boxes as unknown as { interrupt(): void }).interrupt(); // of d3-transition, which the flame graph loads
  boxes.attr("width", ({ x0, x1 }) => (x1 - x0) * width);
  return block;
}
