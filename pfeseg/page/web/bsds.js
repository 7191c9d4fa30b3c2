// A run over a data set: tables, box plots, worst and best images.

/** A figure, and its interval in small letters below. */
function showCell(text) {
  const found = /^(\S+) (\[.+\])$/.exec(text);
  return found ? [found[1], make("div", { class: "muted small" }, found[2])] : text;
}

function showBlock(block) {
  if (block.kind === "heading") return make("h2", { style: "margin-top: 32px" }, block.text);
  if (block.kind === "text") return make("p", { class: "prose" }, block.text);
  const numeric = (column) => column > 0;
  const row = (cells, tag) => make("tr", {}, cells.map((cell, column) =>
    make(tag, { class: numeric(column) ? "number" : "" }, showCell(cell))));
  return make("div", { class: "scroll", style: "margin: 12px 0" }, make("table", {},
    make("thead", {}, row(block.head, "th")),
    make("tbody", {}, block.rows.map((cells) => row(cells, "td")))));
}

/** One image, its segmentation shown until the pointer or the focus asks for the original. */
function showExtreme(image) {
  const picture = make("img", { src: image.overlay, alt: `Segmentation of ${visible(image.name)}` });
  const swap = (source) => () => { picture.src = source; };
  const original = image.original || image.overlay;
  return make("button", {
    type: "button", class: "tile plain",
    pointerenter: swap(original), pointerleave: swap(image.overlay),
    focus: swap(original), blur: swap(image.overlay),
  }, picture, make("div", { class: "under" }, make("div", { class: "name" }, visible(image.name)),
    make("div", { class: "muted" }, `covering ${image.covering.toFixed(3)}`)));
}

function showExtremes(title, note, images) {
  if (!images.length) return null;
  return make("section", {}, make("h2", {}, title), make("p", { class: "muted" }, note),
    make("div", { class: "grid six" }, images.map(showExtreme)));
}

const run = readJson("page-data");
const { note, worst, best } = run.extremes;
followTheme();
document.getElementById("main").append(
  ...run.blocks.map(showBlock),
  make("section", {}, make("h2", {}, "Box plots"),
    make("div", { class: "plots" }, run.plots.map(boxChart))),
  ...[
    showExtremes("Worst images", `${note}. Point at one to see the original.`, worst),
    showExtremes("Best images", `${note}. Point at one to see the original.`, best),
  ].filter((section) => section !== null),
);
