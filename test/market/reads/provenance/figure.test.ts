// Tests the rule that chooses figures: which kind of provenance wins, when figures are complete, and how old a figure may be.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ListingFacts } from '../../../../src/market/index/listing-figures.ts';
import { toListingFigures } from '../../../../src/market/index/listing-figures.ts';
import type { Coverage, CoverageKind, CoverageSubject } from '../../../../src/market/provenance/coverage.ts';
import type { Candidate } from '../../../../src/market/provenance/figure.ts';
import { MAX_AGE_MS, PROVENANCE_KINDS, chooseFigure } from '../../../../src/market/provenance/figure.ts';
import type { HoldingContext, HoldingFacts } from '../../../../src/market/provenance/holdings.ts';
import { toHoldingFigures } from '../../../../src/market/provenance/holdings.ts';
import type { TradeContext, TradeFacts, VolumeFacts } from '../../../../src/market/provenance/trade.ts';
import { toTradeFigures, toVolumeChanges, toVolumeFigure } from '../../../../src/market/provenance/trade.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, START } from '../../../support/service/market.ts';

const NOW = START;

function candidate(kind: Candidate<number>['kind'], more: Partial<Candidate<number>> = {}): Candidate<number> {
  return {
    kind,
    source: 'one',
    at: NOW,
    complete: true,
    value: PROVENANCE_KINDS.indexOf(kind),
    maxAgeMs: null,
    ...more,
  };
}

function covered(
  kind: CoverageKind,
  subject: CoverageSubject,
  { source = kind, from = null, age = 0 }: { source?: string; from?: number | null; age?: number } = {},
): Coverage {
  return { kind, subject, source, from, to: NOW - age };
}

describe('the choice of a figure', () => {
  test('the candidate of the strongest kind is chosen, whatever the order and the age of the candidates', () => {
    for (const [index, kind] of PROVENANCE_KINDS.entries()) {
      const weaker = PROVENANCE_KINDS.slice(index + 1).map((other) => candidate(other));
      const chosen = chooseFigure([...weaker, candidate(kind, { at: NOW - DAY_MS })], NOW);
      assert.deepEqual([chosen?.kind, chosen?.value], [kind, index]);
    }
  });

  test('only a complete candidate is chosen', () => {
    const chosen = chooseFigure([candidate('chain', { complete: false }), candidate('snapshot')], NOW);
    assert.equal(chosen?.kind, 'snapshot');
    assert.equal(chooseFigure([candidate('chain', { complete: false })], NOW), null);
  });

  test('a candidate is chosen only until its maximum age', () => {
    const aged = (age: number) => chooseFigure([candidate('reported', { at: NOW - age, maxAgeMs: 100 })], NOW);
    assert.equal(aged(99)?.validUntil, NOW + 1);
    assert.equal(aged(100), null);
  });

  test('a figure whose candidate has a time in the future gets the present time', () => {
    const chosen = chooseFigure([candidate('reported', { at: NOW + DAY_MS, maxAgeMs: 100 })], NOW);
    assert.deepEqual([chosen?.at, chosen?.validUntil], [NOW, NOW + 100]);
  });
});

const NO_SNAPSHOT: HoldingContext = {
  snapshot: { supply: null, owners: null },
  tokensComplete: false,
};
const HOLDINGS: HoldingFacts = {
  tokens: 9,
  chainTokens: 8,
  holders: 3,
  record: null,
  coverage: [],
};
const holdings = (facts: Partial<HoldingFacts> | null, context: Partial<HoldingContext> = {}) => {
  const figures = toHoldingFigures(facts && { ...HOLDINGS, ...facts }, { ...NO_SNAPSHOT, ...context }, NOW);
  return [figures.supply?.value ?? null, figures.owners?.value ?? null];
};

