// Trace strip: a recorded trace on its lanes, to move along, to zoom into and to read off.
(() => {
  const { register, make, button, busy } = globalThis.Course;
  const HIGH = 30;

  register("trace", (box, data) => {
    const { lanes, events, end, about } = data;
    let from = 0, to = end, chosen = events.findIndex((e) => e[0] === lanes.length - 1);
    const strip = make("div", {
      class: "explorer-strip", tabindex: 0, role: "group", onkeydown: keys, onwheel: wheel,
      "aria-label": "Recorded trace. Left and right move, up and down change the lane, plus and minus zoom, N and P go to the next and the previous event of a lane",
    });
    const one = make("p", { class: "explorer-one", "aria-live": "polite" });
    const sum = make("p", { class: "explorer-sum", "aria-live": "polite" });
    const row = make("div", { class: "explorer-row" },
      button("+", () => zoom(0.5), "Zoom in"), button("−", () => zoom(2), "Zoom out"),
      button("←", () => move(-0.5), "Earlier"), button("→", () => move(0.5), "Later"),
      button("previous", () => step(-1), "Previous event"), button("next", () => step(1), "Next event"),
      button("all", () => { from = 0; to = end; draw(); }, "all: show the whole trace"));
    box.append(row, strip, one, sum, make("p", { class: "explorer-about" }, about));
    const device = events.filter((e) => e[0] === lanes.length - 1).map((e) => [e[2], e[3]]);

    function keys(event) {
      const act = {
        ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), ArrowUp: () => change(-1), ArrowDown: () => change(1), "+": () => zoom(0.5), "=": () => zoom(0.5),
        "-": () => zoom(2), n: () => step(1), p: () => step(-1), Home: () => { from = 0; to = end; draw(); },
      }[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation(); // the theme uses some letters, too
      act();
    }

    function wheel(event) {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 0.8 : 1.25);
    }

    function zoom(by) {
      const e = events[chosen], width = Math.min(end, Math.max(20, (to - from) * by));
      const inside = e && e[2] + e[3] > from && e[2] < to;
      const middle = inside && by < 1 ? Math.max(from, Math.min(to, e[2] + Math.min(e[3], width) / 2)) : (from + to) / 2;
      from = Math.max(0, Math.min(middle - width / 2, end - width));
      to = from + width;
      draw();
    }

    function move(share) {
      const width = to - from;
      from = Math.max(0, Math.min(from + share * width, end - width));
      to = from + width;
      draw();
    }

    function step(by) {
      const lane = events[chosen][0];
      let k = chosen + by;
      while (events[k] && events[k][0] !== lane) k += by;
      if (events[k]) choose(k);
    }

    // To the next lane above or below that has an event: the one nearest in time.
    function change(by) {
      const [from_, , start] = events[chosen];
      for (let lane = from_ + by; lane >= 0 && lane < lanes.length; lane += by) {
        const there = events.map((e, k) => k).filter((k) => events[k][0] === lane);
        if (!there.length) continue;
        choose(there.reduce((a, b) => (Math.abs(events[b][2] - start) < Math.abs(events[a][2] - start) ? b : a)));
        return;
      }
    }

    function choose(k) {
      chosen = k;
      const [, , start, length] = events[k];
      if (start + length < from || start > to) {
        const width = to - from;
        from = Math.max(0, Math.min(start - width / 4, end - width));
        to = from + width;
      }
      draw();
    }

    function draw() {
      const wide = Math.max(280, strip.clientWidth || 600), scale = wide / (to - from);
      const high = lanes.length * (HIGH + 18) + 8;
      const svg = make("svg", { viewBox: `0 0 ${wide} ${high}`, width: "100%", height: high, "aria-hidden": "true" });
      lanes.forEach((lane, k) => {
        svg.append(make("text", { x: 0, y: k * (HIGH + 18) + 13 }, lane));
        svg.append(make("rect", { x: 0, y: k * (HIGH + 18) + 18, width: wide, height: HIGH, class: "lane" }));
      });
      events.forEach(([lane, label, start, length], k) => {
        if (start + length < from || start > to) return;
        const x = Math.max(0, (start - from) * scale), right = Math.min(wide, (start + length - from) * scale);
        const box_ = make("rect", {
          x, y: lane * (HIGH + 18) + 18, width: Math.max(1, right - x), height: HIGH,
          class: `event lane-${lane}${k === chosen ? " chosen" : ""}`, onclick: () => { choose(k); strip.focus(); },
        }, make("title", {}, `${label}, ${length} us`));
        svg.append(box_);
        if (right - x > 8 * label.length) svg.append(make("text", { x: x + 4, y: lane * (HIGH + 18) + 38, class: "on" }, label));
      });
      strip.replaceChildren(svg);
      const [lane, label, start, length] = events[chosen];
      one.textContent = `${lanes[lane]}: ${label}. It begins at ${start.toFixed(1)} µs and takes ${length.toFixed(1)} µs.`;
      const share = (100 * busy(device, from, to)) / (to - from);
      sum.textContent = `Shown: ${from.toFixed(0)} to ${to.toFixed(0)} µs. The device is busy for ${share.toFixed(1)} % of it.`;
    }

    new ResizeObserver(draw).observe(strip);
    draw();
  });
})();
