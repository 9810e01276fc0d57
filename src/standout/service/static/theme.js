// Loaded before anything is painted: light or dark, as chosen here or else as the system says.
"use strict";
(() => {
  const key = "standout-theme";
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try {
      const found = localStorage.getItem(key);
      return found === "light" || found === "dark" ? found : null;
    } catch {
      return null;
    }
  };
  const apply = () => {
    document.documentElement.dataset.theme = chosen() ?? (system.matches ? "dark" : "light");
    window.dispatchEvent(new Event("themechange"));
  };
  apply();
  system.addEventListener("change", apply);
  window.standoutTheme = {
    toggle() {
      const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      try {
        // Back to what the system says: nothing to remember.
        if (next === (system.matches ? "dark" : "light")) localStorage.removeItem(key);
        else localStorage.setItem(key, next);
      } catch {
        // Without storage the choice lasts as long as the page.
      }
      document.documentElement.dataset.theme = next;
      window.dispatchEvent(new Event("themechange"));
    },
  };
})();
