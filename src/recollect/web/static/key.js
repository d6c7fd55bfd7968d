// The key that the server gave to this browser at the hand-over, and the seal by which its answers are known. Both are
// kept by origin, port included, so no other server gets them; and both end with the server.
const KEPT = "recollect";

export class NotOurs extends Error {}

export function keep(key) {
  localStorage.setItem(KEPT, key);
}

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) || {};
  } catch {
    return {}; // the browser keeps nothing
  }
}

// Ask with the key. Whoever has taken the port of a server that ended is told nothing more, and is not believed.
export async function ask(url, options = {}) {
  const { key, seal } = kept();
  if (!key) throw new NotOurs();
  const answer = await fetch(url, { ...options, headers: { Authorization: `Bearer ${key}` } });
  if (answer.headers.get("Recollect-Seal") !== seal) throw new NotOurs();
  return answer;
}

// A hand-over in another tab lets all of them in.
export function onHandOver(act) {
  addEventListener("storage", (event) => event.key === KEPT && event.newValue && act());
}
