// A hook that returns whether a chain is a local or test chain, on which the service offers trading. Explorers and marketplaces know nothing of it.

import { useQuery } from '@tanstack/preact-query';
import { statusQuery } from './status-query.ts';

/** Null until the state of the service has been read. */
export function useIsLocalChain(chain: string): boolean | null {
  const { data } = useQuery({ ...statusQuery, refetchInterval: false, staleTime: Infinity });
  return data ? (data.trading?.some((one) => one.chain === chain) ?? false) : null;
}
