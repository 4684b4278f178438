// Starts a deck. Without the library, or without this file, its slides stand one below the other.
(async () => {
  if (!window.Reveal) return;
  document.documentElement.classList.add("deck");
  await Reveal.initialize({ width: 1280, height: 720, margin: 0.02, hash: true, center: false, transition: "none", slideNumber: "c/t", scrollActivationWidth: null });
})();
