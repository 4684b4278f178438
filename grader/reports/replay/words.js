// Each step in words: what a reader sees beside the pictures, and a screen reader hears.
import { OP, shown, xyz } from "./recording.js";

export const who = (r, event) => {
  const { block, thread } = r.columns, several = r.head.blocks.length > 1;
  const at = xyz(r.index(thread[event]));
  return several ? `Block ${xyz(r.head.blocks[block[event]].index)}, thread ${at}` : `Thread ${at}`;
};

export const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

export function nameOf(r, number, element) {
  const object = r.head.objects[number];
  if (!object) return "an address that belongs to nothing";
  const single = r.elements(object) === 1 && element === 0 && object.kind !== "tensor";
  return `${object.name || "a tensor"}${single ? "" : r.place(object, element)}`;
}

// "1 past the end of 150" for an element that is none; "" for one that is.
export function beyond(r, number, element) {
  const object = r.head.objects[number];
  if (!object) return "";
  const many = r.elements(object), last = r.place(object, many - 1);
  if (element >= many) return `${element - many + 1} past the end: ${object.name} has ${counted(many, "element")}, the last is ${last}`;
  if (element < 0) return `${-element} before the start of ${object.name}`;
  return "";
}

// Who gave an element the value that it has.
export function origin(r, number, element, step) {
  if (!r.head.objects[number] || beyond(r, number, element)) return "";
  const found = r.at(number, element, step);
  const line = found.by >= 0 && r.line(found.by) ? `, line ${r.line(found.by)}` : "";
  if (found.written === "here") return `Written at step ${found.by + 1} by ${who(r, found.by).toLowerCase()}${line}.`;
  if (found.written === "before") return "It held this before the launch.";
  if (found.written === "no") return "Nobody has written it.";
  if (found.written === "unrecorded") return "No recorded block has written it.";
  return "Who wrote it was not recorded.";
}

// What it holds after the launch; "" if that was not kept.
export function afterwards(r, number, element) {
  const found = r.after(number, element);
  if (!found) return "";
  if (found.written === "no") return "After the launch: nobody has written it.";
  const more = { here: "", before: ", as before", elsewhere: "; what wrote it was not recorded" }[found.written];
  return `After the launch: ${shown(found.value)}${more}.`;
}

// A finding's sentence. That of a wrong element begins with a name, which stays as it is.
export const titleOf = ({ kind, title }) => (kind === "wrong-result" ? title : title.charAt(0).toUpperCase() + title.slice(1));

// How to have a block recorded.
function recording(r, block, what) {
  const option = `--block ${block.join(",")}`;
  return r.head.command ? `${r.head.command} ${option} records ${what}.` : `With ${option} ${what} is recorded.`;
}

// The launch in words: what its grid covers, for an element that nobody wrote.
export function launched(r) {
  const { grid, block, line, kernel } = r.head.launch, axes = ["x", "y", "z"];
  const along = axes.filter((_, i) => i === 0 || grid[i] * block[i] > 1).map((axis) => `${grid[axes.indexOf(axis)] * block[axes.indexOf(axis)]} threads along ${axis}`);
  return `The launch of ${kernel}${line ? `, line ${line}` : ""}: a grid of ${xyz(grid)} blocks of ${xyz(block)} threads, which makes ${along.join(" and ")}.`;
}

function access(r, event) {
  const { op, object, size } = r.columns, number = object[event], element = r.element(event);
  const value = r.head.objects[number] ? r.valueIn(event, number, element) : null;
  const wide = r.head.objects[number] && size[event] > r.head.objects[number].element ? ` and ${Math.round(size[event] / r.head.objects[number].element) - 1} more` : "";
  const name = nameOf(r, number, element) + wide, out = beyond(r, number, element);
  const where = out ? `, ${out}` : "";
  if (op[event] === OP.READS) {
    const from = out ? "" : ` ${origin(r, number, element, event - 1)}`;
    return `reads ${name}${value === null ? "" : `: ${shown(value)}`}${where}.${from}`;
  }
  const verb = op[event] === OP.WRITES ? "writes" : "updates atomically";
  return `${verb} ${name}${value === null ? "" : ` = ${shown(value)}`}${where}.`;
}

// How many of a block's threads are in which state.
export function counts(r, block, step) {
  const found = { ahead: 0, active: 0, waits: 0, meets: 0, left: 0 };
  for (let t = 0; t < r.threads; ++t) ++found[r.state(block, t, step)];
  return found;
}

const STATES = { ahead: "not begun", active: "under way", waits: "waiting at a barrier", meets: "waiting in a warp function", left: "out of the kernel" };
export const stateNames = STATES;

export function standing(r, block, step) {
  const found = counts(r, block, step);
  return Object.entries(found).filter(([, n]) => n).map(([state, n]) => `${n} ${STATES[state]}`).join(", ");
}

export function kindOf(kind) {
  const words = {
    "shared-race": "Race", "global-race": "Race", "global-out-of-bounds": "Out of bounds", "shared-out-of-bounds": "Out of bounds",
    "array-out-of-bounds": "Out of bounds", "illegal-address": "Illegal address", "use-after-free": "Freed memory",
    "shared-uninitialised-read": "Nobody wrote", "global-uninitialised-read": "Nobody wrote", "barrier-divergence": "Divergent barrier",
    "barrier-exited-threads": "Barrier without all", "deadlock": "Deadlock", "integer-overflow": "Overflow", "wrong-result": "Wrong element",
    "step-budget": "Endless", "misaligned": "Misaligned", "bad-mask": "Mask", "warp-exited-lanes": "Warp without all",
  };
  return words[kind] ?? kind.replaceAll("-", " ");
}

