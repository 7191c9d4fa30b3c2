// The large view of one image.

const MOST_LABELS = 65536; // that a PNG of 16 bits holds

/** Build the large view of an image; `detail` is what record.py says of it. */
async function imageView(detail) {
  const maps = await Promise.all(detail.maps.map((map) => Regions.read(map)));
  const told = make("p", { class: "told", "aria-live": "polite" });
  const now = { regions: null, cut: null };
  const stage = new Stage(detail.size, detail.original, (region) =>
    tellRegion(told, now.regions, now.cut, region));
  const controls = make("div");

  const show = (count) => {
    now.cut = now.regions.cut(count);
    stage.show(now.cut);
  };
  const choose = (k) => {
    now.regions = maps[k];
    stage.setRegions(maps[k]);
    const given = detail.maps[k].regions || maps[k].inside;
    show(given);
    controls.replaceChildren(maps[k].hasLevels
      ? levelControls(detail, now, show, given) : labelsCard(detail, now));
  };
  choose(0);
  tellRegion(told, now.regions, now.cut, null);

  return make("div", {},
    make("div", { class: "view" },
      make("div", {}, stage.element, told,
        detail.original ? null : make("p", { class: "notice" },
          "The original image was not found, so the regions are shown alone.")),
      make("div", { class: "panel" },
        warningsCard(detail.warnings),
        maps.length > 1 ? mapChoice(choose) : null,
        controls,
        stageControls(stage),
        factsCard(detail.facts)),
      await channelsCard(detail.channels)),
    historyPlots(detail.history),
    make("div", { class: "columns" }, settingsCard(detail.settings), timingsCard(detail.timings)));
}

function mapChoice(choose) {
  const change = (event) => choose(Number(event.target.value));
  return make("div", { class: "card" }, make("h3", {}, "Regions to look at"),
    make("select", { id: "map", "aria-label": "Regions to look at", change },
      make("option", { value: 0 }, "The labels as they were written"),
      make("option", { value: 1 }, "Levels of the hierarchy")));
}

/** The slider through the levels, the labels of a level, and the command that writes them. */
function levelControls(detail, now, show, given) {
  const { regions } = now;
  const stops = regions.stops();
  const nearest = (count) => stops.reduce((best, stop, k) =>
    (Math.abs(stop - count) < Math.abs(stops[best] - count) ? k : best), 0);
  const slider = make("input", { type: "range", id: "level", min: 0, max: stops.length - 1,
    value: nearest(given), "aria-label": "Level of the hierarchy" });
  const field = make("input", { type: "number", id: "count", min: regions.fewest,
    max: regions.inside, value: given, "aria-label": "Number of regions" });
  const level = make("p", { class: "muted", id: "between",
    title: "The level of a boundary is the share of people who would draw it" });
  const command = make("pre", { id: "command" });
  const tell = () => {
    const found = now.cut.count;
    slider.setAttribute("aria-valuetext", plural(found, "region"));
    level.textContent = `${plural(found, "region")}${levelRange(now.cut)}` +
      (found === given ? ", as written" : "");
    showCommand(command, `${detail.command} --regions ${found} -o again`);
  };
  const update = (count) => { show(count); tell(); };
  slider.addEventListener("input", () => {
    field.value = stops[slider.value];
    update(stops[slider.value]);
  });
  field.addEventListener("change", () => {
    const count = Math.round(Number(field.value)) || regions.fewest;
    field.value = Math.min(Math.max(count, regions.fewest), regions.inside);
    slider.value = nearest(Number(field.value));
    update(Number(field.value));
  });
  tell();
  return make("div", { class: "card" }, make("h3", {}, "Levels of the hierarchy"),
    make("div", { hidden: stops.length < 2 }, slider,
      make("div", { class: "ends" }, make("span", {}, "coarse"), make("span", {}, "fine")),
      make("label", { class: "row" }, make("span", {}, "Regions"), field)), level,
    make("div", { class: "buttons" }, saveButton(detail, now), copyButton(command)), command);
}

/** Say between which levels a cut stays the same, with as many digits as tell them apart. */
function levelRange({ level, next }) {
  if (level === next) return ", a number that no level gives"; // where two merge at once
  const digits = [3, 4, 5, 6].find((count) => brief(level, count) !== brief(next, count)) || 7;
  return ` from level ${brief(level, digits)} to ${brief(next, digits)}`;
}

