// Shows what the service sends. Texts of the model and of tools become text nodes only.

const $ = (id) => document.getElementById(id);
let token = "";
let status = { is_busy: false };
const items = new Map();

async function post(path, body = {}) {
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-token": token },
      body: JSON.stringify(body),
    });
    return response.ok ? "" : (await response.text()) || response.statusText;
  } catch {
    return "The service does not answer. Try again when the page is connected.";
  }
}

function paragraph(kind) {
  const element = document.createElement("p");
  element.className = kind;
  return element;
}

const STATES = {
  writing: "is written …", running: "runs …", held: "waits for you", done: "done", denied: "denied",
  failed: "failed",
};

function createCall() {
  const element = $("call").content.firstElementChild.cloneNode(true);
  const find = (selector) => element.querySelector(selector);
  const form = find(".decision");
  const show = (mode) => {
    form.dataset.mode = mode;
    find(".change").hidden = mode !== "change";
    find(".deny").hidden = mode !== "deny";
    find(".error").hidden = true;
    find("[data-choice=allow]").textContent =
      { change: "Allow with these arguments", deny: "Deny" }[mode] ?? "Allow";
    find("[data-choice=change]").hidden = find("[data-choice=deny]").hidden = mode !== "allow";
    find("[data-choice=back]").hidden = mode === "allow";
    const input = form.querySelector("label:not([hidden]) :is(textarea, input)");
    input?.focus();
    if (input) find(".buttons").scrollIntoView({ block: "nearest" });
  };
  for (const choice of ["change", "deny"])
    find(`[data-choice=${choice}]`).onclick = () => show(choice);
  find("[data-choice=back]").onclick = () => show("allow");
  form.onsubmit = async (event) => {
    event.preventDefault();
    const body = { fingerprint: form.dataset.fingerprint, decision: form.dataset.mode };
    if (body.decision === "change") body.arguments = find(".change textarea").value;
    if (body.decision === "deny") body.reason = find(".deny input").value;
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    const problem = await post("/decide", body);
    for (const button of form.querySelectorAll("button")) button.disabled = false;
    find(".error").textContent = problem;
    find(".error").hidden = !problem;
    if (problem) find(".buttons").scrollIntoView({ block: "nearest" });
  };
  element.reset = () => show("allow");
  return element;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function showArguments(list, text) {
  const value = parsed(text);
  const rows = value && typeof value === "object" ? Object.entries(value) : text ? [["arguments", text]] : [];
  list.replaceChildren(...rows.flatMap(([key, value]) => {
    const [term, description] = ["dt", "dd"].map((name) => document.createElement(name));
    term.textContent = key;
    description.textContent = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return [term, description];
  }));
}

function fillCall(element, call) {
  const find = (selector) => element.querySelector(selector);
  element.className = `call ${call.state}`;
  find(".name").textContent = call.name;
  find(".state").textContent = STATES[call.state];
  showArguments(find(".arguments"), call.arguments);
  find(".progress").textContent = call.progress ?? "";
  find(".decided").textContent = call.decisions.join(" · ");
  const form = find(".decision");
  form.hidden = !call.hold;
  if (call.hold && form.dataset.fingerprint !== call.hold[1]) {
    form.dataset.fingerprint = call.hold[1];
    find(".reason").textContent = `Held: ${call.hold[0]}.`;
    find(".change textarea").value = JSON.stringify(parsed(call.arguments), null, 2);
    element.reset();
  }
  const pictures = find(".pictures");
  for (const path of call.pictures.slice(pictures.children.length)) {
    const picture = new Image();
    picture.alt = `Picture from ${call.name}`;
    picture.src = path;
    pictures.append(picture);
  }
  find(".result").hidden = call.result === null;
  find("pre").textContent = call.result ?? "";
}

function showItem(item) {
  let element = items.get(item.key);
  if (!element) {
    element = item.kind === "call" ? createCall() : paragraph(item.kind);
    items.set(item.key, element);
    $("items").append(element);
  }
  if (item.kind === "call") fillCall(element, item);
  else element.textContent = item.text;
}

let asked = new Set();
let suggestions = [];

function showStatus() {
  const lost = !token;
  const isHeld = document.querySelector(".call.held") !== null;
  $("connection").textContent =
    lost ? "connecting …" : status.is_busy ? "working …" : isHeld ? "waits for you" : "ready";
  $("connection").classList.toggle("lost", lost);
  $("stop").hidden = !(status.is_busy || isHeld);
  $("send").hidden = !$("stop").hidden;
  $("send").disabled = $("restart").disabled = lost;
  $("restart").hidden = status.is_busy || isHeld || items.size === 0;
  $("problem").hidden = !status.problem;
  $("problem").textContent = status.problem ?? "";
  if (status.can_retry && status.problem) $("problem").append(" ", button("Try again", () => act("/retry")));
  const open = $("send").hidden || lost ? [] : suggestions.filter((text) => !asked.has(text));
  $("suggestions").replaceChildren(...open.slice(0, 1).map((text) => button(text, () => say(text))));
}

function button(text, onclick) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.onclick = onclick;
  return element;
}

async function act(path, body) {
  const problem = await post(path, body);
  if (problem) {
    status = { ...status, problem, can_retry: false };
    showStatus();
  }
  return !problem;
}

async function say(text) {
  if (await act("/say", { text }) && $("text").value.trim() === text) $("text").value = "";
}

$("composer").onsubmit = (event) => {
  event.preventDefault();
  if ($("text").value.trim()) say($("text").value.trim());
};
$("text").onkeydown = (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    if (!$("send").hidden && !$("send").disabled) $("composer").requestSubmit();
  }
};
$("stop").onclick = () => act("/stop");
$("restart").onclick = () => act("/restart");

function receive(frame) {
  const list = $("items");
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  if (frame.type === "all") {
    ({ token, suggestions, status } = frame);
    const keys = new Set(frame.items.map((item) => item.key));
    for (const [key, element] of items) {
      if (!keys.has(key)) {
        element.remove();
        items.delete(key);
      }
    }
    frame.items.forEach(showItem);
    list.append(...frame.items.map((item) => items.get(item.key)));
    asked = new Set(frame.items.filter((item) => item.kind === "user").map((item) => item.text));
  } else if (frame.type === "item") {
    showItem(frame.item);
  } else {
    status = frame.status;
  }
  showStatus();
  if (isAtEnd) list.scrollTop = list.scrollHeight;
}

function connect() {
  const source = new EventSource("/events");
  source.onmessage = (event) => receive(JSON.parse(event.data));
  source.onerror = () => {
    token = "";
    showStatus();
    // A browser does not try again after some errors.
    source.close();
    setTimeout(connect, 500);
  };
}
connect();
