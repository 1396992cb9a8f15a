// What changed between two sets of runs, as a flame graph: boxes as wide as the time of either side or of their mean, red where the
// others take more time than the base, blue where they take less. A change that may be chance has no colour.
import type { ComparedFrame, ComparisonData } from "./data";
import { drawFlames } from "./flames";
import { swatches } from "./legend";

const widths = ["mean of both", "base", "others"] as const;
type Width = (typeof widths)[number];

interface Frame {
  name: string;
  module: string;
  base: number;
  others: number;
  changed: boolean;
  value: number;
  children: Frame[];
}

const widthOf = (base: number, others: number, width: Width): number =>
  width === "base" ? base : width === "others" ? others : (base + others) / 2;

function frameOf([name, module, base, others, changed, children]: ComparedFrame, width: Width): Frame {
  return { name, module, base, others, changed, value: widthOf(base, others, width), children: children.map((child) => frameOf(child, width)) };
}

// Rounded means may add up to a little more than the box above them.
function widen(frame: Frame): Frame {
  const children = frame.children.map(widen).filter(({ value }) => value > 0);
  return { ...frame, children, value: Math.max(frame.value, children.reduce((sum, { value }) => sum + value, 0)) };
}

// Of the root's children and below: the root is the whole run.
function largestChange(frame: Frame): number {
  return Math.max(0, ...frame.children.map((child) => Math.max(Math.abs(child.others - child.base), largestChange(child))));
}

const seconds = (value: number): string => `${value.toPrecision(3)} s`;

function labelOf({ name, module, base, others, changed }: Frame, isKnown: boolean): string {
  const more = others - base;
  const part = base > 0 ? `, ${more < 0 ? "" : "+"}${((100 * more) / base).toPrecision(2)} %` : "";
  const change = `${more < 0 ? "" : "+"}${seconds(more)}${part}`;
  return [name, module, `base ${seconds(base)}, others ${seconds(others)}`, changed || !isKnown ? change : `${change}: may be chance`]
    .filter(Boolean)
    .join("\n");
}

export function comparisonChart({ tree, is_known }: ComparisonData, width: number): HTMLElement {
  const block = document.createElement("div");
  block.append(
    swatches([
      { name: "more time than in the base", colour: "var(--more)" },
      { name: "less", colour: "var(--less)" },
      { name: is_known ? "the same, or a change that may be chance" : "the same", colour: "var(--tint)" },
    ]),
  );
  const choice = document.createElement("fieldset");
  choice.className = "choice";
  const place = document.createElement("div");
  const show = (chosen: Width): void => {
    const root = { ...widen(frameOf(tree, chosen)), name: "the runs" };
    const largest = largestChange(root) || 1;
    const colour = ({ base, others, changed }: Frame): string => {
      if (!changed && is_known) return "var(--tint)";
      const part = Math.min(1, Math.abs(others - base) / largest); // of the root perhaps more
      return `color-mix(in srgb, var(${others > base ? "--more" : "--less"}) ${Math.round(100 * Math.sqrt(part))}%, var(--tint))`;
    };
    place.replaceChildren();
    place.dataset.widths = chosen;
    drawFlames(place, root, width, { label: (frame) => labelOf(frame, is_known), colour });
  };
  const legend = document.createElement("legend");
  legend.textContent = "as wide as";
  choice.append(legend);
  for (const name of widths) {
    const label = document.createElement("label");
    const button = document.createElement("input");
    button.type = "radio";
    button.name = "flame-widths";
    button.value = name;
    button.checked = name === widths[0];
    button.addEventListener("change", () => show(name));
    label.append(button, ` ${name}`);
    choice.append(label);
  }
  block.append(choice, place);
  show(widths[0]);
  return block;
}
