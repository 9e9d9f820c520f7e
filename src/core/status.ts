// The status of the service, in sections that each part provides.

import type { Clock } from './clock.ts';

/** One section of the status. What it reads must be JSON, without hosts, keys and paths, because anyone may read the status. */
export type StatusProvider = {
  section: string;
  /** May reject: the section is then null. */
  read(): Promise<unknown>;
};

export type StatusReader = () => Promise<Record<string, unknown>>;

/** Reads all sections. A section that cannot be read is null, and named in `unavailable`. */
export function createStatusReader(providers: readonly StatusProvider[], clock: Clock): StatusReader {
  return async () => {
    const sections = await Promise.allSettled(providers.map((provider) => Promise.try(() => provider.read())));
    const unavailable = providers.filter((_, index) => sections[index]?.status === 'rejected');
    return {
      at: new Date(clock()).toISOString(),
      ...Object.fromEntries(
        providers.map(({ section }, index) => {
          const read = sections[index];
          return [section, read?.status === 'fulfilled' ? read.value : null];
        }),
      ),
      unavailable: unavailable.map(({ section }) => section),
    };
  };
}
