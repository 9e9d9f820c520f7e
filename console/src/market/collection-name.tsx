// The name of a collection, where only its id is known. The short form of the id stands for it until the name has been read.

import { useQuery } from '@tanstack/preact-query';
import { collectionQuery } from '../data/market-queries.ts';
import { shortAddress } from '../format/address.ts';

export function CollectionName({ id }: { id: string }) {
  const { data } = useQuery({ ...collectionQuery(id), refetchInterval: false });
  return <>{data?.data.name ?? shortId(id)}</>;
}

/** The id is the chain and the address: `base_0x2a70…778a` is displayed as `0x2a70…778a`. */
function shortId(id: string): string {
  return shortAddress(id.slice(id.indexOf('_') + 1));
}
