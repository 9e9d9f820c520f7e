// The form of a new bid. The bidder chooses what the bid is for (this token, any token of the collection, or any token with one of the traits of this
// token), and enters the price of one unit. The form shows the royalty, what the seller gets, and what the bidder pays in all.

import { useState } from 'preact/hooks';
import type { Address } from 'viem';
import type { Token } from '../../../client/src/market.ts';
import { toVisible } from '../format/strangers-text.ts';
import { tokenName } from '../market/token-name.ts';
import { Choice, TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Row } from '../parts/row.tsx';
import type { BidDraft } from './actions.ts';
import type { ChainAccess } from './chain.ts';
import type { Duration } from './order-form.tsx';
import { DURATIONS_S, DurationField, readPrice, useRoyalty } from './order-form.tsx';
import { describeAmount } from './seaport.ts';
import { texts } from './texts.ts';

type Kind = keyof typeof texts.bid.kinds;
const KINDS: readonly Kind[] = ['item', 'collection', 'trait'];
/** An amount of units is a whole number from 1. */
const UNITS = /^[1-9]\d{0,17}$/;

type BidDialogProps = {
  token: Token;
  access: ChainAccess;
  isErc1155: boolean;
  /** Whether the wallet holds the only unit of the token, so that it cannot bid for this token. */
  isOwn: boolean;
  onSubmit: (draft: BidDraft) => void;
  onClose: () => void;
};

export function BidDialog({ token, access, isErc1155, isOwn, onSubmit, onClose }: BidDialogProps) {
  const { chain } = access;
  const { traits, collectionId } = token;
  const contract = (token.contractAddress ?? '') as Address;
  const tokenId = token.tokenId ?? '';
  const kinds = KINDS.filter((one) => !(one === 'item' && isOwn) && !(one === 'trait' && traits.length === 0));
  const [kind, setKind] = useState<Kind>(kinds[0] ?? 'collection');
  const [traitIndex, setTraitIndex] = useState('0');
  const [priceText, setPriceText] = useState('');
  const [unitsText, setUnitsText] = useState('1');
  const [duration, setDuration] = useState<Duration>('week');
  const [isChecked, setChecked] = useState(false);
  const hasUnits = isErc1155 || kind !== 'item';
  const units = !hasUnits ? 1n : UNITS.test(unitsText.trim()) ? BigInt(unitsText.trim()) : null;
  const price = readPrice(priceText, chain.decimals);
  const royalty = useRoyalty(access, { contract, tokenId, price });
  const trait = kind === 'trait' ? (traits[Number(traitIndex)] ?? null) : null;
  const submit = () => {
    setChecked(true);
    if (price === null || units === null || royalty.data === undefined) return;
    const wanted = { collectionId, contract, isErc1155, tokenId: kind === 'item' ? tokenId : null, trait };
    onSubmit({ wanted, units, price, royalty: royalty.data, durationS: DURATIONS_S[duration] });
  };
  return (
    <FormDialog
      title={texts.bid.title}
      submitText={texts.bid.submit}
      closeText={texts.form.close}
      isReady={price === null || royalty.data !== undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <Choice
        label={texts.bid.kind}
        name="kind"
        value={kind}
        options={kinds.map((value) => ({
          value,
          name: value === 'item' ? tokenName(token) : texts.bid.kinds[value],
        }))}
        onChange={setKind}
      />
      {kind === 'trait' && (
        <Choice
          label={texts.bid.trait}
          name="trait"
          value={traitIndex}
          options={traits.map(({ name, value }, index) => ({
            value: String(index),
            name: toVisible(`${name}: ${value}`),
          }))}
          onChange={setTraitIndex}
        />
      )}
      <TextField
        label={texts.bid.price(chain.currency)}
        hint={texts.bid.priceHint(chain.currency)}
        error={isChecked && price === null ? texts.form.priceWrong(chain.currency) : undefined}
        name="price"
        value={priceText}
        inputMode="decimal"
        isRequired
        onChange={setPriceText}
      />
      {hasUnits && (
        <TextField
          label={isErc1155 ? texts.bid.units : texts.bid.tokens}
          hint={texts.bid.unitsHint}
          error={isChecked && units === null ? texts.bid.unitsWrong : undefined}
          name="units"
          value={unitsText}
          inputMode="numeric"
          isRequired
          onChange={setUnitsText}
        />
      )}
      <DurationField value={duration} onChange={setDuration} />
      {royalty.isError && (
        <p class="field-error" role="alert">
          {texts.unread}
        </p>
      )}
      {price !== null && units !== null && royalty.data !== undefined && (
        <dl class="rows">
          {royalty.data && <Row name={texts.bid.royalty}>{describeAmount(royalty.data.amount, chain)}</Row>}
          <Row name={texts.bid.proceeds}>{describeAmount(price - (royalty.data?.amount ?? 0n), chain)}</Row>
          <Row name={texts.bid.total}>
            <strong>{texts.wrapped(describeAmount(price * units, chain))}</strong>
          </Row>
        </dl>
      )}
      <p class="muted">{texts.bid.note}</p>
    </FormDialog>
  );
}
