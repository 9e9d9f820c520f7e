// Computes the volume and the number of sales of a collection from stored facts, without access to a database.

import { toNativeNumber } from '../../platform/core/amount.ts';
import type { Coverage } from './coverage.ts';
import { toCounted } from './coverage.ts';
import type { Figure } from './figure.ts';
import { MAX_AGE_MS, chooseFigure, isCounted, isCurrent, toReported, toSnapshot } from './figure.ts';

/** The windows with a beginning, the longest first. Each ends now. */
export const SHORT_WINDOWS = ['thirtyDay', 'sevenDay', 'twentyFourHour', 'oneHour'] as const;
export type ShortWindow = (typeof SHORT_WINDOWS)[number];
export const WINDOWS = ['allTime', ...SHORT_WINDOWS] as const;
export type WindowName = (typeof WINDOWS)[number];
export type Windows<T> = Record<WindowName, T>;
/** The windows that analytics records state, and that `/v1` serves. */
export type StatedWindows<T> = Pick<Windows<T>, 'allTime' | 'sevenDay' | 'twentyFourHour'>;

/** A value for each window. */
export function toWindows<T>(valueOf: (name: WindowName) => T): Windows<T> {
  return {
    allTime: valueOf('allTime'),
    thirtyDay: valueOf('thirtyDay'),
    sevenDay: valueOf('sevenDay'),
    twentyFourHour: valueOf('twentyFourHour'),
    oneHour: valueOf('oneHour'),
  };
}

/** A value for each window with a beginning. */
export function toShortWindows<T>(valueOf: (name: ShortWindow) => T): Record<ShortWindow, T> {
  return {
    thirtyDay: valueOf('thirtyDay'),
    sevenDay: valueOf('sevenDay'),
    twentyFourHour: valueOf('twentyFourHour'),
    oneHour: valueOf('oneHour'),
  };
}

/** Volumes in native units. */
export type TradeRecord = { at: number; volume: StatedWindows<number | null>; sales: StatedWindows<number | null> };

/**
 * `sums` are computed from all stored sales. Their volumes are in base units. `unread`: how many of the counted sales have a price or a currency that
 * cannot be read. Such a sale has no part in the volume, so the volume is then not the volume of all sales.
 */
export type TradeFacts = {
  record: TradeRecord | null;
  sums: { volumeRaw: Windows<bigint>; sales: Windows<number>; unread: Windows<number> };
  /** Coverage of the subject `sales`. */
  coverage: readonly Coverage[];
};

/**
 * `decimals` is null when the chain of the collection is unknown. Sums in base units then cannot be converted to native units. `salesComplete`: the
 * collection record says that all sales are imported.
 */
export type TradeContext = { decimals: number | null; snapshotVolume: number | null; salesComplete: boolean };

/** `unread`: see `TradeFacts`. `isPartial`: the imported sales are known to be a part of all sales. */
export type TradeFigures = {
  volume: Windows<Figure<number> | null>;
  sales: Windows<Figure<number> | null>;
  unread: Windows<number>;
  isPartial: boolean;
};

const UNKNOWN: Windows<null> = toWindows(() => null);
const NOTHING_UNREAD: Windows<number> = toWindows(() => 0);

/** The values of the figures. Null for a figure that is not known. */
export function toWindowValues(figures: Windows<Figure<number> | null>): Windows<number | null> {
  return toWindows((name) => figures[name]?.value ?? null);
}

