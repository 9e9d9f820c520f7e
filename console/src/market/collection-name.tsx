// The name and the picture with which the console shows a collection.

import { useQuery } from '@tanstack/preact-query';
import { collectionNameQuery } from '../data/market-queries.ts';
import { shortAddress } from '../format/address.ts';
import { toVisibleName } from '../format/strangers-text.ts';
import { Picture } from '../parts/picture.tsx';

/** The name in the record of the collection, or else a short form of its id. */
export function collectionName({ id, name }: { id: string; name: string | null }): string {
  return toVisibleName(name) ?? shortId(id);
}

/** Displays the name of a collection of which only the id is known. Until the name has been read, a short form of the id is displayed. */
export function CollectionName({ id }: { id: string }) {
  const { data } = useQuery(collectionNameQuery(id));
  return <>{collectionName({ id, name: data?.name ?? null })}</>;
}

export function CollectionPicture({ id, class: name }: { id: string; class: string }) {
  const { data } = useQuery(collectionNameQuery(id));
  return <Picture url={data?.image ?? null} alt="" seed={id} class={name} />;
}

/** The id is the chain and the address: `base_0x2a70…778a` is displayed as `0x2a70…778a`. */
function shortId(id: string): string {
  return shortAddress(id.slice(id.indexOf('_') + 1));
}
