"use strict";
// What is asked of the server and when; the address. Everything of one reader lives here and in the address.
(function () {
  const page = (window.warpbound = window.warpbound || {});
  const REST_MS = 300;       // without a movement: the sliders rest
  const WATCH_MS = 800;      // between two looks at how far a long analysis is
  const PATIENCE_MS = 10000; // after which a quick answer is no longer waited for
  const OF_THE_BOARD = /^(gpu|work)\./; // numbers that another board makes others: its own, a warp's cycles on it
  const OF_THE_LAUNCH = /^launch\./;    // and those that a newly written launch does
  const FIELDS = ["source", "gpu", "kernel", "grid", "block", "smem", "args"];
  const here = { // values: set by hand; asked, answered: numbers of the whole analyses; since: moves before the last
    values: null, question: null, view: null, theme: null,
    asked: 0, answered: 0, moves: 0, since: 0, busy: false, waiting: false, timer: null, long: false,
  };
  const dash = () => window.dash_clientside;

  // ------------------------------------------------------------ while a slider moves

  page.moved = function (key, value) { // null: back to its own
    if (value === null) delete here.values[key];
    else here.values[key] = value;
    follow();
  };

  page.reset = function () { // every number of every view
    here.values = {};
    follow();
  };

  page.anySet = () => Object.keys(here.values || {}).length > 0;

  function follow() {
    here.moves++;
    clearTimeout(here.timer);
    here.timer = setTimeout(settle, REST_MS);
    if (here.busy) here.waiting = true; // one question at a time: the latest values go out next
    else ask();
  }

  async function ask() {
    here.busy = true;
    here.waiting = false;
    const now = here.moves;
    const seen = await quickly();
    here.long = Boolean(seen.waits);
    if (here.waiting) ask(); // is answered while this is drawn
    else here.busy = false;
    if (now > here.since) await page.show(seen);
  }

  async function quickly() {
    const body = JSON.stringify({ question: here.question, view: here.view, values: here.values, canvas: canvas() });
    const asked = { method: "POST", headers: { "Content-Type": "application/json" }, body, signal: AbortSignal.timeout(PATIENCE_MS) };
    try {
      const answer = await fetch("live", asked);
      if (answer.ok) return await answer.json();
    } catch { /* said below */ }
    const silent = "The server of this page does not answer.";
    return { words: [silent + " Does `warpbound page` still run?"], figures: [], lacking: { "as-json": silent, "as-html": silent } };
  }

  // ------------------------------------------------------------ at rest

  function settle() {
    clearTimeout(here.timer);
    here.timer = null;
    if (here.busy) here.timer = setTimeout(settle, REST_MS);
    else {
      dash().set_props("settled", { data: settled() });
      if (here.long) setTimeout(watch, WATCH_MS);
    }
  }

  async function watch() { // the whole analysis takes its time: how far it is
    const unanswered = () => here.answered !== here.asked && !here.busy && !here.timer;
    if (!unanswered()) return;
    const now = here.moves, seen = await quickly();
    if (!unanswered() || now !== here.moves) return;
    if (seen.figures.length) await page.show(seen);
    setTimeout(watch, WATCH_MS);
  }

  const canvas = () => ({ theme: here.theme, width: document.querySelector(".shown").clientWidth });

  function settled() {
    here.since = here.moves;
    address();
    return { values: { ...here.values }, number: ++here.asked, ...canvas() };
  }

  function address() {
    const words = new URLSearchParams();
    FIELDS.forEach((name) => { if (here.question[name]) words.set(name, here.question[name]); });
    words.set("view", here.view);
    Object.entries(here.values).sort().forEach(([key, value]) => words.append("set", key + ":" + value));
    history.replaceState(history.state, "", location.pathname + "?" + words);
    const local = here.question.source.startsWith("here:");
    document.getElementById("sharing").textContent = local ? "This source is too long for an address: the link works on this server only." : "";
  }

  function forget(question) { // another board, source or launch has numbers of its own
    const written = ["kernel", "grid", "block", "smem", "args"].some((name) => question[name] !== here.question[name]);
    Object.keys(here.values).forEach((key) => {
      const gone = question.fresh === "all" || (question.fresh === "gpu" && OF_THE_BOARD.test(key)) || (written && OF_THE_LAUNCH.test(key));
      if (gone) delete here.values[key];
    });
  }

  page.rests = (view) => // for whoever drives the page: whether all that was asked is answered and drawn
    here.asked > 0 && here.answered === here.asked && !here.busy && !here.timer && (!view || view === here.view);

  page.theme = () => here.theme;

  // ------------------------------------------------------------ a file of one's own

  function chooser() { // Dash's own can neither be reached by keyboard nor say what it refuses
    const input = Object.assign(document.createElement("input"), { type: "file", id: "file", hidden: true });
    input.accept = document.getElementById("choose").dataset.accept;
    input.addEventListener("change", () => { upload(input.files[0]).finally(() => { input.value = ""; }); });
    document.body.append(input);
  }

  async function upload(file) {
    const refuse = (words) => dash().set_props("problem", { children: file.name + " " + words });
    if (!file) return;
    if (file.size === 0) return refuse("is empty.");
    if (file.size > Number(document.getElementById("choose").dataset.largest)) return refuse("has more than 1 MB: the page takes no more. Analyse it with `warpbound analyze`.");
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      if (text.includes("\0")) throw new TypeError();
      dash().set_props("code", { value: text });
      dash().set_props("uploaded", { data: text });
    } catch {
      refuse("is no text: the page takes CUDA C++, PTX or a SASS listing. Analyse a cubin with `warpbound analyze`.");
    }
  }

  // ------------------------------------------------------------ what Dash's components lack

  function mended() { // roles, as screen readers expect them
    const set = (one, name, value) => { if (one.getAttribute(name) !== value) one.setAttribute(name, value); };
    document.querySelectorAll(".dash-dropdown-focus-target").forEach((hidden) => set(hidden, "tabindex", "-1"));
    document.querySelectorAll("button.dash-dropdown").forEach((one) => { // reached by keyboard, named by its label
      set(one, "tabindex", "0");
      set(one, "aria-labelledby", `label-${one.id} ${one.id}-value`);
    });
    const views = document.getElementById("view");
    set(views, "role", "radiogroup");
    set(views, "aria-label", "View");
    views.querySelectorAll("label[role], label[aria-selected]").forEach((label) => {
      label.removeAttribute("role");
      label.removeAttribute("aria-selected");
    });
  }

  function mend() {
    mended();
    new MutationObserver(mended).observe(document.getElementById("question-fields"), {
      subtree: true, childList: true, attributeFilter: ["role", "aria-selected", "aria-labelledby", "tabindex"],
    });
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    warpbound: {
      theme() {
        mend();
        chooser();
        const dark = window.matchMedia("(prefers-color-scheme: dark)");
        dark.onchange = () => dash().set_props("theme", { data: dark.matches ? "dark" : "light" });
        ["(max-width: 550px)", "(max-width: 820px)"].forEach((narrow) => { // plots beside each other move below
          window.matchMedia(narrow).onchange = () => { if (here.question) page.moved("", null); };
        });
        return dark.matches ? "dark" : "light";
      },

      rested(question, view, theme, written) {
        if (!question || !theme) return dash().no_update;
        if (here.values === null) here.values = { ...written.values };
        else if (JSON.stringify(question) !== JSON.stringify(here.question)) forget(question);
        Object.assign(here, { question, view, theme });
        if (view === "camping" && page.anySet()) setTimeout(watch, WATCH_MS);
        clearTimeout(here.timer);
        here.timer = null;
        return settled();
      },

      async answered(seen) {
        if (!seen || seen.number < here.answered) return dash().no_update;
        page.sliders(seen.numbers, here.values);
        if (here.moves === here.since) await page.show(seen); // else what moved since is shown, and answered next
        here.answered = seen.number;
        return seen.number;
      },

      choose() {
        document.getElementById("file").click();
        return dash().no_update;
      },

      picture() {
        const asked = dash().callback_context.triggered[0];
        if (asked && asked.value) page.take(asked.prop_id.startsWith("as-svg") ? "svg" : "png");
        return dash().no_update;
      },
    },
  });
})();