function labelsCard(detail, now) {
  return make("div", { class: "card" }, make("h3", {}, "Labels"),
    make("p", {}, plural(now.regions.inside, "region")),
    make("div", { class: "buttons" }, saveButton(detail, now)));
}

function saveButton(detail, now) {
  const button = make("button", { type: "button", id: "save", click: async () => {
    const { regions, cut } = now;
    if (cut.faces.length > MOST_LABELS) {
      button.textContent = "Too many labels for a PNG of 16 bits";
      return;
    }
    button.disabled = true;
    const png = await encodePng(regions.labelsOf(cut), regions.width, regions.height);
    download(png, "image/png", `${detail.stem}_${cut.count}_labels.png`);
    button.disabled = false;
  } }, "Labels as PNG");
  return button;
}

function warningsCard(warnings) {
  if (!warnings.length) return null;
  return make("div", { class: "card warnings" }, make("h3", {}, "Warnings"),
    make("ul", {}, warnings.map((warning) => make("li", {}, visible(warning)))));
}

function factList(pairs) {
  return make("dl", { class: "facts" }, pairs.flatMap(([name, value, differs]) => [
    make("dt", {}, name),
    make("dd", { class: differs ? "differs" : "" }, visible(value)),
  ]));
}

function factsCard(facts) {
  return make("div", { class: "card" }, make("h3", {}, "About this result"),
    factList(Object.entries(facts)));
}

function settingsCard(settings) {
  const words = settings.map(([name, value, differs]) => [name.replaceAll("_", " "), value, differs]);
  const changed = words.filter(([, , differs]) => differs);
  return make("div", { class: "card", id: "settings" }, make("h3", {}, "Settings"),
    changed.length ? factList(changed) : make("p", { class: "muted" }, "All are the defaults."),
    make("details", {}, make("summary", {}, "All settings"), factList(words)));
}

function timingsCard(timings) {
  const stages = Object.entries(timings);
  const total = stages.reduce((sum, [, seconds]) => sum + seconds, 0);
  return make("div", { class: "card" }, make("h3", {}, "Seconds by stage"),
    factList([...stages.map(([stage, seconds]) => [stage.replaceAll("_", " "), seconds.toFixed(3)]),
      ["all", total.toFixed(3)]]));
}

function historyPlots(history) {
  const shaded = history.stage.filter((stage) => stage === 1).length - 1;
  const note = "Stage I is shaded.";
  const plots = [
    lineChart({ title: "Solver: objective", values: history.objective, shaded, note }),
    lineChart({ title: "Solver: orthogonality error", values: history.orthogonality, log: true,
      shaded, note }),
  ].filter((plot) => plot !== null);
  return plots.length ? make("div", { class: "columns", id: "history" }, plots) : null;
}

/** Draw the channels of the embedding: blue below zero, white at zero, orange above. */
async function channelsCard(packed) {
  if (!packed) return null;
  const [count, height, width] = packed.shape;
  const values = await unpackArray(packed);
  const figures = Array.from({ length: count }, (_, k) => {
    const canvas = make("canvas", { width, height, role: "img", "aria-label": `Channel ${k + 1}` });
    const context = canvas.getContext("2d");
    const picture = context.createImageData(width, height);
    const pixels = new Uint32Array(picture.data.buffer);
    for (let i = 0; i < pixels.length; i++) pixels[i] = aroundZero(values[k * width * height + i]);
    context.putImageData(picture, 0, 0);
    return make("figure", {}, canvas, make("figcaption", {}, `channel ${k + 1}`));
  });
  return make("div", { class: "card", id: "channels" },
    make("h3", {}, "Channels of the embedding: blue is below zero, orange above"),
    make("div", { class: "channels" }, figures));
}

function aroundZero(value) {
  const share = Math.abs(value) / 127;
  const [red, green, blue] = value < 0 ? [24, 92, 168] : [196, 84, 12];
  const mix = (end) => Math.round(250 + share * (end - 250));
  return (0xff000000 | (mix(blue) << 16) | (mix(green) << 8) | mix(red)) >>> 0;
}
