// Shows what the service sends. Texts of the model and of tools become text nodes only.
const $ = (id) => document.getElementById(id);
let run = decodeURIComponent(location.hash.slice(1));
let lists = { user: "…", runs: [], inbox: [], suggestions: [] };
let [status, connection, source, timer] = [{}, "connecting …"];
// The entries of the conversation, and the elements that show them, by key.
const [shown, items, waiting] = [new Map(), new Map(), new Map()];

async function post(path, body) {
  try {
    const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(path, request);
    const text = await response.text();
    return response.ok ? { text } : { problem: text || response.statusText };
  } catch {
    return { problem: "The service is not reachable. Try again when the page is connected." };
  }
}
const showProblem = (element, problem) => Object.assign(element, { hidden: !problem, textContent: problem ?? "" });
const act = (path, what, ...details) => post(path, { do: what, with: details.length > 1 ? details : details[0] });
const ofRun = () => `/runs/${encodeURIComponent(run)}`;
const STATES = { writing: "is written …", running: "runs …", waiting: "waits" };
// A call that just moved, or got another form, is not allowed by a click on what stood there before.
const REST = 500;
let moved = 0;
const move = () => void (moved = performance.now());
const VERDICTS = { allowed: "Allowed", denied: "Denied", changed: "Changed and allowed", answered: "Answered" };

function createCall() {
  const element = $("call").content.firstElementChild.cloneNode(true);
  const find = (selector) => element.querySelector(selector);
  const form = find(".decision");
  const show = (mode) => {
    const before = form.dataset.mode;
    move();
    form.dataset.mode = mode;
    for (const name of ["change", "deny"]) find(`.${name}`).hidden = mode !== name;
    find(".error").hidden = true;
    find("[data-choice=allow]").textContent = { change: "Allow with these arguments", deny: "Deny" }[mode] ?? "Allow";
    find("[data-choice=deny]").hidden = mode !== "allow";
    // What the provider runs has the arguments that it showed.
    find("[data-choice=change]").hidden = mode !== "allow" || form.dataset.server !== "";
    find("[data-choice=back]").hidden = mode === "allow";
    const input = find("label:not([hidden]) :is(textarea, input)");
    if (!input) return form.contains(document.activeElement) && find(`[data-choice=${before}]`).focus();
    input.focus();
    find(".buttons").scrollIntoView({ block: "nearest" });
  };
  const modes = { change: "change", deny: "deny", back: "allow" };
  for (const choice in modes) find(`[data-choice=${choice}]`).onclick = () => show(modes[choice]);
  form.onkeydown = (event) => void (event.key === "Escape" && form.dataset.mode !== "allow" && show("allow"));
  form.onsubmit = async (event) => {
    event.preventDefault();
    const { mode, seen } = form.dataset;
    if (mode !== "deny" && performance.now() - moved < REST) return;
    const details = { change: [find(".change textarea").value], deny: [find(".deny input").value] }[mode] ?? [];
    const next = form.contains(document.activeElement) && $(element.closest("#waiting") ? "inbox-title" : "text");
    const disable = (is) => form.querySelectorAll("button").forEach((button) => (button.disabled = is));
    disable(true);
    const { problem } = await act(form.dataset.path, mode, seen, ...details);
    disable(false);
    showProblem(find(".error"), problem);
    if (problem) find(".buttons").scrollIntoView({ block: "nearest" });
    // What is decided goes away.
    else if (next) next.focus();
  };
  return Object.assign(element, { reset: () => show("allow") });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The model still writes it.
  }
}

function showArguments(list, text) {
  const value = parsed(text);
  const rows = Object.entries(value && typeof value === "object" ? value : text && { arguments: text });
  list.replaceChildren(...rows.flatMap(([key, value]) => {
    const [term, description] = ["dt", "dd"].map((name) => document.createElement(name));
    term.textContent = key;
    description.textContent = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return [term, description];
  }));
}

