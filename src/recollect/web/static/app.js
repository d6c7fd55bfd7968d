// Pages are ordinary links and forms. This adds what needs no new page: forms that stay where they are, search as you
// type, keys, and changes that other processes make.

import { ask, NotOurs, onHandOver } from "./key.js";

const parser = new DOMParser();
let asking = null; // the search that runs

// Ask our server. While its events do not say that it is still there, it has to show that first: what was typed is sent
// to nobody else.
export async function fetched(url, options) {
  if (!isHeard) await ask("/alive");
  return ask(url, options);
}

export async function read(url, options) {
  const response = await fetched(url, options);
  return [parser.parseFromString(await response.text(), "text/html"), response];
}

// Send fields. A server that was started again has another token: what was typed is sent once more with that one.
export async function post(url, fields, options) {
  fields.set("csrf", document.body.dataset.csrf);
  const answer = await read(url, { ...options, method: "POST", body: fields });
  if (answer[1].status !== 403) return answer;
  const [page] = await read(location.href);
  if (!page.body.dataset.csrf || page.body.dataset.csrf === document.body.dataset.csrf) return answer;
  document.body.dataset.csrf = page.body.dataset.csrf;
  return post(url, fields, options);
}

export function hasEnded(is = true) {
  document.getElementById("ended").hidden = !is;
}

// Replace elements of this page by those with the same id in another document, unless they are the same.
function swap(found, selector) {
  for (const old of document.querySelectorAll(selector)) {
    const fresh = old.id && found.getElementById(old.id);
    if (old.dataset.load && old.dataset.load === fresh?.dataset.load) continue; // it is there, or on its way
    if (!fresh || fresh.outerHTML === old.outerHTML) continue;
    keepInput(old, fresh);
    keepParts(old, fresh);
    old.replaceWith(document.adoptNode(fresh));
  }
  begin();
}

// What was selected or typed outlives the change of what is around it.
function keepInput(old, fresh) {
  const boxes = new Map([...old.querySelectorAll("input[type=checkbox]")].map((box) => [box.value, box.checked]));
  for (const box of fresh.querySelectorAll("input[type=checkbox]")) box.checked = boxes.get(box.value) ?? box.checked;
  for (const typed of old.querySelectorAll("input[id]:not([type=checkbox]), textarea[id]")) {
    const same = fresh.querySelector(`#${CSS.escape(typed.id)}`);
    if (same && typed.value !== typed.defaultValue) same.value = typed.value;
  }
}

// So do slow parts that are the same, and what was unfolded.
function keepParts(old, fresh) {
  for (const part of fresh.querySelectorAll("[data-keep], details[id]")) {
    const had = old.querySelector(`#${CSS.escape(part.id)}`);
    if (part.matches("details")) part.open ||= Boolean(had?.open);
    else if (had && had.dataset.load === part.dataset.load) part.replaceWith(had);
  }
}

// Keep the place of the keyboard while the rows around it are replaced.
function keepPlace(change) {
  const id = document.activeElement?.id;
  const key = currentRow()?.dataset.key;
  const at = rows().indexOf(currentRow());
  change();
  if (key !== undefined) {
    const same = rows().find((row) => row.dataset.key === key) || rows()[Math.min(at, rows().length - 1)];
    if (same) select(same, !id);
  }
  if (id && document.activeElement?.id !== id) document.getElementById(id)?.focus({ preventScroll: true });
}

function plain(url) {
  const bare = new URL(url, location.href);
  bare.searchParams.delete("notice");
  return bare;
}

// One at a time, and not more often than every other second: an import changes the store for minutes.
let isRefreshing = false;
let isDue = false;
async function refresh() {
  isDue = true;
  if (isRefreshing || document.hidden) return;
  isRefreshing = true;
  try {
    while (isDue) {
      isDue = false;
      const asked = location.href;
      const [found, response] = await read(asked);
      if (asked !== location.href) isDue = true; // a search came between
      else if (response.ok) keepPlace(() => swap(found, "[data-live]"));
      document.dispatchEvent(new Event("refreshed"));
      await new Promise((done) => setTimeout(done, 2000));
    }
  } finally {
    isRefreshing = false;
  }
}

function tell(sentence) {
  const notice = document.getElementById("refusal").content.cloneNode(true);
  notice.querySelector("p").textContent = sentence;
  document.getElementById("notice").replaceChildren(notice);
}

async function send(form, submitter) {
  const fields = new URLSearchParams(new FormData(form, submitter));
  if (!fields.has("back")) fields.set("back", location.pathname + location.search);
  submitter?.setAttribute("aria-busy", "true");
  try {
    const [found, response] = await post(form.getAttribute("action"), fields);
    if (!found.getElementById("main")) return tell(found.body.textContent); // no page but a refusal: nothing typed is lost
    const url = plain(response.url);
    if (response.redirected) {
      const isSame = url.pathname === location.pathname;
      history[isSame ? "replaceState" : "pushState"](null, "", url);
      document.title = found.title;
      if (!isSame) scrollTo(0, 0);
    }
    form.closest("dialog")?.close();
    form.reset(); // what was sent is not typed any more
    keepPlace(() => swap(found, "#main, #notice, #pages"));
    document.querySelector("[aria-invalid=true]")?.focus();
  } catch {
    hasEnded();
  } finally {
    submitter?.removeAttribute("aria-busy");
  }
}

async function search(form) {
  const fields = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  const url = new URL(form.getAttribute("action"), location.href);
  const isPost = form.method === "post"; // what is typed stays out of the browser's history
  if (!isPost) url.search = fields;
  asking?.abort();
  asking = new AbortController();
  try {
    const { signal } = asking;
    const [found] = await (isPost ? post(url, fields, { signal }) : read(url, { signal }));
    if (!found.getElementById("main")) return tell(found.body.textContent);
    swap(found, "#results, [data-load]");
    if (!isPost) history.replaceState(null, "", url);
  } catch (error) {
    if (error.name !== "AbortError") hasEnded();
  }
}

