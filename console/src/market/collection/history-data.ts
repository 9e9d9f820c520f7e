// Computes the numbers that the chart of floor and volume draws.

import type { HistoryPoint } from '../../../../client/src/market.ts';
import { toEdge } from './chart-edge.ts';

/** Values of a series of the chart. The series draws nothing at a point that is `null` or `undefined`. Only `null` interrupts its line. */
type Values = (number | null | undefined)[];

export type HistoryData = {
  /** The start of each point, and then the time up to which the last point is drawn, in seconds since the epoch. */
  times: number[];
  floors: Values;
  /** The floors that are too great for the chart, each replaced by `floorEdge`. Null at all other points. */
  clippedFloors: Values;
  /** The top bids. One far from the floors is out of the chart. */
  topBids: Values;
  /** The volumes of groups of points, each at the point in the middle of its group. */
  volumes: Values;
  clippedVolumes: Values;
  /** How many points a group has. */
  groupSize: number;
  /** The volume of the group of each point. */
  groupVolumes: (number | null)[];
  /** The floor and the volume at the upper edge of the chart. Greater values are drawn at the edge. */
  floorEdge: number;
  volumeEdge: number;
  /** How many floors are greater than `floorEdge`, and how many volumes are greater than `volumeEdge`. */
  clipped: { floors: number; volumes: number };
  /** The range of the axis of floors and top bids. */
  floorRange: [number, number];
};

/** The largest number of bars in a chart. If there were more, they would be too thin. */
const BARS_MAX = 62;
const GROUP_SIZES = [1, 2, 3, 6, 12, 24, 48];
/** The room below the floors, where the bars of the volume are drawn, and the room above the floors. Both are shares of the span of the floors. */
const ROOM_BELOW = 0.5;
const ROOM_ABOVE = 0.1;

/**
 * The chart has room for top bids down to half of the lowest floor, and up to twice the floor at the edge. Others would press the line of the floor
 * flat.
 */
const BID_ROOM = 2;

/** Drops the points before the first point that has a floor, a top bid or a sale. */
export function trimHistory(points: readonly HistoryPoint[]): readonly HistoryPoint[] {
  const first = points.findIndex(
    ({ floor, topBid, sales }) => floor.close !== null || floor.high !== null || topBid !== null || sales > 0,
  );
  return first < 0 ? [] : points.slice(first);
}

type Floor = HistoryPoint['floor']['close'];
export type HistoryFigures = {
  /** The floor at the end, and its change since the first known floor as a ratio: 0.05 is +5 %. */
  floor: Floor;
  change: number | null;
  low: Floor;
  high: Floor;
  /** Null if the volume of one of the points is not known. */
  volume: number | null;
  sales: number;
};

/** The figures of all points together. */
export function toHistoryFigures(points: readonly HistoryPoint[]): HistoryFigures {
  const floors = points.flatMap(({ floor: { open, low, high } }) => [open, low, high].filter((one) => one !== null));
  const floor = points.at(-1)?.floor.close ?? null;
  const [first] = floors;
  const byAmount = floors.toSorted((a, b) => (a.raw < b.raw ? -1 : a.raw > b.raw ? 1 : 0));
  return {
    floor,
    change: floor && first && first.decimal > 0 ? floor.decimal / first.decimal - 1 : null,
    low: byAmount[0] ?? null,
    high: byAmount.at(-1) ?? null,
    volume: sumVolumes(points),
    sales: points.reduce((sum, { sales }) => sum + sales, 0),
  };
}

function sumVolumes(points: readonly HistoryPoint[]): number | null {
  return points.reduce<number | null>((sum, { volume }) => (sum === null || volume === null ? null : sum + volume), 0);
}

/** `readAt`: when the points were read, in ms since the epoch. The last floor is drawn until `readAt` or the end of its interval, whichever is earlier. */
export function toHistoryData(points: readonly HistoryPoint[], readAt: number): HistoryData {
  const last = points.at(-1);
  const end = last ? [Math.max(Date.parse(last.from), Math.min(Date.parse(last.to), readAt)) / 1_000] : [];
  const floors = points.map(({ floor }) => floor.close?.decimal ?? null);
  const known = floors.filter((floor) => floor !== null);
  const topBids = points.map(({ topBid }) => topBid?.decimal ?? null);
  const knownBids = topBids.filter((bid) => bid !== null);
  const floorEdge = toEdge(known.length > 0 ? known : knownBids);
  const groupSize = GROUP_SIZES.find((size) => points.length / size <= BARS_MAX) ?? Math.ceil(points.length / BARS_MAX);
  const groups = toGroups(points, groupSize);
  const volumeEdge = toEdge(groups.flatMap(({ volume }) => (volume !== null && volume > 0 ? [volume] : [])));
  const atMiddle = (valueOf: (volume: number) => number | undefined) => {
    const values: Values = Array.from({ length: points.length + 1 }, () => undefined);
    for (const { middle, volume } of groups) values[middle] = volume === null ? undefined : valueOf(volume);
    return values;
  };
  const lowestFloor = Math.min(...known, floorEdge);
  const low = Math.min(lowestFloor, Math.max(lowestFloor / BID_ROOM, Math.min(...knownBids)));
  const high = Math.max(floorEdge, Math.min(floorEdge * BID_ROOM, Math.max(...knownBids)));
  const span = high - low || high || 1;
  return {
    times: [...points.map(({ from }) => Date.parse(from) / 1_000), ...end],
    // A floor above the edge is drawn at the edge, so that the line is not interrupted as if the floor were not known.
    floors: [...floors, ...floors.slice(-1)].map((floor) => (floor === null ? null : Math.min(floor, floorEdge))),
    clippedFloors: [...floors.map((floor) => (floor !== null && floor > floorEdge ? floorEdge : null)), null],
    topBids: [...topBids, ...topBids.slice(-1)],
    volumes: atMiddle((volume) => (volume > volumeEdge ? undefined : volume)),
    clippedVolumes: atMiddle((volume) => (volume > volumeEdge ? volumeEdge : undefined)),
    groupSize,
    groupVolumes: points.map((_point, index) => groups[Math.floor(index / groupSize)]?.volume ?? null),
    floorEdge,
    volumeEdge,
    clipped: {
      floors: known.filter((floor) => floor > floorEdge).length,
      volumes: groups.filter(({ volume }) => volume !== null && volume > volumeEdge).length,
    },
    floorRange: [Math.max(0, low - span * ROOM_BELOW), high + span * ROOM_ABOVE],
  };
}

/** The volume of a group is null if the volume of one of its points is not known. */
function toGroups(points: readonly HistoryPoint[], size: number): { middle: number; volume: number | null }[] {
  return Array.from({ length: Math.ceil(points.length / size) }, (_, index) => {
    const group = points.slice(index * size, (index + 1) * size);
    const middle = index * size + Math.floor((group.length - 1) / 2);
    return { middle, volume: sumVolumes(group) };
  });
}
