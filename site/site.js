"use strict";
// Enhancements only: every page is whole without them.

// Tables: a click on a head sorts the rows by it, a second click the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[column];
        if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
        return head.classList.contains("number") ? null : cell.textContent.trim();
      };
      const compare = (a, b) => {
        if (a === null || b === null) return (a === null) - (b === null);
        const order = typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
        return down ? -order : order;
      };
      body.append(...[...body.rows].sort((a, b) => compare(key(a), key(b))));
    });
  });
}

// Search: the list of runs is fetched as a script, because pages opened from a disk may fetch nothing else.
const search = document.querySelector(".search");
if (search) {
  const root = document.body.dataset.root;
  const input = search.querySelector("input");
  const list = search.querySelector("ul");
  const most = 30;
  search.hidden = false;

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren();
    list.hidden = words.length === 0 || !window.impactRuns;
    if (list.hidden) return;
    const found = window.impactRuns.filter(([name, , path]) => {
      const text = `${name} ${path}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    for (const [name, href, path] of found.slice(0, most)) {
      const link = document.createElement("a");
      link.href = root + href;
      const small = document.createElement("small");
      small.textContent = path;
      link.append(name, small);
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    if (found.length === 0 || found.length > most) {
      const item = document.createElement("li");
      item.className = "none";
      item.textContent = found.length === 0 ? "No run found" : `and ${found.length - most} more`;
      list.append(item);
    }
  };

  input.addEventListener("focus", () => {
    const script = document.createElement("script");
    script.src = `${root}assets/runs.js`;
    script.addEventListener("load", show);
    document.head.append(script);
  }, { once: true });
  input.addEventListener("input", show);
  search.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown") (links[at + 1] ?? links[0])?.focus();
    else if (event.key === "ArrowUp") (at > 0 ? links[at - 1] : input).focus();
    else if (event.key === "Escape") { input.value = ""; show(); input.focus(); }
    else if (event.key === "Enter" && document.activeElement === input) links[0]?.click();
    else return;
    event.preventDefault();
  });
}

// What can be copied gets a button for it.
for (const section of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(section.dataset.copy);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      source.closest("details")?.setAttribute("open", "");
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2500);
  });
  section.append(button);
}
