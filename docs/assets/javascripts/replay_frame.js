// A link to a replay opens it below itself; without JavaScript it is a link to a page. Nothing is loaded before.
(() => {
  const scheme = () => (document.body.dataset.mdColorScheme === "slate" ? "dark" : "light");

  function toggle(event) {
    const link = event.target.closest?.("a.replay-open");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    const open = link.nextElementSibling;
    if (open?.classList.contains("replay-frame")) {
      open.remove();
      link.setAttribute("aria-expanded", "false");
      return;
    }
    const frame = document.createElement("iframe");
    frame.className = "replay-frame";
    frame.title = link.textContent;
    frame.src = `${link.href}#${scheme()}`;
    link.after(frame);
    link.setAttribute("aria-expanded", "true");
  }

  document.addEventListener("click", toggle);
})();
