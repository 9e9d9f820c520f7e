// A chain reader for tests. Unless the options replace them, it has the system's clock, a constant random source and a silent log.

import type { BlockHeader, ChainEvent } from '../../../src/market/chain-log/chain-event.ts';
import type { ChainReaderOptions } from '../../../src/sources/chains/rpc/chain-reader.ts';
import { ChainReader } from '../../../src/sources/chains/rpc/chain-reader.ts';
import type { EventFilter } from '../../../src/sources/chains/rpc/log-query.ts';
import { createLog } from '../../../src/platform/core/log.ts';

type TestReaderOptions = Pick<ChainReaderOptions, 'chain' | 'urls'> & Partial<ChainReaderOptions>;

export function createTestReader(options: TestReaderOptions): ChainReader {
  return new ChainReader({ log: createLog('silent'), clock: Date.now, random: () => 0.5, ...options });
}

/** The events of a block. Throws if the endpoints do not agree about them. */
export async function readBlockEvents(
  reader: ChainReader,
  header: BlockHeader,
  filter: EventFilter,
): Promise<ChainEvent[]> {
  const events = await reader.events.ofBlock(header, filter);
  if (!events) throw new Error(`the endpoints do not agree about block ${header.number}`);
  return events;
}
