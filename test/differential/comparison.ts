// Compares sales of the independent decoder with those of the service, as multisets: a sale that one of the two has in addition is a difference.

import type { JudgedLog, Sale } from './decoder.ts';
import type { ReadByService } from './service-reader.ts';

export type Difference = { missing: string[]; extra: string[] };

/** `missing`: of the decoder, and not of the service. `extra`: of the service, and not of the decoder. */
export function compareSales(decoded: readonly Sale[], served: readonly Sale[]): Difference {
  const left = decoded.map(toText);
  const extra = served.map(toText).filter((text) => {
    const at = left.indexOf(text);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return { missing: left, extra };
}

function toText({ tx, contract, tokenId, units, price, seller, buyer, marketplace }: Sale): string {
  return `${tx} ${contract} ${tokenId ?? 'bundle'} x ${units}: ${price}, ${seller} -> ${buyer}, ${marketplace}`;
}

/**
 * Compares what became of each log of a settlement contract: a trade is a sale of the service, a log that cannot be read is counted by its protocol,
 * and any other log is neither.
 */
export function compareLogs(
  judged: readonly JudgedLog[],
  { sold, unread }: Pick<ReadByService, 'sold' | 'unread'>,
): Difference {
  const expected = [
    ...judged.flatMap(({ tx, at, kind }) => (kind === 'trades' ? [`${tx} ${at}`] : [])),
    ...[
      ...Map.groupBy(
        judged.filter(({ kind }) => kind === 'unread'),
        ({ protocol }) => protocol,
      ),
    ].map(([protocol, logs]) => `${protocol}: ${logs.length} unread`),
  ];
  const seen = [...sold, ...[...unread].map(([protocol, logs]) => `${protocol}: ${logs} unread`)];
  return {
    missing: expected.filter((one) => !seen.includes(one)),
    extra: seen.filter((one) => !expected.includes(one)),
  };
}
