// One lane a thread: coloured by the CPU it was on, paler the less it ran, with a red foot for the time it was ready
// to run and had no CPU.
import * as Plot from "@observablehq/plot";
import type { PageData } from "./data";
import { swatches } from "./legend";
import { cpuScale } from "./palette";

interface Bar {
  lane: string;
  begin: number;
  end: number;
  cpu: number;
  running: number;
  waiting: number;
  migrations: number;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const longestName = 30;

// The only thread of a process goes by the name of the process. Two threads may have one name: the invisible number
// keeps their lanes apart.
function laneNames(data: PageData): string[] {
  const threads = new Map<string, number>();
  for (const { process } of data.lanes) threads.set(process, (threads.get(process) ?? 0) + 1);
  return data.lanes.map(({ process, thread }, index) => {
    const name =
      threads.size === 1 ? thread : threads.get(process) === 1 ? process : `${process} · ${thread}`;
    return `${name}\u0000${index}`;
  });
}

function shown(lane: string): string {
  const name = lane.slice(0, lane.indexOf("\u0000"));
  return name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name;
}

export function threadChart(data: PageData, width: number): HTMLElement {
  const names = laneNames(data);
  const bars: Bar[] = data.lanes.flatMap((lane, index) =>
    lane.spans.map(([begin, end, cpu, running, waiting, migrations]) => ({
      lane: names[index]!,
      begin,
      end,
      cpu,
      running,
      waiting,
      migrations,
    })),
  );
  const scale = cpuScale(bars.map((bar) => bar.cpu).filter((cpu) => cpu >= 0));
  const marginLeft = Math.min(230, 24 + 6.2 * Math.max(...names.map((name) => shown(name).length)));
  const laneHeight = data.lanes.length > 24 ? 13 : 22;
  const chart = Plot.plot({
    width,
    height: 46 + laneHeight * data.lanes.length,
    marginLeft,
    marginRight: 16,
    marginTop: 8,
    x: { domain: [0, data.seconds], label: "seconds", nice: false },
    y: { domain: names, label: null, tickFormat: shown, tickSize: 0, padding: 0.22 },
    color: { ...scale },
    marks: [
      Plot.barX(bars, {
        x1: "begin",
        x2: "end",
        y: "lane",
        fill: "cpu",
        fillOpacity: (bar: Bar) => 0.12 + 0.88 * Math.min(1, bar.running + bar.waiting),
      }),
      Plot.barX(
        bars.filter((bar) => bar.waiting >= 0.02),
        {
          x1: "begin",
          x2: "end",
          y: "lane",
          fill: "var(--steal)",
          insetTop: laneHeight * 0.56,
          fillOpacity: (bar: Bar) => 0.25 + 0.75 * Math.min(1, bar.waiting),
        },
      ),
      Plot.tip(
        bars,
        Plot.pointer({
          x1: "begin",
          x2: "end",
          y: "lane",
          maxRadius: 20,
          title: (bar: Bar) =>
            [
              shown(bar.lane),
              `${bar.begin.toFixed(3)} to ${bar.end.toFixed(3)} s on CPU ${bar.cpu}`,
              `running ${percent(bar.running)}, waiting for a CPU ${percent(bar.waiting)}`,
              `migrations ${bar.migrations}`,
            ].join("\n"),
        }),
      ),
    ],
  });
  const block = document.createElement("div");
  const range = scale.range;
  if (range)
    block.append(
      swatches([
        ...scale.domain.map((cpu, index) => ({ name: `CPU ${cpu}`, colour: range[index]! })),
        ...(bars.some((bar) => bar.waiting >= 0.02)
          ? [{ name: "waiting for a CPU", colour: "var(--steal)" }]
          : []),
      ]),
    );
  else block.append(Plot.legend({ color: { ...scale, label: "CPU" }, width: 260 }));
  block.append(chart);
  return block;
}
