// The panel of trading on the page of a token: connect a wallet, then list, buy, cancel, and make or accept a bid, as the wallet's holdings allow.

import { useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import type { Address } from 'viem';
import type { Order, Token } from '../../../client/src/market.ts';
import { queries } from '../data/client.ts';
import type { TradingChain } from '../data/service-state.ts';
import { orderQuery } from '../data/market-queries.ts';
import { shortAddress } from '../format/address.ts';
import { formatCount } from '../format/amount.ts';
import { unitsOf } from '../market/order-units.ts';
import { Dormant } from '../market/order-columns.tsx';
import { useOwnBids, useTokenBids } from '../market/token-bids.tsx';
import { describeWanted } from '../market/wanted.tsx';
import { chainName } from '../parts/chain-mark.tsx';
import { useStore } from '../shell/store.ts';
import type { Acceptance, BidDraft, ListingDraft, Reports } from './actions.ts';
import { acceptBid, buyListing, cancelOrder, listToken, makeBid, readHolding } from './actions.ts';
import { BidDialog } from './bid-dialog.tsx';
import { ChainAccess, pause } from './chain.ts';
import type { Connection } from './connection.ts';
import { WALLET, connect, connectAgain, connection, networkQuery, switchChain } from './connection.ts';
import { toTradeFailure } from './failure.ts';
import { ListDialog } from './list-dialog.tsx';
import type { Outcome } from './progress.tsx';
import { Progress } from './progress.tsx';
import { describeAmount, describeTotal } from './seaport.ts';
import { texts } from './texts.ts';
import type { Wallet } from './wallets.ts';

const SETTLED_AFTER_MS = 3_000;

type PanelProps = { token: Token; chain: TradingChain; wallets: readonly Wallet[] };

export function TradePanel({ token, chain, wallets }: PanelProps) {
  const connected = useStore(connection);
  useEffect(() => void connectAgain(wallets), [wallets]);
  return (
    <section class="panel trade" aria-label={texts.title}>
      {connected ? <Connected connected={connected} token={token} chain={chain} /> : <Disconnected wallets={wallets} />}
      <p class="muted trade-note">{texts.testChain(chainName(chain.chain))}</p>
    </section>
  );
}

function Disconnected({ wallets }: { wallets: readonly Wallet[] }) {
  const [message, setMessage] = useState<string | null>(null);
  const start = (wallet: Wallet) => {
    setMessage(null);
    connect(wallet).catch((error: unknown) => setMessage(toTradeFailure(error).message));
  };
  return (
    <>
      <div class="button-row">
        {wallets.map((wallet) => (
          <button key={wallet.id} type="button" class="button" onClick={() => start(wallet)}>
            {texts.connect(wallet.name)}
          </button>
        ))}
      </div>
      {message !== null && (
        <p class="field-error" role="alert">
          {message}
        </p>
      )}
    </>
  );
}

type ConnectedProps = { connected: Connection; token: Token; chain: TradingChain };

function Connected({ connected, token, chain }: ConnectedProps) {
  const network = useQuery(networkQuery(connected, chain));
  const name = chainName(chain.chain);
  return (
    <>
      <p class="trade-wallet">
        <span class="muted">{texts.connected}</span> <span class="mono">{shortAddress(connected.account)}</span>
      </p>
      {network.isPending && <p class="muted">{texts.checking}</p>}
      {network.isError && <p class="field-error">{texts.unread}</p>}
      {network.data === 'other-network' && <p class="note note-warn">{texts.wrongNetwork(name)}</p>}
      {network.data === 'other-chain' && (
        <>
          <p>{texts.otherChain(name)}</p>
          <button
            type="button"
            class="button"
            onClick={() => void switchChain(connected, chain).catch(() => undefined)}
          >
            {texts.switchChain(name)}
          </button>
        </>
      )}
      {network.data === 'right' && <Actions connected={connected} token={token} chain={chain} />}
    </>
  );
}

type Goal = 'list' | 'buy' | 'cancel' | 'bid' | 'accept' | 'cancelBid';

function Actions({ connected, token, chain }: ConnectedProps) {
  const access = new ChainAccess(connected, chain);
  const contract = (token.contractAddress ?? '') as Address;
  const tokenId = token.tokenId ?? '';
  const holding = useQuery({
    queryKey: [WALLET, 'holding', access.account, chain.chain, contract, tokenId],
    queryFn: () => readHolding(access, contract, tokenId),
    staleTime: 0,
  });
  /** The form that is open. */
  const [form, setForm] = useState<'list' | 'bid' | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const isBusy = outcome?.state === 'running';

  const run = async (goal: Goal, work: (reports: Reports) => Promise<boolean>) => {
    let hasApproved = false;
    setOutcome({ state: 'running', step: 'reading' });
    try {
      const isRead = await work({
        onStep: (step) => setOutcome({ state: 'running', step }),
        onApproved: () => (hasApproved = true),
      });
      setOutcome({ state: 'done', text: texts.done[DONE[goal]], isLate: !isRead });
    } catch (error) {
      const failure = toTradeFailure(error);
      const truths = [
        ...(failure.isUnknown || (CANCELS.has(goal) && failure.hasEnded) ? [] : [texts.failed[goal]]),
        ...(hasApproved ? [texts.failed.approved] : []),
      ];
      setOutcome({ state: 'failed', reason: failure.message, truths, hash: failure.hash });
    }
    // Even a failed action may have changed the data of the chain and of the service. The service shows a new owner a moment after the
    // order's new status, so the data is read twice.
    await queries.invalidateQueries();
    await pause(SETTLED_AFTER_MS);
    await queries.invalidateQueries();
  };
  const submit = (goal: Goal, work: (reports: Reports) => Promise<void>) => {
    setForm(null);
    void run(goal, async (reports) => {
      await work(reports);
      return true;
    });
  };

  if (holding.isPending) return <p class="muted">{texts.checking}</p>;
  if (!holding.data) return <p class="field-error">{texts.unread}</p>;
  const { isErc1155, units } = holding.data;
  const isHolder = units > 0n;
  const formProps = { token, access, isErc1155, onClose: () => setForm(null) };
  return (
    <>
      <Offers
        token={token}
        access={access}
        isHolder={isHolder}
        isBusy={isBusy}
        onList={() => setForm('list')}
        onBid={() => setForm('bid')}
        onBuy={(orderId) => void run('buy', (reports) => buyListing(access, orderId, reports))}
        onCancel={(orderId) => void run('cancel', ({ onStep }) => cancelOrder(access, orderId, onStep))}
        onCancelBid={(orderId) => void run('cancelBid', ({ onStep }) => cancelOrder(access, orderId, onStep))}
        onAccept={(acceptance) => void run('accept', (reports) => acceptBid(access, acceptance, reports))}
      />
      {outcome && <Progress outcome={outcome} onDismiss={() => setOutcome(null)} />}
      {form === 'list' && (
        <ListDialog
          {...formProps}
          onSubmit={(draft: ListingDraft) => submit('list', (reports) => listToken(access, draft, reports))}
        />
      )}
      {form === 'bid' && (
        <BidDialog
          {...formProps}
          isOwn={isHolder && !isErc1155}
          onSubmit={(draft: BidDraft) => submit('bid', (reports) => makeBid(access, draft, reports))}
        />
      )}
    </>
  );
}

/** If the order has ended by itself, nothing is left to cancel. */
const CANCELS: ReadonlySet<Goal> = new Set(['cancel', 'cancelBid']);
const DONE = {
  list: 'listed',
  buy: 'bought',
  cancel: 'cancelled',
  bid: 'bid',
  accept: 'accepted',
  cancelBid: 'bidCancelled',
} as const;

type OffersProps = {
  token: Token;
  access: ChainAccess;
  isHolder: boolean;
  isBusy: boolean;
  onList: () => void;
  onBid: () => void;
  onBuy: (orderId: string) => void;
  onCancel: (orderId: string) => void;
  onAccept: (acceptance: Acceptance) => void;
  onCancelBid: (orderId: string) => void;
};

/** The buttons for what this wallet can do with the token, its cheapest listing, its top bid and the bids of the wallet. */
function Offers({
  token,
  access,
  isHolder,
  isBusy,
  onList,
  onBuy,
  onCancel,
  onBid,
  onAccept,
  onCancelBid,
}: OffersProps) {
  const { listing, tokenId } = token;
  const { bids } = useTokenBids(token);
  const bid = bids.find(({ maker }) => maker !== access.account);
  const ownBids = useOwnBids(token, access.account);
  const orderId = listing?.orderId ?? null;
  const { data: order } = useQuery({ ...orderQuery(orderId ?? ''), enabled: orderId !== null });
  const { fulfilment = null, dormant = null } = order?.data ?? {};
  const isSeller = listing?.seller === access.account;
  const canBuy = orderId !== null && fulfilment !== null && dormant === null && !isSeller;
  return (
    <>
      {listing && !isSeller && order && fulfilment === null && <p class="muted">{texts.cannotFill}</p>}
      <div class="button-row trade-actions">
        {order && canBuy && (
          <button type="button" class="button button-primary" disabled={isBusy} onClick={() => onBuy(orderId)}>
            {describePurchase(order.data, describeTotal(fulfilment, access.chain))}
          </button>
        )}
        {isSeller && orderId !== null && fulfilment !== null && (
          <button type="button" class="button" disabled={isBusy} onClick={() => onCancel(orderId)}>
            {texts.cancel}
          </button>
        )}
        {isHolder && bid?.proceeds && tokenId !== null && (
          <button
            type="button"
            class="button"
            disabled={isBusy}
            onClick={() => onAccept({ orderId: bid.orderId, tokenId, isOfMany: bid.criteria !== null })}
          >
            {texts.accept(describeAmount(bid.proceeds.raw, access.chain))}
          </button>
        )}
        {ownBids.map((ownBid) => (
          <button
            key={ownBid.orderId}
            type="button"
            class="button"
            disabled={isBusy}
            onClick={() => onCancelBid(ownBid.orderId)}
          >
            {texts.cancelBid(describeAmount(ownBid.price.raw, access.chain), describeWanted(ownBid, token.name))}
            <Dormant order={ownBid} />
          </button>
        ))}
        {isHolder && !isSeller && (
          <button type="button" class="button button-primary" disabled={isBusy} onClick={onList}>
            {texts.list}
          </button>
        )}
        {access.chain.wrappedNative !== null && (
          <button type="button" class="button" disabled={isBusy} onClick={onBid}>
            {texts.makeBid}
          </button>
        )}
      </div>
    </>
  );
}

/**
 * A purchase requests and pays all units of the order. If others have bought some of the units, Seaport fills the rest and returns the
 * price of the missing units.
 */
function describePurchase(order: Order, total: string): string {
  const units = unitsOf(order);
  if (!units) return texts.buy(total);
  return units.isPartlyFilled ? texts.buyRest(total) : texts.buyUnits(formatCount(units.offered), total);
}
