"use strict";
// Words and figures. Plotly draws; it is loaded once, from this server.
(function () {
  const page = (window.warpbound = window.warpbound || {});
  const CONFIG = { displaylogo: false, responsive: true, showSendToCloud: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
  const LETTER_PX = 7, MARGINS_PX = 100;
  const NARROW_PX = 500, LEGEND_LINE_PX = 19, LEGEND_LINES = 3; // what a figure's height allows for
  const TITLE_PX = 60; // above a picture that is taken along, for its title and source
  const SMALL_LETTER_PX = 5.6, SMALL_LINE_PX = 15; // of the lines below the title
  const at = (id) => document.getElementById(id);
  let lacking = {}; // button -> why the server has nothing to give for it, as of the last whole answer

  const plotly = new Promise((loaded) => {
    const script = document.createElement("script");
    script.onload = () => loaded(window.Plotly);
    script.src = document.currentScript.src.replace(/assets\/drawing\.js.*/, "plotly.min.js");
    document.head.append(script);
  });

  function span(kind, words, className) {
    const made = document.createElement(kind);
    made.textContent = words;
    if (className) made.className = className;
    return made;
  }

  function fitted(drawn, width) { // on a narrow screen titles of axes break before their unit, a legend has more lines
    const layout = drawn.layout;
    if (width >= NARROW_PX) return layout;
    page.turned(drawn.data, layout, width);
    for (const [name, axis] of Object.entries(layout)) {
      if (name.startsWith("xaxis") && axis.title.text.length * LETTER_PX > width - MARGINS_PX) {
        axis.title.text = axis.title.text.replace(/, ([^,]*)$/, ",<br>$1");
      }
    }
    const named = new Set(drawn.data.filter((one) => one.showlegend !== false).map((one) => one.name));
    layout.height += LEGEND_LINE_PX * Math.max(0, named.size - LEGEND_LINES);
    return layout;
  }

  async function figure(number, drawn) {
    at("figure-" + number).hidden = !drawn;
    if (!drawn) return;
    const place = at("graph-" + number);
    place.setAttribute("role", "group"); // no "img": Plotly's buttons are in it
    place.setAttribute("aria-label", drawn.title + ". " + drawn.caption);
    place.dataset.title = drawn.title;
    place.dataset.source = "Source: " + drawn.source;
    at("caption-" + number).replaceChildren(
      span("b", drawn.title + ". "), drawn.caption, span("span", " Source: " + drawn.source + ".", "dim"));
    await (await plotly).react(place, drawn.data, fitted(drawn, place.clientWidth), CONFIG);
  }

  async function draw(seen) {
    at("words").replaceChildren(...seen.words.map((one) => span("p", one)));
    for (let number = 1; number <= seen.figures.length; number++) await figure(number, seen.figures[number - 1]);
    if (seen.lacking) lacking = seen.lacking;
    offer();
  };

  function offer() { // what there is can be taken along; of what there is not, the reason stands below
    const none = at("figure-1").hidden ? lacking["as-html"] || "This view draws no figure." : "";
    const why = { "as-png": none, "as-svg": none, "as-json": lacking["as-json"] || "", "as-html": lacking["as-html"] || "" };
    const names = new Map();
    for (const [id, reason] of Object.entries(why)) {
      window.dash_clientside.set_props(id, { disabled: reason !== "", title: reason });
      if (reason) names.set(reason, [...(names.get(reason) || []), at(id).textContent]);
    }
    const said = [...names].map(([reason, buttons]) => buttons.join(", ") + ": " + reason);
    window.dash_clientside.set_props("lacking", { children: said.join(" ") });
  }

  // Sentences, and as many figures as are told; null hides a figure. One after the other: Plotly draws no two at once.
  let drawing = Promise.resolve();
  page.show = (seen) => (drawing = drawing.catch(() => null).then(() => draw(seen)));

  function broken(text, width) { // into lines that fit
    const most = Math.floor((width - MARGINS_PX) / SMALL_LETTER_PX), lines = [""];
    for (const word of text.split(" ")) {
      if (lines.at(-1).length + word.length >= most) lines.push("");
      lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
    }
    return lines.map((line) => line.replace(/[&<>]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[letter]));
  }

  // Downloads the first figure with its title and source, which stand beside it on the page.
  page.take = async function (format) {
    const place = at("graph-1");
    if (at("figure-1").hidden || !place.layout) return;
    const size = place.getBoundingClientRect();
    const width = Math.max(size.width, 700), by_hand = page.byHand();
    const lines = broken(place.dataset.source, width);
    if (by_hand.length) lines.push(...broken("Set by hand: " + by_hand.join("; ") + ".", width));
    const above = TITLE_PX + SMALL_LINE_PX * (lines.length - 1), height = size.height + above;
    const subtitle = { text: lines.join("<br>"), font: { size: 11 } };
    const title = { text: "<b>" + place.dataset.title + "</b>", subtitle, x: 0, xref: "paper", xanchor: "left", yref: "container", y: 1, yanchor: "top", pad: { t: 14 } };
    const margin = { ...place.layout.margin, t: (place.layout.margin.t || 30) + above };
    const layout = { ...place.layout, title, margin, height, width };
    (await plotly).downloadImage({ data: place.data, layout }, { format, filename: "warpbound", width, height, scale: format === "png" ? 2 : 1 });
  };
})();
