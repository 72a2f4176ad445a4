"use strict";
(() => {
  const box = document.getElementById("search");
  const count = document.getElementById("count");
  const tools = [...document.querySelectorAll("article")].map((article) => ({
    article,
    entry: document.querySelector(`nav [data-tool="${article.id}"]`),
    text: article.textContent.toLowerCase(),
  }));
  const search = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { article, entry, text } of tools) {
      const isFound = words.every((word) => text.includes(word));
      article.hidden = entry.hidden = !isFound;
      found += isFound ? 1 : 0;
    }
    for (const group of document.querySelectorAll(".group")) {
      group.hidden = !group.querySelector("article:not([hidden])");
    }
    for (const part of document.querySelectorAll("nav .part")) {
      part.hidden = !part.querySelector("li:not([hidden])");
    }
    count.textContent = words.length ? `${found} of ${tools.length}` : "";
  };
  box.addEventListener("input", search);
  box.closest(".search").hidden = false;

  const copy = async (text) => {
    if (navigator.clipboard) {
      return navigator.clipboard.writeText(text);
    }
    // Some browsers have no clipboard API on `file:` pages.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  for (const code of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await copy(code.querySelector("code").textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not copied";
      }
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    code.append(button);
  }
})();
