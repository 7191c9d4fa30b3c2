// Small helpers that all other scripts use.

/** Make an element; attributes that are functions become listeners, children may be text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Make an element of a vector drawing. */
function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
}

/** Show what a name could hide: control characters, and marks that turn the direction of text. */
function visible(text) {
  const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
  return String(text).replace(hidden, (mark) => {
    const code = mark.codePointAt(0);
    return code < 256
      ? "\\x" + code.toString(16).padStart(2, "0")
      : "\\u" + code.toString(16).padStart(4, "0");
  });
}

/** Write a number with separators of thousands and at most some decimals. */
function inWords(value, decimals = 0) {
  return Number(value).toLocaleString("en", { maximumFractionDigits: decimals });
}

/** Write a number to some significant digits. */
function brief(value, digits = 4) {
  return String(Number(Number(value).toPrecision(digits)));
}

function plural(count, noun) {
  return `${inWords(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function readJson(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

/** Offer some bytes as a file to keep. */
function download(bytes, type, name) {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** Show a command line; options stay whole where it is broken into lines. */
function showCommand(block, command) {
  block.replaceChildren(...command.split(/( )/).map((word) =>
    (/^-/.test(word) ? make("span", { class: "whole" }, word) : word)));
}

/** A button that copies a command line. */
function copyButton(source) {
  const button = make("button", { type: "button", click: async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy command"; }, 2500);
  } }, "Copy command");
  return button;
}

/** Let the button change between light and dark; until then the page is as the system is. */
function followTheme() {
  const style = document.documentElement.style;
  document.getElementById("theme").addEventListener("click", () => {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    style.colorScheme = (style.colorScheme || system) === "dark" ? "light" : "dark";
  });
}

/** Let a list grow while one scrolls: `add` appends some entries and says whether more are left. */
function growing(list, add) {
  const end = make("div", { style: "height: 1px" });
  list.after(end);
  const watcher = new IntersectionObserver(
    (seen) => {
      if (!seen.some((entry) => entry.isIntersecting)) return;
      if (add()) {
        watcher.unobserve(end); // looked at again, as it may still be in sight
        watcher.observe(end);
      } else {
        watcher.disconnect();
        end.remove();
      }
    },
    { rootMargin: "600px" },
  );
  watcher.observe(end);
}
