// What every address answers at first: a page that knows nothing. It fetches the real one with the key and gives way.
import { ask, keep, onHandOver } from "./key.js";

async function enter() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname + location.search);
    const answer = await fetch("/enter", { method: "POST", body: token });
    if (answer.ok) keep(await answer.text());
  }
  const answer = await ask(location.pathname + location.search);
  const page = await answer.text();
  if (!answer.headers.get("Content-Type").startsWith("text/html")) return refuse(page);
  document.open();
  document.write(page);
  document.close();
}

function refuse(sentence) {
  const refused = document.getElementById("refused");
  if (sentence) refused.textContent = sentence;
  refused.hidden = false;
}

onHandOver(() => location.reload());
enter().catch(() => refuse());
