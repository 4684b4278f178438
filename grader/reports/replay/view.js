// The page: draws a recording at a step. All text goes in by textContent; nothing of a submission is ever markup.
import { LANES, OP, Recording, shown, xyz } from "./recording.js";
import { aboutFinding, beyond, kindOf, nameOf, origin, sentence, standing, stateNames, who } from "./words.js";

const ACROSS = 16, DOWN = 12, HISTORY = 60;
const KINDS = [
  ["accesses", "each access"], ["all", "everything, lines and locals too"], ["requests", "each request of a warp"], ["barriers", "each barrier"],
];

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

// Only what changes is written: reading it back from the page would take longer than drawing.
const says = (element, text) => { if (element.said !== text) element.textContent = element.said = text; };
const classed = (element, name) => { if (element.classes !== name) element.className = element.classes = name; };

export class View {
  constructor(root, recording, title) {
    this.r = recording;
    this.root = root;
    this.kind = "accesses";
    this.follow = null; // [block, thread]
    this.step = 0;
    this.object = -1;
    this.pinned = null; // {object, element} that was chosen
    this.finding = null;
    this.#build(title);
    this.#chooseSteps();
    const first = this.r.head.findings[0];
    if (first) this.show(first);
    else this.go(this.steps[0] ?? 0);
  }

  // What is played.

