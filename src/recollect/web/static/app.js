// Pages are ordinary links and forms. This adds what needs no new page: forms that stay where they are, search as you
// type, keys, and changes that other processes make.

const parser = new DOMParser();
let asking = null; // the search that runs

async function read(url, options) {
  const response = await fetch(url, { credentials: "same-origin", ...options });
  return [parser.parseFromString(await response.text(), "text/html"), response];
}

// Replace elements of this page by those with the same id in another document, unless they are the same.
function swap(found, selector) {
  for (const old of document.querySelectorAll(selector)) {
    const fresh = old.id && found.getElementById(old.id);
    if (fresh && fresh.outerHTML !== old.outerHTML) old.replaceWith(document.adoptNode(fresh));
  }
  begin();
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

async function refresh() {
  if (document.hidden) return;
  const [found, response] = await read(location.href);
  if (response.ok) keepPlace(() => swap(found, "[data-live]"));
}

async function send(form, submitter) {
  const fields = new URLSearchParams(new FormData(form, submitter));
  fields.set("csrf", document.body.dataset.csrf);
  if (!fields.has("back")) fields.set("back", location.pathname + location.search);
  submitter?.setAttribute("aria-busy", "true");
  try {
    const [found, response] = await read(submitter?.formAction || form.action, { method: "POST", body: fields });
    const url = plain(response.url);
    if (response.redirected) {
      const isSame = url.pathname === location.pathname;
      history[isSame ? "replaceState" : "pushState"](null, "", url);
      document.title = found.title;
      if (!isSame) scrollTo(0, 0);
    }
    form.closest("dialog")?.close();
    keepPlace(() => swap(found, "#main, #notice, #pages"));
    document.querySelector("[aria-invalid=true]")?.focus();
  } catch {
    document.getElementById("ended").hidden = false;
  } finally {
    submitter?.removeAttribute("aria-busy");
  }
}

async function search(form) {
  const fields = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  const url = new URL(form.action);
  url.search = fields;
  asking?.abort();
  asking = new AbortController();
  try {
    const [found] = await read(url, { signal: asking.signal });
    swap(found, "#results");
    history.replaceState(null, "", url);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
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
  if (withFocus) row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}
function move(step) {
  const all = rows();
  const at = all.indexOf(currentRow());
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  if (next) select(next);
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => document.querySelector("input[type=search]")?.focus(),
  "?": () => document.getElementById("keys").showModal(),
  Enter: () => currentRow()?.querySelector("a.title")?.click(),
  " ": () => currentRow()?.querySelector("input[type=checkbox]")?.click(),
};

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input:not([type=checkbox]), textarea, select, dialog[open]");
  if (event.key === "Escape" && isTyping?.matches("input")) isTyping.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  const isPressing = event.target.closest("button, a, summary, input, [tabindex]") !== event.target.closest("[data-row]");
  if (isPressing && (event.key === "Enter" || event.key === " ")) return;
  const button = currentRow()?.querySelector(`[data-press="${CSS.escape(event.key)}"]`)
    || document.querySelector(`main > [data-press="${CSS.escape(event.key)}"], #bulk [data-press="${CSS.escape(event.key)}"]`);
  const page = document.querySelector(`#pages [data-press="${CSS.escape(event.key)}"]`);
  const act = KEYS[event.key];
  if (act && !(event.key === " " && !currentRow()) && !(event.key === "Enter" && !currentRow())) act();
  else if (button || page) (button || page).click();
  else return;
  event.preventDefault();
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  if (form.method === "post") {
    event.preventDefault();
    send(form, event.submitter);
  } else if (form.dataset.search !== undefined) {
    event.preventDefault();
    search(form);
  }
});

let typing = 0;
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-search]");
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(() => search(form), event.target.type === "search" ? 120 : 0);
});

document.addEventListener("focusin", (event) => {
  const row = event.target.closest("[data-row]");
  if (row && row !== currentRow()) select(row, false);
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-close]")) document.getElementById("notice").replaceChildren();
});

// Parts of a page that take longer come after it.
async function begin() {
  for (const part of document.querySelectorAll("[data-load]:not([data-begun])")) {
    part.dataset.begun = "";
    read(part.dataset.load).then(([found]) => {
      const fresh = found.getElementById(part.id);
      if (fresh && part.isConnected) keepPlace(() => part.replaceWith(document.adoptNode(fresh)));
      document.dispatchEvent(new Event("loaded"));
    }).catch(() => {});
  }
  document.dispatchEvent(new Event("shown"));
}

// One connection for a page that is looked at; a page in the background only says that it is still open, because a
// browser keeps no more than six connections to a server.
let events = null;
let state = "";
function listen() {
  events?.close();
  events = null;
  if (document.hidden) return;
  events = new EventSource("/events");
  events.addEventListener("state", (event) => {
    if (state && event.data !== state) refresh().catch(() => {});
    state = event.data;
  });
  events.onopen = () => { document.getElementById("ended").hidden = true; };
  events.onerror = () => { document.getElementById("ended").hidden = false; };
}
document.addEventListener("visibilitychange", listen);
setInterval(() => document.hidden && fetch("/alive").catch(() => {}), 120000);
addEventListener("pagehide", () => events?.close());

if (new URL(location).searchParams.has("notice")) history.replaceState(null, "", plain(location));
listen();
begin();
