// Which tokens an order is for: one token, any token of its collection, or any token of a set.

import type { ListedOrder } from '../../../client/src/market.ts';
import { formatCount } from '../format/amount.ts';
import { toVisible } from '../format/strangers-text.ts';
import { Picture } from '../parts/picture.tsx';
import { CollectionPicture } from './collection-name.tsx';
import { useTokenOf } from './token-columns.tsx';
import { tokenName } from './token-name.ts';
import { texts } from './texts.ts';

/** The token of an order, and its criteria if there is no single token. */
export type WantedOf = Pick<
  ListedOrder,
  'chain' | 'collectionId' | 'contractAddress' | 'tokenId' | 'mint' | 'criteria'
>;

export function Wanted({ order }: { order: WantedOf }) {
  const { token } = useTokenOf(order);
  return <>{describeWanted(order, token?.name ?? null)}</>;
}

export function WantedPicture({ order, name }: { order: WantedOf; name: string }) {
  const { token } = useTokenOf(order);
  if (order.criteria !== null) return <CollectionPicture id={order.collectionId} class={name} />;
  return <Picture url={token?.image ?? null} alt="" seed={order.collectionId} class={name} />;
}

/** `name`: of the token of the order, if it is known. */
export function describeWanted({ criteria, tokenId, mint }: WantedOf, name: string | null): string {
  if (criteria === null) return tokenName({ name, tokenId, mint });
  const { traits, count } = criteria;
  if (traits !== null) return traits.map((trait) => toVisible(`${trait.name}: ${trait.value}`)).join(', ');
  return count === null ? texts.order.any : texts.order.anyOf(formatCount(count));
}
