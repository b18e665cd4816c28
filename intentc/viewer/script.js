// Without this script everything is shown, one variant below the other, and line numbers are links. With it, variants
// are tabs, lines light up together with those they correspond to, and the tiles of a picture can be walked through.
"use strict";

function tabs(list) {
  const all = [...list.querySelectorAll("[role=tab]")];
  const panels = tab => tab.dataset.panels.split(" ").map(id => document.getElementById(id));
  const select = (chosen, focus) => {
    for (const tab of all) {
      tab.setAttribute("aria-selected", tab === chosen);
      tab.tabIndex = tab === chosen ? 0 : -1;
      for (const panel of panels(tab)) panel.hidden = true;
    }
    for (const panel of panels(chosen)) panel.hidden = false;
    if (focus) chosen.focus();
  };
  all.forEach((tab, place) => {
    tab.addEventListener("click", () => select(tab));
    tab.addEventListener("keydown", event => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      const to = {Home: 0, End: all.length - 1}[event.key] ?? (step && (place + step + all.length) % all.length);
      if (to === undefined) return;
      event.preventDefault();
      select(all[to], true);
    });
  });
  list.hidden = all.length < 2;
  if (all.length) select(all[0]);
}

const lit = () => document.querySelectorAll(".line.lit");
const partners = line => (line.dataset.to || "").split(" ").filter(Boolean).map(id => document.getElementById(id));

function light(line) {
  for (const each of lit()) each.classList.remove("lit");
  if (!line) return;
  line.classList.add("lit");
  for (const each of partners(line)) each.classList.add("lit");
}

function reveal(line) {
  const other = partners(line).find(each => each.offsetParent);
  const scroll = other && other.closest(".scroll");
  if (!scroll) return;
  const box = scroll.getBoundingClientRect(), at = other.getBoundingClientRect();
  if (at.top < box.top || at.bottom > box.bottom) scroll.scrollTop += at.top - box.top - box.height / 3;
  if (box.bottom < 0 || box.top > innerHeight) scroll.scrollIntoView({block: "center"});
}

function lines() {
  let kept = null;
  for (const line of document.querySelectorAll(".linked")) {
    line.addEventListener("mouseenter", () => { if (!kept) light(line); });
    line.addEventListener("mouseleave", () => { if (!kept) light(null); });
    line.addEventListener("focus", () => { kept = line; light(line); });
    line.addEventListener("blur", () => { kept = null; light(null); });
    line.addEventListener("click", event => { event.preventDefault(); line.focus({preventScroll: true}); reveal(line); });
    line.addEventListener("keydown", event => {
      if (event.key === "Enter") reveal(line);
      const all = [...line.closest(".code").querySelectorAll(".linked")];
      const next = all[all.indexOf(line) + ({ArrowDown: 1, ArrowUp: -1}[event.key] || 0)];
      if (next && next !== line) { event.preventDefault(); next.focus(); reveal(next); }
      if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
        const other = partners(line).find(each => each.offsetParent);
        if (other) { event.preventDefault(); other.focus(); }
      }
    });
    line.tabIndex = line === line.closest(".code").querySelector(".linked") ? 0 : -1;
  }
}

function grid(picture) {
  const cells = [...picture.querySelectorAll(".cell")];
  const output = picture.closest("figure").querySelector("output");
  const show = cell => {
    for (const each of cells) each.classList.toggle("active", each === cell || (cell.dataset.program !== "" && each.dataset.program === cell.dataset.program));
    output.textContent = cell.getAttribute("aria-label");
  };
  cells.forEach((cell, place) => {
    cell.addEventListener("mouseenter", () => show(cell));
    cell.addEventListener("focus", () => show(cell));
    cell.addEventListener("keydown", event => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      const across = Math.max(cells.findIndex(each => each.getAttribute("data-row") !== cells[0].getAttribute("data-row")), 1);
      const down = {ArrowDown: across, ArrowUp: -across}[event.key];
      const next = cells[place + (step || down || 0)];
      if (!next || next === cell) return;
      event.preventDefault();
      cell.tabIndex = -1; next.tabIndex = 0; next.focus();
    });
  });
}

document.querySelectorAll("[role=tablist]").forEach(tabs);
document.querySelectorAll("svg.grid").forEach(grid);
lines();
