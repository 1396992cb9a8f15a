// The time of work of each run by a condition that goes with it.
import * as Plot from "@observablehq/plot";
import type { VariedCondition } from "./data";
import { bytes } from "./mpi_matrix";

const valueText = (value: number | string, unit: string): string =>
  typeof value === "string"
    ? value
    : unit === "fraction"
      ? `${Number((100 * value).toPrecision(3))} %`
      : unit === "bytes"
        ? bytes(value)
        : String(Number(value.toPrecision(3)));

export function variationChart({ name, unit, runs }: VariedCondition, width: number): HTMLElement {
  const block = document.createElement("div");
  const isKind = runs.some(([, value]) => typeof value === "string");
  const points = runs.map(([run, value, work]) => ({ run, value, work }));
  block.append(
    Plot.plot({
      width: Math.min(width, 640),
      height: 280,
      marginLeft: 60,
      x: isKind
        ? { type: "point", label: name, padding: 0.5 }
        : { label: name, grid: true, ticks: 6, tickFormat: (value: number) => valueText(value, unit) },
      y: { label: "seconds of work", grid: true, zero: false, nice: true },
      marks: [
        Plot.dot(points, {
          x: "value",
          y: "work",
          r: 4,
          fill: "var(--own)",
          fillOpacity: 0.6,
          title: (point: { value: number | string; work: number; run: number }) =>
            `run ${point.run}\n${valueText(point.value, unit)}\n${point.work.toPrecision(4)} s of work`,
        }),
      ],
    }),
  );
  return block;
}
