// What the figures to play with compute. No page is needed for it: the tests run these functions beside the
// Python ones (tools/figures, grader/lesson_support/grid.py, grader/referee/parts/trace_events.py) and compare every result.
globalThis.Course = globalThis.Course || {};
(() => {
  const LANES = 32, SECTOR = 32;

  // --- An index expression of C in t: whole numbers, + - * / % & | ^ << >> and brackets -------------------
  const LEVELS = [["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]];

  function parse(text) {
    const tokens = text.replace(/\bthreadIdx\.x\b|\bi\b/g, "t").match(/\s*(<<|>>|\d+|[a-z_][\w.]*|[-+*\/%&|^()]|\S)/gi)?.map((s) => s.trim()) ?? [];
    let at = 0;
    function level(depth) {
      if (depth === LEVELS.length) return unary();
      let left = level(depth + 1);
      while (LEVELS[depth].includes(tokens[at])) {
        const op = tokens[at++], a = left, b = level(depth + 1);
        left = (t) => apply(op, a(t), b(t));
      }
      return left;
    }
    function unary() {
      const token = tokens[at++];
      if (token === undefined) throw new Error("the expression ends too early");
      if (token === "-") { const inner = unary(); return (t) => -inner(t); }
      if (token === "(") {
        const inner = level(0);
        if (tokens[at++] !== ")") throw new Error("a bracket is not closed");
        return inner;
      }
      if (token === "t") return (t) => t;
      if (/^\d+$/.test(token)) { const value = Number(token); return () => value; }
      throw new Error(`not understood: ${token}`);
    }
    const whole = level(0);
    if (at < tokens.length) throw new Error(`not understood: ${tokens[at]}`);
    return whole;
  }

  function apply(op, a, b) {
    if ((op === "/" || op === "%") && b === 0) throw new Error("division by zero");
    if ((op === "<<" || op === ">>") && (b < 0 || b > 31)) throw new Error(`an int of 32 bits cannot be shifted by ${b}`);
    const found = {
      "+": () => a + b, "-": () => a - b, "*": () => a * b,
      "/": () => Math.trunc(a / b) + 0, "%": () => (a % b) + 0, // + 0: no minus zero
      "&": () => a & b, "|": () => a | b, "^": () => a ^ b, "<<": () => a * 2 ** b, ">>": () => Math.floor(a / 2 ** b),
    }[op]();
    if (!Number.isSafeInteger(found)) throw new Error("a number is too large");
    return found;
  }

  // --- Sectors of one request: Map of sector -> bytes of it that are used ---------------------------------
  function sectors(addresses, size) {
    const used = new Set();
    for (const a of addresses) for (let k = 0; k < size; k++) used.add(a + k);
    const found = new Map();
    for (const byte of used) {
      const sector = Math.floor(byte / SECTOR);
      found.set(sector, (found.get(sector) ?? 0) + 1);
    }
    return found;
  }

  function request(expression, size) {
    const index = parse(expression);
    const indices = Array.from({ length: LANES }, (_, t) => index(t));
    return { indices, sectors: sectors(indices.map((i) => i * size), size) };
  }

  // --- Who owns which element ------------------------------------------------------------------------------
  function ownership(size, blocks, threads) {
    const all = blocks * threads, owned = Math.min(size, all);
    return { threads: all, owned, idle: all - owned, missed: size - owned, needed: Math.ceil(size / threads) };
  }

  // --- A chain of operations, cut into kernels ---------------------------------------------------------------
  // program: {operations: [{name, reads}]}; operation k writes the value named String(k). sizes: bytes by name,
  // "" for every value that an operation wrote. cuts: after which operations a new kernel begins.
  function kernels(program, cuts, sizes) {
    const found = [];
    let begin = 0;
    program.operations.forEach((_, k) => {
      if (k < program.operations.length - 1 && !cuts.includes(k)) return;
      const reads = new Set();
      for (let j = begin; j <= k; j++) {
        for (const name of program.operations[j].reads) {
          if (!(/^\d+$/.test(name) && Number(name) >= begin)) reads.add(name);
        }
      }
      const read = [...reads].reduce((sum, name) => sum + (sizes[name] ?? sizes[""]), 0);
      found.push({ first: begin, last: k, read, written: sizes[""] });
      begin = k + 1;
    });
    return found;
  }

  function seconds(plan, card) {
    const bytes = plan.reduce((sum, k) => sum + k.read + k.written, 0);
    return bytes / card.copy_bytes_per_second + plan.length * card.launch_seconds;
  }

  // --- A trace: how long the device was busy between two times -----------------------------------------------
  // spans: [start, length] in order of their start.
  function busy(spans, from, to) {
    let total = 0, until = from;
    for (const [start, length] of spans) {
      const end = Math.min(start + length, to), begin = Math.max(start, until);
      if (end > begin) { total += end - begin; until = end; }
    }
    return total;
  }

  Object.assign(globalThis.Course, { parse, sectors, request, ownership, kernels, seconds, busy, LANES, SECTOR });
})();
