// A chain reader for tests: with the system's clock, a constant random source and a silent log, unless options replace them.

import type { ChainReaderOptions } from '../../../src/chains/rpc/chain-reader.ts';
import { ChainReader } from '../../../src/chains/rpc/chain-reader.ts';
import { createLog } from '../../../src/core/log.ts';

type TestReaderOptions = Pick<ChainReaderOptions, 'chain' | 'urls'> & Partial<ChainReaderOptions>;

export function createTestReader(options: TestReaderOptions): ChainReader {
  return new ChainReader({ log: createLog('silent'), clock: Date.now, random: () => 0.5, ...options });
}
