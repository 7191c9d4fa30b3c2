// The picture one looks at: the original, the regions' colours, boundaries, and one region lit up.

const LONGEST = 1600; // side of the stage in pixels of the screen
const SMALL = 300; // side of an image whose pixels are shown as squares

class Stage {
  /** `tell(region or null)` is called when another region is lit up. */
  constructor(size, original, tell) {
    const [width, height] = size;
    this.tell = tell;
    this.lit = null;
    this.place = { x: 0.5, y: 0.5 };
    this.layers = [make("canvas"), make("canvas"), make("canvas")];
    [this.tint, this.lines, this.glow] = this.layers;
    this.cross = make("div", { class: "cross", hidden: true });
    this.element = make("div", {
      class: Math.max(width, height) <= SMALL ? "stage coarse" : "stage",
      tabindex: 0,
      role: "application",
      "aria-label": "Regions of the image; the arrow keys move over it, faster with Shift",
      style: `aspect-ratio: ${width} / ${height}; max-width: calc(74vh * ${width / height})`,
      pointermove: (event) => this.point(event),
      pointerdown: (event) => this.point(event),
      pointerleave: (event) => { if (event.pointerType === "mouse") this.light(null); },
      keydown: (event) => this.step(event),
      blur: () => { this.cross.hidden = true; },
    });
    if (original) this.element.append(make("img", { src: original, alt: "" }));
    this.element.append(...this.layers, this.cross);
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  /** Draw in pixels of the screen, so that boundaries are sharp at any size. */
  fit() {
    const { clientWidth, clientHeight } = this.element;
    const scale = Math.min(devicePixelRatio, LONGEST / Math.max(clientWidth, clientHeight));
    const [width, height] = [clientWidth, clientHeight].map((side) =>
      Math.max(1, Math.round(side * scale)));
    if (!clientWidth || (width === this.width && height === this.height)) return;
    Object.assign(this, { width, height });
    for (const layer of this.layers) Object.assign(layer, { width, height });
    if (!this.regions) return;
    this.sample();
    this.show(this.cut);
  }

  /** Take another label map, of any size. */
  setRegions(regions) {
    this.regions = regions;
    if (this.width) this.sample();
  }

  /** Look up the region of each pixel of the screen. */
  sample() {
    const { width, height, base } = this.regions;
    const at = (k, from, to) => Math.min(from - 1, Math.floor(((k + 0.5) * from) / to));
    const columns = Uint32Array.from({ length: this.width }, (_, x) => at(x, width, this.width));
    this.base = new Uint32Array(this.width * this.height);
    for (let y = 0, i = 0; y < this.height; y++) {
      const row = at(y, height, this.height) * width;
      for (let x = 0; x < this.width; x++) this.base[i++] = base[row + columns[x]];
    }
  }

  /** Show the regions of a cut. */
  show(cut) {
    this.cut = cut;
    if (!this.base) return; // `fit` comes back when the stage is on the page
    this.numbers = this.base.map((region) => cut.number[region]);
    this.paintTint();
    this.paintLines();
    const kept = this.lit !== null ? this.under() : null;
    this.lit = null;
    this.light(kept);
  }

  paintTint() {
    const { colours } = this.regions;
    const colourOf = Uint32Array.from(this.cut.faces, (face, region) => {
      if (region < this.cut.first) return 0xffffffff;
      if (this.cut.count === 1) return 0; // nothing to tell apart
      const [red, green, blue] = colours.subarray(3 * face, 3 * face + 3);
      return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
    });
    this.paint(this.tint, (i) => colourOf[this.numbers[i]]);
  }

  /** White lines with a shadow, so that they are seen on any ground; two pixels on fine screens. */
  paintLines() {
    const { width, numbers } = this;
    const [last, fine] = [numbers.length, devicePixelRatio > 1.4];
    this.paint(this.lines, (i) => {
      const here = numbers[i];
      const right = (i + 1) % width ? numbers[i + 1] : here;
      const below = i + width < last ? numbers[i + width] : here;
      if (here !== right || here !== below) return 0xf2ffffff;
      const left = i % width ? numbers[i - 1] : here;
      const above = i >= width ? numbers[i - width] : here;
      if (here === left && here === above) return 0;
      return fine ? 0xf2ffffff : 0x66000000;
    });
  }

  /** Light one region up by darkening the others; null leaves all as they are. */
  light(region) {
    if (region !== null && region < this.cut.first) region = null;
    if (region === this.lit) return;
    this.lit = region;
    if (region === null) this.paint(this.glow, () => 0);
    else this.paint(this.glow, (i) => (this.numbers[i] === region ? 0 : 0xa6000000));
    this.tell(region);
  }

  paint(canvas, colourAt) {
    const context = canvas.getContext("2d");
    const picture = context.createImageData(this.width, this.height);
    const pixels = new Uint32Array(picture.data.buffer);
    for (let i = 0; i < pixels.length; i++) pixels[i] = colourAt(i);
    context.putImageData(picture, 0, 0);
  }

  point(event) {
    const box = this.element.getBoundingClientRect();
    this.place = {
      x: (event.clientX - box.left) / box.width,
      y: (event.clientY - box.top) / box.height,
    };
    this.cross.hidden = true;
    this.light(this.under());
  }

  /** The region under the pointer or the cross. */
  under() {
    if (!this.numbers) return null;
    const inside = (share, length) => Math.min(length - 1, Math.max(0, Math.floor(share * length)));
    const { x, y } = this.place;
    return this.numbers[inside(y, this.height) * this.width + inside(x, this.width)];
  }

  step(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    const stride = event.shiftKey ? 0.1 : 0.02;
    const within = (share) => Math.min(1, Math.max(0, share));
    this.place.x = within(this.place.x + stride * way[0]);
    this.place.y = within(this.place.y + stride * way[1]);
    this.cross.hidden = false;
    this.cross.style.left = `${100 * this.place.x}%`;
    this.cross.style.top = `${100 * this.place.y}%`;
    this.light(this.under());
  }
}

/** Say which region is lit up, how large it is and of which colour; in pixels if areas are exact. */
function tellRegion(told, regions, cut, region, exact = true) {
  if (region === null) {
    told.replaceChildren(matchMedia("(pointer: coarse)").matches
      ? "Tap a region to see its area and its mean colour."
      : "Point at a region, or use the arrow keys on the picture.");
    return;
  }
  const total = regions.width * regions.height;
  const share = (100 * cut.areas[region]) / total;
  const parts = [
    make("span", {}, "region ", make("strong", { class: "label" }, String(region))),
    make("span", { class: "area" }, exact ? `${inWords(cut.areas[region])} pixels, ` : "",
      `${brief(share, 3)} %`),
  ];
  const mean = regions.meansOf(cut, region);
  if (mean) {
    const colour = `rgb(${mean.shown.join(", ")})`;
    parts.push(make("span", {}, make("span", { class: "swatch", style: `background: ${colour}` }),
      "mean ", make("strong", { class: "mean" }, mean.values.map((v) => brief(v, 4)).join(", "))));
  }
  told.replaceChildren(...parts);
}

/** The controls that every stage has: how strongly it is coloured, and its boundaries. */
function stageControls(stage) {
  stage.tint.style.opacity = 0.45;
  return make("div", { class: "card" }, make("h3", {}, "Picture"),
    make("label", {}, "Colours of the regions", make("input", {
      type: "range", id: "opacity", min: 0, max: 100, value: 45,
      input: (event) => { stage.tint.style.opacity = event.target.value / 100; },
    })),
    make("div", { class: "ends" }, make("span", {}, "original"), make("span", {}, "regions")),
    make("label", { class: "check row" }, make("span", {}, "Boundaries"), make("input", {
      type: "checkbox", id: "boundaries", checked: true,
      input: (event) => { stage.lines.hidden = !event.target.checked; },
    })));
}
