"use strict";
// What figures do on a narrow screen, in reports and on the page.
(function () {
  const page = (window.warpbound = window.warpbound || {});
  const LETTER_PX = 7;

  // On a narrow screen words that would leave the plot at the right of their mark stand below, at its left.
  page.turned = function (data, layout, width) {
    const room = width - layout.margin.l - layout.margin.r;
    for (const trace of data) {
      const axis = layout["xaxis" + (trace.xaxis || "x").slice(1)];
      if (!trace.textposition || !trace.text || !axis || !axis.range || axis.range[0] > axis.range[1]) continue;
      const [first, last] = axis.range, at = axis.type === "log" ? Math.log10 : Number;
      const ends = (x, i) => (room * (at(x) - first)) / (last - first) + LETTER_PX * (trace.text[i] || "").length > room;
      const side = (i) => Array.isArray(trace.textposition) ? trace.textposition[i] : trace.textposition;
      trace.textposition = trace.x.map((x, i) => /right/.test(side(i)) && ends(x, i) ? "bottom left" : side(i));
    }
  };
})();
