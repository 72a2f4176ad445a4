"use strict";
(() => {
  const { make, visible, shell, copyButton } = helpers;

  // A number keeps its spelling: a float has too few digits for some.
  class Spelled {
    constructor(text) { this.text = text; }
    toString() { return this.text; }
  }
  const parse = (json) => JSON.parse(json, (_, value, context) =>
    typeof value === "number" ? new Spelled(context?.source ?? String(value)) : value);
  const write = (value) => {
    if (value instanceof Spelled) return value.text;
    if (Array.isArray(value)) return `[${value.map(write).join(", ")}]`;
    if (value !== null && typeof value === "object") {
      return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${write(item)}`).join(", ")}}`;
    }
    return JSON.stringify(value);
  };
  const isNumber = (text) => /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text);

  const send = (path, body, signal) => fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

  // What a schema says of a value, for the person who writes it.
  const LIMITS = {
    minimum: "at least #", exclusiveMinimum: "more than #", maximum: "at most #", exclusiveMaximum: "less than #",
    multipleOf: "a multiple of #", minLength: "at least # characters", maxLength: "at most # characters",
    minItems: "at least # items", maxItems: "at most # items", format: "#", pattern: "matches #", default: "# if left out",
  };
  const limit = (key, value) => {
    const words = value === 1 ? LIMITS[key].replace(/s$/, "") : LIMITS[key];
    return words.replace("#", () => (typeof value === "string" && key !== "default" ? value : JSON.stringify(value)));
  };
  const about = (schema) => {
    const limits = Object.keys(LIMITS).filter((key) => schema?.[key] !== undefined).map((key) => limit(key, schema[key]));
    return [schema?.description, limits.join(", ")].filter(Boolean).join(" \u00b7 ");
  };
  // A description with the code in it, as Markdown has it.
  const withCode = (text) => visible(text).split(/`([^`]+)`/).map((part, at) => (at % 2 ? make("code", {}, part) : part));
  // A form of a union: its tag, its only key, or its type.
  const nameOf = (choice, at) => {
    const properties = Object.entries(choice.properties ?? {});
    const tag = choice.const ?? properties.find(([, { const: tag }]) => tag !== undefined)?.[1].const;
    const [[key] = []] = properties.length === 1 ? properties : [];
    return visible(String(tag ?? key ?? choice.title ?? choice.$ref?.split("/").pop() ?? `${at + 1}: ${choice.type ?? "form"}`));
  };

  // From a schema to fields. `read` returns JSON text, or `undefined` for a value that is left out.
  let number = 0;
  const MAX_DEPTH = 6;
  const field = (form, schema, path, name, isRequired, value, depth = 0) => {
    if (schema?.$ref) {
      const target = schema.$ref.slice(2).split("/").reduce((at, key) => at?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], form.root);
      schema = { ...target, ...schema, $ref: undefined };
      depth++;
    }
    const choices = (schema?.anyOf ?? schema?.oneOf ?? []).filter((choice) => choice.type !== "null");
    if (choices.length === 1) {
      const { description = choices[0].description, default: value } = schema;
      schema = { ...choices[0], description, default: value };
    }
    const type = [schema?.type ?? []].flat().find((type) => type !== "null");
    const id = `field-${++number}`;
    const wrong = make("p", { className: "wrong", id: `${id}-wrong` });
    const words = path === "" ? "" : about(schema);
    const hint = words ? [make("p", { className: "hint", id: `${id}-hint` }, ...withCode(words))] : [];
    const label = [visible(name), " ", make("small", {}, [type ?? "", isRequired ? "required" : ""].filter(Boolean).join(", "))];
    const group = (...parts) => {
      const set = make("fieldset", {}, make("legend", {}, ...label), ...hint, ...parts, wrong);
      return set;
    };
    const made = (element, control, read) => {
      const known = { path, element, control, wrong, read };
      form.fields.push(known);
      return known;
    };
    const one = (control, read) => {
      Object.assign(control, { id, ariaInvalid: "false" });
      control.setAttribute("aria-describedby", `${hint.length ? `${id}-hint ` : ""}${id}-wrong`);
      return made(make("div", { className: "field" }, make("label", { htmlFor: id }, ...label), ...hint, control, wrong), control, read);
    };
    const options = (list) => {
      // Nothing is chosen for the person, unless there is no choice.
      const none = isRequired ? "choose" : "left out";
      const select = make("select", {}, ...(isRequired && list.length === 1 ? [] : [make("option", { value: "" }, none)]),
        ...list.map((item) => make("option", { value: write(item) }, visible(typeof item === "string" ? item : write(item)))));
      if (value !== undefined) select.value = write(value);
      return one(select, () => select.value || undefined);
    };
    if (schema?.const !== undefined) return options([schema.const]);
    if (Array.isArray(schema?.enum)) return options(schema.enum);
    if (type === "boolean") return options([true, false]);
    if (choices.length > 1 && depth < MAX_DEPTH) {
      const fits = (choice) => value !== null && typeof value === "object" && Object.entries(choice.properties ?? {}).some(
        ([key, property]) => property.const !== undefined && property.const === value[key]);
      const select = make("select", { ariaLabel: `form of ${name}` }, ...choices.map((choice, at) =>
        make("option", {}, nameOf(choice, at))));
      select.selectedIndex = Math.max(0, choices.findIndex(fits));
      const place = make("div");
      let inner;
      const show = (value) => {
        form.fields = form.fields.filter((other) => !place.contains(other.element));
        inner = field(form, choices[select.selectedIndex], path, name, isRequired, value, depth + 1);
        place.replaceChildren(inner.element);
      };
      show(value);
      select.addEventListener("change", () => show());
      return made(group(make("div", { className: "field" }, select), place), select, () => inner.read());
    }
    if (type === "object" && schema.properties && depth < MAX_DEPTH) {
      const inner = Object.entries(schema.properties).map(([key, property]) => [key, field(form, property,
        path ? `${path}.${key}` : key, key, schema.required?.includes(key) ?? false, value?.[key], depth + 1)]);
      const set = depth === 0 ? make("div", {}, ...inner.map(([, part]) => part.element), wrong) : group(...inner.map(([, part]) => part.element));
      return made(set, null, () => {
        const members = inner.map(([key, part]) => [key, part.read()]).filter(([, text]) => text !== undefined);
        if (members.length === 0 && !isRequired) return undefined;
        return `{${members.map(([key, text]) => `${JSON.stringify(key)}: ${text}`).join(", ")}}`;
      });
    }
    if (type === "array" && schema.items && depth < MAX_DEPTH) {
      const items = [];
      const place = make("div");
      const add = (value) => {
        const item = field(form, schema.items, `${path}[${items.length}]`, `${name} ${items.length + 1}`, true, value, depth + 1);
        items.push(item);
        place.append(item.element);
      };
      if (Array.isArray(value)) value.forEach(add);
      const more = make("button", { type: "button" }, "Add");
      const less = make("button", { type: "button" }, "Remove the last");
      more.addEventListener("click", () => { add(); form.changed(); });
      less.addEventListener("click", () => {
        const item = items.pop();
        if (!item) return;
        form.fields = form.fields.filter((other) => !item.element.contains(other.element));
        item.element.remove();
        form.changed();
      });
      return made(group(place, make("div", { className: "row" }, more, less)), more, () =>
        items.length || isRequired ? `[${items.map((item) => item.read() ?? "null").join(", ")}]` : undefined);
    }
    if (type === "integer" || type === "number") {
      const input = make("input", { type: "text", inputMode: "decimal", autocomplete: "off" });
      if (value !== undefined && value !== null) input.value = String(value);
      const text = () => input.value.trim();
      return one(input, () => (text() === "" ? undefined : isNumber(text()) ? text() : JSON.stringify(text())));
    }
    if (type === "string") {
      const input = schema.format === "date"
        ? make("input", { type: "date" })
        : make("textarea", { rows: 1, spellcheck: false });
      if (input.localName === "textarea") input.style.minHeight = "2.2rem";
      if (typeof value === "string") input.value = value;
      // A required text may be empty; an optional one that is empty is left out.
      return one(input, () => (input.value === "" && !isRequired ? undefined : JSON.stringify(input.value)));
    }
    // Maps, values of any type, and what is nested too deeply are written as JSON.
    const input = make("textarea", { rows: 2, spellcheck: false, placeholder: "JSON" });
    if (value !== undefined) input.value = write(value);
    return one(input, () => input.value.trim() || undefined);
  };

  // A result as a tree.
  const tree = (value, name, isOpen) => {
    const key = name === undefined ? [] : [make("span", { className: "key" }, visible(name)), ": "];
    if (value === null || typeof value !== "object" || value instanceof Spelled) {
      const className = typeof value === "string" ? "string" : "";
      return make("div", {}, ...key, make("span", { className }, visible(write(value))));
    }
    const entries = Object.entries(value);
    const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
    const details = make("details", {}, make("summary", {}, ...key, size));
    let isFilled = false;
    // Large results are built as they are opened.
    const fill = () => {
      if (isFilled || !details.open) return;
      isFilled = true;
      details.append(make("ul", { className: "items" }, ...entries.slice(0, 1000).map(([key, item]) => make("li", {}, tree(item, key, entries.length < 20)))));
      if (entries.length > 1000) details.append(make("p", {}, `and ${entries.length - 1000} more`));
    };
    details.addEventListener("toggle", fill);
    details.open = isOpen;
    fill();
    return details;
  };
  const part = ({ text, data }) => {
    if (data?.startsWith("data:image/")) return make("img", { src: data, alt: text });
    if (data?.startsWith("data:audio/")) return make("audio", { src: data, controls: true });
    if (data) return make("p", {}, make("a", { href: data, download: "" }, `Save ${visible(text)}`));
    return make("pre", { className: "words", tabIndex: 0 }, visible(text));
  };
  const shownResult = (result) => {
    const parts = [];
    const took = `${result.milliseconds.toLocaleString("en")} ms`;
    if (result.error) {
      parts.push(make("p", { className: "failed" }, `${result.error.kind} after ${took}. The model reads:`));
    } else {
      parts.push(make("p", {}, `Done in ${took}. The model reads:`));
    }
    parts.push(...(result.parts.length ? result.parts.map(part) : [make("pre", { className: "words", tabIndex: 0 }, visible(result.content))]));
    if (result.structured) {
      parts.push(make("p", {}, "As JSON:"), make("div", { className: "json" }, tree(parse(result.structured), undefined, true)));
    }
    return parts;
  };

  const curl = (name, json) => {
    const body = JSON.stringify({ id: "curl", name, arguments: json });
    return `curl -H 'content-type: application/json' -d ${shell(body)} ${new URL("call", location.href.split("#")[0])}`;
  };

  const newForm = (schema) => ({ root: schema, fields: [], changed: () => {}, shown: "{}" });
  // Shows what is wrong, each at its field.
  const showViolations = (form, whole, answer) => {
    for (const { control, wrong } of form.fields) {
      wrong.textContent = "";
      if (control) control.ariaInvalid = "false";
    }
    const rest = [];
    for (const { path, message } of answer.violations) {
      const isAt = (other) => path === other.path || (other.path !== "" && (path.startsWith(other.path + ".") || path.startsWith(other.path + "[")));
      const nearest = form.fields.filter(isAt).sort((left, right) => left.path.length - right.path.length).pop();
      if (!nearest?.path) {
        rest.push(path ? `${path}: ${message}` : message);
        continue;
      }
      nearest.wrong.textContent += (nearest.wrong.textContent && " ") + visible(nearest.path === path ? message : `${path}: ${message}`);
      if (nearest.control) nearest.control.ariaInvalid = "true";
    }
    if (answer.message && answer.violations.length === 0) rest.push(answer.message);
    whole.textContent = visible(rest.join("\n"));
  };
  // Judges a form by the registry while one types. An answer to an older text is dropped.
  const judging = (form, whole, asked, judged = () => {}) => {
    let latest = 0, timer;
    const judge = async () => {
      // A field that leaves the page says that it has changed.
      if (!whole.isConnected) return;
      const at = ++latest;
      const answer = await send("validate", asked()).then((response) => response.json()).catch(() => null);
      if (at !== latest || !answer) return;
      form.shown = answer.shown;
      showViolations(form, whole, answer);
      judged();
    };
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(judge, 120);
    };
    return { judge, soon, stop: () => clearTimeout(timer) };
  };

  // A decision takes a click of its own, or a key pressed after half a second without keys. Otherwise the Enter that made the
  // call, or the second click on what stood there before, would also allow it.
  const REST = 500;
  let lastKey = -Infinity, wasMeant = true;
  const isRested = () => performance.now() - lastKey >= REST;
  document.addEventListener("keydown", (event) => {
    wasMeant = !event.repeat && isRested();
    lastKey = performance.now();
  }, true);
  const onPress = (button, act) => button.addEventListener("click", (event) => {
    if (event.detail === 0 ? wasMeant || isRested() : event.detail === 1) act();
  });
  // What is asked has the focus, so that no key answers it by accident.
  const heading = (text) => make("p", { className: "asked", tabIndex: -1 }, make("strong", {}, text));

  // Enter in a box belongs to the box: the form around it is the one of the call.
  const ownEnter = (box, act) => box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.stopPropagation();
    const { localName } = event.target;
    if (localName === "button" || localName === "a" || (localName === "textarea" && !event.ctrlKey && !event.metaKey)) return;
    event.preventDefault();
    act(event);
  });

  // A question of a running tool, as a form or with a link.
  const question = ({ id, message, schema, url }) => {
    const whole = make("p", { className: "wrong", role: "status" });
    const accept = make("button", { type: "button", className: "main" }, url ? "Done" : "Answer");
    const decline = make("button", { type: "button" }, "Decline");
    const dismiss = make("button", { type: "button" }, "Cancel the question");
    const place = make("div");
    const asked = heading(visible(message));
    const box = make("div", { className: "hold", role: "group", ariaLabel: "The tool asks you" }, asked, place, whole,
      make("div", { className: "row" }, accept, decline, dismiss));
    let text = () => "{}";
    const form = newForm(schema);
    const { soon, stop } = judging(form, whole, () => ({ question: id, arguments: text() }));
    if (schema) {
      const root = field(form, schema, "", "answer", true, {});
      text = () => root.read() ?? "{}";
      form.changed = soon;
      place.append(root.element);
      place.addEventListener("input", soon);
      place.addEventListener("change", soon);
    } else if (/^https?:\/\//i.test(url)) {
      place.append(make("p", {}, make("a", { href: url, target: "_blank", rel: "noreferrer" }, visible(url))));
    } else {
      place.append(make("p", {}, visible(url)));
    }
    const reply = async (action) => {
      // What is answered is not judged any more.
      stop();
      const response = await send("answer", { question: id, action, arguments: text() });
      if (response.status === 422) return showViolations(form, whole, await response.json());
      if (response.ok) return box.remove();
      whole.textContent = await response.text();
    };
    onPress(accept, () => reply("accept"));
    decline.addEventListener("click", () => reply("decline"));
    dismiss.addEventListener("click", () => reply("cancel"));
    const shown = performance.now();
    ownEnter(box, (event) => {
      if (event.target !== asked && !event.repeat && performance.now() - shown >= REST) reply("accept");
    });
    setTimeout(() => (box.querySelector("input, select, textarea") ?? asked).focus());
    return box;
  };

  document.addEventListener("tool", ({ target, detail: { name, schema, example } }) => {
    const level = target.querySelector("h3, h4").localName;
    const place = make("div");
    const json = make("textarea", { rows: 4, spellcheck: false, ariaLabel: `arguments of ${name} as JSON` });
    const whole = make("p", { className: "wrong", role: "status" });
    const call = make("button", { type: "submit", className: "main" }, "Call");
    const cancel = make("button", { type: "button", hidden: true }, "Cancel");
    const bar = make("progress", { hidden: true, ariaLabel: "progress" });
    const step = make("span");
    const result = make("div", { className: "result", ariaLive: "polite" });
    const questions = make("div");
    const past = make("ul", { className: "history", ariaLabel: "Earlier calls" });
    const panel = make("form", { className: "live", noValidate: true }, make(level, {}, "Call it"), place,
      make("details", {}, make("summary", {}, "The arguments as JSON"), make("div", {}, json)), whole,
      make("div", { className: "row" }, call, cancel, bar, step), questions, result, past);
    const form = newForm(schema);
    let root;
    const build = (value) => {
      form.fields = [];
      root = field(form, schema, "", name, true, value);
      place.replaceChildren(root.element);
    };

    const { judge, soon } = judging(form, whole, () => ({ name, arguments: json.value }), () => hideSecrets());
    // What the registry hides is hidden in the form, too.
    const hideSecrets = () => {
      let hidden;
      try { hidden = parse(form.shown); } catch { return; }
      const at = (path) => path.split(/[.[\]]+/).filter(Boolean).reduce((value, key) => value?.[key], hidden);
      for (const known of form.fields) {
        if (known.control?.localName !== "textarea" || known.path === "" || at(known.path) !== "[secret]") continue;
        const input = make("input", { type: "password", autocomplete: "off", id: known.control.id, value: known.control.value });
        input.setAttribute("aria-describedby", known.control.getAttribute("aria-describedby"));
        const hadFocus = document.activeElement === known.control;
        known.control.replaceWith(input);
        if (hadFocus) input.focus();
        known.control = input;
        known.read = () => JSON.stringify(input.value);
        known.secret = input;
      }
    };
    form.changed = () => {
      json.value = root.read() ?? "{}";
      soon();
    };
    place.addEventListener("input", form.changed);
    place.addEventListener("change", form.changed);
    json.addEventListener("input", () => {
      try { build(parse(json.value)); } catch { /* The registry says what is wrong with the text. */ }
      soon();
    });

    const remember = (text, safe, outcome) => {
      const again = make("button", { type: "button" }, "Again");
      again.addEventListener("click", () => {
        json.value = text;
        try { build(parse(text)); } catch { /* As above. */ }
        panel.requestSubmit();
      });
      past.prepend(make("li", {}, make("code", {}, visible(safe)), outcome, again, copyButton(() => safe), copyButton(() => curl(name, safe), "curl")));
      while (past.children.length > 20) past.lastChild.remove();
    };

    let running;
    const end = () => {
      running = undefined;
      call.disabled = false;
      cancel.hidden = bar.hidden = true;
      step.textContent = "";
      questions.replaceChildren();
    };
    const run = async (path, body, text) => {
      running = body.id;
      call.disabled = true;
      cancel.hidden = bar.hidden = false;
      bar.removeAttribute("value");
      result.replaceChildren();
      try {
        const response = await send(path, body);
        if (!response.ok) throw new Error(await response.text());
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          const lines = (rest + value).split("\n");
          rest = lines.pop();
          for (const line of lines) received(JSON.parse(line), body.id, text);
        }
      } catch (error) {
        result.replaceChildren(make("p", { className: "failed" }, `The call did not get through: ${error.message}`));
      }
      if (running === body.id) end();
    };
    const received = (message, id, text) => {
      if (message.progress) {
        const { done, total, message: words } = message.progress;
        if (total > 0) {
          bar.max = total;
          bar.value = done;
        }
        step.textContent = visible([total > 0 ? `${Math.round((100 * done) / total)} %` : done, words ?? ""].join(" "));
        return;
      }
      if (message.question) {
        questions.append(question(message.question));
        return;
      }
      end();
      const { result: ended } = message;
      if (ended.hold) return ask(ended.hold, id, text);
      result.replaceChildren(...shownResult(ended));
      remember(text, form.shown, ended.error ? ended.error.kind : "done");
    };
    const ask = (hold, id, text) => {
      const reason = make("input", { type: "text", id: `${id}-reason`, value: "the person said no" });
      const allow = make("button", { type: "button", className: "main" }, "Run it");
      const deny = make("button", { type: "button" }, "Don't run it");
      const asked = heading(`${visible(hold.tool)} waits for you: ${visible(hold.reason)}`);
      const box = make("div", { className: "hold", role: "group", ariaLabel: "A hook holds the call" }, asked,
        make("pre", { className: "words", tabIndex: 0 }, visible(hold.arguments)),
        make("div", { className: "field" }, make("label", { htmlFor: reason.id }, "Why not, for the model"), reason),
        make("div", { className: "row" }, allow, deny));
      const refuse = () => run("decide", { id, decision: "deny", reason: reason.value }, text);
      onPress(allow, () => run("decide", { id, decision: "allow" }, text));
      deny.addEventListener("click", refuse);
      ownEnter(box, ({ target }) => target === reason && refuse());
      result.replaceChildren(box);
      asked.focus();
    };
    panel.addEventListener("submit", (event) => {
      event.preventDefault();
      if (running === undefined) run("call", { id: crypto.randomUUID(), name, arguments: json.value }, json.value);
    });
    panel.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) panel.requestSubmit();
    });
    cancel.addEventListener("click", () => send("cancel", { id: running }));

    json.value = example;
    build(parse(example));
    // Beside the parameters, before the examples.
    target.firstElementChild.after(panel);
    judge();
  });
})();
