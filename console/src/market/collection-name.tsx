// The name of a collection, where only its id is known. The id stands for it until the name has been read.

import { useQuery } from '@tanstack/preact-query';
import { collectionQuery } from '../data/market-queries.ts';

export function CollectionName({ id }: { id: string }) {
  const { data } = useQuery({ ...collectionQuery(id), refetchInterval: false });
  return <>{data?.data.name ?? id}</>;
}