describe('supply and owners', () => {
  test('supply and owners are not counted from a part of the tokens', () => {
    assert.deepEqual(holdings({}), [null, null]);
    const snapshot = { supply: 100, owners: 50 };
    assert.deepEqual(holdings({}, { snapshot }), [100, 50]);
    assert.deepEqual(holdings({ coverage: [covered('scan', 'tokens')] }), [9, null]);
  });

  test('supply and owners are counted if a chain or a scan covers all tokens, or if the collection record says that the import has all tokens', () => {
    const both = (kind: CoverageKind) => [covered(kind, 'tokens'), covered(kind, 'owners')];
    assert.deepEqual(holdings({ coverage: both('chain') }), [8, 3]);
    assert.deepEqual(holdings({ coverage: both('scan') }), [9, 3]);
    assert.deepEqual(holdings({}, { tokensComplete: true }), [9, 3]);
    assert.deepEqual(holdings({ tokens: 0, holders: 0 }, { tokensComplete: true }), [null, null]);
  });

  test('supply and owners of a chain are not replaced by a newer record, but a record of the last day replaces those of imported tokens', () => {
    const record = (age: number) => ({ at: NOW - age, owners: 777, supply: 888 });
    const coverage = [covered('chain', 'tokens', { age: HOUR_MS }), covered('chain', 'owners', { age: HOUR_MS })];
    assert.deepEqual(holdings({ coverage, record: record(0) }), [8, 3]);
    const imported = { tokensComplete: true };
    assert.deepEqual(holdings({ record: record(DAY_MS - 1) }, imported), [888, 777]);
    assert.deepEqual(holdings({ record: record(DAY_MS) }, imported), [9, 3]);
  });

  test('supply and owners are not counted if the coverage ended a day ago or earlier', () => {
    const coverage = (age: number) => [covered('chain', 'tokens', { age }), covered('chain', 'owners', { age })];
    assert.deepEqual(holdings({ coverage: coverage(DAY_MS - 1) }), [8, 3]);
    assert.deepEqual(holdings({ coverage: coverage(DAY_MS) }), [null, null]);
  });

  test('when the facts cannot be read, the supply is that of the snapshot, and the owners are unknown', () => {
    assert.deepEqual(holdings(null, { snapshot: { supply: 100, owners: 50 } }), [100, null]);
  });
});

const NO_LISTINGS: ListingFacts = {
  own: { ask: null, assets: 0, known: false },
  mirror: { ask: null, assets: 0, coverage: [] },
  analytics: null,
  stats: null,
  snapshotFloorRaw: null,
};

