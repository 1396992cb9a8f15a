// The numbers behind the charts; reports/html/page_data.cpp writes them, of a simulation page_simulation.cpp, of a comparison
// page_comparison.cpp, of varying runs variation.cpp, of a network page_topology.cpp.
// Times are seconds from the run's begin, shares are 0..1 of the span.
export type LaneSpan = [
  begin: number,
  end: number,
  cpu: number,
  running: number,
  waiting: number,
  migrations: number,
];
export type CpuSpan = [
  begin: number,
  end: number,
  own: number,
  other: number,
  interrupt: number,
  steal: number,
];

export interface Lane {
  process: string;
  thread: string;
  spans: LaneSpan[];
}

export interface CpuRow {
  host: string;
  cpu: number;
  allowed: boolean;
  spans: CpuSpan[];
}

// Means of `ranks` consecutive ranks, seconds; `alone`: one that stands out, and is in its bin, too.
export type MpiBar = [
  first: number,
  ranks: number,
  alone: boolean,
  elapsed: number,
  compute: number,
  collectiveWait: number,
  collective: number,
  lateSender: number,
  lateReceiver: number,
  other: number,
];

export interface MpiArrivals {
  rows: [first: number, ranks: number, alone: boolean][];
  columns: [begin: number, end: number][];
  late_us: (number | null)[][]; // by row, then column; against the median arrival, negative: early
}

export interface MpiMatrix {
  bin: number; // a place stands for bin x bin ranks
  places: [from: number, to: number, messages: number, bytes: number][];
}

export interface MpiSizes {
  site: string;
  counts: [size: number, messages: number][]; // size: messages of 2^(size-1) <= bytes < 2^size
}

// Of consecutive cycles; moments in seconds since the job began, lengths in microseconds.
export type CyclePoint = [
  first: number,
  cycles: number,
  begin: number,
  end: number,
  least: number,
  mean: number,
  most: number,
];

export interface MpiCycles {
  series: CyclePoint[];
  histogram: [from: number, to: number, cycles: number][]; // microseconds
  attainable_us: number;
  expected_us: number | null; // by the user's model
}

export interface MpiData {
  size: number;
  bars: MpiBar[];
  arrivals: MpiArrivals | null;
  cycles: MpiCycles | null;
  matrix: MpiMatrix | null;
  sizes: MpiSizes[];
}

export type MemoryFlow = [cpuNode: number, memoryNode: number, seconds: number, samples: number];

export interface MemoryObject {
  name: string;
  bytes: number; // 0: not known
  seconds: number;
  remote_seconds: number;
  parts: [heldBy: number, usedFrom: number][]; // nodes; -1: not seen, -2: several
}

export interface MemoryNode {
  host: string; // empty: there is one
  node: number;
  bytes: number;
  moments: [seconds: number, anonymous: number, file: number, free: number][];
}

export interface MemoryData {
  flows: MemoryFlow[];
  objects: MemoryObject[];
  nodes: MemoryNode[];
}

export interface NoiseData {
  lengths: [from: number, to: number, quanta: number, lost: number][]; // seconds
  timelines: { node: number; cpu: number; step_s: number; columns: [mean: number, most: number][] }[]; // lost, 0..1
  nodes: [node: number, nodes: number, lost: number][];
  every: number; // nodes after which classes repeat; 0: they do not
}

export type Estimate = [mean: number, halfWidth: number]; // of the 95 % confidence interval

// Arrays of values at each granularity have the order of `granularities`. Shares and gains are 0..1, times seconds.
export interface SimulationData {
  granularities: string[]; // "no work", "1.00 ms"
  changes: [label: string, gains: Estimate[]][]; // the one that gains most first; at the end all together, if there are several
  classes: [name: string, group: string, length: number, shares: number[]][]; // the most costly first
  lengths: [length: number, shares: number[]][]; // lost to events of at most this length
  sizes: [ranks: number, nodes: number, cycles: [noisy: Estimate, changed: Estimate, quiet: number][]][];
}

// Seconds of a thread's life.
export type ThreadTime = [name: string, running: number, withoutCpu: number, blocked: number, idles: boolean];

export type CallTree = [name: string, module: string, kind: string, seconds: number, children: CallTree[]];

// Thread seconds, means of the runs of each side; `changed`: it is certain that they did.
export type ComparedFrame = [name: string, module: string, base: number, others: number, changed: boolean, children: ComparedFrame[]];

export interface ComparisonData {
  is_known: boolean; // there are enough runs to say which changes are chance
  tree: ComparedFrame;
}

// Where a network's routers or switches are drawn; links that carry nothing are left out. Bytes are those of one cable.
export interface NetworkPicture {
  places: [at: [x: number, y: number], name: string, ownNodes: number, nodes: number][];
  links: [from: [x: number, y: number], to: [x: number, y: number], name: string, now: number, inBetterOrder: number][];
}

export interface TopologyData {
  ranks: number;
  by_rank: MpiMatrix | null;
  by_node: MpiMatrix | null; // rows and columns are places in the better order
  picture: NetworkPicture | null;
  order_is_better: boolean;
}

// Runs of one command: what was different, and the seconds of work.
export interface VariedCondition {
  name: string;
  unit: string; // "fraction", "bytes", "count"; empty: kinds
  runs: [run: number, value: number | string, work: number][];
}

export interface PageData {
  seconds: number;
  lanes: Lane[];
  lanes_left_out: number;
  cpus: CpuRow[];
  cpus_left_out: number;
  threads: ThreadTime[];
  call_tree: CallTree | null;
  mpi: MpiData | null;
  memory: MemoryData | null;
  noise: NoiseData | null;
  simulation: SimulationData | null;
  comparison: ComparisonData | null;
  variation: VariedCondition[] | null;
  topology: TopologyData | null;
}

// A page has only what its report is about.
const nothing: PageData = {
  seconds: 0,
  lanes: [],
  lanes_left_out: 0,
  cpus: [],
  cpus_left_out: 0,
  threads: [],
  call_tree: null,
  mpi: null,
  memory: null,
  noise: null,
  simulation: null,
  comparison: null,
  variation: null,
  topology: null,
};

export function readPageData(): PageData {
  const element = document.getElementById("plumb-data");
  if (!element?.textContent) throw new Error("the page carries no data for its charts");
  return { ...nothing, ...(JSON.parse(element.textContent) as Partial<PageData>) };
}
