// The search's index is fetched when somebody begins to search, and not with every page.
(() => {
  const { open, send } = XMLHttpRequest.prototype;
  const waiting = [];
  let begun = new URLSearchParams(location.search).has("q");
  XMLHttpRequest.prototype.open = function (method, address, ...more) {
    this.isIndex = String(address).includes("search/search_index.json");
    return open.call(this, method, address, ...more);
  };
  XMLHttpRequest.prototype.send = function (...body) {
    if (this.isIndex && !begun) waiting.push(() => send.apply(this, body));
    else send.apply(this, body);
  };
  function begin() {
    begun = true;
    while (waiting.length) waiting.pop()();
  }
  const searches = (event) => event.target instanceof Element && event.target.closest("[data-md-component=search], [data-md-toggle=search], [for=__search]");
  for (const kind of ["focusin", "pointerover", "change"]) addEventListener(kind, (event) => searches(event) && begin(), true);
})();
