// Limits how many connections to the stream are open, in total and for each client address.

export type PlaceLimits = {
  /** The most connections in all. */
  connectionsMax: number;
  /** The most connections of one client address. */
  connectionsPerClient: number;
};

/** `full`: the stream has `connectionsMax` connections. `{ taken }`: the client already has `taken` connections, which is its limit. */
export type PlaceResult = 'entered' | 'full' | { taken: number };

export class StreamPlaces {
  readonly #limits: PlaceLimits;
  readonly #ofClients = new Map<string, number>();
  #taken = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** Counts a new connection of the client, if the limits allow it. */
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
