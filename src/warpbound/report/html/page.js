"use strict";
// Draws every figure of the page in the colours of the reader's mode; paper is always light and of its own width.
(function () {
  const NARROW = 520, LINE = 19, PAPER = 680;  // pixels; PAPER: of A4 within its margins
  const dark = JSON.parse(document.getElementById("dark").textContent);
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const config = { responsive: true, displaylogo: false, showSendToCloud: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };

  function drawn(place, mode) {
    const text = document.getElementById("data-" + place.dataset.figure).textContent;
    return JSON.parse(mode === "dark" ? text.replace(/#[0-9a-f]{6}/g, (colour) => dark[colour] || colour) : text);
  }

  function draw(mode, width) {
    const drawing = [...document.querySelectorAll(".plot")].map((place) => {
      const whole = drawn(place, mode), narrow = (width || place.clientWidth) < NARROW;
      const figure = (narrow && whole.narrow) || whole;
      Object.assign(figure.layout, width ? { width } : { autosize: true });
      if (narrow) {  // the legend has a line for each entry there
        const entries = figure.data.filter((trace) => trace.name && trace.showlegend !== false).length;
        window.warpbound.turned(figure.data, figure.layout, width || place.clientWidth);
        figure.layout.height += LINE * Math.max(0, entries - 2);
      }
      return Plotly.react(place, figure.data, figure.layout, config);
    });
    Promise.all(drawing).then(() => { document.body.dataset.drawn = mode; });
  }

  const current = () => (prefersDark.matches ? "dark" : "light");
  prefersDark.addEventListener("change", () => draw(current()));
  window.addEventListener("beforeprint", () => draw("light", PAPER));
  window.addEventListener("afterprint", () => draw(current()));
  draw(current());
})();
