// Draws the charts of the report, and again when the page changes its width. Whatever goes wrong is said on the page:
// the rest of the report does not need this script.
import { accountOfThreads } from "./account_threads";
import { callTreeChart } from "./call_tree";
import { comparisonChart } from "./comparison";
import { cpuChart } from "./cpus";
import { readPageData, type PageData } from "./data";
import { memoryMatrix } from "./memory_matrix";
import { memoryNodes } from "./memory_nodes";
import { memoryObjects } from "./memory_objects";
import { arrivalChart } from "./mpi_arrivals";
import { cycleChart } from "./mpi_cycles";
import { matrixChart } from "./mpi_matrix";
import { rankChart } from "./mpi_ranks";
import { sizeChart } from "./mpi_sizes";
import { noiseLengths, noiseNodes, noisePeriod, noiseTime } from "./noise";
import { simulationClasses, simulationGains, simulationLengths, simulationSizes } from "./simulation";
import { threadChart } from "./threads";
import { networkChart } from "./topology";
import { variationChart } from "./variation";

function say(problem: unknown): void {
  document.body.dataset.error = String(problem);
  const note = document.createElement("p");
  note.className = "warning";
  note.textContent = `The charts could not be drawn: ${String(problem)}`;
  (document.getElementById("timeline") ?? document.querySelector("main"))?.append(note);
}

function draw(id: string, data: PageData, chart: (data: PageData, width: number) => HTMLElement): void {
  const place = document.getElementById(id);
  if (!place) return;
  try {
    place.replaceChildren(chart(data, Math.max(480, place.clientWidth)));
    place.dataset.drawn = "true";
  } catch (problem) {
    say(problem);
  }
}

function drawMpi(data: PageData): void {
  const mpi = data.mpi;
  if (!mpi) return;
  draw("chart-mpi-ranks", data, (_, width) => rankChart(mpi, width));
  const { arrivals, cycles, matrix } = mpi;
  if (cycles) draw("chart-mpi-cycles", data, (_, width) => cycleChart(cycles, width));
  if (arrivals) draw("chart-mpi-arrivals", data, (_, width) => arrivalChart(arrivals, mpi.size, width));
  if (matrix) draw("chart-mpi-matrix", data, (_, width) => matrixChart(matrix, mpi.size, width));
  draw("chart-mpi-sizes", data, (_, width) => sizeChart(mpi.sizes, width));
}

function drawMemory(data: PageData): void {
  const memory = data.memory;
  if (!memory) return;
  draw("chart-memory-matrix", data, (_, width) => memoryMatrix(memory.flows, width));
  draw("chart-memory-objects", data, (_, width) => memoryObjects(memory.objects, width));
  draw("chart-memory-nodes", data, (_, width) => memoryNodes(memory.nodes, data.seconds, width));
}

function drawNoise(data: PageData): void {
  const noise = data.noise;
  if (!noise) return;
  draw("chart-noise-lengths", data, (_, width) => noiseLengths(noise, width));
  draw("chart-noise-time", data, (_, width) => noiseTime(noise, data.seconds, width));
  draw("chart-noise-nodes", data, (_, width) => noiseNodes(noise, width));
  draw("chart-noise-period", data, (_, width) => noisePeriod(noise, width));
}

function drawSimulation(data: PageData): void {
  const simulation = data.simulation;
  if (!simulation) return;
  draw("chart-simulation-gains", data, (_, width) => simulationGains(simulation, width));
  draw("chart-simulation-sizes", data, (_, width) => simulationSizes(simulation, width));
  draw("chart-simulation-classes", data, (_, width) => simulationClasses(simulation, width));
  draw("chart-simulation-lengths", data, (_, width) => simulationLengths(simulation, width));
}

function drawTopology(data: PageData): void {
  const topology = data.topology;
  if (!topology) return;
  const { ranks, by_rank, by_node } = topology;
  draw("chart-topology-network", data, (_, width) => networkChart(topology, width));
  if (by_rank) draw("chart-topology-by-rank", data, (_, width) => matrixChart(by_rank, ranks, width));
  if (by_node) draw("chart-topology-by-node", data, (_, width) => matrixChart(by_node, ranks, width));
}

function drawAccount(data: PageData): void {
  const tree = data.call_tree;
  draw("chart-account-threads", data, accountOfThreads);
  if (tree) draw("chart-call-tree", data, (_, width) => callTreeChart(tree, width));
}

function drawAll(data: PageData): void {
  drawAccount(data);
  drawMpi(data);
  drawMemory(data);
  drawNoise(data);
  drawSimulation(data);
  drawTopology(data);
  const comparison = data.comparison;
  if (comparison) draw("chart-comparison", data, (_, width) => comparisonChart(comparison, width));
  data.variation?.forEach((condition, index) => draw(`chart-variation-${index}`, data, (_, width) => variationChart(condition, width)));
  draw("chart-threads", data, threadChart);
  draw("chart-cpus", data, cpuChart);
}

window.addEventListener("error", (event) => say(event.message));
try {
  const data = readPageData();
  drawAll(data);
  let width = window.innerWidth;
  let timer = 0;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => drawAll(data), 150);
  });
} catch (problem) {
  say(problem);
}
