// How busy each CPU was. Few CPUs: stacked areas of what filled them. Many: a heat map of how full they were.
import * as Plot from "@observablehq/plot";
import type { CpuRow, PageData } from "./data";
import { swatches } from "./legend";

const fewRows = 16;
const causes = [
  { name: "this run", colour: "var(--own)" },
  { name: "others", colour: "var(--other)" },
  { name: "interrupts", colour: "var(--interrupt)" },
  { name: "stolen by the hypervisor", colour: "var(--steal)" },
];

const rowName = (row: CpuRow): string =>
  `${row.host ? `${row.host} ` : ""}CPU ${row.cpu}${row.allowed ? "" : " (not ours)"}`;

function stackedAreas(rows: CpuRow[], seconds: number, width: number): HTMLElement {
  const bars = rows
    .flatMap((row) =>
      row.spans.flatMap(([begin, end, ...shares]) => {
        let below = 0;
        return shares.map((share, index) => {
          const from = below;
          below = Math.min(1, below + share);
          return { row: rowName(row), begin, end, from, to: below, colour: causes[index]!.colour };
        });
      }),
    )
    .filter((bar) => bar.to > bar.from);
  const chart = Plot.plot({
    width,
    height: 46 + 46 * rows.length,
    marginLeft: 110,
    marginRight: 16,
    marginTop: 8,
    x: { domain: [0, seconds], label: "seconds", nice: false },
    y: { domain: [0, 1], axis: null },
    color: { type: "identity" },
    fy: { domain: rows.map(rowName), label: null, axis: "left", padding: 0.14 },
    marks: [
      Plot.frame({ stroke: "var(--rule)", fill: "var(--tint)" }),
      Plot.rect(bars, { fy: "row", x1: "begin", x2: "end", y1: "from", y2: "to", fill: "colour" }),
    ],
  });
  const used = causes.filter((cause) => bars.some((bar) => bar.colour === cause.colour));
  const block = document.createElement("div");
  block.append(swatches(used), chart);
  return block;
}

interface Cell {
  row: string;
  begin: number;
  end: number;
  busy: number;
  own: number;
  other: number;
}

const shade = (busy: number): string =>
  `color-mix(in srgb, var(--own) ${Math.round(busy * 100)}%, var(--tint))`;

function heatMap(rows: CpuRow[], seconds: number, width: number): HTMLElement {
  const names = rows.map(rowName);
  const cells: Cell[] = rows.flatMap((row) =>
    row.spans.map(([begin, end, own, other, interrupt, steal]) => ({
      row: rowName(row),
      begin,
      end,
      busy: Math.min(1, own + other + interrupt + steal),
      own,
      other,
    })),
  );
  const every = Math.ceil(rows.length / 32);
  const chart = Plot.plot({
    width,
    height: 46 + Math.max(3, Math.min(14, 900 / rows.length)) * rows.length,
    marginLeft: 110,
    marginRight: 16,
    marginTop: 8,
    x: { domain: [0, seconds], label: "seconds", nice: false },
    y: {
      domain: names,
      label: null,
      tickSize: 0,
      padding: 0,
      ticks: names.filter((_, index) => index % every === 0),
    },
    color: { type: "identity" },
    marks: [
      Plot.barX(cells, { x1: "begin", x2: "end", y: "row", fill: (cell: Cell) => shade(cell.busy) }),
      Plot.tip(
        cells,
        Plot.pointer({
          x1: "begin",
          x2: "end",
          y: "row",
          maxRadius: 20,
          title: (cell: Cell) =>
            `${cell.row}\nbusy ${Math.round(cell.busy * 100)} %, this run ${Math.round(cell.own * 100)} %, others ${Math.round(cell.other * 100)} %`,
        }),
      ),
    ],
  });
  const block = document.createElement("div");
  block.append(
    swatches([
      { name: "idle", colour: "var(--tint)" },
      { name: "busy all the time", colour: "var(--own)" },
    ]),
    chart,
  );
  return block;
}

export function cpuChart(data: PageData, width: number): HTMLElement {
  return data.cpus.length <= fewRows
    ? stackedAreas(data.cpus, data.seconds, width)
    : heatMap(data.cpus, data.seconds, width);
}
