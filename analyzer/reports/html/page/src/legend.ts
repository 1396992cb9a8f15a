// A row of named colours above a chart.
export function swatches(entries: { name: string; colour: string }[]): HTMLElement {
  const row = document.createElement("div");
  row.className = "swatches";
  for (const { name, colour } of entries) {
    const mark = document.createElement("i");
    mark.style.background = colour;
    const item = document.createElement("span");
    item.append(mark, name);
    row.append(item);
  }
  return row;
}
