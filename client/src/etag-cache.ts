// Keeps responses with their ETags, so that a repeated read of unchanged data transfers no body. The least recently used responses are
// dropped until the texts fit into the cache.

type StoredResponse = { etag: string; text: string };

export class EtagCache {
  /** By URL, the least recently used first. */
  readonly #responses = new Map<string, StoredResponse>();
  readonly #charactersMax: number;
  #characters = 0;

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  find(url: string): StoredResponse | null {
    const stored = this.#responses.get(url);
    if (!stored) return null;
    this.#responses.delete(url);
    this.#responses.set(url, stored);
    return stored;
  }

  insert(url: string, response: StoredResponse): void {
    this.delete(url);
    if (response.text.length > this.#charactersMax) return;
    this.#responses.set(url, response);
    this.#characters += response.text.length;
    for (const oldest of this.#responses.keys()) {
      if (this.#characters <= this.#charactersMax) return;
      this.delete(oldest);
    }
  }

  delete(url: string): void {
    this.#characters -= this.#responses.get(url)?.text.length ?? 0;
    this.#responses.delete(url);
  }
}
