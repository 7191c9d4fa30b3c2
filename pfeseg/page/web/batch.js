// Many images: a grid and a table that can be sorted and filtered, and the large view of each.

const COLUMNS = [
  ["name", "Name", (image) => image.name],
  ["size", "Size", (image) => (image.size ? image.size[0] * image.size[1] : -1)],
  ["regions", "Regions", (image) => image.regions ?? -1],
  ["seconds", "Seconds", (image) => image.seconds ?? -1],
  ["status", "Status", (image) => Object.keys(STATUS).indexOf(image.status)],
];
const STATUS = { failed: "failed", warned: "done, with warnings", done: "done" };
const MOST_FAILURES = 10; // shown at once

/** Turn "fox regions>10 status=failed" into a test of images. */
function makeFilter(text) {
  const joined = text.toLowerCase().replace(/\s*(<=|>=|<|>|=)\s*/g, "$1");
  const tests = joined.split(/\s+/).filter(Boolean).map((word) => {
    const found = /^(regions|seconds|size)(<=|>=|<|>|=)([\d.]+)$/.exec(word);
    if (!found) return (image) => image.words.includes(word.replace(/^(name|status)=/, ""));
    const [, column, sign, number] = found;
    const value = COLUMNS.find(([key]) => key === column)[2];
    const compare = {
      "<": (a, b) => a < b, ">": (a, b) => a > b, "=": (a, b) => a === b,
      "<=": (a, b) => a <= b, ">=": (a, b) => a >= b,
    }[sign];
    return (image) => image.status !== "failed" && compare(value(image), Number(number));
  });
  return (image) => tests.every((test) => test(image));
}

function compareBy(key, descending) {
  const value = COLUMNS.find(([name]) => name === key)[2];
  const order = new Intl.Collator("en", { numeric: true });
  const compare = (a, b) => {
    const [first, second] = [value(a), value(b)];
    return typeof first === "string" ? order.compare(first, second) : first - second;
  };
  return (a, b) => (descending ? compare(b, a) : compare(a, b)) || a.index - b.index;
}

class Batch {
  constructor(data) {
    this.images = data.images.map((image, index) => ({
      ...image, index, words: `${image.name} ${STATUS[image.status]}`.toLowerCase(),
    }));
    this.waiting = new Map();
    this.folder = data.folder;
    this.title = document.title;
    this.list = make("div");
    this.count = make("p", { class: "count", "aria-live": "polite" });
    this.state = { text: "", key: "name", descending: false, as: "grid" };
    this.overview = make("div", {}, this.failures(), this.tools(), this.list);
    window.addEventListener("hashchange", () => this.follow());
    window.addEventListener("beforeprint", () => this.addAll());
    document.addEventListener("keydown", (event) => this.key(event));
    window.receiveImage = (index, detail) => this.waiting.get(index)(detail);
  }

  failures() {
    const failed = this.images.filter((image) => image.status === "failed");
    if (!failed.length) return null;
    const list = (images) => make("ul", {}, images.map((image) =>
      make("li", {}, visible(image.reason))));
    const more = failed.slice(MOST_FAILURES);
    return make("section", { class: "failures" },
      make("h2", {}, `${plural(failed.length, "image")} failed`),
      list(failed.slice(0, MOST_FAILURES)),
      more.length
        ? make("details", {}, make("summary", {}, `${inWords(more.length)} more`), list(more)) : null);
  }

  tools() {
    const change = (changes) => { Object.assign(this.state, changes); this.refresh(); };
    this.sorter = make("select", { id: "sort", "aria-label": "Sort by",
      change: (event) => change({ key: event.target.value, descending: false }) },
      COLUMNS.map(([key, title]) => make("option", { value: key }, `Sort by ${title.toLowerCase()}`)));
    const as = (kind, title) => make("button", { type: "button", id: `as-${kind}`,
      "aria-pressed": String(kind === "grid"), click: () => change({ as: kind }) }, title);
    this.kinds = { grid: as("grid", "Grid"), table: as("table", "Table") };
    return make("div", { class: "tools" },
      make("input", { type: "search", id: "filter", placeholder: "Filter: a name, failed, regions>10 …",
        "aria-label": "Filter", "aria-describedby": "filter-help",
        input: (event) => change({ text: event.target.value }) }),
      this.sorter,
      make("button", { type: "button", id: "turn", "aria-label": "Turn the order round",
        click: () => change({ descending: !this.state.descending }) }, "↕"),
      make("div", { class: "pair" }, this.kinds.grid, this.kinds.table),
      this.count,
      make("p", { id: "filter-help", class: "muted small" },
        "Images that fit all words: parts of a name, a status (failed, warnings, done), or " +
        "regions, seconds or size (in pixels) compared with a number, such as regions>10 size<90000."));
  }

  refresh() {
    const { text, key, descending, as } = this.state;
    this.shown = this.images.filter(makeFilter(text)).sort(compareBy(key, descending));
    this.count.textContent = this.shown.length === this.images.length
      ? plural(this.images.length, "image")
      : `${inWords(this.shown.length)} of ${plural(this.images.length, "image")}`;
    this.sorter.value = key;
    for (const [kind, button] of Object.entries(this.kinds)) {
      button.setAttribute("aria-pressed", String(kind === as));
    }
    if (as === "grid") this.fill(make("div", { class: "grid" }), null, (image) => this.tile(image), 60);
    else this.fill(make("tbody"), (rows) => this.table(rows), (image) => this.row(image), 200);
  }