const barriers = (r, block) => (r.releases[block].length || r.head.blocks[block].cut ? "" : " No barrier opens in it.");

export function sentence(r, event) {
  const { op, block, value, object, size } = r.columns, line = r.line(event);
  const at = line ? `, line ${line}` : "", name = who(r, event);
  switch (op[event]) {
    case OP.ENTERS: return `${name}${at}: goes on here.`;
    case OP.READS: case OP.WRITES: case OP.UPDATES: return `${name}${at}: ${access(r, event)}`;
    case OP.ARRIVES: return `${name}${at}: comes to the barrier. ${standing(r, block[event], event)}.`;
    case OP.RELEASES: return `Block ${xyz(r.head.blocks[block[event]].index)}${at}: the barrier opens; ${value[2 * event]} threads had come.`;
    case OP.MEETS: return `${name}${at}: comes to a warp function with the mask 0x${(value[2 * event] >>> 0).toString(16)}.`;
    case OP.PARTS: return `${name}${at}: goes on after the warp function.`;
    case OP.MEETS_GRID: return `${name}${at}: waits for the whole grid.`;
    case OP.LEAVES: return `${name}: leaves the kernel.`;
    case OP.FENCES: return `${name}${at}: a fence.`;
    case OP.BEGINS: return `Block ${xyz(r.head.blocks[block[event]].index)} begins.${barriers(r, block[event])}`;
    case OP.ENDS: return `Block ${xyz(r.head.blocks[block[event]].index)} ends. ${standing(r, block[event], event)}.${barriers(r, block[event])}`;
    case OP.KEEPS: {
      const local = r.locals(block[event], r.columns.thread[event], event).find((each) => each.event === event);
      return `${name}${at}: ${r.head.objects[object[event]]?.name ?? "a local"} is ${shown(local?.value ?? null)}${size[event] ? "" : ""}.`;
    }
    case OP.FOUND: {
      const one = r.head.findings[value[2 * event]];
      if (!one) return `${name}${at}: looked at by the checks, and right.`;
      return `${name}${at}: ${kindOf(one.kind)}${one.event === event ? `. ${titleOf(one)}` : `, the same as at step ${one.event + 1}`}.`;
    }
    default: return `${name}${at}.`;
  }
}

// What a finding is about, in a sentence or two about both sides and what lay between: texts, or {text, event} where there
// is a step to go to.
export function aboutFinding(r, finding) {
  const side = (event) => ({ text: `${who(r, event)}, line ${r.line(event)}, step ${event + 1}: ${access(r, event)}`, event });
  const { access: mine, other } = finding;
  if (finding.kind.endsWith("race")) {
    const lines = [];
    if (other >= 0) lines.push(side(other));
    else if (finding.other_thread) lines.push(`Block ${xyz(finding.other_block)}, thread ${xyz(finding.other_thread)}, line ${finding.other_line}: the other side; its block was not recorded. ${recording(r, finding.other_block, "it")}`);
    if (mine >= 0) lines.push(side(mine));
    if (mine >= 0 && other >= 0) {
      const between = [...r.releases[r.columns.block[mine]]].filter((e) => e > Math.min(mine, other) && e < Math.max(mine, other));
      const same = r.columns.block[mine] === r.columns.block[other];
      lines.push(!same ? "They are in two blocks: no barrier orders these." : between.length ? `${between.length} barriers of the block opened between.` : `${Math.abs(mine - other) - 1} steps lie between them and no barrier: on a GPU either may come first.`);
    }
    return lines;
  }
  if (finding.kind.includes("barrier") || finding.kind === "deadlock") {
    const block = r.columns.block[finding.event];
    const waiting = [], left = [], at = finding.kind === "deadlock" ? finding.event : r.lastArrival(block, finding.event);
    for (let t = 0; t < r.threads; ++t) {
      const state = r.state(block, t, at);
      if (state === "waits" || state === "meets") waiting.push(t);
      if (state === "left") left.push(t);
    }
    const some = (list) => list.slice(0, 4).map((t) => xyz(r.index(t))).join(", ") + (list.length > 4 ? ", ..." : "");
    const many = (list, one, several) => `${list.length} ${list.length === 1 ? one : several}${list.length ? `: ${some(list)}` : ""}.`;
    const lines = [...new Set(waiting.map((t) => r.lineOf(block, t, at)))];
    const where = lines.length > 1 ? [`They wait at different barriers, in lines ${lines.join(" and ")}.`] : [];
    return [many(waiting, "thread waits", "threads wait"), many(left, "thread has left the kernel", "threads have left the kernel"), ...where];
  }
  if (mine < 0 && finding.object >= 0) {
    const object = r.head.objects[finding.object], sure = r.after(finding.object, finding.element)?.written === "no";
    const lines = [`${launched(r)} ${object.name} has the shape [${object.shape.join(", ")}], ${counted(r.elements(object), "element")}.`];
    if (finding.block && !sure) lines.push(recording(r, finding.block, "the block that wrote it"));
    else if (!sure && !r.whole) lines.push(`${r.head.blocks.length} of ${r.head.launch.grid.reduce((a, b) => a * b)} blocks were recorded.`);
    return lines;
  }
  return mine >= 0 ? [side(mine)] : [sentence(r, finding.event)];
}
