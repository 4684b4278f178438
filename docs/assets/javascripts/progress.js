// What this browser knows of a reader: lessons that are passed, answers to quizzes. It stays in this browser.
(() => {
  const KEY = "inline-to-fused";
  const LESSON = /lessons\/(\d\d)_\w+\//;
  // A line of work/progress.txt; see grader/student/progress.py.
  const LINE = /^(\d\d)_\w+\s+passed\s/gm;
  let kept = { passed: {}, answers: {} };
  try {
    kept = { ...kept, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch { /* nothing is kept where a browser allows nothing */ }

  function keep() {
    try {
      localStorage.setItem(KEY, JSON.stringify(kept));
    } catch { /* as above */ }
  }

  function element(tag, attributes, text = "") {
    const made = Object.assign(document.createElement(tag), { textContent: text });
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  // --- Ticks: in the menu, in the table and on the map -------------------------------------------------------
  function tick() {
    for (const link of document.querySelectorAll(".md-nav a, .md-typeset table a, .map a")) {
      const number = (link.href.baseVal ?? link.href).match(/(?:^|\/)(\d\d)_\w+\/(?:index\.html)?$/)?.[1];
      if (!number) continue;
      const passed = Boolean(kept.passed[number]);
      link.classList.toggle("passed", passed);
      if (link.dataset.label === undefined) link.dataset.label = link.getAttribute("aria-label") ?? "";
      const label = link.dataset.label;
      if (passed) link.setAttribute("aria-label", `${label || link.textContent.trim()}, passed`);
      else if (label) link.setAttribute("aria-label", label);
      else link.removeAttribute("aria-label");
    }
  }

  function ofLesson() {
    const number = location.pathname.match(LESSON)?.[1];
    const facts = document.querySelector(".lesson-facts");
    if (!number || !facts) return;
    const button = element("button", { type: "button", class: "lesson-passed" });
    const show = () => {
      button.textContent = kept.passed[number] ? "✓ passed (take it back)" : "Mark as passed";
      button.setAttribute("aria-pressed", String(Boolean(kept.passed[number])));
      tick();
    };
    button.addEventListener("click", () => {
      kept.passed[number] = !kept.passed[number];
      keep();
      show();
    });
    (document.querySelector(".lesson-offer") ?? facts).after(button);
    show();
  }

  function ofAll() {
    const map = document.querySelector(".map");
    if (!map) return;
    const said = element("span", { role: "status" });
    const input = element("input", { type: "file", accept: ".txt", id: "progress-file" });
    input.addEventListener("change", async () => {
      const found = [...(await input.files[0].text()).matchAll(LINE)].map((match) => match[1]);
      for (const number of found) kept.passed[number] = true;
      keep();
      tick();
      said.textContent = found.length ? ` ${found.length} lessons are passed.` : " No lesson in this file is passed yet.";
    });
    const row = element("p", { class: "lesson-progress" });
    row.append(element("label", { for: "progress-file" }, "Show my progress, from work/progress.txt: "), input, said);
    map.before(row);
  }

  // --- Quizzes: an answer is told when it is asked for, and stays -------------------------------------------
  function quiz(box) {
    const told = element("div", { role: "status", class: "quiz-told" });
    const button = element("button", { type: "button", class: "md-button quiz-check" }, "Check");
    let toldOf = ""; // the answer that is told of
    const tell = () => {
      const chosen = box.querySelector("input:checked");
      if (!chosen) {
        told.textContent = "Choose an answer first.";
        return;
      }
      told.replaceChildren(...chosen.parentElement.querySelector("p").cloneNode(true).childNodes);
      told.className = `quiz-told ${chosen.parentElement.querySelector("p").className}`;
      kept.answers[chosen.name] = chosen.id;
      toldOf = chosen.id;
      keep();
    };
    box.classList.add("asks");
    box.append(button, told);
    button.addEventListener("click", tell);
    // What is said of one answer does not stand below another.
    box.addEventListener("change", (event) => { if (event.target.id !== toldOf) told.textContent = ""; });
    box.addEventListener("keydown", (event) => {
      if (event.target.type !== "radio" || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      event.target.checked = true;
      tell();
    });
    for (const label of box.querySelectorAll("label")) label.addEventListener("click", () => setTimeout(tell));
    for (const input of box.querySelectorAll("input")) input.addEventListener("click", (event) => event.detail && tell());
    const before = document.getElementById(kept.answers[box.querySelector("input")?.name]);
    if (before) {
      before.checked = true;
      tell();
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".quiz").forEach(quiz);
    ofLesson();
    ofAll();
    tick();
  });
})();
