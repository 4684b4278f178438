// Coalescing explorer: an index expression, and the sectors that the 32 threads of a warp touch with it.
(() => {
  const { register, make, choice, button, request, SECTOR } = globalThis.Course;
  const EXAMPLES = ["t", "t + 1", "2 * t", "8 * t", "31 - t", "t / 2", "t % 16 * 1024 + t / 16", "t * 7 % 32"];

  register("coalescing", (box) => {
    const id = "explorer-expression";
    const input = make("input", { type: "text", id, value: "t", spellcheck: "false", autocomplete: "off", oninput: draw });
    const type = choice("element", [["4", "float, 4 bytes"], ["1", "char, 1 byte"], ["2", "half, 2 bytes"], ["8", "double, 8 bytes"], ["16", "float4, 16 bytes"]], draw);
    const examples = make("div", { class: "explorer-row" }, ...EXAMPLES.map((text) =>
      button(text, () => { input.value = text; draw(); }, `Take the index ${text}`)));
    const map = make("div", { class: "explorer-sectors", "aria-hidden": "true" });
    const sum = make("p", { class: "explorer-sum", "aria-live": "polite" });
    const addresses = make("p", { class: "explorer-one" });
    box.append(
      make("div", { class: "explorer-row" }, make("label", { for: id }, "thread t reads x["), input, make("span", {}, "]")),
      type.row, examples, map, sum, addresses);

    function draw() {
      const size = Number(type.value);
      let found;
      try {
        found = request(input.value, size);
      } catch (error) {
        input.setAttribute("aria-invalid", "true");
        sum.textContent = `This is no index yet: ${error.message}. Write t (or i, or threadIdx.x) for the thread; whole numbers, + - * / % & | ^ << >> and brackets are understood.`;
        map.replaceChildren();
        addresses.textContent = "";
        return;
      }
      input.removeAttribute("aria-invalid");
      const touched = [...found.sectors.keys()].sort((a, b) => a - b);
      const used = [...found.sectors.values()].reduce((a, b) => a + b, 0);
      const bytes = new Set();
      for (const i of found.indices) for (let k = 0; k < size; k++) bytes.add(i * size + k);
      map.replaceChildren(...touched.map((s, place) => {
        const cells = Array.from({ length: 8 }, (_, k) => {
          const wanted = [0, 1, 2, 3].some((b) => bytes.has(s * SECTOR + 4 * k + b));
          return make("span", { class: wanted ? "used" : "unused" });
        });
        const gap = place > 0 && touched[place - 1] !== s - 1 ? " gap" : "";
        return make("span", { class: `sector${gap}`, title: `bytes ${s * SECTOR} to ${s * SECTOR + 31}` }, ...cells);
      }));
      const fetched = touched.length * SECTOR;
      sum.textContent = `1 request, ${touched.length} ${touched.length === 1 ? "sector" : "sectors"}: ` +
        `${fetched} bytes fetched, ${used} of them used (${Math.round((100 * used) / fetched)} %).`;
      if (Math.min(...found.indices) < 0) sum.textContent += " Some of them lie in front of x, where a kernel must not read.";
      const few = found.indices.slice(0, 6).map((i, t) => `thread ${t}: byte ${i * size}`).join(", ");
      addresses.textContent = `${few}, …, thread 31: byte ${found.indices[31] * size}.`;
    }
    draw();
  });
})();
