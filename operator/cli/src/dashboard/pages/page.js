"use strict";

// Parts of the page that the server sends anew stand in elements with data-live. A browser opens six connections to one
// address: a page that nobody sees gives its own back, and catches up when it is seen again.
const source = document.body.dataset.events;
let events = null;
if (source) {
  document.addEventListener("visibilitychange", follow);
  follow();
}

function follow() {
  if (document.hidden) {
    events?.close();
    events = null;
    return;
  }
  events ??= listening();
}

function listening() {
  const opened = new EventSource(source);
  const connection = document.getElementById("connection");
  opened.onopen = () => { connection.textContent = ""; };
  opened.onerror = () => {
    connection.textContent = "The dashboard does not answer. Is kubectl wasmbench dashboard still running?";
  };
  for (const region of document.querySelectorAll("[data-live]")) {
    opened.addEventListener(region.id, (event) => replace(region, event.data));
  }
  return opened;
}

// What the reader has opened, marked or reached by keyboard stays so.
function replace(region, html) {
  const title = (details) => details.querySelector("summary")?.textContent.replace(/[0-9]/g, "");
  const open = new Map([...region.querySelectorAll("details")].map((one) => [title(one), one.open]));
  const marked = new Set([...region.querySelectorAll("input:checked")].map((one) => one.value));
  const scrolled = [...region.querySelectorAll(".table")].map((one) => one.scrollLeft);
  const stops = () => [...region.querySelectorAll("a, button, input, summary, .table, .wide, [tabindex]")];
  const name = (one) =>
    one.id || one.getAttribute("href") || one.value || (one.localName === "summary" && title(one.parentElement)) || one.className;
  // Boxes that scroll have no names of their own: the second one stays the second.
  const alike = (named) => stops().filter((one) => name(one) === named);
  const active = document.activeElement;
  const kept = region !== active && region.contains(active) ? name(active) : null;
  const which = alike(kept).indexOf(active);
  region.innerHTML = html;
  for (const one of region.querySelectorAll("details")) {
    if (open.has(title(one))) one.open = open.get(title(one));
  }
  for (const one of region.querySelectorAll("input[type=checkbox]")) one.checked = marked.has(one.value);
  region.querySelectorAll(".table").forEach((one, place) => { one.scrollLeft = scrolled[place] ?? 0; });
  if (which >= 0) alike(kept)[which]?.focus({ preventScroll: true });
  count();
}

// How long it still takes, by the second.
function count() {
  for (const one of document.querySelectorAll("[data-until]")) {
    const left = Math.max(0, Math.round((Date.parse(one.dataset.until) - Date.now()) / 1000));
    const two = (number) => String(number).padStart(2, "0");
    one.textContent = left > 0 ? `about ${Math.floor(left / 60)}:${two(left % 60)} left` : "";
  }
}
count();
setInterval(count, 1000);

// The plan as you type: fields write the manifest, the manifest has the plan.
const form = document.getElementById("start");
if (form) {
  const plan = document.getElementById("plan");
  const wrong = document.getElementById("fields-error");
  let waiting, latest = 0, isEdited = false;
  const send = (address) => fetch(address, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  const ask = async (byField) => {
    const turn = ++latest;
    if (byField) {
      const answer = await send(form.dataset.manifest);
      const text = await answer.text();
      if (turn !== latest) return;
      const isManifest = answer.ok && answer.headers.get("content-type").startsWith("text/yaml");
      wrong.textContent = isManifest ? "" : text;
      if (!isManifest) return;
      form.elements.manifest.value = text;
    }
    const answer = await send(form.dataset.plan);
    const html = await answer.text();
    if (turn === latest && answer.ok) plan.innerHTML = html;
  };
  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    if (event.target.name === "manifest") isEdited = true;
    // What was written by hand is not written over.
    wrong.textContent = isEdited && event.target.name !== "manifest"
      ? "The manifest was changed by hand, and the fields no longer write it. Reload the page to begin again." : "";
    waiting = setTimeout(() => ask(!isEdited), 250);
  });
}
