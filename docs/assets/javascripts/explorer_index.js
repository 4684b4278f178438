// Index explorer: grid, block and array size, and which thread owns which element.
(() => {
  const { register, make, slider, tick, button, ownership } = globalThis.Course;

  register("index", (box) => {
    let chosen = 0;
    const size = slider("elements n", { min: 1, max: 64, value: 10 }, draw);
    const threads = slider("threads in a block", { min: 1, max: 16, value: 4 }, draw);
    const blocks = slider("blocks in the grid", { min: 1, max: 8, value: 3 }, draw);
    const guard = tick("guard: if (i < n)", true, draw);
    const fit = button("as many blocks as it takes", () => { blocks.set(Math.ceil(size.value / threads.value)); draw(); });
    const grid = make("div", {
      class: "explorer-grid", tabindex: 0, role: "group",
      "aria-label": "Threads of the grid; the arrow keys choose one", onkeydown: keys,
    });
    const array = make("div", { class: "explorer-cells", "aria-hidden": "true" });
    const one = make("p", { class: "explorer-one", "aria-live": "polite" });
    const sum = make("p", { class: "explorer-sum", "aria-live": "polite" });
    box.append(size.row, threads.row, blocks.row, make("div", { class: "explorer-row" }, guard.row, fit), grid, array, one, sum);

    function keys(event) {
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: threads.value, ArrowUp: -threads.value }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      choose(chosen + step);
    }

    function choose(i) {
      chosen = Math.max(0, Math.min(i, blocks.value * threads.value - 1));
      for (const cell of box.querySelectorAll("[data-i]")) cell.classList.toggle("chosen", Number(cell.dataset.i) === chosen);
      const b = Math.floor(chosen / threads.value), t = chosen % threads.value, n = size.value;
      const where = `Block ${b}, thread ${t}: i = ${b} * ${threads.value} + ${t} = ${chosen}. `;
      const inside = chosen < n;
      one.textContent = where + (inside ? `It owns element ${chosen}.`
        : guard.value ? `${chosen} is not below ${n}: the guard lets it do nothing.`
          : `Without a guard it touches element ${chosen} of ${n}, which does not exist.`);
    }

    function draw() {
      const found = ownership(size.value, blocks.value, threads.value);
      grid.replaceChildren(...Array.from({ length: blocks.value }, (_, b) => make("div", { class: "explorer-block" },
        make("span", { class: "explorer-name" }, `block ${b}`),
        make("div", { class: "explorer-cells" }, ...Array.from({ length: threads.value }, (_, t) => {
          const i = b * threads.value + t;
          const kind = i < size.value ? "own" : guard.value ? "idle" : "wrong";
          return make("span", { class: `cell ${kind}`, "data-i": i, onclick: () => { choose(i); grid.focus(); } }, String(t));
        })))));
      array.replaceChildren(make("span", { class: "explorer-name" }, "elements"), ...Array.from({ length: size.value }, (_, i) =>
        make("span", { class: `cell ${i < found.owned ? "element" : "missed"}`, "data-i": i }, String(i))));
      const blocksNeeded = found.needed === 1 ? "1 block is" : `${found.needed} blocks are`;
      sum.textContent = `${found.threads} threads: ${found.owned} own an element, ${found.idle} ` +
        `${guard.value ? "are stopped by the guard" : "reach past the end"}; ${found.missed} elements have no thread. ` +
        `${blocksNeeded} needed.`;
      choose(chosen);
    }
    draw();
  });
})();
