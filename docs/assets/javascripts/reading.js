// What scrolls sideways can be reached and scrolled by keyboard, too: wide tables, captures, long formulas.
(() => {
  function reach() {
    for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset__table, .capture, .explorer-table, .map")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }
  addEventListener("load", reach);
  addEventListener("resize", reach);
})();