  #chooseSteps() {
    this.steps = this.follow ? this.r.steps(this.kind, ...this.follow) : this.r.steps(this.kind);
    if (!this.steps.length) this.steps = Uint32Array.of(0);
    this.range.max = this.steps.length - 1;
    says(this.many, String(this.r.count));
  }

  // The number, among the steps that are played, of the last one up to where we are.
  #at(step = this.step) {
    let low = 0, high = this.steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.steps[middle] <= step) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  go(step) {
    this.step = Math.max(0, Math.min(this.r.count - 1, step));
    const number = this.r.columns.object[this.step];
    const about = this.r.head.objects[number];
    if (!this.pinned && about && about.kind !== "local") this.object = number;
    if (this.object < 0) this.object = this.r.head.objects.findIndex((each) => each.kind !== "local");
    this.#later();
  }

  by(count) { this.go(this.steps[Math.max(0, Math.min(this.steps.length - 1, this.#at() + count))]); }

  barrier(direction) {
    const all = this.r.steps("barriers"), i = all.findIndex((e) => e >= this.step);
    const from = i < 0 ? all.length : i;
    if (direction > 0) this.go(all[all[from] === this.step ? from + 1 : from] ?? this.r.count - 1);
    else this.go(all[from - 1] ?? 0);
  }

  show(finding) {
    this.finding = finding;
    this.pinned = null;
    const barrier = finding.kind.startsWith("barrier");
    this.go(finding.access >= 0 ? finding.access : barrier ? this.r.lastArrival(this.r.columns.block[finding.event], finding.event) : finding.event);
  }

  otherSide() {
    const f = this.finding;
    if (f && f.other >= 0) this.go(this.step === f.other ? (f.access >= 0 ? f.access : f.event) : f.other);
  }

  nextFinding(direction) {
    const all = this.r.head.findings;
    if (all.length) this.show(all[(all.indexOf(this.finding) + direction + all.length) % all.length]);
  }

  followThread(block, thread) {
    const same = this.follow && this.follow[0] === block && this.follow[1] === thread;
    this.follow = same || block === undefined ? null : [block, thread];
    this.#chooseSteps();
    this.go(this.step);
  }

  play() {
    this.playing = !this.playing;
    says(this.playButton, this.playing ? "Pause" : "Play");
    let last = 0;
    const tick = (now) => {
      if (!this.playing) return;
      if (now - last >= 1000 / Number(this.speed.value)) {
        last = now;
        if (this.#at() >= this.steps.length - 1) return this.play();
        this.by(1);
      }
      requestAnimationFrame(tick);
    };
    if (this.playing) requestAnimationFrame(tick);
  }

  // Goes to where the same thread does the same to the same element as `other` at its step, if there is such a step.
  goWhere(other) {
    const { r } = other, { op, block, thread, object } = r.columns, e = other.step, about = r.head.objects[object[e]];
    if (!about || !r.isAccess(e)) return;
    const index = xyz(r.head.blocks[block[e]].index), mine = this.r, element = r.element(e);
    const b = mine.head.blocks.findIndex((each) => xyz(each.index) === index);
    if (b < 0 || mine.threads !== r.threads) return;
    for (const each of mine.events(b, thread[e]))
      if (mine.columns.op[each] === op[e] && mine.head.objects[mine.columns.object[each]]?.name === about.name && mine.element(each) === element) return this.go(each);
  }

  // How it looks.

  #build(title) {
    const { head } = this.r, launch = head.launch;
    const button = (words, label, pressed) => make("button", { type: "button", "aria-label": label, onclick: pressed }, words);
    this.findings = make("div", { class: "findings" });
    head.findings.forEach((finding) => {
      const chosen = button("", null, () => this.show(finding));
      chosen.removeAttribute("aria-label");
      chosen.append(make("b", {}, kindOf(finding.kind)), ` ${finding.title}`, make("span", { class: "dim" }, ` ${this.#lines(finding)}`));
      chosen.finding = finding;
      this.findings.append(chosen);
    });
    if (!head.findings.length) this.findings.append(make("p", { class: "dim" }, "The checks found nothing in this launch. Step through it, or look at an element or a thread."));
    this.about = make("div", { class: "about", id: this.#id("about") });
    this.sentence = make("p", { class: "sentence", "aria-live": "polite", id: this.#id("sentence") });
    this.range = make("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Step", oninput: () => this.go(this.steps[Number(this.range.value)]) });
    this.where = make("span", { class: "where" });
    this.many = make("span");
    this.playButton = button("Play", null, () => this.play());
    this.playButton.removeAttribute("aria-label");
    this.speed = make("select", { "aria-label": "Steps a second" }, ...[2, 5, 15, 60].map((n) => make("option", { value: n }, `${n}/s`)));
    this.speed.value = "5";
    const kinds = make("select", { "aria-label": "What a step is", onchange: () => { this.kind = kinds.value; this.#chooseSteps(); this.go(this.step); } },
      ...KINDS.map(([value, words]) => make("option", { value }, words)));
    this.followed = button("Follow this thread", null, () => this.#followHere());
    this.followed.removeAttribute("aria-label");
    this.other = button("The other side", null, () => this.otherSide());
    this.other.removeAttribute("aria-label");
    const controls = make("div", { class: "controls", role: "group", "aria-label": "Playing" },
      make("div", { class: "row" },
        button("|<", "First step", () => this.go(this.steps[0])), button("<", "Back", () => this.by(-1)), this.playButton,
        button(">", "On", () => this.by(1)), button(">|", "Last step", () => this.go(this.steps[this.steps.length - 1])), this.speed, kinds, this.followed),
      make("div", { class: "row" }, this.range, this.where));
    this.source = make("div", { class: "source", tabindex: 0, role: "region", "aria-label": "Source" });
    this.source.addEventListener("scroll", () => { this.scrollTop = this.source.scrollTop; }, { passive: true });
    globalThis.addEventListener("resize", () => { this.measured = 0; });
    this.#source();
    this.grid = make("div", { class: "grid", role: "group", "aria-label": "Blocks that were recorded" });
    this.blocks = head.blocks.map((block, number) => {
      const one = button(xyz(block.index), `Block ${xyz(block.index)}`, () => this.#toBlock(number));
      this.grid.append(one);
      return one;
    });
    this.standing = make("p", { class: "dim" });
    this.lanes = make("div", { class: "lanes", role: "img" });
    this.cells = [];
    for (let t = 0; t < this.r.threads; ++t) {
      if (t % LANES === 0) this.lanes.append(make("span", { class: "warp" }, `w${t / LANES}`));
      const cell = make("i", { title: `thread ${xyz(this.r.index(t))}, warp ${Math.floor(t / LANES)} lane ${t % LANES}` });
      cell.addEventListener("click", () => this.#toThread(t));
      this.cells.push(cell);
      this.lanes.append(cell);
    }
    this.tabs = make("div", { class: "tabs", role: "group", "aria-label": "What is shown" });
    this.tabButtons = new Map();
    head.objects.forEach((object, number) => {
      if (object.kind === "local") return;
      const tab = button(object.name || "a tensor", `${object.kind} ${object.name}`, () => { this.object = number; this.pinned = { object: number, element: 0 }; this.#later(); });
      this.tabButtons.set(number, tab);
      this.tabs.append(tab);
    });
    this.memoryTitle = make("p", { class: "dim" });
    this.memory = make("div", { class: "memory", role: "group", "aria-label": "Elements" });
    this.memory.addEventListener("click", (event) => {
      const element = event.target.element;
      if (element === undefined) return;
      this.pinned = { object: this.object, element };
      this.#later();
    });
    this.request = make("p", { class: "request" });
    this.bar = make("div", { class: "bar", role: "img" });
    this.historyTitle = make("h3", {}, "");
    this.history = make("ol", { class: "history" });
    this.threadTitle = make("h3", {}, "");
    this.values = make("dl", { class: "values" });
    const says_ = [`${launch.kernel}<<<${xyz(launch.grid)}, ${xyz(launch.block)}>>>`, `case ${head.case}`, `${this.r.count.toLocaleString("en")} steps`];
    if (launch.schedule) says_.push(`schedule ${launch.schedule}`);
    const panel = (name, ...children) => make("section", { class: `panel ${name}`, "aria-label": name }, ...children);
    this.root.append(
      make("header", {}, make("h1", {}, title || head.title), make("p", { class: "dim" }, says_.join(" · ")), this.#notes()),
      this.findings, this.about,
      make("div", { class: "step" }, this.sentence, this.other),
      controls,
      make("div", { class: "panels" },
        panel("source-panel", make("h2", {}, "Source"), this.source),
        panel("threads", make("h2", {}, "Threads"), this.grid, this.standing, this.lanes, this.#legend()),
        panel("memory-panel", make("h2", {}, "Memory"), this.tabs, this.memoryTitle, this.memory, this.#memoryLegend(), this.request, this.bar),
        panel("history-panel", make("h2", {}, "Element"), this.historyTitle, this.history),
        panel("thread-panel", make("h2", {}, "Thread"), this.threadTitle, this.values)));
    this.range.id = this.#id("range");
  }

  #id(word) { return `${this.root.id}-${word}`; }

  #lines(finding) {
    const lines = [finding.line, finding.other_line].filter(Boolean);
    return lines.length ? `line${lines.length > 1 ? "s" : ""} ${lines.join(" and ")}` : "";
  }

  #notes() {
    const { head } = this.r, cut = head.blocks.some((b) => b.cut), launch = head.launch;
    const many = launch.grid[0] * launch.grid[1] * launch.grid[2], lines = [
      "This is what ran on the CPU back end, in its order: thread after thread, each until it ends or waits. A GPU runs the lanes of a warp together and warps and blocks in any order; what no barrier orders may come the other way round there.",
      "A request puts the same access of a warp's lanes together, as a GPU does.",
    ];
    if (head.blocks.length < many) lines.push(`${head.blocks.length} of ${many} blocks were recorded: the one in question and its neighbours. What others wrote shows only in what tensors hold afterwards.`);
    if (cut) lines.push("A block did more than is kept; its recording ends early.");
    lines.push(...head.notes);
    return make("details", {}, make("summary", {}, "What you see, and what a GPU may do otherwise"), ...lines.map((line) => make("p", {}, line)),
      make("p", {}, "Keys: left and right step, with Shift ten at once; Page Up and Page Down go to a barrier, Home and End to the ends; Space plays; N and P go through the findings, O to the other side of a race, F follows the thread."));
  }

  #legend() {
    const key = (name, words) => make("span", {}, make("i", { class: name }), ` ${words}`);
    return make("p", { class: "legend dim" }, ...Object.entries(stateNames).map(([name, words]) => key(name, words)), key("now", "this step"));
  }

  #memoryLegend() {
    const key = (name, words) => make("span", {}, make("i", { class: name }), ` ${words}`);
    return make("p", { class: "legend dim" }, key("wrote", "written here"), key("readc", "read here"), key("unwritten", "nobody wrote"), key("beyond", "beyond the end"), key("nowc", "this step"), key("asked", "the warp's other lanes, in one request"));
  }

  #source() {
    this.lineOf = new Map();
    const used = new Map();
    for (const place of this.r.head.places) if (place.line) (used.get(place.file) ?? used.set(place.file, []).get(place.file)).push(place.line);
    for (const source of this.r.head.sources) {
      const lines = source.text.split("\n"), near = used.get(source.file) ?? [];
      if (!near.length) continue;
      const from = Math.max(source.first_line, Math.min(...near) - 4), to = Math.min(source.first_line + lines.length - 1, Math.max(...near) + 4);
      this.source.append(make("p", { class: "dim" }, source.file));
      for (let n = from; n <= to; ++n) {
        const marks = make("span", { class: "marks" });
        const row = make("div", { class: "line", "data-line": n }, make("span", { class: "number" }, String(n)), make("code", {}, lines[n - source.first_line] || " "), marks);
        row.marks = marks;
        this.lineOf.set(`${source.file}:${n}`, row);
        this.source.append(row);
      }
    }
    if (!this.lineOf.size) this.source.append(make("p", { class: "dim" }, "The source is not at hand."));
  }

  #followHere() {
    if (this.follow) return this.followThread();
    const { block, thread } = this.r.columns;
    this.followThread(block[this.step], thread[this.step]);
  }

  #toBlock(number) {
    for (let e = this.step; e < this.r.count; ++e) if (this.r.columns.block[e] === number) return this.go(e);
    for (let e = 0; e < this.r.count; ++e) if (this.r.columns.block[e] === number) return this.go(e);
  }

  #toThread(thread) {
    const block = this.r.columns.block[this.step], mine = this.r.events(block, thread);
    if (mine.length) this.go(this.r.lastOf(block, thread, this.step) >= 0 ? this.r.lastOf(block, thread, this.step) : mine[0]);
  }

  #later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  draw() {
    const { r, step } = this;
    says(this.sentence, `Step ${step + 1}. ${sentence(r, step)}`);
    says(this.where, `${this.#at() + 1} of ${this.steps.length}`);
    this.range.value = this.#at();
    this.range.setAttribute("aria-valuetext", this.sentence.textContent);
    for (const each of this.findings.querySelectorAll("button")) each.setAttribute("aria-pressed", each.finding === this.finding);
    this.other.hidden = !this.finding || this.finding.other < 0 || (step !== this.finding.access && step !== this.finding.other);
    says(this.followed, this.follow ? "Follow all" : "Follow this thread");
    if (this.drawnFinding !== this.finding) {
      this.drawnFinding = this.finding;
      this.about.replaceChildren(...(this.finding ? aboutFinding(r, this.finding).map((line) => make("p", {}, line)) : []));
    }
    this.#drawLines();
    this.#drawThreads();
    this.#drawMemory();
    this.#drawRequest();
    this.#drawHistory();
    this.#drawThread();
  }

  #drawLines() {
    const { r, step } = this, block = r.columns.block[step], here = new Map(), warps = new Map();
    for (let t = 0; t < r.threads; ++t) {
      const state = r.state(block, t, step);
      if (state === "ahead" || state === "left") continue;
      const line = r.lineOf(block, t, step), warp = Math.floor(t / LANES);
      if (!line) continue;
      const at = here.get(line) ?? here.set(line, new Map()).get(line);
      at.set(warp, (at.get(warp) ?? 0) + 1);
      warps.set(warp, true);
    }
    const file = r.file(step), current = r.line(step), other = this.finding && this.finding.other >= 0 ? r.line(this.finding.other === step ? this.finding.access : this.finding.other) : 0;
    for (const [key, row] of this.lineOf) {
      const at = key.lastIndexOf(":"), n = Number(key.slice(at + 1)), mine = !file || key.slice(0, at) === file;
      const marks = mine ? here.get(n) : null;
      const isOther = this.finding && (step === this.finding.access || step === this.finding.other) && n === other;
      classed(row, `line${mine && n === current ? " current" : ""}${mine && isOther ? " other" : ""}`);
      says(row.marks, marks ? [...marks].slice(0, 4).map(([warp, many]) => `w${warp}×${many}`).join(" ") + (marks.size > 4 ? " …" : "") : "");
      if (mine && n === current && this.scrolled !== key) {
        this.scrolled = key;
        this.#scrollTo(row);
      }
    }
  }

  // Where lines are is measured once: asking for it at each step would lay the whole page out each time.
  #scrollTo(row) {
    const box = this.source;
    if (!this.measured) {
      for (const each of this.lineOf.values()) each.top = each.offsetTop - box.offsetTop;
      this.measured = box.clientHeight;
      this.scrollTop = box.scrollTop;
    }
    if (row.top >= this.scrollTop && row.top <= this.scrollTop + this.measured - 40) return;
    this.scrollTop = Math.max(0, row.top - this.measured / 2);
    box.scrollTop = this.scrollTop;
  }

  #drawThreads() {
    const { r, step } = this, block = r.columns.block[step], now = r.columns.thread[step];
    this.blocks.forEach((button, number) => button.setAttribute("aria-pressed", number === block));
    for (let t = 0; t < r.threads; ++t) classed(this.cells[t], `${r.state(block, t, step)}${t === now ? " now" : ""}`);
    const text = standing(r, block, step);
    says(this.standing, `Block ${xyz(r.head.blocks[block].index)}: ${text}.`);
    this.lanes.setAttribute("aria-label", `The block's ${r.threads} threads, a warp a row: ${text}`);
  }

  // The element that is looked at: one that was chosen, else that of this step.
  #element() {
    if (this.pinned) return this.pinned.element;
    return this.r.columns.object[this.step] === this.object && this.r.columns.op[this.step] !== OP.KEEPS ? this.r.element(this.step) : this.lastElement ?? 0;
  }

  #drawMemory() {
    const { r, step } = this, object = r.head.objects[this.object];
    for (const [number, tab] of this.tabButtons) tab.setAttribute("aria-pressed", number === this.object);
    if (!object) return;
    const element = (this.lastElement = this.#element()), many = r.elements(object), shared = object.kind === "shared";
    const shape = object.shape.length ? object.shape : [many], columns = shared ? Math.min(LANES, Math.max(1, many)) : shape[shape.length - 1] || 1;
    const across = shared ? columns : Math.min(ACROSS, Math.max(columns, object.shape.length > 1 ? 1 : ACROSS));
    const wide = object.shape.length > 1 && !shared ? columns : across; // elements in a row of the picture
    const rowOf = Math.floor(element / wide), columnOf = element - rowOf * wide;
    const left = object.shape.length > 1 && !shared ? Math.max(0, Math.min(columnOf - across / 2, wide - across)) : 0;
    const rows = Math.ceil(many / wide), top = Math.max(element < 0 ? rowOf : 0, Math.min(rowOf - Math.floor(DOWN / 2), Math.max(rows, rowOf + 1) - DOWN));
    const down = Math.min(DOWN, Math.max(rows, rowOf + 1) - top);
    const kind = shared ? `shared memory, ${many} elements; a column is a bank` : `${object.dtype || `${object.element} bytes`} [${object.shape.join(", ")}]`;
    says(this.memoryTitle, `${object.name}: ${kind}`);
    this.memory.style.setProperty("--across", across);
    classed(this.memory, `memory${across > ACROSS ? " many" : ""}`);
    const wanted = down * (across + 1);
    while (this.memory.childElementCount < wanted) this.memory.append(make("span"));
    while (this.memory.childElementCount > wanted) this.memory.lastElementChild.remove();
    const current = r.columns.object[step] === this.object ? this.#covered(step) : new Set();
    const asked = this.#asked(step);
    const marked = this.finding ? [this.finding.access, this.finding.other].filter((e) => e >= 0 && r.columns.object[e] === this.object).map((e) => r.element(e)) : [];
    for (let y = 0; y < down; ++y) {
      const head = this.memory.children[y * (across + 1)];
      classed(head, "rowhead");
      says(head, object.shape.length > 1 && !shared ? r.place(object, (top + y) * wide).slice(1, -1).split(", ").slice(0, -1).join(",") : String((top + y) * wide));
      for (let x = 0; x < across; ++x) {
        const cell = this.memory.children[y * (across + 1) + 1 + x], n = (top + y) * wide + Math.floor(left) + x;
        this.#drawCell(cell, object, n, many, { current, asked, marked }, across <= ACROSS);
      }
    }
  }

  #covered(step) {
    const object = this.r.head.objects[this.object], found = new Set(), { offset, size } = this.r.columns;
    if (!this.r.isAccess(step) || !object) return found;
    for (let i = this.r.element(step); i * object.element < offset[step] + size[step]; ++i) found.add(i);
    return found;
  }

  // The elements that the other lanes of the warp ask for in the same request.
  #asked(step) {
    const found = new Set(), { object } = this.r.columns;
    if (this.r.isAccess(step) && object[step] === this.object) for (const e of this.r.request(step).values()) found.add(this.r.element(e));
    return found;
  }

  #drawCell(cell, object, n, many, sets, withValue) {
    const { r, step } = this, outside = n < 0 || n >= many;
    if (outside && !r.touches(this.object, n, r.columns.block[this.step]).length) {
      classed(cell, "cell none");
      says(cell, "");
      return;
    }
    const known = r.at(this.object, n, step), touched = known.seen >= 0;
    let name = outside ? "cell beyond" : known.written === "no" ? "cell unwritten" : "cell";
    if (!outside && touched) name += known.written === "here" ? " wrote" : " readc";
    if (sets.current.has(n)) name += " nowc";
    else if (sets.asked.has(n)) name += " asked";
    if (sets.marked.includes(n)) name += " marked";
    classed(cell, name);
    says(cell, withValue ? (known.written === "no" && !touched ? "" : known.value === null && !touched ? "·" : shown(known.value, 5)) : "");
    if (cell.element !== n || cell.objectNumber !== this.object) {
      cell.element = n;
      cell.objectNumber = this.object;
      cell.setAttribute("data-element", n);
    }
  }

  #drawRequest() {
    const { r, step } = this;
    if (!r.isAccess(step) || r.columns.object[step] < 0) {
      says(this.request, "");
      this.bar.replaceChildren();
      return;
    }
    const lanes = r.request(step), object = r.head.objects[r.columns.object[step]], many = lanes.size;
    const warp = Math.floor(r.columns.thread[step] / LANES), bytes = many * r.columns.size[step];
    const parts = [];
    if (object.kind === "shared") {
      const banks = r.banks(lanes), most = Math.max(1, ...[...banks.values()].map((words) => words.size));
      says(this.request, `Warp ${warp}: ${many} lanes ask ${banks.size} of 32 banks, ${most === 1 ? "in one round" : `in ${most} rounds: a bank gives one word at a time`}.`);
      for (let bank = 0; bank < 32; ++bank) {
        const words = banks.get(bank)?.size ?? 0;
        parts.push(make("span", { class: words ? (words > 1 ? "waste" : "own") : "", style: `--n:${Math.min(words, 8)}`, title: `bank ${bank}: ${words} words` }, words > 1 ? String(words) : ""));
      }
    } else {
      const sectors = r.sectors(lanes), used = new Set();
      for (const e of lanes.values()) for (let k = 0; k < r.columns.size[e]; ++k) used.add(r.columns.offset[e] + k);
      says(this.request, `Warp ${warp}: ${many} lanes ask for ${bytes} bytes in ${sectors.size} sectors of 32 bytes, ${Math.round((100 * used.size) / (32 * Math.max(1, sectors.size)))} % of them used.`);
      for (const [sector, asked] of sectors) parts.push(make("span", { class: "own", style: `--n:${Math.min(8, asked.length)}`, title: `bytes ${32 * sector} to ${32 * sector + 31}: ${asked.length} lanes` }, String(asked.length)));
    }
    this.bar.setAttribute("aria-label", this.request.textContent);
    this.bar.replaceChildren(...parts);
  }

  #drawHistory() {
    const { r, step } = this, object = r.head.objects[this.object];
    if (!object) return;
    const element = this.#element(), touched = r.touches(this.object, element, r.columns.block[step]);
    says(this.historyTitle, `${nameOf(r, this.object, element)}${beyond(r, this.object, element) ? `, ${beyond(r, this.object, element)}` : ""}`);
    const key = `${this.object} ${element} ${object.kind === "shared" ? r.columns.block[step] : ""}`;
    if (this.drawnHistory !== key) {
      this.drawnHistory = key;
      this.drawnCurrent = null;
      const rows = [...touched.slice(0, HISTORY)].map((e) => {
        const verb = r.columns.op[e] === OP.READS ? "read" : r.writes(e) ? "wrote" : "read", value = r.valueIn(e, this.object, element);
        const jump = make("button", { type: "button", onclick: () => this.go(e) }, `Step ${e + 1}: ${who(r, e).toLowerCase()} ${verb} ${shown(value)} at line ${r.line(e)}`);
        const row = make("li", { "data-step": e }, jump);
        return row;
      });
      if (touched.length > HISTORY) rows.push(make("li", { class: "dim" }, `and ${touched.length - HISTORY} more`));
      if (!touched.length) rows.push(make("li", { class: "dim" }, "No recorded thread touches it."));
      this.history.replaceChildren(make("li", { class: "dim origin" }, ""), ...rows);
    }
    says(this.history.firstElementChild, `Now: ${origin(r, this.object, element, step) || "it is no element of the tensor."}`);
    for (const row of this.history.children) if (row.dataset.step) classed(row, Number(row.dataset.step) === step ? "current" : Number(row.dataset.step) > step ? "later" : "");
  }

  #drawThread() {
    const { r, step } = this, { block, thread } = r.columns, t = thread[step], b = block[step];
    says(this.threadTitle, `${who(r, step)} (warp ${Math.floor(t / LANES)}, lane ${t % LANES}): ${stateNames[r.state(b, t, step)]}, line ${r.lineOf(b, t, step) || "?"}`);
    const rows = r.locals(b, t, step).flatMap((local) => [make("dt", {}, local.name), make("dd", { class: local.event === step ? "current" : "" }, shown(local.value, 14))]);
    if (!rows.length) rows.push(make("dt", { class: "dim" }, "No named local has a value yet."));
    this.values.replaceChildren(...rows);
  }
}

