// The tool get_collection returns a collection, its floors, and each figure with its unit and its provenance. It makes two reads.
// The floors and the figures come from one of them, so they are of the same moment.

import type { Json } from './json.ts';
import { hasMembers, memberOf, textMemberOf } from './json.ts';
import type { AgentTool, ArgumentSchema, ToolContext } from './tool.ts';
import { PRICE_OR_NULL, definitionOf, objectWith, readWith, resourceOf, stateOf } from './tool.ts';
import { withUnits } from './units.ts';

const PATH = '/explore/v1/collections/{collection}';

export function collectionTool(collection: ArgumentSchema): AgentTool {
  return {
    ...definitionOf({
      name: 'get_collection',
      description:
        'One collection: askFloor (what the cheapest seller asks), buyerFloor (the least that a buyer pays in all, fees included), and ' +
        'figures with unit, kind and source. A figure with complete false is unknown. kind: chain (from events), scan (counted in a full ' +
        'list), reported (by a marketplace), imported, snapshot (stored).',
      path: PATH,
      input: { collection },
    }),
    output: resourceOf(
      objectWith(
        ['id', 'chain', 'contractAddress', 'name', 'slug', 'askFloor', 'buyerFloor', 'buyerFloorStale', 'buyerFloorAt'],
        {
          askFloor: PRICE_OR_NULL,
          buyerFloor: PRICE_OR_NULL,
          figures: {
            type: 'array',
            items: objectWith(['figure', 'value', 'unit', 'kind', 'source', 'at', 'complete']),
          },
        },
      ),
    ),
    call: async (context, given) => {
      const paths = [PATH, `${PATH}/provenance`];
      const responses = await Promise.all(paths.map((path) => readWith(context.read, { path }, given)));
      const [detail = null, provenance = null] = responses.map(({ body }) => memberOf(body, 'data'));
      return { data: toReport(context, { detail, provenance }), ...stateOf(responses) };
    },
  };
}

function toReport({ chains }: ToolContext, { detail, provenance }: { detail: Json; provenance: Json }): Json {
  const { stats = null, sparkline: _, ...identity } = hasMembers(detail) ? detail : {};
  const buyerFloor = memberOf(stats, 'buyerFloor');
  const chain = chains.get(textMemberOf(detail, 'chain') ?? '') ?? null;
  const figures = memberOf(provenance, 'figures');
  // The ranks are not a figure of the collection, because each token has its own rank.
  const ofCollection = (Array.isArray(figures) ? figures : []).filter(
    (one) => textMemberOf(one, 'figure') !== 'rarity.rank',
  );
  const report = {
    ...identity,
    askFloor: memberOf(stats, 'floor'),
    buyerFloor: memberOf(buyerFloor, 'price'),
    buyerFloorStale: memberOf(buyerFloor, 'stale') === true,
    buyerFloorAt: memberOf(buyerFloor, 'observedAt'),
    figures: ofCollection.map((one) => {
      const figure = textMemberOf(one, 'figure') ?? '';
      const origin = hasMembers(one) ? one : {};
      return { ...origin, figure, value: valueOf(stats, figure), unit: unitOf(figure, chain?.symbol ?? null) };
    }),
  };
  return withUnits(report, chains, chain);
}

/**
 * Returns the value of a figure from `stats`. The value of the figure `volume.allTime` is `stats.volume.allTime`. If the value is a price,
 * its decimal value is returned. The value of a bid is its proceeds.
 */
function valueOf(stats: Json, figure: string): Json {
  const found = figure.split('.').reduce<Json>((one, name) => memberOf(one, name), stats);
  const value = figure === 'topBid' ? memberOf(found, 'proceeds') : found;
  return hasMembers(value) ? memberOf(value, 'decimal') : value;
}

const UNIT_OF_COUNT: Readonly<Record<string, string>> = {
  sales: 'sales',
  supply: 'tokens',
  owners: 'owners',
  listedCount: 'listings',
};

/** Floors and volumes are in the native currency of the chain. */
function unitOf(figure: string, currency: string | null): string | null {
  return UNIT_OF_COUNT[figure.split('.', 1)[0] ?? ''] ?? currency;
}
