// A recording in memory: what is asked of it while it is played. Nothing here touches the page.
export const OP = {
  ENTERS: 0, WRITES: 1, READS: 2, UPDATES: 3, ARRIVES: 4, RELEASES: 5, MEETS: 6, PARTS: 7, LEAVES: 8, FOUND: 9,
  KEEPS: 10, FENCES: 11, MORE: 12, MEETS_GRID: 13, BEGINS: 14, ENDS: 15,
};
const TYPES = { "<u1": Uint8Array, "<u2": Uint16Array, "<i2": Int16Array, "<i4": Int32Array, "<u8": Uint32Array };
export const LANES = 32;
const SECTOR = 32, BANKS = 32;

// "float16" from its bits.
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : (fraction / 1024) * 2 ** -14);
}

const scratch = new DataView(new ArrayBuffer(8));
// The number that these 64 bits are, read as this type; null where the type is not known.
export function decoded(low, high, dtype) {
  scratch.setUint32(0, low, true);
  scratch.setUint32(4, high, true);
  switch (dtype) {
    case "float32": return scratch.getFloat32(0, true);
    case "float64": return scratch.getFloat64(0, true);
    case "float16": return half(low & 0xffff);
    case "bfloat16": scratch.setUint32(0, (low << 16) >>> 0, true); return scratch.getFloat32(0, true);
    case "int8": return scratch.getInt8(0);
    case "int16": return scratch.getInt16(0, true);
    case "int32": return scratch.getInt32(0, true);
    case "int64": return Number(scratch.getBigInt64(0, true));
    case "uint8": case "bool": return low & 255;
    case "uint16": return low & 0xffff;
    case "uint32": return low >>> 0;
    case "uint64": return Number(scratch.getBigUint64(0, true));
    default: return null;
  }
}

// A number in few letters.
export function shown(number, letters = 8) {
  if (number === null || number === undefined) return "?";
  if (Number.isNaN(number)) return "nan";
  if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
  const text = Number.isInteger(number) ? String(number) : String(Number(number.toPrecision(6)));
  if (text.length <= letters) return text;
  const size = Math.abs(number);
  if (size >= 1e-3 && size < 10 ** (letters - 3)) return number.toFixed(Math.max(0, Math.min(3, letters - 2 - String(Math.trunc(size)).length - (number < 0 ? 1 : 0))));
  return number.toExponential(0).replace("e+", "e");
}

// A number in the five letters of a cell, with the same number of decimals as its neighbours of that size.
export function brief(number) {
  if (number === null || number === undefined || !Number.isFinite(number)) return shown(number, 5);
  const size = Math.abs(number);
  if (Number.isInteger(number) && String(number).length <= 5) return String(number);
  if (size >= 0.005 && size < 9.995) return number.toFixed(2);
  if (size >= 1 && size < 99.95) return number.toFixed(1);
  if (size >= 1 && size < 9999) return number.toFixed(0);
  return number.toExponential(0).replace("e+", "e");
}

export const xyz = (at) => `(${at.join(", ")})`;

// The last index of `sorted` (between from and to) whose value is at most `limit`; from - 1 if there is none.
export function lastUpTo(sorted, limit, from = 0, to = sorted.length) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle] <= limit) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

export class Recording {
  constructor(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = Number(view.getBigUint64(0, true));
    this.head = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
    let at = 8 + length;
    this.columns = {};
    this.count = this.head.count;
    for (const [name, kind] of Object.entries(this.head.columns)) {
      const nbytes = this.count * Number(kind[2]);
      const part = bytes.slice(at, at + nbytes); // a copy, which is aligned
      this.columns[name] = new TYPES[kind](part.buffer);
      at += Math.ceil(nbytes / 8) * 8;
    }
    this.contents = bytes.subarray(at, at + this.head.contents);
    this.view = new DataView(this.contents.buffer, this.contents.byteOffset, this.contents.byteLength);
    this.block = this.head.launch.block;
    this.threads = this.block[0] * this.block[1] * this.block[2];
    this.warps = Math.ceil(this.threads / LANES);
    this.#sortByThread();
    // Whether all that the launch did is here.
    this.whole = this.head.blocks.length === this.head.launch.grid.reduce((a, b) => a * b) && !this.head.blocks.some((b) => b.cut);
    this.indices = new Map(); // by object: which events touch which element
    this.lanesAt = new Map();
  }

