// The map of entries: points on a canvas, moved and zoomed, selected with a lasso or by keys. What is selected is a list
// under it, with the same actions as on the page of all memories.

import { fetched, hasEnded, post, read } from "./app.js";

const MOST_ZOOM = 60;
const NEAR = 12; // how far in pixels the pointer may be from a point
const MARGIN = 28;
const MANY = 3000;

class EntryMap {
  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.card = root.querySelector(".map-card");
    this.said = root.querySelector("#map-said");
    this.points = null;
    this.chosen = new Set();
    this.hidden = new Set();
    this.view = { zoom: 1, x: 0, y: 0 };
    this.tool = "lasso";
    this.lasso = null;
    this.touches = new Map();
    this.cards = new Map();
    this.hover = -1;
    this.isDue = false;
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.palette = null; this.draw(); });
    this.listen();
    this.load();
  }

  async load() {
    const response = await fetched(this.root.dataset.points).catch(() => null);
    if (!response) return hasEnded();
    if (!response.ok) {
      this.said.textContent = "The points could not be read. Reload the page; Health may tell why.";
      return;
    }
    const before = this.points;
    const chosen = new Set([...this.chosen].map((at) => before.ids[at]));
    this.points = await response.json();
    this.hideCard();
    this.cards.clear();
    this.chosen = new Set([...this.points.ids.keys()].filter((at) => chosen.has(this.points.ids[at])));
    if (chosen.size !== this.chosen.size) this.choose(this.chosen);
    this.tellCount();
    this.root.querySelector(".map-empty").hidden = this.points.ids.length > 0;
    const counts = this.points.categories.map(() => 0);
    for (const category of this.points.category) counts[category]++;
    for (const place of this.root.querySelectorAll("[data-count]")) {
      place.textContent = counts[place.dataset.count];
      place.closest("li").hidden = !counts[place.dataset.count];
    }
    this.group();
    this.resize();
    this.root.dataset.ready = "";
  }

  tellCount() {
    const { size } = this.chosen;
    this.said.textContent = size ? `${size} selected of ${this.points.said}` : this.points.said;
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width) return;
    this.ratio = devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.draw();
  }

  // Places on the screen.
  across(at) { return MARGIN + (this.points.x[at] / this.points.size) * (this.width - 2 * MARGIN) * this.view.zoom + this.view.x; }
  down(at) { return MARGIN + (this.points.y[at] / this.points.size) * (this.height - 2 * MARGIN) * this.view.zoom + this.view.y; }

  // Points that look alike are drawn together.
  group() {
    const { points } = this;
    const groups = new Map();
    for (let at = 0; at < points.ids.length; at++) {
      const size = points.used[at] >= 5 ? 3 : points.used[at] ? 2 : points.given[at] ? 1 : 0;
      const key = `${size}/${points.category[at]}/${points.stale[at]}`;
      if (!groups.has(key)) groups.set(key, { size, category: points.category[at], isStale: points.stale[at], at: [] });
      groups.get(key).at.push(at);
    }
    this.groups = [...groups.values()].sort((a, b) => a.size - b.size); // the most used on top
    this.large = Math.min(1.6, Math.max(1, Math.sqrt(600 / points.ids.length))); // few points have room
  }

  colours() {
    const style = getComputedStyle(this.root);
    const colour = (name) => style.getPropertyValue(name);
    this.palette = this.points.categories.map((_, number) => colour(`--c${number}`));
    [this.ink, this.paper, this.accent, this.bad] = ["--ink", "--card", "--accent", "--bad"].map(colour);
  }

  draw() {
    if (this.isDue || !this.points || !this.width) return;
    this.isDue = true;
    requestAnimationFrame(() => { this.isDue = false; this.drawNow(); });
  }

  drawNow() {
    const { context } = this;
    if (!this.palette) this.colours();
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const hasChosen = this.chosen.size > 0;
    if (hasChosen) for (const group of this.groups) this.drawGroup(group, false, 0.25);
    for (const group of this.groups) this.drawGroup(group, hasChosen ? true : null, 1);
    if (this.hover >= 0) this.ring(this.hover);
    if (this.lasso) this.drawLasso();
    this.canvas.dataset.frames = Number(this.canvas.dataset.frames || 0) + 1;
  }

  // Draw the points of a group: those that are chosen, those that are not, or with null all.
  drawGroup(group, isChosen, alpha) {
    if (this.hidden.has(group.category)) return;
    const { context, width, height } = this;
    const colour = this.palette[group.category];
    const radius = [2.5, 3.5, 4.5, 6][group.size] * this.large;
    const rings = [[radius, colour]];
    if (group.size < 2) rings.push([radius - 1.4, this.paper]);
    if (group.isStale) rings.unshift([radius + 3.5, this.bad], [radius + 2, this.paper]);
    context.globalAlpha = alpha;
    for (const at of group.at) {
      if (isChosen !== null && this.chosen.has(at) !== isChosen) continue;
      const x = this.across(at), y = this.down(at);
      if (x < -12 || y < -12 || x > width + 12 || y > height + 12) continue;
      if (this.isMoving) {
        context.fillStyle = colour;
        context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
        continue;
      }
      for (const [size, fill] of rings) {
        context.fillStyle = fill;
        context.beginPath();
        context.arc(x, y, size, 0, 7);
        context.fill();
      }
    }
    context.globalAlpha = 1;
  }

  ring(at) {
    this.context.beginPath();
    this.context.arc(this.across(at), this.down(at), 9, 0, 7);
    this.context.strokeStyle = this.ink;
    this.context.lineWidth = 1.5;
    this.context.stroke();
  }

  drawLasso() {
    const { context } = this;
    context.beginPath();
    for (const [x, y] of this.lasso) context.lineTo(x, y);
    context.closePath();
    context.fillStyle = this.accent;
    context.globalAlpha = 0.12;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = this.accent;
    context.lineWidth = 1.5;
    context.stroke();
  }

  // Moving and zooming. Of many points, only squares are drawn until the map is still.
  moved() {
    this.isMoving = this.points.ids.length > MANY;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => { this.isMoving = false; this.draw(); }, 150);
    this.hideCard();
    this.draw();
  }

  move(x, y) {
    this.view.x += x;
    this.view.y += y;
    this.moved();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const zoom = Math.min(MOST_ZOOM, Math.max(0.5, this.view.zoom * factor));
    const by = zoom / this.view.zoom;
    this.view.x = x - MARGIN - (x - MARGIN - this.view.x) * by;
    this.view.y = y - MARGIN - (y - MARGIN - this.view.y) * by;
    this.view.zoom = zoom;
    this.moved();
  }

  fit() {
    this.view = { zoom: 1, x: 0, y: 0 };
    this.draw();
  }

  // Selecting.
  visible(test) {
    const found = new Set();
    for (let at = 0; at < this.points.ids.length; at++) {
      if (!this.hidden.has(this.points.category[at]) && test(this.across(at), this.down(at))) found.add(at);
    }
    return found;
  }

  async choose(found) {
    this.chosen = found;
    this.draw();
    this.root.querySelector("[data-do=clear]").disabled = !found.size;
    this.tellCount();
    if (!found.size) {
      document.getElementById("selection").replaceChildren();
      return;
    }
    const fields = new URLSearchParams([...found].map((at) => ["id", this.points.ids[at]]));
    fields.set("project", this.root.dataset.project);
    const [page] = await post("/map/selection", fields).catch(() => [hasEnded()]);
    const fresh = page?.getElementById("selection");
    if (!fresh || this.chosen !== found) return;
    document.getElementById("selection").replaceWith(document.adoptNode(fresh));
    document.dispatchEvent(new Event("shown"));
  }

  act(name) {
    if (name === "nearer") this.zoom(1.5);
    else if (name === "farther") this.zoom(1 / 1.5);
    else if (name === "fit") this.fit();
    else if (name === "view") this.choose(this.visible((x, y) => x >= 0 && y >= 0 && x <= this.width && y <= this.height));
    else if (name === "clear") this.choose(new Set());
  }

  // The entry under the pointer.
  nearest(x, y) {
    let best = -1, least = NEAR * NEAR;
    for (let at = 0; at < this.points.ids.length; at++) {
      if (this.hidden.has(this.points.category[at])) continue;
      const far = (this.across(at) - x) ** 2 + (this.down(at) - y) ** 2;
      if (far < least) [best, least] = [at, far];
    }
    return best;
  }

  point(x, y) {
    const at = this.nearest(x, y);
    if (at === this.hover) return;
    this.hover = at;
    this.draw();
    clearTimeout(this.asking);
    if (at < 0) this.card.hidden = true;
    else this.asking = setTimeout(() => this.showCard(at), 80);
  }

  async showCard(at) {
    const id = this.points.ids[at];
    if (!this.cards.has(id)) {
      const [page] = await read(`/map/card/${encodeURIComponent(id)}`).catch(() => [hasEnded()]);
      if (!page) return;
      this.cards.set(id, page.getElementById("card"));
    }
    const found = this.cards.get(id);
    if (this.hover !== at || !found) return;
    this.card.replaceChildren(...document.importNode(found, true).childNodes);
    this.card.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.card;
    const x = this.across(at), y = this.down(at);
    this.card.style.left = `${Math.max(4, Math.min(this.width - width - 4, x - width / 2))}px`;
    this.card.style.top = `${y > height + 20 ? y - height - 14 : y + 14}px`;
  }

  hideCard() {
    this.hover = -1;
    this.card.hidden = true;
  }

  listen() {
    const { canvas } = this;
    const at = (event) => [event.offsetX, event.offsetY];
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.points || event.button > 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.touches.set(event.pointerId, at(event));
      this.hideCard();
      this.last = at(event);
      this.lasso = this.touches.size === 1 && (this.tool === "lasso") !== event.shiftKey ? [at(event)] : null;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.points) return;
      const now = at(event);
      if (!this.touches.has(event.pointerId)) { this.point(...now); return; }
      if (this.touches.size === 2) this.pinch(event.pointerId, now);
      else if (this.lasso) { this.lasso.push(now); this.draw(); }
      else this.move(now[0] - this.last[0], now[1] - this.last[1]);
      this.touches.set(event.pointerId, now);
      this.last = now;
    });
    const end = (event) => {
      if (!this.touches.delete(event.pointerId)) return;
      const lasso = this.lasso;
      this.lasso = null;
      if (!lasso || event.type === "pointercancel") { this.draw(); return; }
      if (lasso.length > 3) this.choose(this.visible((x, y) => isInside(lasso, x, y)));
      else { const one = this.nearest(...at(event)); this.choose(new Set(one < 0 ? [] : [one])); }
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => { if (!this.touches.size) { this.hideCard(); this.draw(); } });
    canvas.addEventListener("wheel", (event) => {
      if (!this.points) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), ...at(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
      const name = { "+": "nearer", "=": "nearer", "-": "farther", 0: "fit" }[event.key];
      if (!this.points || event.ctrlKey || event.metaKey || event.altKey || !(step || name)) return;
      if (step) this.move(...step);
      else this.act(name);
      event.preventDefault();
      event.stopPropagation();
    });
    this.root.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button || !this.points) return;
      if (button.dataset.do) this.act(button.dataset.do);
      if (button.dataset.tool) this.use(button.dataset.tool);
    });
    this.root.addEventListener("change", (event) => {
      const number = Number(event.target.value);
      if (event.target.checked) this.hidden.delete(number);
      else this.hidden.add(number);
      this.draw();
    });
  }

  use(tool) {
    this.tool = tool;
    this.canvas.dataset.tool = tool;
    for (const button of this.root.querySelectorAll("[data-tool]")) button.setAttribute("aria-pressed", button.dataset.tool === tool);
  }

  pinch(id, now) {
    const other = [...this.touches].find(([key]) => key !== id)[1];
    const before = this.touches.get(id);
    const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
    this.lasso = null;
    this.zoom(far(now, other) / far(before, other), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }
}

function isInside(line, x, y) {
  let inside = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const [ax, ay] = line[i], [bx, by] = line[j];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

let shown = null;
function begin() {
  const root = document.querySelector("[data-points]");
  if (root && shown?.root !== root) shown = new EntryMap(root);
}
document.addEventListener("shown", begin);
document.addEventListener("refreshed", () => shown?.root.isConnected && shown.points && shown.load());
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox]), textarea, select, dialog[open]")) return;
  if (event.key === "m") shown?.canvas.focus();
  else if (event.key === "s" && shown?.points) shown.act("view");
  else if (event.key === "c" && shown?.points) shown.act("clear");
});
begin();
