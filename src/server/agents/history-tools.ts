// The tools get_history and list_collections: how a collection has changed over time, and how collections have changed in a window. Their rows
// are shorter than those of the paths that they read, because an agent reads every character.

import { RANK_SORTS } from '../../market/index/queries/ranks.ts';
import { WINDOW_OF } from '../../market/explore/http/collections.ts';
import { INTERVALS } from '../../market/explore/queries/history.ts';
import type { Json } from './json.ts';
import { memberOf, textMemberOf } from './json.ts';
import type { AgentTool, ArgumentSchema } from './tool.ts';
import {
  PAGE_ARGUMENTS,
  PRICE_OR_NULL,
  ROWS_DEFAULT,
  choiceArgument,
  definitionOf,
  listOf,
  objectWith,
  readWith,
  resourceOf,
  stateOf,
  textArgument,
} from './tool.ts';
import { withUnits } from './units.ts';

const HISTORY_PATH = '/explore/v1/collections/{collection}/history';
const COLLECTIONS_PATH = '/explore/v1/collections';
/** The points of a history unless the call says where it begins: a point has about 110 characters. */
const POINTS_DEFAULT = 90;
/** The number of characters of a date in an ISO time. */
const DATE_LENGTH = 10;
const WINDOW_DEFAULT = 'all';

export function historyTool(collection: ArgumentSchema): AgentTool {
  return {
    ...definitionOf({
      name: 'get_history',
      description: `Floor, volume, sales and listed count of a collection by day or hour, oldest first; the newest ${POINTS_DEFAULT} unless from is given.`,
      path: HISTORY_PATH,
      input: {
        collection,
        interval: choiceArgument(INTERVALS, 'Default: day'),
        from: textArgument('ISO time'),
        to: textArgument('ISO time'),
      },
    }),
    output: resourceOf(
      objectWith(['currency', 'points'], {
        points: { type: 'array', items: objectWith(['from', 'close', 'volume', 'sales', 'listed']) },
      }),
    ),
    call: async ({ read, chains }, given) => {
      const { collection: name = '', interval = 'day' } = given;
      const [response, detail] = await Promise.all([
        readWith(read, { path: HISTORY_PATH }, { ...given, interval }),
        readWith(read, { path: '/explore/v1/collections/{collection}' }, { collection: name }),
      ]);
      const chain = chains.get(textMemberOf(memberOf(detail.body, 'data'), 'chain') ?? '');
      const points = rowsOf(response.body).map((point) => toPoint(point, interval === 'day'));
      return {
        data: {
          currency: chain?.symbol ?? null,
          points: given['from'] === undefined ? points.slice(-POINTS_DEFAULT) : points,
        },
        ...stateOf([response, detail]),
      };
    },
  };
}

function toPoint(point: Json, isDay: boolean): Json {
  const from = textMemberOf(point, 'from') ?? '';
  const floor = memberOf(point, 'floor');
  const decimalOf = (name: string) => memberOf(memberOf(floor, name), 'decimal');
  return {
    from: isDay ? from.slice(0, DATE_LENGTH) : from,
    open: decimalOf('open'),
    high: decimalOf('high'),
    low: decimalOf('low'),
    close: decimalOf('close'),
    volume: memberOf(point, 'volume'),
    sales: memberOf(point, 'sales'),
    listed: memberOf(point, 'listed'),
  };
}

export function collectionsTool(chain: ArgumentSchema): AgentTool {
  return {
    ...definitionOf({
      name: 'list_collections',
      description:
        'Collections by volume unless sort is given, with floor, volume, sales of a window and what has changed in it as ratios (0.05: 5 % more).',
      path: COLLECTIONS_PATH,
      input: {
        chain,
        window: choiceArgument(Object.keys(WINDOW_OF), `Default: ${WINDOW_DEFAULT}`),
        sort: choiceArgument(RANK_SORTS),
        order: choiceArgument(['asc', 'desc']),
        ...PAGE_ARGUMENTS,
      },
    }),
    output: listOf(
      objectWith(['id', 'name', 'slug', 'volume', 'volumeCurrency', 'sales', 'floorChange', 'volumeChange'], {
        floor: PRICE_OR_NULL,
      }),
    ),
    call: async ({ read, chains }, given) => {
      const { window = WINDOW_DEFAULT } = given;
      const asked = { limit: ROWS_DEFAULT, sort: 'volume', ...given, window };
      const response = await readWith(read, { path: COLLECTIONS_PATH }, asked);
      const name = WINDOW_OF[window as keyof typeof WINDOW_OF];
      return {
        data: withUnits(
          rowsOf(response.body).map((row) => ({
            ...toChanges(row, name),
            volumeCurrency: chains.get(textMemberOf(row, 'chain') ?? '')?.symbol ?? null,
          })),
          chains,
        ),
        nextCursor: memberOf(memberOf(response.body, 'pagination'), 'nextCursor'),
        ...stateOf([response]),
      };
    },
  };
}

function toChanges(row: Json, window: string) {
  const stats = memberOf(row, 'stats');
  const ofWindow = (figure: string) => memberOf(memberOf(stats, figure), window);
  return {
    id: memberOf(row, 'id'),
    name: memberOf(row, 'name'),
    slug: memberOf(row, 'slug'),
    chain: memberOf(row, 'chain'),
    contractAddress: memberOf(row, 'contractAddress'),
    floor: memberOf(stats, 'floor'),
    floorChange: ofWindow('floorChange'),
    volume: ofWindow('volume'),
    volumeChange: ofWindow('volumeChange'),
    sales: ofWindow('sales'),
    listed: memberOf(stats, 'listedCount'),
    supply: memberOf(stats, 'supply'),
    owners: memberOf(stats, 'owners'),
  };
}

function rowsOf(body: Json): readonly Json[] {
  const data = memberOf(body, 'data');
  return Array.isArray(data) ? data : [];
}
