// The form of a new listing. The seller enters the price that the seller receives, and chooses how long the listing is valid. The form shows
// the royalty, and the total that the buyer pays.

import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { Address } from 'viem';
import type { Token } from '../../../client/src/market.ts';
import { parseAmount } from '../../../client/src/market.ts';
import { tokenName } from '../market/token-name.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Choice, TextField } from '../parts/field.tsx';
import type { ListingDraft } from './actions.ts';
import { readIsApproved, readRoyalty } from './actions.ts';
import type { ChainAccess } from './chain.ts';
import { WALLET } from './connection.ts';
import { describeAmount } from './seaport.ts';
import { texts } from './texts.ts';

type Duration = keyof typeof texts.form.durations;

const DAY_S = 86_400;
const DURATIONS_S: Record<Duration, number> = { day: DAY_S, week: 7 * DAY_S, month: 30 * DAY_S };
const DURATIONS = (['day', 'week', 'month'] as const).map((value) => ({ value, name: texts.form.durations[value] }));

type ListDialogProps = {
  token: Token;
  access: ChainAccess;
  isErc1155: boolean;
  onSubmit: (draft: ListingDraft) => void;
  onClose: () => void;
};

export function ListDialog({ token, access, isErc1155, onSubmit, onClose }: ListDialogProps) {
  const { account, chain } = access;
  const contract = (token.contractAddress ?? '') as Address;
  const tokenId = token.tokenId ?? '';
  const [text, setText] = useState('');
  const [duration, setDuration] = useState<Duration>('week');
  const [isWrong, setWrong] = useState(false);
  const price = readPrice(text, chain.decimals);
  const royalty = useQuery({
    queryKey: [WALLET, 'royalty', chain.chain, contract, tokenId, String(price)],
    queryFn: () => readRoyalty(access, { contract, tokenId, price: price ?? 0n }),
    enabled: price !== null,
  });
  const approval = useQuery({
    queryKey: [WALLET, 'approval', account, chain.chain, contract],
    queryFn: () => readIsApproved(access, contract),
    staleTime: 0,
  });
  const submit = () => {
    setWrong(price === null);
    if (price === null || royalty.data === undefined) return;
    onSubmit({ contract, tokenId, isErc1155, price, royalty: royalty.data, durationS: DURATIONS_S[duration] });
  };
  return (
    <Dialog title={texts.form.title(tokenName(token))} isOpen onClose={onClose}>
      <form
        class="dialog-body"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextField
          label={texts.form.price(chain.currency)}
          hint={isErc1155 ? `${texts.form.priceHint} ${texts.form.oneUnit}` : texts.form.priceHint}
          error={isWrong && price === null ? texts.form.priceWrong(chain.currency) : undefined}
          name="price"
          value={text}
          inputMode="decimal"
          isRequired
          onChange={setText}
        />
        <Choice
          label={texts.form.duration}
          name="duration"
          value={duration}
          options={DURATIONS}
          onChange={setDuration}
        />
        {royalty.isError && (
          <p class="field-error" role="alert">
            {texts.unread}
          </p>
        )}
        {price !== null && royalty.data !== undefined && (
          <dl class="rows">
            {royalty.data && (
              <div class="row">
                <dt>{texts.form.royalty}</dt>
                <dd>{describeAmount(royalty.data.amount, chain)}</dd>
              </div>
            )}
            <div class="row">
              <dt>{texts.form.total}</dt>
              <dd>
                <strong>{describeAmount(price + (royalty.data?.amount ?? 0n), chain)}</strong>
              </dd>
            </div>
          </dl>
        )}
        {approval.data !== undefined && (
          <p class="muted">{approval.data ? texts.form.signature : texts.form.approval}</p>
        )}
        <div class="button-row">
          <button type="button" class="button" onClick={onClose}>
            {texts.form.close}
          </button>
          <button type="submit" class="button button-primary" disabled={price !== null && royalty.data === undefined}>
            {texts.form.submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The price in base units. Null unless the text is an amount of more than 0. */
function readPrice(text: string, decimals: number): bigint | null {
  try {
    const price = parseAmount(text.trim(), decimals);
    return price > 0n ? price : null;
  } catch {
    return null;
  }
}
