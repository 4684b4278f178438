// The page: draws a recording at a step. All text goes in by textContent; nothing of a submission is ever markup.
import { LANES, OP, Recording, brief, shown, xyz } from "./recording.js";
import { aboutFinding, afterwards, beyond, counted, kindOf, nameOf, origin, sentence, standing, stateNames, titleOf, who } from "./words.js";

const ACROSS = 16, NARROW = 8, DOWN = 12, HISTORY = 60;
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
    this.looked = null; // [block, thread] that was chosen, until the next step
    this.moved = null; // {object, top, left}: the part of a tensor that was moved to
    this.afterwards = false; // whether memory is shown as it is after the launch
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
    this.looked = this.moved = null;
    this.afterwards = false;
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
    if (this.#ofLaunch(finding)) this.pinned = { object: (this.object = finding.object), element: finding.element };
    this.go(finding.access >= 0 ? finding.access : barrier ? this.r.lastArrival(this.r.columns.block[finding.event], finding.event) : finding.event);
    this.afterwards = this.#ofLaunch(finding);
  }

  // Whether a finding is of the launch as a whole: a wrong element that nothing that was recorded wrote.
  #ofLaunch(finding) { return finding.access < 0 && finding.object >= 0; }

  showAfter() {
    this.afterwards = !this.afterwards;
    this.#later();
  }

  // The element of a text: "3, 17" in a tensor's dimensions, or its number.
  toElement(text) {
    const object = this.r.head.objects[this.object], at = text.match(/\d+/g)?.map(Number) ?? [];
    if (!object || !at.length) return false;
    const { shape } = object, fits = at.length === shape.length && at.every((n, i) => n < shape[i]);
    if (at.length > 1 && !fits) return false;
    const element = fits ? at.reduce((sum, n, i) => sum * shape[i] + n, 0) : at[0];
    if (element >= this.r.elements(object)) return false;
    this.pinned = { object: this.object, element };
    this.moved = null;
    this.#later();
    return true;
  }

  // Moves the part of a tensor that is seen by half of it.
  move(right, down) {
    const { top, left, most, leftmost, across } = this.window;
    const within = (n, limit) => Math.max(0, Math.min(n, Math.max(0, limit)));
    this.moved = { object: this.object, top: within(top + down * (DOWN / 2), most), left: within(left + right * Math.ceil(across / 2), leftmost) };
    this.#later();
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
    const plain = (words, pressed) => button(words, null, pressed); // its words are its name
    this.findings = make("div", { class: "findings" });
    head.findings.forEach((finding) => {
      const chosen = plain("", () => this.show(finding));
      const also = finding.message || head.findings.every((each) => !each.message) ? "" : "Also seen: ";
      chosen.append(also, make("b", {}, kindOf(finding.kind)), ` ${titleOf(finding)}`, make("span", { class: "dim" }, ` ${this.#lines(finding)}`));
      chosen.finding = finding;
      this.findings.append(chosen);
    });
    const failed = head.status && head.status !== "passed" ? ` The case did not pass, though: ${head.status.replaceAll("_", " ")}.` : "";
    if (!head.findings.length) this.findings.append(make("p", { class: "dim" }, `The checks found nothing in this launch.${failed} Step through it, or look at an element or a thread.`));
    this.about = make("div", { class: "about", id: this.#id("about") });
    this.sentence = make("p", { class: "sentence", "aria-live": "polite", id: this.#id("sentence") });
    this.range = make("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Step", oninput: () => this.go(this.steps[Number(this.range.value)]) });
    this.where = make("span", { class: "where" });
    this.many = make("span");
    this.playButton = plain("Play", () => this.play());
    this.speed = make("select", { "aria-label": "Steps a second" }, ...[2, 5, 15, 60].map((n) => make("option", { value: n }, `${n}/s`)));
    this.speed.value = "5";
    const kinds = make("select", { "aria-label": "What a step is", onchange: () => { this.kind = kinds.value; this.#chooseSteps(); this.go(this.step); } },
      ...KINDS.map(([value, words]) => make("option", { value }, words)));
    this.followed = plain("Follow this thread", () => this.#followHere());
    this.other = plain("The other side", () => this.otherSide());
    const controls = make("div", { class: "controls", role: "group", "aria-label": "Playing" },
      make("div", { class: "step" }, this.sentence, this.other),
      make("div", { class: "row" },
        button("|<", "First step", () => this.go(this.steps[0])), button("<", "Back", () => this.by(-1)), this.playButton,
        button(">", "On", () => this.by(1)), button(">|", "Last step", () => this.go(this.steps[this.steps.length - 1])), this.speed, kinds, this.followed),
      make("div", { class: "row" }, this.range, this.where));
    this.source = make("div", { class: "source", tabindex: 0, role: "region", "aria-label": "Source" });
    this.source.addEventListener("scroll", () => { this.scrollTop = this.source.scrollTop; }, { passive: true });
    globalThis.addEventListener("resize", () => { this.measured = this.most = 0; this.#later(); });
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
      cell.addEventListener("click", () => { this.looked = [this.r.columns.block[this.step], t]; this.#later(); });
      this.cells.push(cell);
      this.lanes.append(cell);
    }
    this.tabs = make("div", { class: "tabs", role: "group", "aria-label": "What is shown" });
    this.tabButtons = new Map();
    head.objects.forEach((object, number) => {
      if (object.kind === "local") return;
      const tab = button(object.name || "a tensor", `${object.kind} ${object.name}`, () => { this.object = number; this.pinned = { object: number, element: 0 }; this.moved = null; this.#later(); });
      this.tabButtons.set(number, tab);
      this.tabs.append(tab);
    });
    this.memoryTitle = make("p", { class: "dim" });
    this.memory = make("div", { class: "memory", role: "group", "aria-label": "Elements" });
    this.memory.addEventListener("click", (event) => {
      const element = event.target.element;
      if (element === undefined) return;
      this.pinned = { object: this.object, element };
      this.moved = { object: this.object, top: this.window.top, left: this.window.left }; // it stays where it was clicked
      this.#later();
    });
    this.afterButton = plain("After the launch", () => this.showAfter());
    this.tabs.append(this.afterButton);
    const field = make("input", { type: "text", class: "field", size: 7, "aria-label": "Element to look at", placeholder: "0, 0" });
    const look = () => field.setAttribute("aria-invalid", !this.toElement(field.value));
    field.addEventListener("keydown", (event) => { if (event.key === "Enter") look(); });
    const way = (words, label, right, down) => button(words, label, () => this.move(right, down));
    this.ways = make("div", { class: "tabs", role: "group", "aria-label": "Which part is seen" },
      way("←", "Columns to the left", -1, 0), way("→", "Columns to the right", 1, 0), way("↑", "Rows above", 0, -1), way("↓", "Rows below", 0, 1),
      field, plain("Look at it", look));
    this.request = make("p", { class: "request" });
    this.bar = make("div", { class: "bar", role: "img" });
    this.historyTitle = make("h3", {}, "");
    this.history = make("ol", { class: "history" });
    this.threadTitle = make("h3", {}, "");
    this.values = make("dl", { class: "values" });
    this.toLooked = plain("Go to its step", () => this.#toThread(...this.looked));
    const says_ = [`${launch.kernel}<<<${xyz(launch.grid)}, ${xyz(launch.block)}>>>`, `case ${head.case}`, `${this.r.count.toLocaleString("en")} steps`];
    if (launch.schedule) says_.push(`schedule ${launch.schedule}`);
    const panel = (name, ...children) => make("section", { class: `panel ${name}`, "aria-label": name }, ...children);
    this.root.append(
      make("header", {}, make("h1", {}, title || head.title), make("p", { class: "dim" }, says_.join(" · ")), this.#notes()),
      this.findings, this.about,
      controls,
      make("div", { class: "panels" },
        make("div", { class: "side" },
          panel("source-panel", make("h2", {}, "Source"), this.source),
          panel("thread-panel", make("h2", {}, "Thread"), this.threadTitle, this.toLooked, this.values)),
        make("div", { class: "side" },
          panel("threads", make("h2", {}, "Threads"), this.grid, this.standing, this.lanes, this.#legend()),
          panel("memory-panel", make("h2", {}, "Memory"), this.tabs, this.memoryTitle, this.ways, this.memory, this.#memoryLegend(), this.request, this.bar),
          panel("history-panel", make("h2", {}, "Element"), this.historyTitle, this.history))));
    this.range.id = this.#id("range");
  }

  #id(word) { return `${this.root.id}-${word}`; }

  #lines(finding) {
    const lines = [...new Set([finding.line, finding.other_line])].filter(Boolean);
    return lines.length ? `line${lines.length > 1 ? "s" : ""} ${lines.join(" and ")}` : "";
  }

  #notes() {
    const { head } = this.r, cut = head.blocks.some((b) => b.cut), launch = head.launch;
    const many = launch.grid[0] * launch.grid[1] * launch.grid[2], lines = [
      "This is what ran on the CPU back end, in its order: thread after thread, each until it ends or waits. A GPU runs the lanes of a warp together and warps and blocks in any order; what no barrier orders may come the other way round there.",
      "A request puts the same access of a warp's lanes together, as a GPU does.",
    ];
    if (head.blocks.length < many) lines.push(`${head.blocks.length} of ${many} blocks were recorded: the one in question and its neighbours. What others wrote shows only in what tensors hold afterwards: the button After the launch shows that.`);
    if (cut) lines.push("A block did more than is kept; its recording ends early.");
    lines.push(...head.notes);
    return make("details", {}, make("summary", {}, "What you see, and what a GPU may do otherwise"), ...lines.map((line) => make("p", {}, line)),
      make("p", {}, "Keys: left and right step, with Shift ten at once; Page Up and Page Down go to a barrier, Home and End to the ends; Space plays; N and P go through the findings, O to the other side of a race, T looks at the next thread, with Shift at the one before, F follows the thread, A shows memory as it is after the launch."));
  }

  #legend() {
    const key = (name, words) => make("span", {}, make("i", { class: name }), ` ${words}`);
    return make("p", { class: "legend dim" }, ...Object.entries(stateNames).map(([name, words]) => key(name, words)), key("now", "this step"), key("looked", "clicked"));
  }

  #memoryLegend() {
    const key = (name, words) => make("span", {}, make("i", { class: name }), ` ${words}`);
    return make("p", { class: "legend dim" }, key("wrote", "written here"), key("readc", "read here"), key("unwritten", "nobody wrote"), ...(this.r.whole ? [] : [key("unrecorded", "no recorded block wrote"), key("elsewhere", "after the launch: written by what was not recorded")]),
      key("beyond", "beyond the end"), key("nowc", "this step"), key("asked", "the warp's other lanes, in one request"), key("marked", "the finding's"), key("chosen", "clicked"));
  }

  #source() {
    this.lineOf = new Map();
    const used = new Map();
    for (const place of this.r.head.places) if (place.line) (used.get(place.file) ?? used.set(place.file, []).get(place.file)).push(place.line);
    for (const source of this.r.head.sources) {
      const lines = source.text.split("\n"), near = used.get(source.file) ?? [];
      const launch = this.r.head.launch, launchLine = launch.file === source.file ? launch.line : 0;
      if (!near.length && !launchLine) continue;
      const last = source.first_line + lines.length - 1, parts = near.length ? [[Math.min(...near) - 4, Math.max(...near) + 4]] : [];
      if (launchLine && !parts.some(([from, to]) => launchLine >= from && launchLine <= to)) parts.push([launchLine - 3, launchLine + 2]);
      parts.sort((a, b) => a[0] - b[0]);
      const seen = new Set(parts.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i)).filter((n) => n >= source.first_line && n <= last));
      this.source.append(make("p", { class: "dim" }, source.file));
      for (const n of seen) {
        if (!seen.has(n - 1) && n > Math.min(...seen)) this.source.append(make("div", { class: "gap dim" }, "…"));
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
    this.followThread(...(this.looked ?? [block[this.step], thread[this.step]]));
  }

  #toBlock(number) {
    for (let e = this.step; e < this.r.count; ++e) if (this.r.columns.block[e] === number) return this.go(e);
    for (let e = 0; e < this.r.count; ++e) if (this.r.columns.block[e] === number) return this.go(e);
  }

  #toThread(block, thread) {
    const mine = this.r.events(block, thread);
    if (mine.length) this.go(this.r.lastOf(block, thread, this.step) >= 0 ? this.r.lastOf(block, thread, this.step) : mine[0]);
  }

  #later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  draw() {
    const { r, step } = this;
    const launch = this.#atLaunch() ? `${titleOf(this.finding)}.` : "";
    says(this.sentence, `Step ${step + 1}. ${launch || sentence(r, step)}`);
    says(this.where, `step ${(step + 1).toLocaleString("en")} of ${r.count.toLocaleString("en")}`);
    this.range.value = this.#at();
    this.range.setAttribute("aria-valuetext", this.sentence.textContent);
    for (const each of this.findings.querySelectorAll("button")) each.setAttribute("aria-pressed", each.finding === this.finding);
    this.other.hidden = !this.finding || this.finding.other < 0 || (step !== this.finding.access && step !== this.finding.other);
    says(this.followed, this.follow ? "Follow all" : "Follow this thread");
    if (this.drawnFinding !== this.finding) {
      this.drawnFinding = this.finding;
      const line = (one) => (typeof one === "string" ? one : make("button", { type: "button", class: "jump", onclick: () => this.go(one.event) }, one.text));
      this.about.replaceChildren(...(this.finding ? aboutFinding(r, this.finding).map((one) => make("p", {}, line(one))) : []));
    }
    this.#drawLines();
    this.#drawThreads();
    this.#drawMemory();
    this.#drawRequest();
    this.#drawHistory();
    this.#drawThread();
  }

  // Whether what is shown is a finding of the launch as a whole.
  #atLaunch() { return Boolean(this.finding) && this.#ofLaunch(this.finding) && this.step === this.finding.event; }

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
    const whole = this.#atLaunch(), file = whole ? r.head.launch.file : r.file(step), current = whole ? r.head.launch.line : r.line(step), other = this.finding && this.finding.other >= 0 ? r.line(this.finding.other === step ? this.finding.access : this.finding.other) : 0;
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
    const { r, step } = this, block = r.columns.block[step], now = this.#atLaunch() ? -1 : r.columns.thread[step], looked = this.looked?.[1];
    this.blocks.forEach((button, number) => button.setAttribute("aria-pressed", number === block));
    for (let t = 0; t < r.threads; ++t) classed(this.cells[t], `${r.state(block, t, step)}${t === now ? " now" : ""}${t === looked ? " looked" : ""}`);
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
    const as = this.#shapeOf(object), shape = as.shape, columns = shared ? Math.min(LANES, Math.max(1, many)) : shape[shape.length - 1] || 1;
    const flat = shared || shape.length < 2;
    this.most ||= this.root.clientWidth < 560 ? NARROW : ACROSS; // measured once, as lines are
    const across = shared ? columns : Math.min(this.most, Math.max(columns, flat ? this.most : 1));
    const wide = flat ? across : columns; // elements in a row of the picture
    const rowOf = Math.floor(element / wide), columnOf = element - rowOf * wide;
    const rows = Math.ceil(many / wide), moved = this.moved?.object === this.object ? this.moved : null;
    const left = moved ? moved.left : flat ? 0 : Math.max(0, Math.floor(Math.min(columnOf - across / 2, wide - across)));
    const top = moved ? moved.top : Math.max(element < 0 ? rowOf : 0, Math.min(rowOf - Math.floor(DOWN / 2), Math.max(rows, rowOf + 1) - DOWN));
    const down = Math.min(DOWN, Math.max(rows, rowOf + 1) - top);
    this.window = { top, left, most: rows - DOWN, leftmost: wide - across, across };
    this.ways.hidden = rows <= DOWN && wide <= across;
    const kept = object.after >= 0, later = this.afterwards && kept;
    this.afterButton.hidden = !kept;
    this.afterButton.setAttribute("aria-pressed", later);
    const kind = shared ? `shared memory, ${counted(many, "element")}; a column is a bank` : `${object.dtype || `${object.element} bytes`} [${object.shape.join(", ")}]${as.like ? `, drawn in rows of ${columns} as ${as.like} is` : ""}`;
    says(this.memoryTitle, `${object.name}: ${kind}${later ? ". As it is after the launch" : ""}`);
    this.memory.style.setProperty("--across", across);
    classed(this.memory, `memory${across > ACROSS ? " many" : ""}`);
    const wanted = (down + 1) * (across + 1);
    while (this.memory.childElementCount < wanted) this.memory.append(make("span"));
    while (this.memory.childElementCount > wanted) this.memory.lastElementChild.remove();
    const current = r.columns.object[step] === this.object ? this.#covered(step) : new Set();
    const asked = this.#asked(step);
    const marked = this.#marked(), chosen = this.pinned?.object === this.object ? this.pinned.element : -1;
    for (let x = 0; x <= across; ++x) {
      const head = this.memory.children[x], n = left + x - 1;
      classed(head, "colhead");
      says(head, x && (across <= ACROSS || n % 4 === 0) ? String(n) : "");
    }
    for (let y = 0; y < down; ++y) {
      const head = this.memory.children[(y + 1) * (across + 1)];
      classed(head, "rowhead");
      says(head, flat ? String((top + y) * wide) : r.place({ ...object, shape }, (top + y) * wide).slice(1, -1).split(", ").slice(0, -1).join(","));
      for (let x = 0; x < across; ++x) {
        const cell = this.memory.children[(y + 1) * (across + 1) + 1 + x], n = (top + y) * wide + left + x;
        this.#drawCell(cell, object, n, many, { current, asked, marked, chosen, later }, across <= ACROSS);
      }
    }
  }

  // The shape in which a tensor is drawn: its own, or that of the only matrix with as many elements where it came in one row.
  #shapeOf(object) {
    const { shape } = object, many = this.r.elements(object);
    if (shape.length !== 1 || object.kind !== "tensor") return { shape: shape.length ? shape : [many] };
    const like = this.r.head.objects.filter((each) => each.kind === "tensor" && each.shape.length > 1 && this.r.elements(each) === many);
    return new Set(like.map((each) => String(each.shape))).size === 1 ? { shape: like[0].shape, like: like[0].name } : { shape };
  }

  // The elements of the finding that is shown at this step.
  #marked() {
    const { r, step } = this, { op, value, object } = r.columns;
    const finding = op[step] === OP.FOUND ? r.head.findings[value[2 * step]] : this.finding, found = [];
    if (!finding || (op[step] === OP.FOUND && finding.event !== step)) return found;
    if (finding.object === this.object) found.push(finding.element);
    for (const e of [finding.access, finding.other]) if (e >= 0 && object[e] === this.object) found.push(r.element(e));
    return found;
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
    const now = r.at(this.object, n, step), later = sets.later && !outside, known = later ? r.after(this.object, n) : now, touched = !later && now.seen >= 0;
    let name = outside ? "cell beyond" : known.written === "no" ? "cell unwritten" : known.written === "unrecorded" ? "cell unrecorded" : "cell";
    if (later) name += known.written === "here" ? " wrote" : known.written === "elsewhere" ? " elsewhere" : "";
    else if (!outside && touched) name += known.written === "here" ? " wrote" : " readc";
    if (sets.current.has(n)) name += " nowc";
    else if (sets.asked.has(n)) name += " asked";
    if (sets.marked.includes(n)) name += " marked";
    if (sets.chosen === n) name += " chosen";
    classed(cell, name);
    const nothing = !touched && (known.written === "no" || known.written === "unrecorded");
    says(cell, withValue ? (nothing ? "" : known.value === null && !touched ? "·" : brief(known.value)) : "");
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
      this.bar.hidden = true;
      return;
    }
    const lanes = r.request(step), object = r.head.objects[r.columns.object[step]], many = lanes.size;
    const warp = Math.floor(r.columns.thread[step] / LANES), bytes = many * r.columns.size[step];
    const parts = [];
    if (object.kind === "shared") {
      const banks = r.banks(lanes), most = Math.max(1, ...[...banks.values()].map((words) => words.size));
      says(this.request, `Warp ${warp}: ${counted(many, "lane")} ${many === 1 ? "asks" : "ask"} ${banks.size} of 32 banks, ${most === 1 ? "in one round" : `in ${most} rounds: a bank gives one word at a time`}.`);
      for (let bank = 0; bank < 32; ++bank) {
        const words = banks.get(bank)?.size ?? 0;
        parts.push(make("span", { class: words ? (words > 1 ? "waste" : "own") : "", style: `--n:${Math.min(words, 8)}`, title: `bank ${bank}: ${counted(words, "word")}` }, words > 1 ? String(words) : ""));
      }
    } else {
      const sectors = r.sectors(lanes), used = new Set();
      for (const e of lanes.values()) for (let k = 0; k < r.columns.size[e]; ++k) used.add(r.columns.offset[e] + k);
      says(this.request, `Warp ${warp}: ${counted(many, "lane")} ${many === 1 ? "asks" : "ask"} for ${counted(bytes, "byte")} in ${counted(sectors.size, "sector")} of 32 bytes, ${Math.round((100 * used.size) / (32 * Math.max(1, sectors.size)))} % of them used.`);
      for (const [sector, asked] of sectors) parts.push(make("span", { class: "own", style: `--n:${Math.min(8, asked.length)}`, title: `bytes ${32 * sector} to ${32 * sector + 31}: ${counted(asked.length, "lane")}` }, String(asked.length)));
    }
    this.bar.hidden = false;
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
    const later = afterwards(r, this.object, element), now = `Now: ${origin(r, this.object, element, step) || `it is no element of ${object.name || "the tensor"}.`}`;
    says(this.history.firstElementChild, later ? `${now} ${later}` : now);
    for (const row of this.history.children) if (row.dataset.step) classed(row, Number(row.dataset.step) === step ? "current" : Number(row.dataset.step) > step ? "later" : "");
  }

  lookAtNext(by) {
    const { block, thread } = this.r.columns, [b, t] = this.looked ?? [block[this.step], thread[this.step]];
    this.looked = [b, (t + by + this.r.threads) % this.r.threads];
    this.#later();
  }

  #drawThread() {
    const { r, step } = this, { block, thread } = r.columns, [b, t] = this.looked ?? [block[step], thread[step]];
    this.toLooked.hidden = !this.looked;
    const several = r.head.blocks.length > 1 ? `Block ${xyz(r.head.blocks[b].index)}, thread` : "Thread";
    says(this.threadTitle, `${several} ${xyz(r.index(t))} (warp ${Math.floor(t / LANES)}, lane ${t % LANES}): ${stateNames[r.state(b, t, step)]}, line ${r.lineOf(b, t, step) || "?"}`);
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
  if (event.target.tagName === "INPUT" && event.target.type === "text") return;
  if (event.target.tagName === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
  if (event.target.tagName === "SUMMARY" && event.key === " ") return;
  const many = event.shiftKey ? 10 : 1;
  const keys = {
    ArrowRight: (v) => v.by(many), ArrowLeft: (v) => v.by(-many), Home: (v) => v.go(v.steps[0]), End: (v) => v.go(v.steps[v.steps.length - 1]),
    PageDown: (v) => v.barrier(1), PageUp: (v) => v.barrier(-1), " ": (v) => v.play(), n: (v) => v.nextFinding(1), p: (v) => v.nextFinding(-1),
    o: (v) => v.otherSide(), a: (v) => v.showAfter(), t: (v) => v.lookAtNext(event.shiftKey ? -1 : 1), f: (v) => v.followThread(...(v.follow ? [] : [v.r.columns.block[v.step], v.r.columns.thread[v.step]])),
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