describe('the listed count', () => {
  const OWN = { ask: 5n, assets: 2, known: true };
  const MIRROR = { ask: 6n, assets: 5, coverage: [] };
  const figuresOf = (facts: Partial<ListingFacts>) => toListingFigures({ ...NO_LISTINGS, ...facts }, NOW);
  const counted = (facts: Partial<ListingFacts>) => figuresOf(facts).listedCount?.value ?? null;
  const ofCoverage = (...coverage: Coverage[]) => ({ own: OWN, mirror: { ...MIRROR, coverage } });
  const stats = (more: { listedCount?: number | null; floorRaw?: bigint | null }, age = 0) => ({
    at: NOW - age,
    floorRaw: null,
    listedCount: null,
    ...more,
  });

  test('the listings are counted only when each scanned source was read to its end in the last day', () => {
    const opensea = covered('scan', 'listings', { source: 'opensea' });
    const late = covered('scan', 'listings', { source: 'magic-eden', age: DAY_MS });
    assert.equal(counted(ofCoverage(opensea)), 7);
    assert.equal(counted(ofCoverage(opensea, late)), null);
    assert.equal(counted(ofCoverage(opensea, late, covered('imported', 'listings'))), null);
  });

  test('the listed count is the count in a record that is less than a day old, otherwise the count of the imported listings', () => {
    const imported = ofCoverage(covered('imported', 'listings', { age: 30 * DAY_MS }));
    assert.equal(counted({ ...imported, stats: stats({ listedCount: 30 }, DAY_MS - 1) }), 30);
    assert.equal(counted({ ...imported, stats: stats({ listedCount: 30 }, DAY_MS) }), 7);
  });

  test('the listed count is unknown while nothing covers the listings', () => {
    assert.equal(counted({}), null);
    assert.equal(counted({ own: { ...OWN, ask: null, assets: 0, known: false } }), null);
    assert.equal(counted({ mirror: MIRROR }), null);
    assert.equal(counted({ snapshotFloorRaw: 5n }), null);
  });

  test('the listed count is that of the own order book if the book has had an order, the mirror has no listing, and no record of any age tells of listings', () => {
    assert.equal(counted({ own: OWN }), 2);
    const ended = { ask: null, assets: 0, known: true };
    assert.equal(counted({ own: ended, snapshotFloorRaw: 5n }), 0);
    assert.equal(counted({ own: OWN, stats: stats({}, 30 * DAY_MS) }), 2);
    assert.equal(counted({ own: OWN, stats: stats({ listedCount: 30 }, 30 * DAY_MS) }), null);
    assert.equal(counted({ own: OWN, stats: stats({ floorRaw: 9n }, 30 * DAY_MS) }), null);
    assert.equal(counted({ own: ended, analytics: { at: NOW - 30 * DAY_MS, floorRaw: 9n } }), null);
    assert.equal(counted({ own: OWN, mirror: MIRROR }), null);
  });

  test('the listed count is unknown when the order book or the mirror cannot be read', () => {
    const both = ofCoverage(covered('scan', 'listings'));
    assert.equal(counted({ ...both, own: undefined }), null);
    assert.equal(counted({ ...both, mirror: undefined }), null);
    assert.equal(counted({ ...both, stats: undefined }), null);
  });

  test('a listed count of zero and a floor are never served together', () => {
    const shown = (facts: Partial<ListingFacts>) => {
      const { floor, listedCount } = figuresOf(facts);
      return [floor?.value ?? null, listedCount?.value ?? null];
    };
    const none = (age: number) => ({
      mirror: { ask: null, assets: 0, coverage: [covered('scan', 'listings', { age })] },
    });
    const analytics = (age: number) => ({ at: NOW - age, floorRaw: 7n });
    assert.deepEqual(shown({ ...none(HOUR_MS), snapshotFloorRaw: 9n }), [null, 0]);
    assert.deepEqual(shown({ ...none(HOUR_MS), analytics: analytics(0) }), [7n, null], 'the newer one is served');
    assert.deepEqual(shown({ ...none(0), analytics: analytics(0) }), [null, 0]);
    assert.deepEqual(shown({ stats: stats({ listedCount: 0, floorRaw: 7n }) }), [null, 0]);
    assert.deepEqual(shown({ stats: stats({ listedCount: 0 }, 5), analytics: analytics(4) }), [7n, null]);
    assert.deepEqual(shown({ own: { ask: null, assets: 0, known: true }, snapshotFloorRaw: 9n }), [null, 0]);
    assert.deepEqual(shown({ own: OWN, stats: stats({ listedCount: 0 }) }), [5n, null], 'a report hides a listing');
    assert.deepEqual(shown({ own: OWN, stats: stats({ listedCount: 2 }) }), [5n, 2]);
  });
});

/** A value of all time, and the values of the two windows: the last seven days and the last 24 hours. */
const windows = <T>(allTime: T, sevenDay: T, twentyFourHour: T) => ({ allTime, sevenDay, twentyFourHour });
const UNKNOWN = windows(null, null, null);
/** The same, and the values of the last 30 days and of the last hour, which records do not state. */
const allWindows = <T>(allTime: T, sevenDay: T, twentyFourHour: T, thirtyDay: T, oneHour: T) => ({
  ...windows(allTime, sevenDay, twentyFourHour),
  thirtyDay,
  oneHour,
});
const NOTHING_UNREAD = allWindows(0, 0, 0, 0, 0);
const TRADES: TradeFacts = {
  record: null,
  sums: {
    volumeRaw: allWindows(700n, 70n, 7n, 200n, 1n),
    sales: allWindows(300, 30, 3, 90, 1),
    unread: NOTHING_UNREAD,
  },
  coverage: [],
};
const CONTEXT: TradeContext = { decimals: 0, snapshotVolume: null, salesComplete: false };
const trades = (facts: Partial<TradeFacts> | null, context: Partial<TradeContext> = {}) => {
  const figures = toTradeFigures(facts && { ...TRADES, ...facts }, { ...CONTEXT, ...context }, NOW);
  const values = ({ allTime, sevenDay, twentyFourHour }: typeof figures.volume) =>
    [allTime, sevenDay, twentyFourHour].map((figure) => figure?.value ?? null);
  return { volume: values(figures.volume), sales: values(figures.sales) };
};

