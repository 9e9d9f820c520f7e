// The parts that the forms of a new listing and of a new bid have in common.

import { useQuery } from '@tanstack/preact-query';
import type { Address } from 'viem';
import { parseAmount } from '../../../client/src/market.ts';
import { Choice } from '../parts/field.tsx';
import { readRoyalty } from './actions.ts';
import type { ChainAccess } from './chain.ts';
import { WALLET } from './connection.ts';
import { texts } from './texts.ts';

export type Duration = keyof typeof texts.form.durations;

const DAY_S = 86_400;
export const DURATIONS_S: Record<Duration, number> = { day: DAY_S, week: 7 * DAY_S, month: 30 * DAY_S };
const DURATIONS = (['day', 'week', 'month'] as const).map((value) => ({ value, name: texts.form.durations[value] }));

export function DurationField({ value, onChange }: { value: Duration; onChange: (value: Duration) => void }) {
  return <Choice label={texts.form.duration} name="duration" value={value} options={DURATIONS} onChange={onChange} />;
}

/** `price`: null while none is entered. */
type Priced = { contract: Address; tokenId: string; price: bigint | null };

export function useRoyalty(access: ChainAccess, { contract, tokenId, price }: Priced) {
  return useQuery({
    queryKey: [WALLET, 'royalty', access.chain.chain, contract, tokenId, String(price)],
    queryFn: () => readRoyalty(access, { contract, tokenId, price: price ?? 0n }),
    enabled: price !== null,
  });
}

/** The price in base units. Null unless the text is an amount of more than 0. */
export function readPrice(text: string, decimals: number): bigint | null {
  try {
    const price = parseAmount(text.trim(), decimals);
    return price > 0n ? price : null;
  } catch {
    return null;
  }
}