// Rows and keys.
function rows() {
  return [...document.querySelectorAll("[data-row]")];
}
function currentRow() {
  return document.querySelector("[data-row][aria-current=true]");
}
function select(row, withFocus = true) {
  currentRow()?.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
  if (!withFocus) return; // a page that moves under a pressed button of the mouse would lose the click
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}
function move(step) {
  const all = rows();
  const at = all.indexOf(currentRow());
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  if (next) select(next);
}

const BOX = "input[type=search], form[data-search] textarea";
const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => document.querySelector(BOX)?.focus(),
  "?": () => document.getElementById("keys").showModal(),
  Enter: () => currentRow()?.querySelector("a.title")?.click(),
  " ": () => currentRow()?.querySelector("input[type=checkbox]")?.click(),
};

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input:not([type=checkbox]), textarea, select, dialog[open]");
  if (event.key === "Escape" && isTyping?.matches("input, textarea")) isTyping.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  const isPressing = event.target.closest("button, a, summary, input, [tabindex]") !== event.target.closest("[data-row]");
  if (isPressing && (event.key === "Enter" || event.key === " ")) return;
  const pressed = `[data-press="${CSS.escape(event.key)}"]`;
  const button = currentRow()?.querySelector(pressed) || document.querySelector(`${pressed}:not([data-row] *)`);
  const act = KEYS[event.key];
  if (act && (currentRow() || !["Enter", " "].includes(event.key))) act();
  else if (button) button.matches("input") ? button.focus() : button.click();
  else return;
  event.preventDefault();
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  if (form.method !== "post" && form.dataset.search === undefined) return;
  event.preventDefault();
  if (form.dataset.search !== undefined) search(form);
  else send(form, event.submitter);
});

let typing = 0;
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-search]");
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(() => search(form), event.target.matches(BOX) ? 120 : 0);
});

document.addEventListener("focusin", (event) => {
  const row = event.target.closest("[data-row]");
  if (row && row !== currentRow()) select(row, false);
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-close]")) document.getElementById("notice").replaceChildren();
});

// Several rows at once: the bar is there once one is selected.
function countSelected() {
  const bar = document.querySelector("[data-bulk]");
  if (!bar) return;
  const boxes = [...bar.elements].filter((field) => field.name === "id");
  const count = boxes.filter((box) => box.checked || box.type === "hidden").length;
  bar.hidden = !count;
  bar.querySelector("[data-selected]").textContent = `${count} selected`;
}
// The attribute, because fields of a form hide its own properties: this one has fields called id and action.
document.addEventListener("change", (event) => event.target.getAttribute("form") === "bulk" && countSelected());
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-select-all]")) return;
  const boxes = [...document.querySelectorAll("input[type=checkbox][form=bulk]")];
  const all = boxes.some((box) => !box.checked);
  for (const box of boxes) box.checked = all;
  countSelected();
});
document.addEventListener("shown", countSelected);

// Parts of a page that take longer come after it.
async function begin() {
  for (const part of document.querySelectorAll("[data-load]:not([data-begun])")) {
    part.dataset.begun = "";
    read(part.dataset.load).then(([found]) => {
      const fresh = found.getElementById(part.id);
      Object.assign((fresh || part).dataset, part.dataset, { loaded: "" });
      if (!fresh) part.textContent = found.getElementById("main")?.innerText || "This part cannot be shown.";
      else if (part.isConnected) keepPlace(() => part.replaceWith(document.adoptNode(fresh)));
      document.dispatchEvent(new Event("loaded"));
    }).catch(() => setTimeout(() => { delete part.dataset.begun; begin(); }, 2000));
  }
  document.dispatchEvent(new Event("shown"));
}

// One connection for a page that is looked at; a page in the background only says that it is still open, because a
// browser keeps no more than six connections to a server.
let isHeard = true; // the page has just come from there
let line = null;
let state = "";
async function listen() {
  line?.abort();
  if (document.hidden) {
    isHeard = false;
    return;
  }
  const mine = (line = new AbortController());
  const ended = await hear(mine.signal).catch((error) => error);
  if (mine.signal.aborted) return;
  isHeard = false;
  hasEnded();
  if (!(ended instanceof NotOurs)) setTimeout(() => mine === line && listen(), 1000); // else until a hand-over
}
async function hear(signal) {
  const answer = await ask("/events", { signal });
  isHeard = true;
  hasEnded(false);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ; ) {
    const { value, done } = await reader.read();
    if (done) return;
    const told = (text + value).split("\n\n");
    text = told.pop();
    for (const each of told) follow(each.match(/^data: (.*)$/m)?.[1]);
  }
}
function follow(now) {
  if (!now) return;
  if (state && now !== state) refresh().catch(() => {});
  state = now;
  document.documentElement.dataset.state = state;
}
document.addEventListener("visibilitychange", listen);
setInterval(() => document.hidden && ask("/alive").catch(() => {}), 120000);
addEventListener("pagehide", () => line?.abort());
addEventListener("pageshow", (event) => event.persisted && listen());
onHandOver(listen);

if (new URL(location).searchParams.has("notice")) history.replaceState(null, "", plain(location));
listen();
begin();
// What was typed before this script was here.
for (const form of document.querySelectorAll("form[data-search]")) {
  if ([...form.elements].some((field) => field.matches(BOX) && field.value !== field.defaultValue)) search(form);
}
document.documentElement.dataset.begun = "";