  #sortByThread() {
    const { block, thread, op } = this.columns, many = this.head.blocks.length * this.threads;
    this.starts = new Uint32Array(many + 1);
    const alone = (e) => op[e] !== OP.RELEASES && op[e] !== OP.BEGINS && op[e] !== OP.ENDS;
    for (let e = 0; e < this.count; ++e) if (alone(e)) ++this.starts[block[e] * this.threads + thread[e] + 1];
    for (let i = 0; i < many; ++i) this.starts[i + 1] += this.starts[i];
    const next = this.starts.slice();
    this.byThread = new Uint32Array(this.starts[many]);
    this.releases = this.head.blocks.map(() => []);
    for (let e = 0; e < this.count; ++e) {
      if (alone(e)) this.byThread[next[block[e] * this.threads + thread[e]]++] = e;
      else if (op[e] === OP.RELEASES) this.releases[block[e]].push(e);
    }
  }

  // Threads.

  index(thread) {
    const [x, y] = this.block;
    return [thread % x, Math.floor(thread / x) % y, Math.floor(thread / x / y)];
  }

  number([x, y, z]) {
    return (z * this.block[1] + y) * this.block[0] + x;
  }

  events(block, thread) {
    const who = block * this.threads + thread;
    return this.byThread.subarray(this.starts[who], this.starts[who + 1]);
  }

  // The last thing that a thread did up to a step; -1 if it has not begun. That something was found is none.
  lastOf(block, thread, step) {
    const mine = this.events(block, thread);
    let i = lastUpTo(mine, step);
    while (i >= 0 && this.columns.op[mine[i]] === OP.FOUND) --i;
    return i < 0 ? -1 : mine[i];
  }

  // The last arrival at a barrier of the block up to a step: where who waits can be seen, since then it opens.
  lastArrival(block, step) {
    for (let e = step; e >= 0; --e) if (this.columns.op[e] === OP.ARRIVES && this.columns.block[e] === block) return e;
    return step;
  }

  // "ahead" not begun, "active", "waits" at a barrier, "meets" in a warp function, "left".
  state(block, thread, step) {
    const last = this.lastOf(block, thread, step);
    if (last < 0) return "ahead";
    switch (this.columns.op[last]) {
      case OP.ARRIVES: {
        const released = this.releases[block], i = lastUpTo(released, step);
        return i >= 0 && released[i] > last ? "active" : "waits";
      }
      case OP.MEETS: case OP.MEETS_GRID: return "meets";
      case OP.LEAVES: return "left";
      default: return "active";
    }
  }

  // The line at which a thread is.
  lineOf(block, thread, step) {
    const mine = this.events(block, thread);
    for (let i = lastUpTo(mine, step); i >= 0; --i) {
      const line = this.line(mine[i]);
      if (line) return line;
    }
    return 0;
  }

  line(event) { return this.head.places[this.columns.place[event]]?.line ?? 0; }
  file(event) { return this.head.places[this.columns.place[event]]?.file ?? ""; }

  // What a thread's named locals hold: name, value, and the step that they got it at.
  locals(block, thread, step) {
    const found = new Map(), { op, object, size, value } = this.columns, mine = this.events(block, thread);
    for (let i = lastUpTo(mine, step); i >= 0; --i) {
      const e = mine[i];
      if (op[e] !== OP.KEEPS || object[e] < 0 || found.has(object[e])) continue;
      const bytes = size[e] & 15, kind = ["int", "uint", "float"][size[e] >> 4];
      found.set(object[e], {
        name: this.head.objects[object[e]].name, event: e,
        value: decoded(value[2 * e], value[2 * e + 1], `${kind}${bytes * 8}`),
      });
    }
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  // Memory.

  isAccess(event) {
    const op = this.columns.op[event];
    return op === OP.READS || op === OP.WRITES || op === OP.UPDATES;
  }

  // The first element that an access touches; below 0 or beyond the last one where it is out of bounds.
  element(event) {
    const object = this.head.objects[this.columns.object[event]];
    return object ? Math.floor(this.columns.offset[event] / object.element) : 0;
  }

  elements(object) { return Math.floor(object.bytes / object.element); }

  // By element, the events that touch it, in order; of shared memory those of one block, which has its own. Made when
  // it is first needed.
  touches(number, element, block) {
    const only = this.head.objects[number].kind === "shared" ? block : -1, key = number * 256 + only;
    let index = this.indices.get(key);
    if (!index) this.indices.set(key, (index = this.#touches(number, only)));
    if (element < 0 || element >= index.many) return index.outside.get(element) ?? [];
    return index.list.subarray(index.starts[element], index.starts[element + 1]);
  }

  #touches(number, only) {
    const object = this.head.objects[number], many = this.elements(object), unit = object.element;
    const { op, object: about, offset, size, block } = this.columns;
    const starts = new Uint32Array(many + 1), outside = new Map();
    const each = (visit) => {
      for (let e = 0; e < this.count; ++e) {
        if (about[e] !== number || (only >= 0 && block[e] !== only) || op[e] === OP.KEEPS || op[e] === OP.FOUND) continue;
        const last = Math.floor((offset[e] + Math.max(1, Math.min(size[e], 8)) - 1) / unit);
        for (let i = Math.floor(offset[e] / unit); i <= last; ++i) visit(e, i);
      }
    };
    each((e, i) => {
      if (i >= 0 && i < many) ++starts[i + 1];
      else if (outside.has(i)) outside.get(i).push(e);
      else outside.set(i, [e]);
    });
    for (let i = 0; i < many; ++i) starts[i + 1] += starts[i];
    const next = starts.slice(), list = new Uint32Array(starts[many]);
    each((e, i) => { if (i >= 0 && i < many) list[next[i]++] = e; });
    return { starts, list, outside, many };
  }

  // The value that an event left in, or found in, an element.
  valueIn(event, number, element) {
    const object = this.head.objects[number], { offset, value, size } = this.columns;
    const within = element * object.element - offset[event];
    if (within < 0 || within + object.element > Math.min(size[event], 8)) return null;
    let low = value[2 * event], high = value[2 * event + 1];
    const bits = within * 8;
    if (bits >= 32) [low, high] = [bits > 32 ? high >>> (bits - 32) : high, 0];
    else if (bits) [low, high] = [((low >>> bits) | (high << (32 - bits))) >>> 0, high >>> bits];
    return decoded(low, high, object.dtype);
  }

  // What is known of an element at a step: {value, written, by: event}. `written`: "here", "before" the launch, "no" for
  // what is known to be written by nobody, "unrecorded" where another block may have, "unknown".
  at(number, element, step) {
    const touched = this.touches(number, element, this.columns.block[Math.max(0, step)]), object = this.head.objects[number], { op } = this.columns;
    let value = null, seen = -1;
    for (let i = lastUpTo(touched, step); i >= 0; --i) {
      const e = touched[i];
      if (seen < 0) {
        seen = e;
        value = this.valueIn(e, number, element);
      }
      if (this.#writes(e, op)) return { value, written: "here", by: e, seen };
    }
    if (object.kind === "shared") return { value, written: "no", by: -1, seen };
    const kept = this.content(object, element, object.before);
    if (!kept) return { value, written: "unknown", by: -1, seen };
    if (kept.written) return { value: kept.value, written: "before", by: -1, seen };
    return { value, written: this.#nobody(number, element, step) ? "no" : "unrecorded", by: -1, seen };
  }

  // Whether nobody has written up to a step what no recorded thread has: if all blocks are here, if nobody has after the
  // launch either, or if the checks say so of a read at that step or later.
  #nobody(number, element, step) {
    if (this.whole) return true;
    const object = this.head.objects[number], after = this.content(object, element, object.after);
    if (after && !after.written) return true;
    return this.head.findings.some((f) => f.kind.endsWith("uninitialised-read") && f.access >= step && this.columns.object[f.access] === number && this.element(f.access) === element);
  }

  // What an element holds after the launch: {value, written: "here", "before", "elsewhere" or "no"}; null if it was not kept.
  after(number, element) {
    const object = this.head.objects[number], kept = object && this.content(object, element, object.after);
    if (!kept) return null;
    if (!kept.written) return { value: null, written: "no" };
    const last = this.at(number, element, this.count - 1);
    return { value: kept.value, written: (last.written === "here" || last.written === "before") && Object.is(last.value, kept.value) ? last.written : "elsewhere" };
  }

  #writes(event, op) {
    while (op[event] === OP.MORE && event > 0) --event;
    return op[event] === OP.WRITES || op[event] === OP.UPDATES;
  }

  writes(event) { return this.#writes(event, this.columns.op); }

  // An element as it was kept before or after the launch.
  content(object, element, at) {
    if (at < 0 || element < 0 || element >= this.elements(object)) return null;
    const from = at + element * object.element, known = from + object.bytes;
    let written = true;
    for (let i = 0; i < object.element; ++i) written &&= this.contents[known + i] === 1;
    return { value: decoded(this.#word(from, object.element), this.#word(from + 4, object.element - 4), object.dtype), written };
  }

  // Up to four of so many bytes of the contents, as one number.
  #word(at, bytes) {
    if (bytes >= 4) return this.view.getUint32(at, true);
    let word = 0;
    for (let i = 0; i < bytes; ++i) word += this.contents[at + i] << (8 * i);
    return word;
  }

  // "[2, 17]" of an element of a tensor of some dimensions.
  place(object, element) {
    const { shape } = object, many = this.elements(object);
    if (shape.length < 2 || element < 0 || element >= many) return `[${element}]`;
    const at = [];
    let rest = element;
    for (const extent of [...shape].reverse()) {
      at.unshift(rest % extent);
      rest = Math.floor(rest / extent);
    }
    return `[${at.join(", ")}]`;
  }

  // Of a warp and an instruction, the events of each lane.
  #lanesAt(block, warp, place) {
    const key = (block * this.warps + warp) * 65536 + place, known = this.lanesAt.get(key);
    if (known) return known;
    const lanes = [], { place: at } = this.columns;
    for (let t = warp * LANES; t < Math.min(this.threads, (warp + 1) * LANES); ++t)
      lanes.push(this.events(block, t).filter((e) => at[e] === place && this.columns.op[e] !== OP.MORE));
    this.lanesAt.set(key, lanes);
    return lanes;
  }

  // What a warp asks for together: the n-th time that each lane comes to this instruction. Lane -> event.
  request(event) {
    const { block, thread, place } = this.columns, lane = thread[event] % LANES;
    const all = this.#lanesAt(block[event], Math.floor(thread[event] / LANES), place[event]);
    const nth = lastUpTo(all[lane], event), lanes = new Map();
    all.forEach((events, each) => { if (nth < events.length) lanes.set(each, events[nth]); });
    return lanes;
  }

  // The sectors of 32 bytes that a request to device memory touches: sector -> lanes.
  sectors(lanes) {
    const found = new Map(), { offset, size } = this.columns;
    for (const [lane, e] of lanes)
      for (let s = Math.floor(offset[e] / SECTOR); s <= Math.floor((offset[e] + size[e] - 1) / SECTOR); ++s)
        found.set(s, [...(found.get(s) ?? []), lane]);
    return new Map([...found].sort((a, b) => a[0] - b[0]));
  }

  // The banks that a request to shared memory asks: bank -> set of its words. As many rounds as the fullest has.
  banks(lanes) {
    const found = new Map(), { offset, size } = this.columns;
    for (const [, e] of lanes)
      for (let word = Math.floor(offset[e] / 4); word <= Math.floor((offset[e] + size[e] - 1) / 4); ++word) {
        const bank = ((word % BANKS) + BANKS) % BANKS;
        found.set(bank, (found.get(bank) ?? new Set()).add(word));
      }
    return found;
  }

  // The steps at which something of this kind happens.
  steps(kind, block = -1, thread = -1) {
    const { op, block: b, thread: t, place } = this.columns, found = [], most = new Map();
    for (let e = 0; e < this.count; ++e) {
      if (thread >= 0 && (b[e] !== block || t[e] !== thread) && op[e] !== OP.RELEASES) continue;
      const o = op[e];
      if (o === OP.MORE || (o === OP.FOUND && this.columns.value[2 * e] >= this.head.findings.length)) continue; // none after all
      let wanted = kind === "all";
      if (kind === "accesses") wanted = o !== OP.ENTERS && o !== OP.KEEPS && o !== OP.BEGINS && o !== OP.ENDS;
      if (kind === "barriers") wanted = o === OP.RELEASES || o === OP.BEGINS || o === OP.ENDS;
      if (kind === "requests") {
        if (this.isAccess(e) || o === OP.ARRIVES || o === OP.MEETS) {
          const lane = t[e] % LANES, key = (b[e] * this.warps + (t[e] - lane) / LANES) * 65536 + place[e];
          const seen = most.get(key) ?? most.set(key, { counts: new Uint32Array(LANES), most: 0 }).get(key);
          if ((wanted = ++seen.counts[lane] > seen.most)) seen.most = seen.counts[lane];
        } else wanted = o === OP.RELEASES || o === OP.FOUND;
      }
      if (wanted) found.push(e);
    }
    return Uint32Array.from(found);
  }
}
