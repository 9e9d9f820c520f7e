// Counts the connections to the stream against its limits.

export type PlaceLimits = {
  /** The most connections in all. */
  connectionsMax: number;
  /** The most connections of one client address. */
  connectionsPerClient: number;
};

/** `full`: all places are taken. An object: the client already has as many connections as it may have, and `taken` is their number. */
export type PlaceResult = 'entered' | 'full' | { taken: number };

export type StreamPlaces = {
  /** Takes a place for a client. Returns a promise if the places are counted outside this process. */
  enter(client: string): PlaceResult | Promise<PlaceResult>;
  leave(client: string): void;
};

export class CountedPlaces implements StreamPlaces {
  readonly #limits: PlaceLimits;
  readonly #ofClients = new Map<string, number>();
  #taken = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  enter(client: string): PlaceResult {
    const { connectionsMax, connectionsPerClient } = this.#limits;
    const taken = this.#ofClients.get(client) ?? 0;
    if (taken >= connectionsPerClient) return { taken };
    if (this.#taken >= connectionsMax) return 'full';
    this.#taken += 1;
    this.#ofClients.set(client, taken + 1);
    return 'entered';
  }

  leave(client: string): void {
    this.#taken -= 1;
    const left = (this.#ofClients.get(client) ?? 1) - 1;
    if (left === 0) this.#ofClients.delete(client);
    else this.#ofClients.set(client, left);
  }
}
