// A flame graph with the callers above, whatever its boxes stand for.
// Not the package's bundle, which carries a second copy of d3.
import flamegraph from "d3-flame-graph/src/flamegraph";
import { select } from "d3-selection";
import { timerFlush } from "d3-timer";

export interface Flame<Self> {
  name: string;
  value: number; // no less than the sum of its children's
  children: Self[];
}

interface Drawn<Frame> {
  data: Frame;
  x0: number; // of the whole, 0 to 1
  x1: number;
}

const cellHeight = 20;

function depthOf<Frame extends Flame<Frame>>(frame: Frame): number {
  return 1 + Math.max(0, ...frame.children.map((child) => depthOf(child)));
}

export function drawFlames<Frame extends Flame<Frame>>(
  place: HTMLElement,
  root: Frame,
  width: number,
  of: { label: (frame: Frame) => string; colour: (frame: Frame) => string },
): void {
  const chart = flamegraph()
    .width(width)
    .height(cellHeight * depthOf(root))
    .cellHeight(cellHeight)
    .inverted(true)
    .sort(false)
    .minFrameSize(1)
    .transitionDuration(0)
    .label(({ data }: Drawn<Frame>) => of.label(data))
    .setColorMapper(({ data }: Drawn<Frame>) => of.colour(data));
  select(place).datum(root).call(chart);
  // Its boxes grow in transitions, which a page that is printed at once would show half done.
  for (let tick = 0; tick < 3; ++tick) timerFlush();
  const boxes = select(place).selectAll<SVGRectElement, Drawn<Frame>>("g.frame > rect");
  (boxes as unknown as { interrupt(): void }).interrupt(); // of d3-transition, which the flame graph loads
  boxes.attr("width", ({ x0, x1 }) => (x1 - x0) * width);
}
