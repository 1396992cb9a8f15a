// What the page uses of d3-flame-graph's source, which has no declarations of its own.
declare module "d3-flame-graph/src/flamegraph" {
  interface FlameGraph {
    (selection: unknown): void;
    width(pixels: number): FlameGraph;
    height(pixels: number): FlameGraph;
    cellHeight(pixels: number): FlameGraph;
    inverted(on: boolean): FlameGraph;
    sort(on: boolean): FlameGraph;
    minFrameSize(pixels: number): FlameGraph;
    transitionDuration(ms: number): FlameGraph;
    label<Node>(text: (node: Node) => string): FlameGraph;
    setColorMapper<Node>(colour: (node: Node) => string): FlameGraph;
  }
  export default function flamegraph(): FlameGraph;
}
