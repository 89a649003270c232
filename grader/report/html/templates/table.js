"use strict";
// Sorts a table by the buttons in its head; labels its cells where there is room for a list only; shows the rows that a search and a status leave, the first thousand unless asked for more.
const MOST = 1000;
// Without case and accents, so that "muller" finds Müller.
const plain = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/ß/g, "ss").replace(/ø/g, "o").replace(/ł/g, "l");
let update = () => {};
document.querySelectorAll("table.sortable").forEach(table => {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => row.cells[column].dataset.v ?? row.cells[column].textContent.trim();
  const label = () => [...body.rows].forEach(row => [...row.cells].forEach((cell, column) => { const word = heads[column].textContent; if (!cell.textContent.endsWith(word)) cell.dataset.l = word; }));
  const narrow = matchMedia("(max-width:760px)");
  if (table.classList.contains("labels")) {
    if (narrow.matches) label(); else narrow.addEventListener("change", label, {once: true});
  }
  const compare = new Intl.Collator(undefined, {numeric: true, sensitivity: "base"}).compare;
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const first = head.dataset.first || "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      const sign = order === "ascending" ? 1 : -1, numeric = head.classList.contains("num");
      const rows = [...body.rows].map(row => [key(row, column), row]);
      rows.sort(([a], [b]) => a === "" ? (b === "" ? 0 : 1) : b === "" ? -1 : sign * (numeric ? a - b : compare(a, b)));
      heads.forEach(each => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      body.append(...rows.map(([, row]) => row));
      update();
    });
  });
});
const search = document.getElementById("search"), status = document.getElementById("status");
if (search) {
  const shown = document.getElementById("shown"), more = document.getElementById("more");
  const body = document.querySelector("table.sortable tbody"), total = body.rows.length;
  const texts = new Map([...body.rows].map(row => [row, plain(row.textContent)]));
  let most = MOST;
  update = () => {
    const word = plain(search.value);
    let found = 0;
    for (const row of body.rows) {
      const fits = texts.get(row).includes(word) && (!status.value || row.dataset.status === status.value);
      found += fits;
      row.hidden = !fits || found > most;
    }
    more.hidden = found <= most;
    shown.textContent = `${Math.min(found, most).toLocaleString("en")} of ${total.toLocaleString("en")} shown`;
  };
  search.addEventListener("input", update);
  status.addEventListener("change", update);
  const showAll = () => { most = Infinity; update(); };
  more.addEventListener("click", showAll);
  window.addEventListener("beforeprint", showAll);
  update();
}
