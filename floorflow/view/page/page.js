"use strict";
// A module on a die, its row and its layers are one: whichever is pointed at or focused, all of them are marked.
(function () {
  const told = document.getElementById("told");
  const parts = new Map();
  for (const part of document.querySelectorAll("[data-m]")) {
    const key = part.dataset.m;
    parts.set(key, (parts.get(key) || []).concat(part));
  }
  const keyOf = (target) => {
    const part = target instanceof Element ? target.closest("[data-m]") : null;
    return part ? part.dataset.m : null;
  };
  let shown = null;
  let focused = null;

  function show(key, from) {
    if (key !== shown) {
      for (const part of parts.get(shown) || []) part.classList.remove("on");
      for (const part of parts.get(key) || []) part.classList.add("on");
      shown = key;
    }
    const own = parts.get(key) || [];
    const drawn = own.find((part) => part.hasAttribute("aria-label"));
    const row = own.find((part) => part.matches(".beside tr"));
    told.hidden = key === null;
    if (key !== null) told.textContent = drawn ? drawn.getAttribute("aria-label") : row ? row.innerText : "";
    if (row ? from !== row : false) reveal(row);
  }

  // Only the row's own box is scrolled, never the page.
  function reveal(row) {
    const box = row.closest(".box");
    const at = row.getBoundingClientRect();
    const seen = box.getBoundingClientRect();
    const head = box.querySelector("thead").offsetHeight;
    if (at.top < seen.top + head) box.scrollTop -= seen.top + head - at.top;
    else if (at.bottom > seen.bottom) box.scrollTop += at.bottom - seen.bottom;
  }

  document.addEventListener("pointerover", (event) => {
    const key = keyOf(event.target);
    show(key === null ? focused : key, event.target.closest("tr"));
  });
  document.addEventListener("pointerleave", () => show(focused, null));
  document.addEventListener("focusin", (event) => {
    focused = keyOf(event.target);
    show(focused, event.target);
  });
  document.addEventListener("focusout", () => {
    focused = null;
    show(null, null);
  });

  const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      focused = null;
      show(null, null);
      return;
    }
    const walk = event.target.closest("[data-walk]");
    if (!walk) return;
    // In the order of the dataflow, whatever lies over what.
    const all = Array.from(walk.querySelectorAll("[data-m]"));
    all.sort((a, b) => a.dataset.m.split(".")[1] - b.dataset.m.split(".")[1]);
    const last = all.length - 1;
    let to = all.indexOf(event.target.closest("[data-m]"));
    if (event.key in STEPS) to += STEPS[event.key];
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = last;
    else return;
    event.preventDefault();
    const next = all[Math.min(Math.max(to, 0), last)];
    for (const each of all) each.setAttribute("tabindex", each === next ? "0" : "-1");
    next.focus({ preventScroll: walk.tagName === "TBODY" ? false : true });
  });
})();
