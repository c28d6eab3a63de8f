// Search, zoom and keyboard of an energy flame graph.
(() => {
  "use strict";
  const HTML = "http://www.w3.org/1999/xhtml";
  const root = document.documentElement;
  const parts = [...root.querySelectorAll(".frame")];
  if (parts.length === 0) return;
  const frames = parts.map((element) => ({
    element,
    name: element.dataset.name.toLowerCase(),
    about: element.getAttribute("aria-label"),
    x: parseFloat(element.getAttribute("x")),
    width: parseFloat(element.getAttribute("width")),
    level: Number(element.dataset.level),
  }));
  const EDGE = 1e-6;
  const contains = (outer, inner) =>
    outer.level <= inner.level && outer.x <= inner.x + EDGE && inner.x + inner.width <= outer.x + outer.width + EDGE;
  let zoomed = frames[0];
  let current = frames[0];

  const make = (name, parent, text = "") => {
    const element = document.createElementNS(HTML, name);
    element.textContent = text;
    parent.append(element);
    return element;
  };
  const room = root.querySelector("#room");
  const place = document.createElementNS("http://www.w3.org/2000/svg", "foreignObject");
  for (const [name, value] of [["x", 0], ["y", room.getAttribute("y")], ["width", "100%"], ["height", room.getAttribute("height")]]) {
    place.setAttribute(name, value);
  }
  const controls = make("div", place);
  controls.className = "controls";
  const label = make("label", controls, "Search ");
  const search = make("input", label);
  search.type = "search";
  const reset = make("button", controls, "Whole run");
  reset.type = "button";
  const said = make("output", controls);
  room.replaceWith(place);

  const say = (text) => {
    said.textContent = text;
  };

  const zoom = (to) => {
    zoomed = to;
    for (const frame of frames) {
      const { element } = frame;
      const isOuter = frame !== to && contains(frame, to) && frame.level < to.level;
      const isShown = isOuter || contains(to, frame);
      element.style.display = isShown ? "" : "none";
      element.classList.toggle("outer", isOuter);
      const x = isOuter ? 0 : ((frame.x - to.x) / to.width) * 100;
      const width = isOuter ? 100 : (frame.width / to.width) * 100;
      element.setAttribute("x", `${x}%`);
      element.setAttribute("width", `${width}%`);
    }
    reset.disabled = to === frames[0];
  };

  const choose = (frame, focus = true) => {
    current.element.setAttribute("tabindex", -1);
    current = frame;
    frame.element.setAttribute("tabindex", 0);
    if (focus) frame.element.focus();
    say(frame.about);
  };

  const find = () => {
    const wanted = search.value.trim().toLowerCase();
    let share = 0;
    let count = 0;
    const topmost = [];
    for (const frame of frames) {
      const isHit = wanted !== "" && frame.name.includes(wanted);
      frame.element.classList.toggle("hit", isHit);
      if (!isHit) continue;
      count += 1;
      if (topmost.some((outer) => contains(outer, frame))) continue;
      topmost.push(frame);
      share += frame.width;
    }
    if (wanted === "") say("");
    else say(`${count} found, with ${share.toFixed(1)} % of the energy`);
  };

  const shown = (frame) => frame.element.style.display !== "none";
  const middle = (frame) => frame.x + frame.width / 2;
  const neighbours = {
    ArrowDown: () => frames.filter((frame) => frame.level === current.level + 1 && contains(current, frame))[0],
    ArrowUp: () => frames.find((frame) => frame.level === current.level - 1 && contains(frame, current)),
    ArrowRight: () =>
      frames
        .filter((frame) => frame.level === current.level && middle(frame) > middle(current) && shown(frame))
        .sort((a, b) => a.x - b.x)[0],
    ArrowLeft: () =>
      frames
        .filter((frame) => frame.level === current.level && middle(frame) < middle(current) && shown(frame))
        .sort((a, b) => b.x - a.x)[0],
    Home: () => frames[0],
  };

  search.addEventListener("input", find);
  reset.addEventListener("click", () => {
    zoom(frames[0]);
    choose(frames[0]);
  });
  for (const frame of frames) {
    frame.element.addEventListener("click", () => {
      zoom(frame);
      choose(frame);
    });
    frame.element.addEventListener("pointerenter", () => say(frame.about));
  }
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = document.activeElement === search;
    if (event.key === "Escape") {
      search.value = "";
      find();
      zoom(frames[0]);
      choose(frames[0]);
    } else if (event.key === "/" && !isTyping) {
      search.focus();
    } else if (!isTyping && parts.includes(document.activeElement)) {
      if (event.key === "Enter" || event.key === " ") {
        zoom(zoomed === current ? frames[0] : current);
        say(current.about);
      } else if (event.key in neighbours) {
        const next = neighbours[event.key]();
        if (next !== undefined) {
          if (!shown(next)) zoom(next);
          choose(next);
        }
      } else return;
    } else return;
    event.preventDefault();
  });
  choose(frames[0], false);
  zoom(frames[0]);
})();