describe('volume and sales', () => {
  const report = (
    age: number,
    volume = windows<number | null>(11, 12, 13),
    sales = windows<number | null>(21, 22, 23),
  ) => ({ at: NOW - age, volume, sales });
  const NONE = { volume: [null, null, null], sales: [null, null, null] };
  const SUMS = { volume: [700, 70, 7], sales: [300, 30, 3] };
  const ALL_TIME_SUMS = { volume: [700, null, null], sales: [300, null, null] };
  const DAY_SUMS = { volume: [null, null, 7], sales: [null, null, 3] };

  test('volume and sales are not summed from a part of the sales', () => {
    assert.deepEqual(trades({}), NONE);
    assert.deepEqual(trades({}, { snapshotVolume: 5 }), { ...NONE, volume: [5, null, null] });
  });

  test('volume and sales of a scan are known only in the windows that the scan covers from their beginning', () => {
    const since = (age: number) => trades({ coverage: [covered('scan', 'sales', { from: NOW - age })] });
    assert.deepEqual(since(DAY_MS - 1), NONE);
    assert.deepEqual(since(DAY_MS), DAY_SUMS);
    assert.deepEqual(since(7 * DAY_MS - 1), DAY_SUMS);
    assert.deepEqual(since(7 * DAY_MS), { volume: [null, 70, 7], sales: [null, 30, 3] });
    assert.deepEqual(trades({ coverage: [covered('scan', 'sales')] }), SUMS);
  });

  test('volume and sales of the last hour are unknown if the coverage ended a quarter of an hour ago, and of the last 30 days after two hours', () => {
    const ended = (age: number, from: number | null = null) => {
      const facts = { ...TRADES, coverage: [{ ...covered('scan', 'sales', { age }), from }] };
      const { volume, sales } = toTradeFigures(facts, CONTEXT, NOW);
      return [volume.oneHour, sales.oneHour, volume.thirtyDay, sales.thirtyDay].map((figure) => figure?.value ?? null);
    };
    assert.deepEqual(ended(15 * MINUTE_MS - 1), [1, 1, 200, 90]);
    assert.deepEqual(ended(15 * MINUTE_MS), [null, null, 200, 90]);
    assert.deepEqual(ended(2 * HOUR_MS), [null, null, null, null]);
    assert.deepEqual(ended(0, NOW - HOUR_MS), [1, 1, null, null]);
    assert.deepEqual(ended(0, NOW - HOUR_MS + 1), [null, null, null, null]);
    assert.deepEqual(ended(0, NOW - 30 * DAY_MS), [1, 1, 200, 90]);
    assert.deepEqual(ended(0, NOW - 30 * DAY_MS + 1), [1, 1, null, null]);
  });

  test('volume and sales of several scans are known only in the windows in which each scan is complete', () => {
    const coverage = [covered('scan', 'sales'), covered('scan', 'sales', { source: 'other', from: NOW - DAY_MS })];
    assert.deepEqual(trades({ coverage }), DAY_SUMS);
  });

  test('volume and sales are unknown in the windows if the coverage ended two hours ago, and over all time if it ended a day ago', () => {
    const ended = (age: number) => trades({ coverage: [covered('chain', 'sales', { age })] });
    assert.deepEqual(ended(2 * HOUR_MS - 1), SUMS);
    assert.deepEqual(ended(2 * HOUR_MS), ALL_TIME_SUMS);
    assert.deepEqual(ended(DAY_MS - 1), ALL_TIME_SUMS);
    assert.deepEqual(ended(DAY_MS), NONE);
  });

  test('volume and sales of a record are served for two hours in the windows, and for a day over all time', () => {
    const coverage = [covered('imported', 'sales')];
    const aged = (age: number) => trades({ coverage, record: report(age) });
    assert.deepEqual(aged(2 * HOUR_MS - 1), { volume: [11, 12, 13], sales: [21, 22, 23] });
    const allTime = { volume: [11, 70, 7], sales: [21, 30, 3] };
    assert.deepEqual([aged(2 * HOUR_MS), aged(DAY_MS - 1)], [allTime, allTime]);
    assert.deepEqual(aged(DAY_MS), SUMS);
  });

  test('volume and sales of a record do not replace the sums of a chain', () => {
    const coverage = [covered('chain', 'sales', { age: HOUR_MS })];
    assert.deepEqual(trades({ coverage, record: report(0) }), SUMS);
  });

  test('volume and sales are unknown in the periods that a current record lacks; if it lacks all periods, they are summed from the sales', () => {
    const coverage = [covered('imported', 'sales')];
    const allTime = report(0, windows(11, null, null), windows(21, null, null));
    assert.deepEqual(trades({ coverage, record: allTime }), { volume: [11, null, null], sales: [21, null, null] });
    assert.deepEqual(trades({ coverage, record: report(0, UNKNOWN, UNKNOWN) }), SUMS);
  });

  test('volume and sales are summed from imported sales over all time even if the import is too old for the windows', () => {
    const imported = (age: number) => trades({ coverage: [covered('imported', 'sales', { age })] });
    assert.deepEqual(imported(2 * HOUR_MS - 1), SUMS);
    assert.deepEqual([imported(2 * HOUR_MS), imported(300 * DAY_MS)], [ALL_TIME_SUMS, ALL_TIME_SUMS]);
  });

  test('volume and sales are zero when the sales are covered and there is no sale, and unknown without coverage', () => {
    const sums = { volumeRaw: allWindows(0n, 0n, 0n, 0n, 0n), sales: NOTHING_UNREAD, unread: NOTHING_UNREAD };
    assert.deepEqual(trades({ sums, coverage: [covered('chain', 'sales')] }), { volume: [0, 0, 0], sales: [0, 0, 0] });
    assert.deepEqual(trades({ sums }), NONE);
  });

  test('volume and sales are unknown when the facts cannot be read. Only the volume is unknown when the decimals of its currency are unknown', () => {
    assert.deepEqual(trades(null, { snapshotVolume: 5 }), NONE);
    const coverage = [covered('chain', 'sales')];
    assert.deepEqual(trades({ coverage }, { decimals: null }), { ...SUMS, volume: NONE.volume });
  });

  test('a sum or number of imported sales does not replace a larger one that a record of any age states, unless the record says that the sales are complete', () => {
    const coverage = [covered('imported', 'sales')];
    const allTime = (facts: Partial<TradeFacts>, context: Partial<TradeContext> = {}) => {
      const { volume, sales } = trades({ coverage, ...facts }, context);
      return [volume[0], sales[0]];
    };
    const stated = (volume: number | null, sales: number | null) =>
      report(30 * DAY_MS, windows(volume, null, null), windows(sales, null, null));
    assert.deepEqual(allTime({}, { snapshotVolume: 701 }), [701, null]);
    assert.deepEqual(allTime({}, { snapshotVolume: 700 }), [700, 300]);
    assert.deepEqual(allTime({}, { snapshotVolume: 699 }), [700, 300]);
    assert.deepEqual(allTime({}, { snapshotVolume: 701, salesComplete: true }), [700, 300]);
    assert.deepEqual(allTime({ record: stated(701, null) }), [null, null]);
    assert.deepEqual(allTime({ record: stated(701, null) }, { snapshotVolume: 699 }), [null, null]);
    assert.deepEqual(allTime({ record: stated(701, null) }, { snapshotVolume: 702 }), [702, null]);
    assert.deepEqual(allTime({ record: stated(700, 301) }), [null, null]);
    assert.deepEqual(allTime({ record: stated(null, 301) }, { snapshotVolume: 700 }), [700, null]);
    assert.deepEqual(allTime({ record: stated(null, 301) }, { snapshotVolume: 699 }), [null, null]);
    assert.deepEqual(allTime({ record: stated(700, 300) }), [700, 300]);
    assert.deepEqual(allTime({ record: stated(701, 301) }, { salesComplete: true }), [700, 300]);
    for (const kind of ['chain', 'scan'] as const) {
      assert.deepEqual(allTime({ coverage: [covered(kind, 'sales')] }, { snapshotVolume: 701 }), [700, 300], kind);
    }
  });

  test('the all-time volume is the same in the detail of a collection and in the list', () => {
    for (const coverage of [[], [covered('chain', 'sales')], [covered('imported', 'sales')]]) {
      const records = [
        report(HOUR_MS),
        report(DAY_MS),
        report(0, windows(null, 1, 1)),
        report(DAY_MS, UNKNOWN, windows(301, null, null)),
      ];
      for (const record of [null, ...records]) {
        for (const unread of [0, 1]) {
          for (const snapshotVolume of [5, 800]) {
            const { volumeRaw, sales } = TRADES.sums;
            const facts: VolumeFacts = {
              record: record && { ...record, salesAllTime: record.sales.allTime },
              coverage,
              unread,
              volumeRaw: volumeRaw.allTime,
              sales: sales.allTime,
            };
            const context = { ...CONTEXT, snapshotVolume };
            const sums = { ...TRADES.sums, unread: { ...NOTHING_UNREAD, allTime: unread } };
            const figures = toTradeFigures({ record, coverage, sums }, context, NOW);
            assert.deepEqual(toVolumeFigure(facts, context, NOW), figures.volume.allTime);
          }
        }
      }
    }
  });
});

