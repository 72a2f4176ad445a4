"use strict";
// What the scripts of pages share: that of the page itself, and those that a server adds.
const helpers = (() => {
  const make = (name, properties = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key in element) element[key] = value;
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  // Characters that reorder what is around them are shown as their numbers.
  const visible = (text) =>
    text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (mark) =>
      `[U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
  const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    // Some browsers have no clipboard on `file:` pages.
    const area = make("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  const copyButton = (text, name = "Copy") => {
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", async () => {
      button.textContent = await copy(text()).then(() => "Copied", () => "Not copied");
      setTimeout(() => (button.textContent = name), 1500);
    });
    return button;
  };
  return Object.freeze({ make, visible, shell, copyButton });
})();