/** `facts` is null when they could not be read. Then nothing is known. */
export function toTradeFigures(facts: TradeFacts | null, context: TradeContext, now: number): TradeFigures {
  if (!facts) return { volume: UNKNOWN, sales: UNKNOWN, unread: NOTHING_UNREAD, isPartial: false };
  const { record, sums, coverage } = facts;
  const window = (name: WindowName) => ({ name, coverage, record, now });
  const volumeOf = (name: ShortWindow) =>
    chooseTrade(window(name), {
      reported: record?.volume,
      counted: toCountedVolume(sums.volumeRaw[name], sums.unread[name], context.decimals),
    });
  const total: VolumeFacts = {
    record: record && { at: record.at, volume: record.volume, salesAllTime: record.sales.allTime },
    volumeRaw: sums.volumeRaw.allTime,
    sales: sums.sales.allTime,
    unread: sums.unread.allTime,
    coverage,
  };
  const isPartial = isPartOfStated(total, context);
  const salesOf = (name: WindowName) =>
    chooseTrade(window(name), {
      reported: record?.sales,
      counted: sums.sales[name],
      isPartial: name === 'allTime' && isPartial,
    });
  return {
    volume: { allTime: toVolumeFigure(total, context, now), ...toShortWindows(volumeOf) },
    sales: toWindows(salesOf),
    unread: sums.unread,
    isPartial: isPartial && coverage.some(({ kind, subject }) => kind === 'imported' && subject === 'sales'),
  };
}

/** Null if the volume in native units is not known. */
function toCountedVolume(volumeRaw: bigint, unread: number, decimals: number | null): number | null {
  return decimals === null || unread > 0 ? null : toNativeNumber(volumeRaw, decimals);
}

/** An analytics record, without the numbers of sales in short windows. */
export type VolumeRecord = Pick<TradeRecord, 'at' | 'volume'> & { salesAllTime: number | null };

/** The facts from which `toVolumeFigure` chooses the all-time volume. `volumeRaw`, `sales` and `unread`: of all stored sales. */
export type VolumeFacts = {
  record: VolumeRecord | null;
  volumeRaw: bigint;
  sales: number;
  unread: number;
  coverage: readonly Coverage[];
};

/** Returns the all-time volume in native units, chosen by the same rule as in `toTradeFigures`. */
export function toVolumeFigure(facts: VolumeFacts, context: TradeContext, now: number): Figure<number> | null {
  const { record, volumeRaw, unread, coverage } = facts;
  const { snapshotVolume } = context;
  const counted = toCountedVolume(volumeRaw, unread, context.decimals);
  const isPartial = isPartOfStated(facts, context);
  return chooseTrade(
    { name: 'allTime', coverage, record, now },
    {
      reported: record?.volume,
      counted,
      isPartial,
      // A snapshot below the sum of the known sales is out of date.
      snapshot: isPartial && snapshotVolume !== null && snapshotVolume < (counted ?? 0) ? null : snapshotVolume,
    },
  );
}

/**
 * Whether imported sales are known to be a part of all sales: their sum is smaller than the volume that the collection record or an analytics
 * record of any age states, or their number is smaller than the number that the analytics record states. Not if the collection record says that
 * the sales are complete. The volume and the number of sales are then both those of a part.
 */
function isPartOfStated({ record, volumeRaw, sales, unread }: VolumeFacts, context: TradeContext): boolean {
  const { decimals, snapshotVolume, salesComplete } = context;
  const volume = toCountedVolume(volumeRaw, unread, decimals);
  const stated = Math.max(snapshotVolume ?? 0, record?.volume.allTime ?? 0);
  return !salesComplete && ((volume !== null && stated > volume) || (record?.salesAllTime ?? 0) > sales);
}

/**
 * Compares the volume of each window with the volume of the period of the same length before. A change of 0.05 means 5 % more. A change is null
 * if one of its two volumes is unknown or was not counted from stored sales, or if the earlier volume is zero. `doubleRaw`: the volumes of windows
 * of double length, null if unknown.
 */
