// The form of a new listing. The seller enters the price that the seller receives, and chooses how long the listing is valid. The form shows
// the royalty, and the total that the buyer pays.

import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { Address } from 'viem';
import type { Token } from '../../../client/src/market.ts';
import { tokenName } from '../market/token-name.ts';
import { TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Row } from '../parts/row.tsx';
import type { ListingDraft } from './actions.ts';
import { readIsApproved } from './actions.ts';
import type { ChainAccess } from './chain.ts';
import { WALLET } from './connection.ts';
import type { Duration } from './order-form.tsx';
import { DURATIONS_S, DurationField, readPrice, useRoyalty } from './order-form.tsx';
import { describeAmount } from './seaport.ts';
import { texts } from './texts.ts';

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
  const royalty = useRoyalty(access, { contract, tokenId, price });
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
    <FormDialog
      title={texts.form.title(tokenName(token))}
      submitText={texts.form.submit}
      closeText={texts.form.close}
      isReady={price === null || royalty.data !== undefined}
      onSubmit={submit}
      onClose={onClose}
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
      <DurationField value={duration} onChange={setDuration} />
      {royalty.isError && (
        <p class="field-error" role="alert">
          {texts.unread}
        </p>
      )}
      {price !== null && royalty.data !== undefined && (
        <dl class="rows">
          {royalty.data && <Row name={texts.form.royalty}>{describeAmount(royalty.data.amount, chain)}</Row>}
          <Row name={texts.form.total}>
            <strong>{describeAmount(price + (royalty.data?.amount ?? 0n), chain)}</strong>
          </Row>
        </dl>
      )}
      {approval.data !== undefined && <p class="muted">{approval.data ? texts.form.signature : texts.form.approval}</p>}
    </FormDialog>
  );
}
