"use strict";
// Sliders with a number each, as the server describes them. What moves goes to warpbound.moved.
(function () {
  const page = (window.warpbound = window.warpbound || {});
  const DIGITS = 4; // of a number that a slider sets
  let shown = ""; // which controls stand there
  let own = {};   // key -> where a number stands unless it is set by hand

  function element(kind, properties, ...children) {
    const made = Object.assign(document.createElement(kind), properties);
    made.append(...children);
    return made;
  }

  function control(one) {
    const name = "number-" + one.key.replace(/[^\w]/g, "-");
    const slider = element("input", { type: "range" });
    const number = element("input", { type: "number", id: name });
    const made = element("div", { className: "control" }, element("label", { htmlFor: name }), slider, number);
    made.dataset.key = one.key;
    slider.addEventListener("input", () => {
      number.value = Number(Number(slider.value).toPrecision(DIGITS));
      moves(one.key, number.value);
    });
    number.addEventListener("input", () => {
      if (number.value === "" || !Number.isFinite(Number(number.value))) return; // half typed
      slider.value = number.value; // a number may lie beyond: the slider then stands at its end
      moves(one.key, number.value);
    });
    return made;
  }

  function moves(key, word) {
    const value = Number(word);
    page.moved(key, Math.abs(value - own[key]) <= 1e-12 * Math.abs(own[key]) ? null : value);
  }

  const controls = () => [...document.querySelectorAll("#controls .control")];
  const all = (sections) => sections.flatMap((part) => [...part.controls, ...part.more]);

  function section(part, values) {
    const rest = part.more.length
      ? [element("details", { open: part.more.some((one) => one.key in values) },
        element("summary", { textContent: "All its numbers" }), ...part.more.map(control))] : [];
    const note = part.note ? [element("p", { className: "dim", textContent: part.note })] : [];
    return [element("h3", { textContent: part.title }), ...note, ...part.controls.map(control), ...rest];
  }

  function build(sections, values) {
    const button = element("button", { id: "reset", textContent: "Back to the own numbers" });
    button.addEventListener("click", reset);
    const parts = sections.flatMap((part) => section(part, values));
    document.getElementById("controls").replaceChildren(...parts, ...(parts.length ? [button] : []));
  }

  function put(made, one, value) {
    const [label, slider, number] = made.children;
    label.textContent = one.label;
    slider.setAttribute("aria-label", one.label + ", slider");
    Object.assign(slider, { min: one.low, max: Math.max(one.high, value), step: one.whole ? 1 : "any" });
    Object.assign(number, { step: one.whole ? 1 : "any" });
    slider.value = value;
    if (document.activeElement !== number) number.value = value;
  }

  function reset() {
    controls().forEach((made) => {
      const [, slider, number] = made.children;
      slider.value = number.value = own[made.dataset.key];
      page.moved(made.dataset.key, null);
    });
  }

  // Shows these sections; those that stand there already stay, with what is new of them.
  page.sliders = function (sections, values) {
    const structure = JSON.stringify(sections.map((part) => [part.title, all([part]).map((one) => one.key)]));
    if (structure !== shown) build(sections, values);
    shown = structure;
    own = Object.fromEntries(all(sections).map((one) => [one.key, one.own]));
    const told = Object.fromEntries(all(sections).map((one) => [one.key, one]));
    controls().forEach((made) => {
      const one = told[made.dataset.key];
      put(made, one, one.key in values ? values[one.key] : one.own);
    });
  };
})();
