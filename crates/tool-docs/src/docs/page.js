(() => {
  const find = (query, at = document) => at.querySelector(query);
  const all = (query, at = document) => [...at.querySelectorAll(query)];
  const { make, visible, shell, copyButton } = helpers;
  const count = (number) => number.toLocaleString("en");

  // What providers are sent, from the compressed data at the end of the page.
  let loaded;
  const data = () => (loaded ??= (async () => {
    const bytes = Uint8Array.from(atob(find("#data").textContent), (digit) => digit.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  })());

  // JSON texts stay texts: parsing would change how numbers are spelled, and the order of some keys.
  const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  const compact = (json) => json.match(TOKENS).join("");
  const pretty = (json) => {
    let out = "", depth = 0, before = "";
    const line = () => "\n" + "  ".repeat(depth);
    for (const token of json.match(TOKENS) ?? []) {
      if ("}]".includes(token)) {
        depth--;
        out += "{[".includes(before) ? token : line() + token;
      } else {
        if (before === "{" || before === "[" || before === ",") out += line();
        out += token === ":" ? ": " : token;
        if ("{[".includes(token)) depth++;
      }
      before = token;
    }
    return out;
  };
  const coloured = (text) => {
    const parts = [];
    let end = 0;
    for (const { 0: string, index } of text.matchAll(/"(?:[^"\\\n]|\\.)*"/g)) {
      const after = index + string.length;
      const className = text[after] === ":" ? "key" : "string";
      parts.push(text.slice(end, index), make("span", { className }, visible(string)));
      end = after;
    }
    return [...parts, visible(text.slice(end))];
  };

  const code = (text, isJson) => {
    const shown = isJson ? coloured(text) : [visible(text)];
    const block = make("pre", { tabIndex: 0 }, make("code", {}, ...shown));
    return make("div", { className: "code" }, block, copyButton(() => text));
  };

  // The tab that was chosen last, for all tools.
  const chosen = {};
  const tabs = (label, entries) => {
    const panel = make("div", { role: "tabpanel", tabIndex: 0 });
    const list = make("div", { role: "tablist", "aria-label": label });
    const show = (at) => {
      buttons.forEach((button, other) => {
        button.ariaSelected = String(at === other);
        button.tabIndex = at === other ? 0 : -1;
      });
      panel.ariaLabel = entries[at][0];
      panel.replaceChildren(...[entries[at][1]()].flat());
    };
    const choose = (at) => {
      chosen[label] = entries[at][0];
      show(at);
      buttons[at].focus();
    };
    const buttons = entries.map(([name], at) => {
      const button = make("button", { type: "button", role: "tab" }, name);
      button.addEventListener("click", () => choose(at));
      return button;
    });
    list.addEventListener("keydown", (event) => {
      const at = buttons.indexOf(document.activeElement);
      const last = buttons.length - 1;
      const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      choose((next + buttons.length) % buttons.length);
    });
    list.append(...buttons);
    show(Math.max(0, entries.findIndex(([name]) => name === chosen[label])));
    return [list, panel];
  };

  // A call in other languages.
  const curl = (name, json) => {
    const meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
      `"io.modelcontextprotocol/clientInfo":{"name":"curl","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${JSON.stringify(name)},` +
      `"arguments":${compact(json)},"_meta":${meta}}}`;
    return ["curl http://127.0.0.1:8080/mcp", "-H 'content-type: application/json'",
      "-H 'accept: application/json, text/event-stream'", "-H 'mcp-protocol-version: 2026-07-28'",
      "-H 'mcp-method: tools/call'", `-H ${shell("mcp-name: " + name)}`, `-d ${shell(body)}`].join(" \\\n  ");
  };
  const raw = (text) => {
    let hashes = "";
    while (text.includes('"' + hashes)) hashes += "#";
    return `r${hashes}"${text}"${hashes}`;
  };
  const rustCall = (name, json) => `ToolCall::new("call_1", ${JSON.stringify(name)}, ${raw(compact(json))})`;
  const rust = (name, json) => `let call = ${rustCall(name, json)};\nlet result = registry.call(call).await;`;
  const test = (name, json) => `#[test]
fn ${name.replace(/[^A-Za-z0-9_]/g, "_")}_accepts_the_example() {
    let registry = Registry::linked().unwrap();
    let call = ${rustCall(name, json)};
    let result = registry.call_blocking(call);
    assert!(!result.is_error(), "{}", result.content());
}`;
  const callTabs = (name, json) =>
    tabs("The call as", [
      ["JSON", () => code(json, true)],
      ["curl", () => [make("p", {}, "For the server that ", make("code", {}, "mcp --http 127.0.0.1:8080"), " starts."), code(curl(name, json))]],
      ["Rust", () => code(rust(name, json))],
      ["Test", () => code(test(name, json))],
    ]);

  const size = (bytes, tokens) => `${count(bytes)} bytes${tokens === null ? "" : `, ${count(tokens)} tokens`}`;
  const sentPanel = (tool, [text, bytes, tokens, ...notes]) => {
    const json = text.replaceAll("\u0001", () => tool.schema).replaceAll("\u0002", () => tool.prompt);
    const items = notes.map((note) => make("li", {}, ...note.split("`").map((part, at) =>
      at % 2 ? make("code", {}, visible(part)) : visible(part))));
    return [
      make("p", {}, `${size(bytes, tokens)}. ${notes.length ? "Rewritten:" : "The schema is sent as it is."}`),
      ...(notes.length ? [make("ul", { className: "list" }, ...items)] : []),
      code(pretty(json), true),
    ];
  };

  const tools = all("main section > details").map((details) => ({ details, body: details.lastElementChild, text: null }));

  // The index, and the tags with the number of their tools.
  const nav = find("nav");
  const link = (hash, name) => make("a", { href: hash }, name);
  const tags = new Map();
  for (const { hash, textContent } of all(`section a[href^="#tag-"]`)) {
    const tag = tags.get(hash) ?? { name: textContent, tools: 0 };
    tag.tools++;
    tags.set(hash, tag);
  }
  if (tags.size) {
    const entries = [...tags].sort(([, left], [, right]) => left.name.localeCompare(right.name));
    nav.append(make("ul", { className: "tags", "aria-label": "Tags" },
      ...entries.map(([hash, { name, tools }]) => make("li", {}, link(hash, name), ` ${tools}`))));
  }
  for (const section of all("main section")) {
    const heading = find(":scope > h2", section);
    if (heading) nav.append(heading.cloneNode(true));
    nav.append(make("ul", {}, ...all(":scope > details", section).map((details) =>
      make("li", {}, link("#" + details.lastElementChild.id, find("h2, h3", details).textContent)))));
  }
  nav.hidden = tools.length === 0;
  const links = new Map(all("a", nav).map((link) => [link.hash, link]));
  const linkOf = (tool) => links.get("#" + tool.body.id);

  // Adds to an open tool what needs scripts.
  const enhanced = new Set();
  const enhance = async (tool) => {
    // Pages of other entries have no data of tools.
    if (enhanced.has(tool) || !find("#data")) return;
    enhanced.add(tool);
    const { name, ...known } = await data().then(({ tools, providers }) => ({ ...tools[tool.body.id], providers }));
    const [text, example] = tool.body.children;
    const call = find("pre", example)?.textContent ?? "{}";
    for (const block of all("pre", text)) block.replaceWith(code(block.textContent));
    for (const block of all("pre", example)) block.replaceWith(...callTabs(name, block.textContent));
    const level = find("h3, h4", example).localName;
    const more = make("div", {}, make(level, {}, "What is sent"), ...tabs("What is sent", [
      ...known.sent.map((sent, at) => [known.providers[at], () => sentPanel(known, sent)]),
      ["JSON Schema", () => code(pretty(known.schema), true)],
    ]));
    if (known.wrong) {
      const [wrong, words] = known.wrong;
      more.append(
        make(level, {}, "A wrong call, and what the model reads"), code(pretty(wrong), true),
        make("pre", { className: "words", tabIndex: 0 }, visible(words)));
    }
    tool.body.append(more);
    tool.body.dispatchEvent(new CustomEvent("tool", { bubbles: true, detail: { name, schema: JSON.parse(known.schema), example: call } }));
  };

  // The price of the list, by tool.
  const enhanceCost = async (place) => {
    const { providers, tools: known } = await data();
    const select = make("select", { id: "cost-of" }, ...providers.map((name) => make("option", {}, name)));
    const bars = make("ul", { className: "bars" });
    const share = make("div", { className: "share", ariaHidden: "true" });
    const more = make("button", { type: "button" });
    let limit = 30;
    const draw = () => {
      const rows = Object.entries(known).map(([anchor, { name, sent }]) => {
        const [, bytes, tokens] = sent[select.selectedIndex];
        return { anchor, name, bytes, tokens };
      }).sort((left, right) => right.bytes - left.bytes);
      const shown = rows.slice(0, limit);
      const rest = rows.slice(limit).reduce((sum, { bytes }) => sum + bytes, 0);
      share.replaceChildren(...shown.map(({ anchor, name, bytes }) => {
        const part = make("a", { href: "#" + anchor, tabIndex: -1, title: `${name}: ${count(bytes)} bytes` });
        part.style.flexGrow = bytes;
        return part;
      }), make("i"));
      share.lastChild.style.flexGrow = rest;
      bars.replaceChildren(...shown.map(({ anchor, name, bytes, tokens }) => {
        const bar = make("span");
        bar.style.width = `${(100 * bytes) / rows[0].bytes}%`;
        return make("li", {}, make("a", { href: "#" + anchor }, name), bar,
          make("b", {}, tokens === null ? `${count(bytes)} B` : `${count(bytes)} B, ${count(tokens)} t`));
      }));
      more.hidden = rows.length <= limit;
      more.textContent = `Show all ${count(rows.length)}`;
    };
    select.addEventListener("change", draw);
    more.addEventListener("click", () => { limit = Infinity; draw(); });
    draw();
    place.append(make("h3", {}, "By tool"), make("p", {}, make("label", { htmlFor: "cost-of" }, "As sent to "), select),
      share, bars, more);
  };

  let isPriced = false;
  const opened = (details) => {
    if (!details.open) return;
    const tool = tools.find((tool) => tool.details === details);
    if (tool) {
      enhance(tool);
    } else if (details.lastElementChild.id === "cost" && !isPriced) {
      isPriced = true;
      enhanceCost(details.lastElementChild);
    }
  };
  document.addEventListener("toggle", (event) => opened(event.target), true);
  all("main details[open]").forEach(opened);

  // The search, and the tag in the address.
  const box = find("#search");
  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const tag = location.hash.startsWith("#tag-") ? location.hash : "";
    let found = 0;
    for (const tool of tools) {
      tool.text ??= tool.details.textContent.toLowerCase();
      const isFound = words.every((word) => tool.text.includes(word))
        && (!tag || find(`a[href="${tag}"]`, tool.body) !== null);
      tool.details.hidden = linkOf(tool).parentElement.hidden = !isFound;
      found += isFound ? 1 : 0;
    }
    for (const list of all("main section, nav ul:not(.tags)")) {
      list.hidden = !find(":scope > :is(details, li):not([hidden])", list);
      const heading = list.previousElementSibling;
      if (heading?.localName === "h2") heading.hidden = list.hidden;
    }
    for (const [hash, link] of links) {
      if (hash.startsWith("#tag-")) link.ariaCurrent = hash === tag ? "true" : null;
    }
    find("#count").textContent = words.length || tag ? `${count(found)} of ${count(tools.length)}` : "";
  };
  box.addEventListener("input", filter);
  find("nav .tags")?.addEventListener("click", (event) => {
    // A second click on a tag shows all tools again.
    if (event.target.closest("a")?.ariaCurrent !== "true") return;
    event.preventDefault();
    history.replaceState(null, "", "#");
    filter();
  });

  // The current tool is marked in the index. A tool that was opened by a link closes when the next one is.
  let current, visited;
  const mark = (tool) => {
    if (tool === current) return;
    if (current) linkOf(current).ariaCurrent = null;
    current = tool;
    if (!tool) return;
    linkOf(tool).ariaCurrent = "true";
    if (linkOf(tool).checkVisibility()) linkOf(tool).scrollIntoView({ block: "nearest" });
  };
  const follow = () => {
    const tool = tools.find((tool) => "#" + tool.body.id === location.hash);
    if (tool) {
      tool.details.hidden = false;
      if (visited && visited !== tool) visited.details.open = false;
      visited = tool;
      tool.details.open = true;
      tool.body.scrollIntoView();
      mark(tool);
    } else if (location.hash.startsWith("#tag-") || find("nav .tags [aria-current]")) {
      filter();
    }
  };
  addEventListener("hashchange", follow);
  if (location.hash) follow();
  let isWaiting = false;
  addEventListener("scroll", () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      const top = visited?.details.open ? visited.details.getBoundingClientRect().top : -1;
      if (top >= 0 && top < innerHeight / 2) return mark(visited);
      const seen = document.elementFromPoint(innerWidth * 0.6, 150)?.closest("main section > details");
      if (seen) mark(tools.find((tool) => tool.details === seen));
    });
  }, { passive: true });

  addEventListener("keydown", (event) => {
    const from = event.target;
    const isTyping = from.matches("input, textarea, select") || from.isContentEditable;
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      box.focus();
      box.select();
    } else if (event.key === "Escape" && from === box) {
      box.value = "";
      filter();
    } else if (event.key === "Enter" && from === box && box.value) {
      const shown = tools.filter((tool) => !tool.details.hidden);
      const named = shown.find((tool) => find("h2, h3", tool.details).textContent.toLowerCase().includes(box.value.toLowerCase()));
      const first = named ?? shown[0];
      if (first) location.hash = first.body.id;
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && from.closest("nav")) {
      const entries = [box, ...all("nav ul:not(.tags) li:not([hidden]) > a")].filter((entry) => entry.checkVisibility());
      const next = entries[entries.indexOf(from) + (event.key === "ArrowDown" ? 1 : -1)];
      if (!next) return;
      event.preventDefault();
      next.focus();
    }
  });
})();
