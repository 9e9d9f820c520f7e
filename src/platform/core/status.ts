// The status of the service, which consists of sections. Each section comes from one StatusProvider.

import type { Clock } from './clock.ts';

/** `read` must return JSON without hosts, keys and paths, because GET /status is public. */
export type StatusProvider = {
  section: string;
  /** If the promise rejects, the section is null. */
  read(): Promise<unknown>;
};

export type StatusReader = () => Promise<Record<string, unknown>>;

/** A section that cannot be read is null, and named in `unavailable`. */
export function createStatusReader(providers: readonly StatusProvider[], clock: Clock): StatusReader {
  return async () => {
    const sections = await Promise.allSettled(providers.map((provider) => Promise.try(() => provider.read())));
    const unavailable = providers.filter((_, index) => sections[index]?.status === 'rejected');
    return {
      at: new Date(clock()).toISOString(),
      ...Object.fromEntries(
        providers.map(({ section }, index) => {
          const settled = sections[index];
          return [section, settled?.status === 'fulfilled' ? settled.value : null];
        }),
      ),
      unavailable: unavailable.map(({ section }) => section),
    };
  };
}