function fillCall(element, call, key) {
  const find = (selector) => element.querySelector(selector);
  element.className = `call ${call.status}`;
  find(".name").textContent = call.name;
  find(".state").textContent = STATES[call.status] ?? call.status;
  find(".owner").textContent = key ? "" : `Asked by ${call.hold.owner}`;
  showArguments(find(".arguments"), call.arguments);
  find(".progress").textContent = call.progress ?? "";
  find(".decided").textContent = call.decisions.map(({ verdict, by }) => `${VERDICTS[verdict]} by ${by}`).join(" · ");
  const form = find(".decision");
  const decides = call.hold && (!key || call.hold.is_confirmation);
  form.hidden = !decides;
  find(".reason").textContent = call.hold ? `Held: ${call.hold.reason}.${decides ? "" : " Somebody else decides."}` : "";
  // What identifies the hold, and where a decision on it goes.
  const { id, fingerprint, server = "" } = call.hold ?? {};
  if (decides && form.dataset.seen !== (id ?? fingerprint)) {
    Object.assign(form.dataset, { seen: id ?? fingerprint, path: id ? "/inbox" : ofRun(), server });
    find(".change textarea").value = JSON.stringify(parsed(call.arguments), null, 2);
    element.reset();
  }
  const pictures = call.lines.flatMap((line, index) => (line.startsWith("image/") ? [index] : []));
  for (const index of pictures.slice(find(".pictures").children.length)) {
    const alt = `Picture from ${call.name}: ${call.result}`;
    const src = `/parts/${encodeURIComponent(run)}/${key}/${index}`;
    find(".pictures").append(Object.assign(new Image(), { alt, src }));
  }
  find(".result").hidden = call.result === null;
  find("pre").textContent = call.result ?? "";
}

/// Returns an entry after a change that has only what is new.
function changed(entry, { type, piece, progress }) {
  return type === "progress" ? { ...entry, progress } : { ...entry, [type]: entry[type] + piece };
}

function showEntry(entry) {
  shown.set(entry.key, entry);
  const isCall = entry.kind === "call";
  const element = items.get(entry.key) ?? (isCall ? createCall() : document.createElement("p"));
  if (!items.has(entry.key)) $("items").append(element);
  items.set(entry.key, element);
  if (isCall) fillCall(element, entry, entry.key);
  else Object.assign(element, { className: entry.kind, textContent: entry.text });
}

/// Removes the elements whose keys are gone.
function keep(elements, keys) {
  for (const [key, element] of [...elements].filter(([key]) => !keys.includes(key))) {
    element.remove();
    elements.delete(key);
    move();
  }
}

function showInbox() {
  keep(waiting, lists.inbox.map((hold) => hold.id));
  for (const hold of lists.inbox.filter((hold) => !waiting.has(hold.id))) {
    const element = $("waiting").appendChild(createCall());
    waiting.set(hold.id, element);
    fillCall(element, { ...hold, hold, status: "waiting", decisions: [], lines: [], result: null });
  }
  $("inbox").hidden = !lists.decides;
  $("inbox-title").textContent = lists.inbox.length ? `Inbox (${lists.inbox.length})` : "Inbox: nothing waits";
}

