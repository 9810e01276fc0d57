// The bar on top: light or dark, who is signed in, and signing in.

import { get, post } from "./api.js";
import { draw, find, make, say } from "./dom.js";

const SUN = "M12 7a5 5 0 1 0 0 10a5 5 0 0 0 0-10zM12 1v3M12 20v3M1 12h3M20 12h3M4.2 4.2l2.1 2.1M17.7 17.7l2.1 2.1M4.2 19.8l2.1-2.1M17.7 6.3l2.1-2.1";
const MOON = "M20.500 14.500A8.500 8.500 0 0 1 9.500 3.500a8.500 8.500 0 1 0 11 11z";

function icon(path) {
  const line = draw("path", {
    d: path, fill: "none", stroke: "currentColor", "stroke-width": 2,
    "stroke-linecap": "round", "stroke-linejoin": "round",
  });
  return draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, line);
}

function addThemeSwitch(bar) {
  const button = make("button", { type: "button", class: "plain icon", id: "theme" });
  const show = () => {
    const isDark = document.documentElement.dataset.theme === "dark";
    button.replaceChildren(icon(isDark ? SUN : MOON));
    const words = isDark ? "Use light colours" : "Use dark colours";
    button.setAttribute("aria-label", words);
    button.title = words;
  };
  button.addEventListener("click", () => window.standoutTheme.toggle());
  window.addEventListener("themechange", show);
  show();
  bar.append(button);
}

async function logIn(token) {
  await post("/login", { token });
  history.replaceState(null, "", location.pathname + location.search);
}

/** Ask for a token until one is accepted; then reload the page. */
export function askForToken(words = "This page needs a token.") {
  if (find("sign-in")) return;
  const field = make("input", {
    id: "token", name: "token", type: "password", autocomplete: "current-password",
    required: true, spellcheck: "false", "aria-describedby": "token-hint token-error",
  });
  const error = make("p", { id: "token-error", class: "small", role: "alert" });
  const submit = make("button", { class: "main", type: "submit", text: "Sign in" });
  const form = make(
    "form",
    { method: "post", action: "/login" },
    make("h2", { id: "sign-in-title", text: "Sign in" }),
    make("p", { class: "muted", text: words }),
    make("div", {},
      make("label", { for: "token", text: "Token" }),
      field,
      make("p", { id: "token-hint", class: "hint", text: "The owner of this service has given you one; it begins with standout_." }),
    ),
    error,
    submit,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    say(error, "");
    try {
      await logIn(field.value.trim());
      location.reload();
    } catch (failure) {
      say(error, failure.status === 401 ? "This token is not valid here, or was revoked." : failure.message);
      field.setAttribute("aria-invalid", "true");
      field.focus();
    } finally {
      submit.disabled = false;
    }
  });
  const dialog = make("dialog", { id: "sign-in", "aria-labelledby": "sign-in-title" }, form);
  // There is nothing behind it to go back to.
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  document.body.append(dialog);
  dialog.showModal();
}

// A link with a token, followed from a page that is open already, does not reload it.
window.addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) location.reload();
});

/** A link may carry its token behind the #, which browsers never send to a server. */
async function useTokenOfLink() {
  const found = /^#token=(standout_[\w-]+)$/.exec(location.hash);
  if (!found) return;
  try {
    await logIn(found[1]);
    location.reload();
    // What the page fetched before it had the token is of no use: nothing more happens here.
    await new Promise(() => {});
  } catch {
    history.replaceState(null, "", location.pathname + location.search);
    askForToken("The token of this link is not valid here, or was revoked.");
  }
}

/**
 * Which pictures a page may load depends on who asks for it. Coming by a link from elsewhere,
 * the browser asks without its cookies; once here, it asks again with them.
 */
export function loadOnceMore() {
  if (document.body.dataset.known !== "no") return false;
  try {
    if (sessionStorage.getItem("standout-loaded") === location.pathname) return false;
    sessionStorage.setItem("standout-loaded", location.pathname);
  } catch {
    return false;
  }
  location.reload();
  return true;
}

/** Set up the bar; who is asking, or null if a token is needed. */
export async function begin() {
  const bar = find("controls");
  addThemeSwitch(bar);
  await useTokenOfLink();
  const session = await get("/session");
  if (session.role && session.token) {
    const out = make("button", { type: "button", class: "plain", text: "Sign out" });
    out.addEventListener("click", async () => {
      await post("/logout");
      location.reload();
    });
    bar.append(out);
  }
  return session.role ? session : null;
}