export function toVolumeChanges(
  { sums, coverage }: TradeFacts,
  { figures, doubleRaw, now }: { figures: TradeFigures; doubleRaw: Record<ShortWindow, bigint | null>; now: number },
): Record<ShortWindow, number | null> {
  const changeOf = (name: ShortWindow) => {
    const double = doubleRaw[name];
    if (double === null) return null;
    const before = double - sums.volumeRaw[name];
    const covered = toCounted(coverage, before, {
      subject: 'sales',
      since: now - 2 * TRADE_WINDOW_MS[name],
      maxAgeMs: maxAgeOf(name),
      importedMaxAgeMs: maxAgeOf(name),
      eachSource: true,
    });
    if (!isCounted(figures.volume[name]) || !covered.some((one) => isCurrent(one, now))) return null;
    // `doubleRaw` and `sums` are read by different statements. If sales are deleted between these statements, `before` can be negative.
    return before <= 0n ? null : toRatio(sums.volumeRaw[name], before);
  };
  return toShortWindows(changeOf);
}

/** The change of the floor in each window. `earlier`: the floor at the beginning of each window. Null if either floor is unknown. */
export function toFloorChanges(
  floor: bigint | null,
  earlier: Record<ShortWindow, bigint | null>,
): Record<ShortWindow, number | null> {
  return toShortWindows((name) => {
    const before = earlier[name];
    return floor === null || before === null ? null : toRatio(floor, before);
  });
}

const PARTS = 1_000_000n;

/** The relative change from `earlier` to `amount`, truncated to six decimals. Null if `earlier` is zero. */
function toRatio(amount: bigint, earlier: bigint): number | null {
  return earlier === 0n ? null : Number(((amount - earlier) * PARTS) / earlier) / Number(PARTS);
}

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
export const TRADE_WINDOW_MS = {
  allTime: null,
  thirtyDay: 30 * DAY_MS,
  sevenDay: 7 * DAY_MS,
  twentyFourHour: DAY_MS,
  oneHour: HOUR_MS,
} as const;

function chooseTrade(
  window: { name: WindowName; coverage: readonly Coverage[]; record: { at: number } | null; now: number },
  values: {
    reported: StatedWindows<number | null> | undefined;
    counted: number | null;
    /** Imported sales are known to be a part of all sales. */
    isPartial?: boolean;
    snapshot?: number | null;
  },
): Figure<number> | null {
  const { name, coverage, record, now } = window;
  const lengthMs = TRADE_WINDOW_MS[name];
  const maxAgeMs = maxAgeOf(name);
  // A short window ends now, so imported sales count for it only if they reach almost to the present. For the all-time figures, imported
  // sales count at any age.
  const importedMaxAgeMs = lengthMs === null ? null : maxAgeMs;
  const since = lengthMs === null ? null : now - lengthMs;
  const counted = toCounted(coverage, values.counted, {
    subject: 'sales',
    since,
    maxAgeMs,
    importedMaxAgeMs,
    eachSource: true,
  });
  // If there is a current record, imported sales are not used for a short window, even if the record has no value for this window. Imported
  // sales could contradict the values of the record for other windows.
  const { reported } = values;
  const isReported = reported && hasAny(reported) && record && isCurrent({ at: record.at, maxAgeMs }, now);
  return chooseFigure(
    [
      ...counted.filter((one) => one.kind !== 'imported' || (lengthMs === null ? !values.isPartial : !isReported)),
      ...toReported(record, statedIn(reported, name), { source: 'analytics', maxAgeMs }),
      ...toSnapshot(values.snapshot ?? null),
    ],
    now,
  );
}

function maxAgeOf(name: WindowName): number {
  if (name === 'allTime') return MAX_AGE_MS.total;
  return name === 'oneHour' ? MAX_AGE_MS.hour : MAX_AGE_MS.window;
}

/** Undefined for a window that records do not state. */
function statedIn<T>(windows: StatedWindows<T> | undefined, name: WindowName): T | undefined {
  return name === 'oneHour' || name === 'thirtyDay' ? undefined : windows?.[name];
}

function hasAny(windows: StatedWindows<number | null>): boolean {
  return windows.allTime !== null || windows.sevenDay !== null || windows.twentyFourHour !== null;
}
