"use strict";
(() => {
  // Filters: the list is short enough to go through at every key.
  const form = document.querySelector(".filters");
  const cases = [...document.querySelectorAll("#list > details")];
  const told = form.querySelector("output");
  const filter = () => {
    const text = form.elements.text.value.trim().toLowerCase();
    const kind = form.elements.kind.value;
    let shown = 0;
    for (const each of cases) {
      const fits = (!kind || each.dataset.k.split(" ").includes(kind)) &&
        (!text || each.firstElementChild.textContent.toLowerCase().includes(text));
      each.hidden = !fits;
      shown += fits;
    }
    told.textContent = shown === cases.length ? `${shown} cases` : `${shown} of ${cases.length} cases`;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
  for (const link of document.querySelectorAll("[data-show]")) {
    link.addEventListener("click", () => {
      form.elements.text.value = "";
      form.elements.kind.value = link.dataset.show;
      filter();
    });
  }

  // Who follows a link to a case sees it, open.
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let each = target; each; each = each.parentElement) {
      if (each.tagName === "DETAILS") { each.hidden = false; each.open = true; }
    }
    if (target && target.tagName === "DETAILS") target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  if (location.hash) open();

  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = button.previousElementSibling.textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(button.previousElementSibling);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  // Near a message is on it: a line is too thin to be met.
  const NEAR = 9;
  const points = new WeakMap();
  const pointsOf = (path) => {
    if (!points.has(path)) {
      const length = path.getTotalLength();
      points.set(path, Array.from({ length: 9 }, (_, n) => path.getPointAtLength(length * n / 8)));
    }
    return points.get(path);
  };
  let lit = null;
  const light = (path, svg) => {
    if (path === lit) return;
    if (lit) lit.classList.remove("on");
    lit = path;
    if (path) path.classList.add("on");
    const readout = svg.closest("figure")?.querySelector(".readout");
    if (readout) readout.textContent = path ? path.textContent : "";
  };
  document.addEventListener("pointermove", (event) => {
    const svg = event.target.closest?.("svg.st");
    if (!svg) { if (lit) light(null, lit.ownerSVGElement); return; }
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = null, least = NEAR;
    for (const path of svg.querySelectorAll(".ms path")) {
      for (const point of pointsOf(path)) {
        const far = Math.hypot(point.x - at.x, point.y - at.y);
        if (far < least) { least = far; best = path; }
      }
    }
    light(best, svg);
  });
})();