// Bytes of a base64 text that was packed with gzip.
export async function unpacked(text) {
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function pressed(views, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.target.tagName === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
  if (event.target.tagName === "SUMMARY" && event.key === " ") return;
  const many = event.shiftKey ? 10 : 1;
  const keys = {
    ArrowRight: (v) => v.by(many), ArrowLeft: (v) => v.by(-many), Home: (v) => v.go(v.steps[0]), End: (v) => v.go(v.steps[v.steps.length - 1]),
    PageDown: (v) => v.barrier(1), PageUp: (v) => v.barrier(-1), " ": (v) => v.play(), n: (v) => v.nextFinding(1), p: (v) => v.nextFinding(-1),
    o: (v) => v.otherSide(), f: (v) => v.followThread(...(v.follow ? [] : [v.r.columns.block[v.step], v.r.columns.thread[v.step]])),
  };
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  const chosen = views.find((view) => view.root.contains(event.target));
  for (const view of chosen ? [chosen] : views) act(view);
}

export async function start() {
  const theme = /\b(dark|light)\b/.exec(location.hash);
  if (theme) document.documentElement.dataset.theme = theme[1];
  const places = [...document.querySelectorAll("script[data-recording]")], views = [];
  document.body.classList.toggle("beside", places.length > 1);
  const all = document.getElementById("replays");
  for (const [number, place] of places.entries()) {
    const root = make("article", { class: "replay", id: `replay-${number}` });
    all.append(root);
    try {
      views.push(new View(root, new Recording(await unpacked(place.textContent.trim())), place.dataset.title));
    } catch (error) {
      root.append(make("p", {}, `This recording cannot be shown here: ${error.message}`));
      console.error(error);
    }
  }
  for (const view of views.slice(1)) if (!view.finding && views[0].finding) view.goWhere(views[0]);
  document.addEventListener("keydown", (event) => pressed(views, event));
  globalThis.replay = views;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  document.body.dataset.ready = Math.round(performance.now());
}

start();
