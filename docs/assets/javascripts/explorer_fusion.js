// Fusion explorer: which operations share a kernel, and what that does to bytes, launches and predicted time.
(() => {
  const { register, make, choice, tick, kernels, seconds } = globalThis.Course;
  const SHAPES = [[1024, 8192], [256, 1024], [4096, 8192], [64, 256]];

  register("fusion", (box, data) => {
    const program = choice("program", data.programs.map((p, k) => [k, p.title]), renew);
    const shape = choice("matrix", SHAPES.map(([r, c], k) => [k, `${r} × ${c} floats`]), draw);
    const card = choice("GPU card", data.cards.map((c, k) => [k, c.name]), draw);
    const product = tick("with the matrix product before it", false, draw);
    const joints = make("div", { class: "explorer-chain", role: "group", "aria-label": "Operations; between two of them, whether they share a kernel" });
    const table = make("div", { class: "explorer-table" });
    const sum = make("p", { class: "explorer-sum", "aria-live": "polite" });
    box.append(program.row, shape.row, card.row, product.row, joints, table, sum);
    let cuts = [];

    function renew() {
      const operations = data.programs[Number(program.value)].operations;
      cuts = operations.slice(0, -1).map((_, k) => k);
      joints.replaceChildren(...operations.flatMap((o, k) => {
        const word = make("span", { class: "explorer-op" }, o.name);
        if (k === operations.length - 1) return [word];
        const label = `Fuse ${o.name} with ${operations[k + 1].name}`;
        const join = make("button", {
          type: "button", class: "explorer-joint", "aria-pressed": "false",
          "aria-label": `${label}: ✂ cut`,
          onclick: () => {
            cuts = cuts.includes(k) ? cuts.filter((c) => c !== k) : [...cuts, k];
            join.setAttribute("aria-pressed", String(!cuts.includes(k)));
            join.textContent = cuts.includes(k) ? "✂ cut" : "∞ fused";
            join.setAttribute("aria-label", `${label}: ${join.textContent}`);
            draw();
          },
        }, "✂ cut");
        return [word, join];
      }));
      draw();
    }

    const time = (s) => (s >= 1e-3 ? `${(s * 1e3).toFixed(3)} ms` : `${(s * 1e6).toFixed(1)} µs`);
    const megabytes = (b) => `${(b / 1e6).toFixed(2)} MB`;

    function draw() {
      const chosen = data.programs[Number(program.value)], [rows, columns] = SHAPES[Number(shape.value)];
      const gpu = data.cards[Number(card.value)], matrix = 4 * rows * columns;
      const sizes = { "": matrix, x: matrix, bias: 4 * columns };
      const plan = kernels(chosen, cuts, sizes);
      const apart = kernels(chosen, chosen.operations.map((_, k) => k), sizes);
      product.input.disabled = !gpu.gemm_flops_per_second;
      const before = product.value && gpu.gemm_flops_per_second ? (2 * rows * columns * data.inner) / gpu.gemm_flops_per_second : 0;
      const own = seconds(plan, gpu) + before, eager = seconds(apart, gpu) + before;
      table.replaceChildren(make("table", {}, make("caption", {}, "Kernels as they are cut now"),
        make("thead", {}, make("tr", {}, ...["kernel", "read", "written"].map((w) => make("th", { scope: "col" }, w)))),
        make("tbody", {}, ...plan.map((k) => make("tr", {},
          make("td", {}, chosen.operations.slice(k.first, k.last + 1).map((o) => o.name).join(", ")),
          make("td", {}, megabytes(k.read)), make("td", {}, megabytes(k.written)))))));
      const bytes = plan.reduce((total, k) => total + k.read + k.written, 0);
      const launches = plan.length + (before ? 1 : 0);
      sum.textContent = `${megabytes(bytes)} moved by ${plan.length} ${plan.length === 1 ? "kernel" : "kernels"}` +
        `${before ? ` after a product; ${launches} launches in all` : ""}. Predicted for one ${gpu.name}: ${time(own)}, ` +
        (plan.length === apart.length ? "with a kernel for each operation. "
          : `${(eager / own).toFixed(eager / own < 1.1 ? 4 : 2)} times as fast as a kernel for each operation (${time(eager)}). `) +
        "A prediction from bytes, never a measurement.";
    }
    renew();
  });
})();
