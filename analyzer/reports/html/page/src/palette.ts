// Colours of CPUs: told apart while there are few, a continuous scale when there are many (neighbouring CPUs look
// alike, a thread that jumps far does not).
const fewCpus = [
  "#3b6fc4",
  "#d98e2b",
  "#2f9d78",
  "#b65fa8",
  "#8a9a2e",
  "#c4574a",
  "#4aa3c7",
  "#8a63b8",
  "#9c7a53",
  "#6b7785",
];

export interface CpuScale {
  type: "categorical" | "linear";
  domain: number[];
  range?: string[];
  scheme?: "viridis";
}

export function cpuScale(cpus: number[]): CpuScale {
  const sorted = [...new Set(cpus)].sort((a, b) => a - b);
  if (sorted.length <= fewCpus.length)
    return { type: "categorical", domain: sorted, range: fewCpus.slice(0, sorted.length) };
  return { type: "linear", domain: [sorted[0] ?? 0, sorted[sorted.length - 1] ?? 1], scheme: "viridis" };
}
