// The call tree as a flame graph: callers above, each box as wide as its time, coloured by what most of the time is.
import type { CallTree } from "./data";
import { drawFlames } from "./flames";
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
interface Frame {
  name: string;
  value: number;
  kind: string;
  module: string;
  children: Frame[];
}

function frameOf([name, module, kind, value, children]: CallTree): Frame {
  return { name, value, kind, module, children: children.map(frameOf) };
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
  drawFlames(place, root, width, {
    label: ({ name, module, value }) => [name, module, `${value.toPrecision(3)} s, ${share(value)}`].filter(Boolean).join("\n"),
    colour: ({ kind }) => kinds[kind]?.colour ?? "var(--rule)",
  });
  return block;
}
