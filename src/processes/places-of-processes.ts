// Counts, in the supervisor, the connections of all serving processes to clients of the change stream.

import type { PlaceLimits, PlaceResult } from '../explore/stream/places.ts';
import { CountedPlaces } from '../explore/stream/places.ts';

export class PlacesOfProcesses {
  /** Created with the limits that the first call of `enter` gives. All processes have the same limits. */
  #places: CountedPlaces | null = null;
  /** The number of connections by process and client. */
  readonly #taken = new Map<number, Map<string, number>>();

  enter(process: number, client: string, limits: PlaceLimits): PlaceResult {
    const result = (this.#places ??= new CountedPlaces(limits)).enter(client);
    if (result !== 'entered') return result;
    const clients = this.#taken.get(process) ?? new Map<string, number>();
    this.#taken.set(process, clients.set(client, (clients.get(client) ?? 0) + 1));
    return result;
  }

  leave(process: number, client: string): void {
    const clients = this.#taken.get(process);
    const count = clients?.get(client) ?? 0;
    if (!clients || count === 0) return;
    this.#places?.leave(client);
    if (count === 1) clients.delete(client);
    else clients.set(client, count - 1);
  }

  /** Subtracts the connections of a process that has ended. */
  leaveAll(process: number): void {
    for (const [client, count] of this.#taken.get(process) ?? [])
      for (let left = count; left > 0; left -= 1) this.#places?.leave(client);
    this.#taken.delete(process);
  }
}
