"use strict";
// What needs no server: sliders and their numbers, how often the server is asked, the address, pictures.
(function () {
  const REST_MS = 300;      // without a movement: the sliders rest
  const PATIENCE_MS = 1500; // after which an answer is no longer waited for
  const GPU = "gpu.";
  const here = { values: null, number: 0, patience: null, busy: false, waiting: null, timer: null, settled: null, question: null, echoes: {} };
  const dash = () => window.dash_clientside;

  function begin(written) {
    if (here.values === null && written) here.values = { ...written.values };
  }

  function named() { // labels that Dash's components cannot carry
    document.querySelectorAll(".control").forEach((control) => {
      const label = control.dataset.label;
      const slider = control.querySelector("input[type=range]");
      const number = control.querySelector("input:not([type=range])");
      if (slider) slider.setAttribute("aria-label", label + ", slider");
      if (number) number.setAttribute("aria-label", label);
    });
  }

  function mended() { // roles that Dash gives its components, as screen readers expect them
    document.querySelectorAll(".dash-dropdown-focus-target").forEach((hidden) => { if (hidden.tabIndex !== -1) hidden.tabIndex = -1; });
    const views = document.getElementById("view");
    if (views.getAttribute("role") !== "radiogroup") views.setAttribute("role", "radiogroup");
    views.setAttribute("aria-label", "View");
    views.querySelectorAll("label[role], label[aria-selected]").forEach((label) => {
      label.removeAttribute("role");
      label.removeAttribute("aria-selected");
    });
  }

  function mend() {
    mended();
    new MutationObserver(mended).observe(document.getElementById("question-fields"), {
      subtree: true, childList: true, attributeFilter: ["role", "aria-selected", "tabindex"],
    });
  }

  const asText = (values) => JSON.stringify(Object.entries(values || {}).sort());

  function send(data) {
    here.busy = true;
    clearTimeout(here.patience);
    here.patience = setTimeout(next, PATIENCE_MS);
    return data;
  }

  function next() { // the answer has come, or is given up: what has moved meanwhile goes out
    here.busy = false;
    clearTimeout(here.patience);
    if (here.waiting) {
      const data = here.waiting;
      here.waiting = null;
      dash().set_props("live", { data: send(data) });
    }
    clearTimeout(here.timer);
    here.timer = setTimeout(settle, REST_MS);
  }

  function settle() {
    here.timer = null;
    if (asText(here.values) === asText(here.settled)) return;
    here.settled = { ...here.values };
    dash().set_props("settled", { data: { values: here.settled, number: ++here.number } });
  }

  window.warpboundRests = () => !here.busy && !here.waiting && !here.timer && !document.querySelector("[data-dash-is-loading=true]");
  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    warpbound: {
      together(slider, number) {
        const none = dash().no_update;
        const moved = dash().callback_context.triggered[0];
        if (!moved) return [none, none];
        const key = JSON.parse(moved.prop_id.slice(0, moved.prop_id.lastIndexOf("."))).key;
        if (moved.prop_id.includes('"slider"')) {
          const echo = here.echoes[key];
          delete here.echoes[key];
          return [none, Number(slider) === echo ? none : Number(slider)];
        }
        const range = document.querySelector(`.control[data-key="${key}"] input[type=range]`);
        if (number === null || number === undefined || !range) return [none, none];
        const within = Math.min(Math.max(Number(number), Number(range.min)), Number(range.max)); // a number may lie beyond
        if (within === Number(slider)) return [none, none];
        here.echoes[key] = within;
        return [within, none];
      },

      moved(values, ids, live, written) {
        begin(written);
        named();
        if (here.values === null) return dash().no_update;
        const own = {};
        document.querySelectorAll(".control").forEach((control) => { own[control.dataset.key] = Number(control.dataset.own); });
        ids.forEach((id, i) => {
          const value = values[i];
          if (value === null || value === undefined || !Number.isFinite(Number(value))) return;
          if (Math.abs(Number(value) - own[id.key]) <= 1e-12 * Math.abs(own[id.key])) delete here.values[id.key];
          else here.values[id.key] = Number(value);
        });
        const data = { values: { ...here.values }, number: ++here.number };
        if (here.busy) { here.waiting = data; return dash().no_update; }
        return send(data);
      },

      rested(drawn, question, view, written) {
        begin(written);
        const moved = dash().callback_context.triggered.map((one) => one.prop_id.split(".")[0]);
        if (!question || here.values === null) return dash().no_update;
        if (moved.length === 1 && moved[0] === "drawn") {
          setTimeout(next, 0);
          return dash().no_update;
        }
        if (here.question && question.fresh && JSON.stringify(question) !== here.question) {
          Object.keys(here.values).forEach((key) => {
            if (question.fresh === "all" || key.startsWith(GPU)) delete here.values[key];
          });
        }
        here.question = JSON.stringify(question);
        here.settled = { ...here.values };
        return { values: here.settled, number: ++here.number };
      },

      theme() {
        mend();
        const dark = window.matchMedia("(prefers-color-scheme: dark)");
        dark.onchange = () => dash().set_props("theme", { data: dark.matches ? "dark" : "light" });
        return dark.matches ? "dark" : "light";
      },

      address(question, view) {
        if (!question || here.values === null) return dash().no_update;
        const words = new URLSearchParams();
        ["source", "gpu", "kernel", "grid", "block", "smem", "args"].forEach((name) => {
          if (question[name]) words.set(name, question[name]);
        });
        words.set("view", view);
        Object.entries(here.values).sort().forEach(([key, value]) => words.append("set", key + ":" + value));
        history.replaceState(history.state, "", location.pathname + "?" + words);
        return question.source.startsWith("here:") ? "This source is too long for an address: the link works on this server only." : "";
      },

      picture() {
        const asked = dash().callback_context.triggered[0];
        const plot = document.querySelector("figure:not([hidden]) .js-plotly-plot");
        if (!asked || !asked.value || !plot) return dash().no_update;
        const format = asked.prop_id.startsWith("as-svg") ? "svg" : "png";
        const size = plot.getBoundingClientRect();
        Plotly.downloadImage(plot, { format, filename: "warpbound", width: size.width, height: size.height, scale: format === "png" ? 2 : 1 });
        return dash().no_update;
      },

      reset(clicks) {
        if (!clicks) return dash().no_update;
        document.querySelectorAll(".control").forEach((control) => {
          dash().set_props({ kind: "value", key: control.dataset.key }, { value: Number(control.dataset.own) });
        });
        return dash().no_update;
      },
    },
  });
})();