describe('the change of the volume', () => {
  const changeOf = (coverage: Coverage[], doubleRaw = 12n) => {
    const facts = { ...TRADES, coverage };
    const doubles = { twentyFourHour: doubleRaw, sevenDay: 0n, thirtyDay: null, oneHour: null };
    const figures = toTradeFigures(facts, CONTEXT, NOW);
    return toVolumeChanges(facts, { figures, doubleRaw: doubles, now: NOW }).twentyFourHour;
  };

  test('the change of the volume is unknown if the only coverage of the preceding period is too old to be served', () => {
    const recent = covered('imported', 'sales', { from: NOW - DAY_MS });
    const chain = (age: number) => covered('chain', 'sales', { age });
    assert.equal(changeOf([recent, chain(MAX_AGE_MS.window - 1)]), 0.4);
    assert.equal(changeOf([recent, chain(MAX_AGE_MS.window)]), null);
  });

  test('the change of the volume is unknown without earlier volume, and if sales were deleted between the reads of the 24-hour and 48-hour sums', () => {
    const coverage = [covered('chain', 'sales')];
    assert.equal(changeOf(coverage, 7n), null);
    assert.equal(changeOf(coverage, 6n), null);
  });
});

describe('the ask floor', () => {
  type Facts = Partial<Omit<ListingFacts, 'own' | 'mirror'>> & {
    own?: bigint | null | undefined;
    mirror?: { cheapest: bigint | null; coverage: Coverage[] } | undefined;
  };
  const floorOf = (some: Facts) => {
    const { own, mirror, ...facts } = { own: null, mirror: { cheapest: null, coverage: [] }, ...some };
    const ownBook = own === undefined ? undefined : { ask: own, assets: own === null ? 0 : 1, known: own !== null };
    const mirrored = mirror && {
      ask: mirror.cheapest,
      assets: mirror.cheapest === null ? 0 : 1,
      coverage: mirror.coverage,
    };
    return toListingFigures({ ...NO_LISTINGS, ...facts, own: ownBook, mirror: mirrored }, NOW).floor;
  };
  const reported = (floorRaw: bigint, age = 0) => ({ at: NOW - age, floorRaw, listedCount: null });

  test('the ask floor is the price of the cheapest listing in the order book and the mirror, whatever records report', () => {
    const records = { analytics: reported(7n), stats: reported(8n), snapshotFloorRaw: 9n };
    const mirror = { cheapest: 5n, coverage: [] };
    assert.equal(floorOf({ own: 4n, mirror, ...records })?.value, 4n);
    assert.equal(floorOf({ own: 6n, mirror, ...records })?.value, 5n);
    assert.equal(floorOf({ own: null, mirror, ...records })?.value, 5n);
  });

  test('while the mirror cannot be read, the ask floor is the lower of the order book and the newest reported floor, and while the order book cannot be read it is the floor of the mirror', () => {
    const records = { analytics: reported(1n), stats: reported(1n), snapshotFloorRaw: 1n };
    const own = { own: 4n, mirror: undefined, snapshotFloorRaw: 1n };
    const half = 30 * MINUTE_MS;
    assert.equal(floorOf({ ...own, analytics: reported(3n, 2), stats: reported(2n, 1) })?.value, 2n);
    assert.equal(floorOf({ ...own, analytics: reported(3n, 1), stats: reported(2n, 2) })?.value, 3n);
    assert.equal(floorOf({ ...own, analytics: reported(5n, 1), stats: reported(2n, 2) })?.value, 4n);
    assert.equal(floorOf({ ...own, analytics: reported(3n, half), stats: reported(2n, half - 1) })?.value, 2n);
    assert.equal(floorOf({ ...own, analytics: reported(3n, half) })?.value, 4n);
    assert.equal(floorOf({ own: undefined, mirror: { cheapest: 5n, coverage: [] }, ...records })?.value, 5n);
    assert.equal(floorOf({ own: 4n, mirror: undefined })?.complete, false);
  });

  test('an empty order book and an empty mirror make the ask floor null if every scan ended less than half an hour ago or the listings were imported', () => {
    const records = { analytics: reported(1n), snapshotFloorRaw: 1n };
    const mirror = (age: number) => ({ cheapest: null, coverage: [covered('scan', 'listings', { age })] });
    const none = floorOf({ mirror: mirror(30 * MINUTE_MS - 1), ...records });
    assert.deepEqual([none?.value, none?.complete], [null, true]);
    assert.equal(floorOf({ mirror: mirror(30 * MINUTE_MS), ...records })?.value, 1n);
    assert.equal(floorOf({ mirror: mirror(0), ...records, own: undefined })?.value, 1n);
    const imported = { cheapest: null, coverage: [covered('imported', 'listings', { age: DAY_MS })] };
    assert.equal(floorOf({ mirror: imported, ...records })?.value, null);
  });

  test('the ask floor without a listing comes from a record that is less than half an hour old, or else from the snapshot', () => {
    const limit = 30 * MINUTE_MS;
    const after = (analyticsAge: number, statsAge: number) =>
      floorOf({ analytics: reported(7n, analyticsAge), stats: reported(8n, statsAge), snapshotFloorRaw: 9n })?.value;
    assert.equal(after(limit - 1, 0), 7n);
    assert.equal(after(limit, limit - 1), 8n);
    assert.equal(after(limit, limit), 9n);
    assert.equal(MAX_AGE_MS.floor, limit);
    assert.equal(floorOf({}), null);
  });

  test('a reported listed count below the number of served listings is not used, and imported listings are counted in its place', () => {
    const own = { ask: 4n, assets: 1, known: true };
    const countOf = (listedCount: number, coverage: Coverage[]) => {
      const mirror = { ask: 5n, assets: 1, coverage };
      const stats = { at: NOW, floorRaw: null, listedCount };
      return toListingFigures({ ...NO_LISTINGS, own, mirror, stats }, NOW).listedCount?.value ?? null;
    };
    const imported = covered('imported', 'listings', { age: DAY_MS });
    assert.deepEqual([countOf(2, [imported]), countOf(1, [imported])], [2, 2]);
    assert.deepEqual([countOf(3, [imported]), countOf(1, [])], [3, null]);
  });

  test('a reported or stored floor of zero is not known', () => {
    assert.equal(floorOf({ analytics: reported(0n), stats: reported(0n), snapshotFloorRaw: 0n }), null);
    assert.equal(floorOf({ analytics: reported(0n), stats: reported(8n), snapshotFloorRaw: 9n })?.value, 8n);
    assert.equal(floorOf({ own: 4n, mirror: undefined, analytics: reported(0n) })?.value, 4n);
  });

  test('while a book cannot be read, the ask floor is at most the last ask, which has its own time', () => {
    const lastAsk = { raw: 3n, at: NOW - MINUTE_MS };
    const last = floorOf({ own: 4n, mirror: undefined, lastAsk });
    assert.deepEqual([last?.value, last?.at, last?.validUntil], [3n, NOW - MINUTE_MS, NOW + 29 * MINUTE_MS]);
    assert.equal(floorOf({ own: 2n, mirror: undefined, lastAsk })?.value, 2n);
    assert.equal(floorOf({ own: undefined, mirror: undefined, snapshotFloorRaw: 9n, lastAsk })?.value, 3n);
    assert.equal(floorOf({ own: undefined, mirror: undefined, lastAsk })?.value, 3n);
    const old = { raw: 3n, at: NOW - 30 * MINUTE_MS };
    assert.equal(floorOf({ own: 4n, mirror: undefined, lastAsk: old })?.value, 4n);
  });
});
