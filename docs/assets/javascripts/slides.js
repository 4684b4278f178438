// Starts a deck. Without the library, or without this file, its slides stand one below the other.
(async () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  if (window.mermaid) {
    // Diagrams are drawn while every slide can be seen: a hidden one has no size.
    mermaid.initialize({ startOnLoad: false, theme: dark ? "dark" : "neutral", fontFamily: "system-ui, sans-serif" });
    for (const [k, place] of document.querySelectorAll(".diagram").entries()) {
      place.innerHTML = (await mermaid.render(`diagram-${k}`, place.textContent)).svg;
      place.classList.add("drawn");
    }
  }
  if (!window.Reveal) return;
  document.documentElement.classList.add("deck");
  await Reveal.initialize({ width: 1280, height: 720, margin: 0.02, hash: true, center: false, transition: "none", slideNumber: "c/t" });
})();
