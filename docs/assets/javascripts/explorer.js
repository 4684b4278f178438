// The frame of a figure to play with: finds its places on the page, keeps the still picture if anything fails.
(() => {
  const makers = {};

  // An element with attributes and children; "on..." attributes are listeners.
  function make(tag, attributes = {}, ...children) {
    const svg = ["svg", "g", "rect", "line", "text", "title", "path"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }

  let last = 0;
  const name = (word) => `explorer-${word}-${++last}`;

  // A slider with its value beside it.
  function slider(label, { min, max, value, step = 1 }, changed) {
    const id = name("range");
    const shown = make("output", { for: id }, String(value));
    const input = make("input", {
      type: "range", id, min, max, step, value,
      oninput: () => { shown.textContent = input.value; changed(); },
    });
    const row = make("div", { class: "explorer-row" }, make("label", { for: id }, label), input, shown);
    return { row, get value() { return Number(input.value); }, set(v) { input.value = v; shown.textContent = input.value; } };
  }

  function choice(label, options, changed) {
    const id = name("choice");
    const select = make("select", { id, onchange: changed }, ...options.map(([value, words]) => make("option", { value }, words)));
    return { row: make("div", { class: "explorer-row" }, make("label", { for: id }, label), select), get value() { return select.value; } };
  }

  function tick(label, checked, changed) {
    const id = name("tick");
    const input = make("input", { type: "checkbox", id, checked, onchange: changed });
    return { row: make("div", { class: "explorer-tick" }, input, make("label", { for: id }, label)), input, get value() { return input.checked; } };
  }

  const button = (words, pressed, label) => make("button", { type: "button", class: "explorer-button", onclick: pressed, "aria-label": label ?? null }, words);

  function start() {
    for (const place of document.querySelectorAll("[data-explorer]:not([data-started])")) {
      const data = place.querySelector("script[type='application/json']");
      const box = make("div", { class: "explorer-live" });
      try {
        makers[place.dataset.explorer](box, data ? JSON.parse(data.textContent) : null, place);
      } catch (error) {
        console.error(error);
        continue;
      }
      place.dataset.started = "";
      place.append(box);
    }
  }

  const register = (kind, maker) => { makers[kind] = maker; };
  Object.assign(globalThis.Course, { register, make, slider, choice, tick, button, start });
  document.addEventListener("DOMContentLoaded", start);
})();
