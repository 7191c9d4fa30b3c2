// A sweep: one image cut with several dimensions, into clusters or at levels of its hierarchy.

const MEANINGS = {
  d: "dimension of the embedding", k: "number of clusters",
  level: "share of people who draw the boundaries that are left",
  energy: "small is flat", flatness: "share of edges along which the embedding does not change",
  orthogonality: "squared error of orthogonality", agreement: "mean Rand index with the others",
  covering: "large is good", pri: "large is good", vi: "small is good",
};

class SweepView {
  constructor(data) {
    this.data = data;
    this.trials = data.trials;
    this.told = make("p", { class: "told", "aria-live": "polite" });
    this.stage = new Stage(data.size, data.original, (region) =>
      tellRegion(this.told, this.regions, this.cut, region, false));
    this.dims = this.slider("d", "Dimension d", "d");
    this.cuts = this.slider(data.by, data.title, data.by);
    this.rows = this.trials.map((trial, index) => this.row(trial, index));
    this.facts = make("p", { id: "trial" });
    this.command = make("pre", { id: "command" });
  }

  /** A slider over the values of one column; the other column keeps its value where it can. */
  slider(id, title, column) {
    const given = this.trials.map((trial) => trial.row[column]).filter((value) => value !== null);
    const values = [...new Set(given)].sort((a, b) => a - b);
    const input = make("input", { type: "range", id, min: 0, max: values.length - 1,
      input: () => {
        const wanted = { ...this.trials[this.at].row, [column]: values[input.value] };
        this.show(this.nearest(wanted, column));
      } });
    const shown = make("strong");
    const element = make("label", { hidden: values.length < 2 }, make("span", { class: "row" },
      make("span", {}, title), shown), input);
    const set = (value) => {
      input.value = values.indexOf(value);
      shown.textContent = String(value);
      input.setAttribute("aria-valuetext", String(value));
    };
    return { element, set };
  }

  /** The trial with the value asked for, as near as can be in the other column. */
  nearest(wanted, column) {
    const other = column === "d" ? this.data.by : "d";
    const distance = ({ row }) =>
      1000 * Math.abs(row[column] - wanted[column]) + Math.abs(row[other] - wanted[other]);
    return this.trials.reduce((best, trial, index) =>
      (distance(trial) < distance(this.trials[best]) ? index : best), 0);
  }

  /** What was tried, in a few words. */
  name({ row }) {
    const by = this.data.by;
    return `d = ${row.d}` + (by === "regions" ? "" : `, ${by} = ${row[by] ?? "none"}`);
  }

  async show(index) {
    this.at = index;
    const trial = this.trials[index];
    const regions = await Regions.read(trial.map);
    if (this.at !== index) return; // another one was asked for meanwhile
    this.regions = regions;
    this.cut = regions.cut(regions.inside);
    this.stage.setRegions(regions);
    this.stage.show(this.cut);
    this.dims.set(trial.row.d);
    this.cuts.set(trial.row[this.data.by]);
    this.rows.forEach((row, k) => {
      row.classList.toggle("chosen", k === index);
      row.querySelector("button").setAttribute("aria-pressed", String(k === index));
    });
    this.facts.textContent = `${this.name(trial)}: ` +
      plural(trial.row.regions, "region") + (trial.recommended ? ", recommended" : "");
    showCommand(this.command, `${trial.command} -o again`);
  }

  row(trial, index) {
    const cells = this.data.columns.map((column) => {
      const value = trial.row[column];
      const text = value === null ? "–" : brief(value, 4);
      return make("td", { class: "number" }, column === "d"
        ? make("button", { type: "button", class: "quiet", "aria-pressed": "false",
          "aria-label": `Show ${this.name(trial)}` }, text)
        : text);
    });
    return make("tr", { class: "pick", click: () => this.show(index) }, cells,
      make("td", {}, trial.recommended ? "recommended" : ""));
  }

  element() {
    const heads = this.data.columns.map((column) =>
      make("th", { scope: "col", class: "number", title: MEANINGS[column] }, column));
    return make("div", {},
      make("div", { class: "view" },
        make("div", {}, this.stage.element, this.told),
        make("div", { class: "panel" },
          make("div", { class: "card" }, make("h3", {}, "Trial"), this.dims.element,
            this.cuts.element, this.facts,
            make("div", { class: "buttons" },
              make("button", { type: "button", id: "best", click: () => this.show(this.best()) },
                "The recommended one"), copyButton(this.command)),
            this.command),
          stageControls(this.stage))),
      make("section", {}, make("h2", {}, "All trials"),
        make("div", { class: "scroll tall" }, make("table", { id: "trials" },
          make("thead", {}, make("tr", {}, heads, make("th", { scope: "col" }, ""))),
          make("tbody", {}, this.rows)))));
  }

  best() {
    return this.trials.findIndex((trial) => trial.recommended);
  }
}

followTheme();
const view = new SweepView(readJson("page-data"));
view.show(view.best()).then(() => {
  tellRegion(view.told, view.regions, view.cut, null, false);
  document.getElementById("main").append(view.element());
});
