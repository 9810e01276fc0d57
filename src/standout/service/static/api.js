// Talking to the service. Every failure is a `Failure` with words for people.

export class Failure extends Error {
  constructor(message, { status = 0, code = "network", wait = 0, detail = null } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.wait = wait;
    this.detail = detail;
  }

  /** The server could not be reached, or is not well: trying again may help. */
  get isPassing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

async function failure(response) {
  const wait = Number(response.headers.get("Retry-After")) || 0;
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch {
    // Not ours: a proxy's page, for example.
  }
  const message = error.message ?? `the server answered ${response.status}`;
  return new Failure(message, { status: response.status, code: error.code, wait, detail: error.detail });
}

const underWay = new Set();
let turn = Promise.resolve();

async function send(path, options) {
  await turn;
  const sending = sendNow(path, options);
  underWay.add(sending);
  return sending.finally(() => underWay.delete(sending));
}

async function sendNow(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Failure("the server cannot be reached");
  }
  if (!response.ok) throw await failure(response);
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch {
    throw new Failure("the server's answer was cut off");
  }
}

/** GET an address as JSON. */
export function get(path) {
  return send(path, { headers: { Accept: "application/json" } });
}

function json(body, method = "POST") {
  return {
    method,
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(body),
  };
}

/** POST JSON (or send it by another method), and read JSON. */
export function post(path, body = {}, method = "POST") {
  return send(path, json(body, method));
}

/** POST when nothing else is under way; what is to be sent meanwhile waits for the answer. */
export function alone(path, body) {
  const done = Promise.allSettled([turn, ...underWay]).then(() => sendNow(path, json(body)));
  turn = done.catch(() => null);
  return done;
}

/** The address of a study in the API. */
export function studyPath(study, rest = "") {
  return `/api/v1/studies/${encodeURIComponent(study)}${rest}`;
}

/** The last part of this page's address: a study's name. */
export function nameFromAddress(prefix) {
  const path = location.pathname;
  const start = path.indexOf(prefix) + prefix.length;
  try {
    return decodeURIComponent(path.slice(start).replace(/\/$/, ""));
  } catch {
    return path.slice(start);
  }
}

export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
