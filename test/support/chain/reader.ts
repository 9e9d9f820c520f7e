// A chain reader for tests. Unless the options replace them, it has the system's clock, a constant random source and a silent log.

import type { ChainReaderOptions } from '../../../src/chains/rpc/chain-reader.ts';
import { ChainReader } from '../../../src/chains/rpc/chain-reader.ts';
import { createLog } from '../../../src/core/log.ts';

type TestReaderOptions = Pick<ChainReaderOptions, 'chain' | 'urls'> & Partial<ChainReaderOptions>;

export function createTestReader(options: TestReaderOptions): ChainReader {
  return new ChainReader({ log: createLog('silent'), clock: Date.now, random: () => 0.5, ...options });
}