  /** Put the entries of all shown images into a list, some at a time. */
  fill(list, around, entry, atOnce) {
    let done = 0;
    const add = () => {
      list.append(...this.shown.slice(done, done + atOnce).map(entry));
      done += atOnce;
      return done < this.shown.length;
    };
    const more = add();
    this.addAll = () => { while (add()); };
    const outer = around ? around(list) : list;
    this.list.replaceChildren(outer);
    if (more) growing(outer, add);
    if (!this.shown.length) this.list.append(make("p", { class: "muted" }, "No image fits this filter."));
  }

  tile(image) {
    const facts = image.status === "failed" ? "failed"
      : `${plural(image.regions, "region")} · ${image.size.join(" × ")}`;
    const inner = [
      image.thumbnail
        ? make("img", { src: image.thumbnail, loading: "lazy", decoding: "async", alt: "" })
        : make("div", { class: "blank" }, "no result"),
      make("div", { class: "under" }, make("div", { class: "name" }, visible(image.name)),
        make("div", { class: `muted status-${image.status === "done" ? "" : image.status}` },
          facts, image.status === "warned" ? " · warnings" : "")),
    ];
    if (image.status === "failed") {
      return make("div", { class: "tile", title: visible(image.reason) }, inner);
    }
    return make("a", { class: "tile", href: `#${image.index}` }, inner);
  }

  table(rows) {
    const heads = COLUMNS.map(([key, title]) => make("th", {
      scope: "col",
      class: ["name", "status"].includes(key) ? "" : "number",
      "aria-sort": key !== this.state.key ? "none"
        : this.state.descending ? "descending" : "ascending",
    }, make("button", { type: "button", "data-key": key, click: () => {
      this.state.descending = key === this.state.key && !this.state.descending;
      this.state.key = key;
      this.refresh();
      this.list.querySelector(`[data-key="${key}"]`).focus();
    } }, title)));
    return make("div", { class: "scroll" },
      make("table", { class: "images" }, make("thead", {}, make("tr", {}, heads)), rows));
  }

  row(image) {
    const failed = image.status === "failed";
    const name = visible(image.name);
    return make("tr", {},
      make("td", { class: "name" }, failed
        ? [name, make("div", { class: "muted small" }, visible(image.reason))]
        : make("a", { href: `#${image.index}` }, name)),
      make("td", { class: "number" }, failed ? "" : image.size.join(" × ")),
      make("td", { class: "number" }, failed ? "" : inWords(image.regions)),
      make("td", { class: "number" }, failed ? "" : image.seconds.toFixed(2)),
      make("td", { class: `status-${image.status}` }, STATUS[image.status]));
  }

  /** Show what the address names: an image, or all. */
  async follow() {
    const main = document.getElementById("main");
    const image = this.images[Number.parseInt(location.hash.slice(1), 10)];
    if (!image || image.status === "failed") {
      const left = this.at;
      this.at = null;
      document.title = this.title;
      main.replaceChildren(this.overview);
      window.scrollTo(0, this.scrolled || 0);
      const link = left === null ? null : this.list.querySelector(`a[href="#${left}"]`);
      (link || (left === null ? null : document.getElementById("filter")))?.focus();
      return;
    }
    if (this.at === null) this.scrolled = window.scrollY;
    const held = document.activeElement?.id; // "next" stays where it is, for the next press
    this.at = image.index;
    const detail = await this.detail(image.index);
    const view = detail.missing
      ? make("p", { class: "notice" }, `${detail.missing}: keep the folder beside this page.`)
      : await imageView(detail);
    if (this.at !== image.index) return; // another one was asked for meanwhile
    document.title = `${visible(image.name)} · ${this.title}`;
    main.replaceChildren(this.path(image), view);
    window.scrollTo(0, 0);
    if (this.images.length > 1) (document.getElementById(held) || main.querySelector("h2")).focus();
  }

  /** The large view's data: in the page, or in a script beside it. */
  detail(index) {
    if (this.folder === null) return Promise.resolve(readJson(`image-${index}`));
    return new Promise((resolve, reject) => {
      this.waiting.set(index, resolve);
      const source = `${this.folder}/${String(index).padStart(5, "0")}.js`;
      const script = make("script", { src: source, load: () => script.remove(),
        error: () => reject(new Error(`${source} is missing`)) });
      document.head.append(script);
    }).catch((error) => ({ missing: error.message }));
  }

  neighbour(stride) {
    const good = this.shown.filter((image) => image.status !== "failed");
    const place = good.findIndex((image) => image.index === this.at);
    return place < 0 ? undefined : good[place + stride];
  }

  path(image) {
    const link = (stride, text, id) => {
      const other = this.neighbour(stride);
      return other ? make("a", { class: "button", id, href: `#${other.index}` }, text)
        : make("button", { type: "button", disabled: true }, text);
    };
    const single = this.images.length === 1;
    return make("div", { class: "path" },
      single ? null : make("a", { class: "button", id: "back", href: "#" }, "← All images"),
      make("h2", { tabindex: -1 }, visible(image.name)),
      single ? null : make("div", { class: "pair" }, link(-1, "Previous", "previous"),
        link(1, "Next", "next")));
  }

  key(event) {
    if (this.at === null || event.altKey || event.ctrlKey || event.metaKey) return;
    const chooses = event.target.tagName === "SELECT"; // which Escape closes
    if (event.key === "Escape" && !chooses && this.images.length > 1) location.hash = "#";
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const stride = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (stride && this.neighbour(stride)) location.hash = `#${this.neighbour(stride).index}`;
  }

  start() {
    this.at = null;
    this.refresh();
    if (this.images.length === 1 && !location.hash) location.hash = "#0";
    this.follow();
  }
}

followTheme();
new Batch(readJson("page-data")).start();
