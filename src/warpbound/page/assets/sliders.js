"use strict";
// Sliders with a number each, in groups that fold, as the server describes them. What moves goes to warpbound.moved.
(function () {
  const page = (window.warpbound = window.warpbound || {});
  const DIGITS = 4; // of a number that a slider sets
  const opened = {}; // group -> whether the reader opened or closed it
  let shown = ""; // which controls stand there
  let own = {};   // key -> where a number stands unless it is set by hand
  let words = {}; // key -> its label

  function element(kind, properties, ...children) {
    const made = Object.assign(document.createElement(kind), properties);
    made.append(...children);
    return made;
  }

  // ------------------------------------------------------------ one number

  function control(one) {
    const name = "number-" + one.key.replace(/[^\w]/g, "-");
    const slider = element("input", { type: "range" });
    const number = element("input", { type: "number", id: name });
    const back = element("button", { className: "back", textContent: "↺", hidden: true });
    const origin = element("span", { className: "origin dim", id: name + "-origin" });
    const made = element("div", { className: "control" }, element("label", { htmlFor: name }), back, slider, number, origin);
    made.dataset.key = one.key;
    slider.addEventListener("input", () => {
      number.value = rounded(slider);
      moves(made, Number(number.value));
    });
    number.addEventListener("input", () => {
      if (number.value === "" || !Number.isFinite(Number(number.value))) return; // half typed
      slider.value = number.value; // a number may lie beyond: the slider then stands at its end
      moves(made, Number(number.value));
    });
    back.addEventListener("click", () => {
      stands(made, own[one.key]);
      moves(made, own[one.key]);
      number.focus();
    });
    return made;
  }

  const rounded = (slider) => slider.step === "any" ? Number(Number(slider.value).toPrecision(DIGITS)) : Number(slider.value);
  const parts = (made) => ({
    label: made.querySelector("label"), back: made.querySelector(".back"),
    slider: made.querySelector("[type=range]"), number: made.querySelector("[type=number]"), origin: made.querySelector(".origin"),
  });
  const controls = () => [...document.querySelectorAll("#controls .control")];
  const same = (value, other) => Math.abs(value - other) <= 1e-12 * Math.abs(other);

  function stands(made, value) {
    const { slider, number } = parts(made);
    slider.value = value;
    if (document.activeElement !== number) number.value = value;
  }

  function marked(made, by_hand) {
    made.classList.toggle("set", by_hand);
    parts(made).back.hidden = !by_hand;
  }

  function moves(made, value) {
    const by_hand = !same(value, own[made.dataset.key]);
    const was = made.classList.contains("set");
    page.moved(made.dataset.key, by_hand ? value : null);
    if (by_hand === was) return; // counting at every movement would cost milliseconds
    marked(made, by_hand);
    counted();
  }

  function put(made, one, values) {
    const { label, back, slider, number, origin } = parts(made);
    const by_hand = one.key in values, value = by_hand ? values[one.key] : one.own;
    label.textContent = one.label;
    slider.setAttribute("aria-label", one.label + ", slider");
    back.setAttribute("aria-label", one.label + ", back to " + one.own);
    back.title = "Back to " + one.own;
    Object.assign(slider, { min: Math.min(one.low, value), max: Math.max(one.high, value), step: one.step || "any" });
    Object.assign(number, { step: one.step || "any" });
    Object.assign(origin, { textContent: one.origin, hidden: !one.origin });
    if (one.origin) number.setAttribute("aria-describedby", origin.id);
    else number.removeAttribute("aria-describedby");
    stands(made, value);
    marked(made, by_hand);
  }

  // ------------------------------------------------------------ groups

  function group(part, values) {
    const rest = part.more.length ? [element("details", { className: "rest", open: part.more.some((one) => one.key in values) },
      element("summary", { textContent: part.controls.length ? `${part.more.length} more` : `All ${part.more.length}` }),
      ...part.more.map(control))] : [];
    const note = part.note ? [element("p", { className: "dim", textContent: part.note })] : [];
    const title = element("summary", {}, element("h3", { textContent: part.title }), element("span", { className: "dim many" }));
    const any = [...part.controls, ...part.more].some((one) => one.key in values);
    const made = element("details", { className: "group", open: any || (opened[part.title] ?? part.open) },
      title, ...note, ...part.controls.map(control), ...rest);
    title.addEventListener("click", () => { opened[part.title] = !made.open; });
    return made;
  }

  function counted() { // beside a group's title: how many numbers there are, how many are set by hand
    let any = false;
    document.querySelectorAll("#controls .group").forEach((one) => {
      const set = one.querySelectorAll(".control.set").length;
      any = any || set > 0;
      one.querySelector(".many").textContent = set ? `${set} set` : one.querySelectorAll(".control").length;
    });
    document.getElementById("reset").disabled = !any && !page.anySet();
  }

  function build(sections, values) {
    const find = element("input", { type: "search", id: "find", placeholder: "Find a number", autocomplete: "off" });
    find.setAttribute("aria-label", "Find a number");
    find.addEventListener("input", () => sought(find.value));
    const button = element("button", { id: "reset", textContent: "Reset all" });
    button.addEventListener("click", reset);
    const none = element("p", { id: "none", className: "dim", textContent: "No number of this view has that name.", hidden: true });
    const top = element("div", { className: "row find" }, find, button);
    document.getElementById("controls").replaceChildren(...(sections.length ? [top, none] : []), ...sections.map((part) => group(part, values)));
  }

  function sought(query) { // shows the numbers whose name holds every word
    const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
    const all = document.querySelectorAll("#controls details");
    all.forEach((one) => {
      if (wanted.length && one.dataset.was === undefined) one.dataset.was = one.open ? "open" : "";
      if (!wanted.length && one.dataset.was !== undefined) {
        one.open = one.dataset.was === "open";
        delete one.dataset.was;
      }
    });
    controls().forEach((made) => {
      const name = (words[made.dataset.key] + " " + made.dataset.key).toLowerCase();
      made.hidden = !wanted.every((word) => name.includes(word));
    });
    all.forEach((one) => {
      one.hidden = !one.querySelector(".control:not([hidden])");
      if (wanted.length && !one.hidden) one.open = true;
    });
    document.getElementById("none").hidden = controls().some((made) => !made.hidden);
  }

  function reset() {
    controls().forEach((made) => {
      stands(made, own[made.dataset.key]);
      marked(made, false);
    });
    page.reset();
    counted();
  }

  // Shows these sections; those that stand there already stay, with what is new of them.
  page.sliders = function (sections, values) {
    const all = sections.flatMap((part) => [...part.controls, ...part.more]);
    const structure = JSON.stringify(sections.map((part) => [part.title, part.controls.map((one) => one.key), part.more.map((one) => one.key)]));
    own = Object.fromEntries(all.map((one) => [one.key, one.own]));
    words = Object.fromEntries(all.map((one) => [one.key, one.label]));
    if (structure !== shown) build(sections, values);
    shown = structure;
    const told = Object.fromEntries(all.map((one) => [one.key, one]));
    controls().forEach((made) => put(made, told[made.dataset.key], values));
    if (sections.length) counted();
  };

  // What is set by hand among the numbers that stand there, in words.
  page.byHand = () => controls().filter((made) => made.classList.contains("set")).map((made) =>
    `${words[made.dataset.key]} ${parts(made).number.value} (${own[made.dataset.key]})`);
})();