function showRuns() {
  const time = (ms) => new Date(ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const name = ({ saved_ms, waits }) => time(saved_ms) + (waits ? ", waits" : "");
  const options = lists.runs.map((head) => new Option(name(head), head.id, false, head.id === run));
  if (document.activeElement !== $("runs")) $("runs").replaceChildren(...options);
  $("runs").hidden = options.length === 0;
}

const asked = (text) => [...shown.values()].some((entry) => entry.kind === "user" && entry.text === text);

function showStatus() {
  const isHeld = $("items").querySelector(".waiting") !== null;
  const busy = status.is_busy ? "working …" : isHeld ? "waits for a decision" : "ready";
  $("connection").textContent = connection || `${lists.user}: ${busy}`;
  $("connection").classList.toggle("lost", connection !== "");
  $("stop").hidden = !(status.is_busy || isHeld);
  $("send").hidden = !$("stop").hidden;
  for (const id of ["send", "stop", "new", "runs", "leave"]) $(id).disabled = connection !== "";
  showProblem($("problem"), status.problem);
  if (status.can_retry && status.problem) $("problem").append(" ", button("Try again", () => say("retry")));
  const next = $("send").hidden || connection ? undefined : lists.suggestions.find((text) => !asked(text));
  $("suggestions").replaceChildren(...(next ? [button(next, () => say("say", next))] : []));
}
const button = (textContent, onclick) => Object.assign(document.createElement("button"), { type: "button", textContent, onclick });

/// Does something in this conversation, or in a new one.
async function say(what, text) {
  if (!run && !(await start())) return;
  const { problem } = await act(ofRun(), what, text);
  if (problem) status = { ...status, problem, can_retry: false };
  else if ($("text").value.trim() === text) $("text").value = "";
  showStatus();
}

async function start() {
  const { text, problem } = await post("/runs", null);
  status = { ...status, problem };
  if (!problem) open(text);
  return !problem;
}

function send(event) {
  event.preventDefault();
  const text = $("text").value.trim();
  if (text && !$("send").hidden && !$("send").disabled) say("say", text);
}
$("composer").onsubmit = send;
$("text").onkeydown = (event) => void (event.key === "Enter" && !event.shiftKey && !event.isComposing && send(event));
$("stop").onclick = () => say("stop");
$("new").onclick = start;
$("runs").onchange = () => open($("runs").value);
$("leave").onclick = () => post("/sign-in", "").then(connect);
$("sign-in").onsubmit = async (event) => {
  event.preventDefault();
  const { problem } = await post("/sign-in", $("token").value.trim());
  showProblem($("sign-in-error"), problem);
  if (!problem) connect();
};

function receive(frame) {
  // This page shows answers alone.
  if (frame?.type === "reasoning") return;
  const list = $("content");
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  if (frame?.type === "all") {
    const { entries } = ({ status } = frame);
    keep(items, entries.map((entry) => entry.key));
    shown.clear();
    entries.forEach(showEntry);
    $("items").append(...entries.map((entry) => items.get(entry.key)));
  } else if (frame?.type === "status") status = frame.status;
  else if (frame?.type === "entry") showEntry(frame.entry);
  else if (shown.has(frame?.key)) showEntry(changed(shown.get(frame.key), frame));
  else if (frame) {
    lists = frame;
    if (!run && lists.runs.length) return open(lists.runs[0].id);
    showInbox();
    showRuns();
  }
  showStatus();
  const before = list.scrollTop;
  if (isAtEnd) list.scrollTop = list.scrollHeight;
  if (list.scrollTop !== before) move();
}

function open(id) {
  run = id;
  history.replaceState(null, "", id ? `#${encodeURIComponent(id)}` : location.pathname);
  shown.clear();
  keep(items, []);
  connect();
}

function connect() {
  clearTimeout(timer);
  source?.close();
  const path = run ? `/events/${encodeURIComponent(run)}` : "/events";
  const own = (source = new EventSource(path));
  own.onmessage = (event) => {
    connection = "";
    $("account").hidden = $("footer").hidden = !($("sign-in").hidden = true);
    receive(JSON.parse(event.data));
  };
  own.onerror = async () => {
    own.close();
    const stop = new AbortController();
    const answer = await fetch(path, { signal: stop.signal }).catch(() => ({ status: 0 }));
    stop.abort();
    if (own !== source) return;
    connection = { 0: "not reachable", 401: "signed out" }[answer.status] ?? "connecting …";
    if (answer.status === 401) signOut();
    else if (answer.status === 404) open("");
    else timer = setTimeout(connect, 500);
    showStatus();
  };
}

function signOut() {
  [run, status] = ["", {}];
  shown.clear();
  [items, waiting].forEach((elements) => keep(elements, []));
  $("account").hidden = $("footer").hidden = $("inbox").hidden = !($("sign-in").hidden = false);
  $("token").value = "";
  $("token").focus();
}
connect();
