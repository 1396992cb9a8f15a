// Unpacks the page's script and lets it run: the charts' library takes a third of its room this way. Whatever goes wrong is said
// on the page, which does not need the charts.
(async () => {
  try {
    const packed = atob(document.getElementById("plumb-script").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.body.append(script);
  } catch (problem) {
    const note = document.createElement("p");
    note.className = "warning";
    note.textContent = `The charts need a browser of 2023 or later: ${problem}`;
    document.querySelector("main").append(note);
  }
})();
