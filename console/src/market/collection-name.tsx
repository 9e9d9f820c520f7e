// Displays the name of a collection of which only the id is known. Until the name has been read, a short form of the id is displayed.

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
