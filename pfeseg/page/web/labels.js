// Label maps and hierarchies: unpacked, and cut at any level.

const ARRAYS = {
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i1: Int8Array, f4: Float32Array,
};

/** Undo `pack_array` of packing.py. */
async function unpackArray(packed) {
  const text = atob(packed.bytes);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new ARRAYS[packed.type](await new Response(stream).arrayBuffer());
}

/** Undo `pack_labels` of packing.py. */
async function unpackLabels(packed) {
  const [height, width] = packed.shape;
  const values = await unpackArray(packed);
  for (let i = width; i < values.length; i++) values[i] ^= values[i - width];
  return { values, width, height };
}

/** A label map, and the hierarchy of its regions if there is one. */
class Regions {
  static async read(map) {
    const regions = new Regions();
    regions.kind = map.kind;
    regions.outside = map.outside;
    regions.range = map.range;
    const names = ["areas", "colours", "means", "merges", "levels"];
    const arrays = await Promise.all(names.map((name) => map[name] && unpackArray(map[name])));
    names.forEach((name, k) => { regions[name] = arrays[k]; });
    const base = await unpackLabels(map.labels);
    Object.assign(regions, { base: base.values, width: base.width, height: base.height });
    regions.inside = regions.areas.length - (map.outside === null ? 0 : 1);
    regions.fewest = map.fewest || regions.inside;
    return regions;
  }

  get hasLevels() {
    return this.kind === "levels";
  }

  /** Group the regions of the base until so many are left. */
  cut(count) {
    const n = this.areas.length;
    const merges = this.hasLevels ? this.merges : [];
    const masked = n - this.inside;
    const left = Math.min(Math.max(count, this.fewest), this.inside);
    const done = this.hasLevels ? n - left - masked : 0;
    const owner = Uint32Array.from({ length: n }, (_, k) => k);
    const area = Float64Array.from(this.areas);
    const face = Uint32Array.from(owner);
    for (let m = 0; m < done; m++) {
      const [kept, absorbed] = [merges[2 * m], merges[2 * m + 1]];
      owner[absorbed] = kept;
      if (area[absorbed] > area[kept]) face[kept] = face[absorbed];
      area[kept] += area[absorbed];
    }
    const cut = this.numbered(owner, face, area);
    cut.level = done ? this.levels[done - 1] : 0;
    cut.next = this.hasLevels && done < this.levels.length ? this.levels[done] : 1;
    return cut;
  }

  /** Number the groups as the label maps on disk do: in the order of their first region. */
  numbered(owner, face, area) {
    const n = owner.length;
    const first = this.outside === null ? 0 : 1;
    const number = new Uint32Array(n);
    const seen = new Int32Array(n).fill(-1);
    const faces = first ? [0] : [];
    const areas = first ? [0] : [];
    for (let k = 0; k < n; k++) {
      if (k === this.outside) continue;
      let root = k;
      while (owner[root] !== root) root = owner[root];
      owner[k] = root;
      if (seen[root] < 0) {
        seen[root] = faces.length;
        faces.push(face[root]);
        areas.push(area[root]);
      }
      number[k] = seen[root];
    }
    return { number, faces, areas, first, count: faces.length - first };
  }

  /** Mean of the image in the regions of a cut, of each channel; null without the original. */
  meansOf(cut, region) {
    if (!this.means) return null;
    const n = this.areas.length;
    const sums = new Array(this.means.length / n).fill(0);
    for (let k = 0; k < n; k++) {
      if (cut.number[k] !== region || k === this.outside) continue;
      sums.forEach((_, c) => { sums[c] += this.means[c * n + k] * this.areas[k]; });
    }
    const shares = sums.map((sum) => sum / cut.areas[region] / 65535);
    const [black, white] = this.range;
    return {
      values: shares.map((share) => black + share * (white - black)),
      shown: [0, 1, 2].map((c) => Math.round(255 * shares[shares.length === 1 ? 0 : c])),
    };
  }

  /** The label map of a cut at full size. */
  labelsOf(cut) {
    const labels = new Uint32Array(this.base.length);
    for (let i = 0; i < labels.length; i++) labels[i] = cut.number[this.base[i]];
    return labels;
  }

  /** Numbers of regions that a slider stops at: all of the few, then about 4 % more each. */
  stops() {
    const stops = [];
    for (let count = this.fewest; count < this.inside;) {
      stops.push(count);
      count = Math.max(count + 1, Math.round(count * 1.04));
    }
    stops.push(this.inside);
    return stops;
  }
}
