// The numbers behind the charts; reports/page_data.cpp writes them. Times are seconds from the run's begin, shares
// are 0..1 of the span.
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

export interface PageData {
  seconds: number;
  lanes: Lane[];
  lanes_left_out: number;
  cpus: CpuRow[];
  cpus_left_out: number;
}

export function readPageData(): PageData {
  const element = document.getElementById("plumb-data");
  if (!element?.textContent) throw new Error("the page carries no data for its charts");
  return JSON.parse(element.textContent) as PageData;
}
