// What scrolls sideways can be reached and scrolled by keyboard, too: wide tables, captures, long formulas.
(() => {
  function reach() {
    for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset__table, .capture, .explorer-table, .map")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }
  // A block of code far below has no width yet when the theme asks whether it scrolls.
  addEventListener("contentvisibilityautostatechange", event => {
    const box = event.target;
    if (!event.skipped && box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }, true);
  addEventListener("load", reach);
  addEventListener("resize", reach);
})();
