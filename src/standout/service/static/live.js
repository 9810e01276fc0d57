// Hearing of changes: server-sent events, and asking now and then where these do not come.

import { sleep } from "./api.js";

const POLL = 5000;
const WATCH = 30000;

export class Live {
  /**
   * `refresh(seq)` fetches what is new (a promise); `show(state)` is told "live",
   * "polling" or "lost".
   */
  constructor(address, refresh, show) {
    this.address = address;
    this.refresh = refresh;
    this.show = show;
    this.isLive = false;
    this.tries = 0;
  }

  start() {
    this.#listen();
    this.#poll();
    document.addEventListener("visibilitychange", () => this.#look());
    window.addEventListener("online", () => this.#ask());
    window.addEventListener("pageshow", (event) => {
      if (event.persisted) this.#ask();
    });
  }

  /** A page in the background lets go of its connection: a browser has only six per server. */
  #look() {
    if (document.hidden) {
      this.source?.close();
      this.isLive = false;
    } else {
      this.#listen();
      this.#ask();
    }
  }

  #listen() {
    if (document.hidden) return;
    this.source?.close();
    const source = new EventSource(this.address);
    this.source = source;
    source.addEventListener("open", () => {
      this.tries = 0;
      this.#set(true);
      this.#ask();
    });
    source.addEventListener("change", (event) => {
      this.#set(true);
      if (!document.hidden) this.#ask(JSON.parse(event.data).seq);
    });
    source.addEventListener("error", () => {
      this.#set(false);
      this.#ask();
      // The browser tries again by itself, except after an answer that was no stream.
      if (source.readyState !== EventSource.CLOSED) return;
      this.tries += 1;
      const again = () => source === this.source && this.#listen();
      setTimeout(again, Math.min(30000, 1000 * 2 ** this.tries));
    });
  }

  #set(isLive) {
    this.isLive = isLive;
    if (isLive) this.show("live");
  }

  async #ask(seq = null) {
    try {
      await this.refresh(seq);
      if (!this.isLive) this.show("polling");
    } catch {
      this.show("lost");
    }
  }

  /** Events may stay away without a word: so look now and then in any case. */
  async #poll() {
    let waited = 0;
    for (;;) {
      await sleep(POLL);
      waited += POLL;
      if (document.hidden || (this.isLive && waited < WATCH)) continue;
      waited = 0;
      await this.#ask();
    }
  }
}
