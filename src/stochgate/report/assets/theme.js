// Light and dark, and what all scripts share: the data, and a way to draw again.
const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const redraws = [];
const darkScheme = matchMedia("(prefers-color-scheme: dark)");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

root.classList.add("js");

const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
const isDark = () => (root.dataset.theme ?? (darkScheme.matches ? "dark" : "light")) === "dark";

function showTheme() {
  const button = byId("theme");
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
  redraws.forEach((redraw) => redraw());
}

function startTheme() {
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  darkScheme.addEventListener("change", showTheme);
  showTheme();
}

// On paper: light, and with all tables open.
function startPrinting() {
  let before = null;
  addEventListener("beforeprint", () => {
    const closed = [...document.querySelectorAll("details:not([open])")];
    before = { theme: root.dataset.theme, closed };
    closed.forEach((each) => { each.open = true; });
    root.dataset.theme = "light";
    redraws.forEach((redraw) => redraw());
  });
  addEventListener("afterprint", () => {
    if (before === null) return;
    before.closed.forEach((each) => { each.open = false; });
    if (before.theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = before.theme;
    before = null;
    showTheme();
  });
}
