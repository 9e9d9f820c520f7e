// Recognises files that need no column map: records, recorded responses of marketplace APIs, and product exports of Shopify.

import { RECORD_KINDS } from '../../intake/records/kinds.ts';
import { isShopifyHeader } from '../../shop/products/shopify.ts';
import { SHOPIFY_FORMAT } from './shopify.ts';

/** `what` describes the file. `options`: the options for its import. */
export type ReadyFile = { what: string; options: string };

const CONTRACT = '--set chain=CHAIN --set contractAddress=ADDRESS';
const SOLANA = '--set contractAddress=ADDRESS --set symbol=SYMBOL';

const RESPONSES: readonly { format: string; members: readonly string[]; options: string }[] = [
  { format: 'das-assets', members: ['jsonrpc', 'result'], options: '' },
  { format: 'das-assets', members: ['interface', 'ownership'], options: '' },
  { format: 'das-assets', members: ['items', 'total'], options: '' },
  { format: 'opensea-events', members: ['asset_events'], options: CONTRACT },
  { format: 'opensea-nfts', members: ['nfts'], options: CONTRACT },
  { format: 'opensea-nfts', members: ['nft'], options: CONTRACT },
  { format: 'opensea-listings', members: ['listings'], options: CONTRACT },
  { format: 'opensea-listings', members: ['orders'], options: CONTRACT },
  { format: 'magic-eden-asks', members: ['asks'], options: CONTRACT },
  { format: 'magic-eden-listings', members: ['pdaAddress', 'tokenMint'], options: `${SOLANA} --set at=TIME` },
  { format: 'magic-eden-activities', members: ['signature', 'tokenMint', 'type'], options: SOLANA },
];

/** Returns null for an object that needs a column map. */
export function recogniseJson(object: Readonly<Record<string, unknown>>): ReadyFile | null {
  const kind = RECORD_KINDS.find((known) => known === object['kind']);
  if (kind) return { what: `records of the kind ${kind} in the format of docs/records.md`, options: '' };
  // A row of a marketplace may also have a member `nft`. Unlike a response for one token, such a row has other members too.
  const response = RESPONSES.find(
    ({ members }) =>
      members.every((member) => Object.hasOwn(object, member)) &&
      !(members[0] === 'nft' && Object.keys(object).length > 1),
  );
  if (!response) return null;
  const options = response.options === '' ? '' : ` ${response.options}`;
  return { what: 'recorded responses', options: ` --format ${response.format}${options}` };
}

/** Returns null for a CSV file that needs a column map. */
export function recogniseCsv(columns: readonly string[]): ReadyFile | null {
  if (!isShopifyHeader(columns)) return null;
  return { what: 'a product export of Shopify', options: ` --format ${SHOPIFY_FORMAT} --set shop=NAME` };
}
