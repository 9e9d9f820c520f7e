// Blend, the loans of Blur. The contract holds the tokens of borrowers as collateral, and trades for the borrowers: it is neither the buyer nor the
// seller of a token. Verified contract: https://etherscan.io/address/0x29469395eaf6f95920e59f858042f0e28d98a20b

import type { OrderFulfilled } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { isTokenItem, ITEM_TYPE } from '../../../platform/core/seaport.ts';
import { addressAt, bigintAt, structAt, UndecodableData } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder, TransactionLogs } from './event-decoder.ts';
import type { MarketSale } from './market-fill.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const BLEND_TOPICS = {
  buyLocked: '0x7ffb5bd9cdc79a6f9bc6e00c82f43836e0afbb204d47972001f6e853764a8ef1',
  loanOfferTaken: '0x06a333c2d6fe967ca967f7a35be2eb45e8caeb6cf05e16f55d42b91b5fe31255',
} as const satisfies Record<string, Hex>;

const BLEND_ADDRESS = '0x29469395eaf6f95920e59f858042f0e28d98a20b' as Address;

/**
 * A borrower sells the token that Blend holds. The words are lien, collection, buyer, seller and token id. The price is in the call data only, so
 * the address of the contract is a placeholder for the unknown payment.
 */
const buyLocked: EventDecoder = ({ address, data }, position, events) => {
  const token = { contract: addressAt(data, 1), tokenId: bigintAt(data, 4), quantity: 1n };
  const parties = { seller: addressAt(data, 3), buyer: addressAt(data, 2) };
  const unknown = { currency: address, price: 0n };
  events.push(
    toFill(position, { protocol: address, orderHash: null, isBid: false, ...parties, tokens: [token], ...unknown }),
  );
};

/** A loan is no sale. The log is requested because `withBorrowerAsBuyer` reads it. */
const loanOfferTaken: EventDecoder = () => undefined;

/**
 * Returns a sale of an exchange with its real buyer: if Blend bought the token for a loan, the borrower of the `LoanOfferTaken` in the same
 * transaction. The words of this event are offer hash, lien, collection, lender, borrower, amount, rate, token id and duration.
 */
export function withBorrowerAsBuyer(sale: MarketSale, logsOf: TransactionLogs): MarketSale {
  if (sale.buyer !== BLEND_ADDRESS) return sale;
  const loans = logsOf().filter(
    ({ address, topics }) => address === BLEND_ADDRESS && topics[0] === BLEND_TOPICS.loanOfferTaken,
  );
  const loan = loans.find(({ data }) =>
    sale.tokens.some(({ contract, tokenId }) => addressAt(data, 2) === contract && bigintAt(data, 7) === tokenId),
  );
  return loan ? { ...sale, buyer: addressAt(loan.data, 4) } : sale;
}

/**
 * The functions that name a lien in their first nine words: `takeBid` sells the token to a bid of an exchange. The other functions buy the token
 * from its borrower, by an offer that they name in word 9, directly or within a struct.
 */
const TAKE_BID = '619a309f';
const OFFER_AT: Readonly<Record<string, 'word 9' | 'struct of word 9'>> = {
  e7efc178: 'word 9', // buyLocked
  '8553b234': 'word 9', // buyLockedETH
  '2e2fb18b': 'struct of word 9', // buyToBorrowLocked
  b2a0bb86: 'struct of word 9', // buyToBorrowLockedETH
};
/** The words of a lien. */
const LIEN = { borrower: 1, collection: 2, tokenId: 3 };
/** The words of an offer to sell. The price includes the fees. */
const SELL_OFFER = { borrower: 0, price: 2 };

/** The words after the selector of each call of `selectors` in the call data that names a lien on the token of the fill. */
function listCallsWithLien(fill: OrderFulfilled, callData: Hex, selectors: readonly string[]): [string, Hex][] {
  const token = [...fill.offer, ...fill.consideration].find(isTokenItem);
  if (!token) return [];
  const found: [string, Hex][] = [];
  for (const selector of selectors) {
    for (let at = callData.indexOf(selector); at >= 0; at = callData.indexOf(selector, at + 1)) {
      const words: Hex = `0x${callData.slice(at + selector.length)}`;
      const isOfToken = () =>
        addressAt(words, LIEN.collection) === token.token && bigintAt(words, LIEN.tokenId) === token.identifier;
      if (valueOrNull(isOfToken) === true) found.push([selector, words]);
    }
  }
  return found;
}

function valueOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UndecodableData) return null;
    throw error;
  }
}

/**
 * Returns the fill of an exchange with its real seller: if Blend accepted the bid, the borrower that the call data names. Only the borrower may
 * call this function.
 */
export function withBorrowerAsSeller(fill: OrderFulfilled, callData: Hex): OrderFulfilled {
  if (fill.recipient !== BLEND_ADDRESS) return fill;
  const [call] = listCallsWithLien(fill, callData, [TAKE_BID]);
  const borrower = call && valueOrNull(() => addressAt(call[1], LIEN.borrower));
  return borrower ? { ...fill, recipient: borrower } : fill;
}

/** Returns the sale of a locked token with its price, if the call data has the offer of the seller. */
function readCallData(fill: OrderFulfilled, callData: Hex): OrderFulfilled {
  const offers = listCallsWithLien(fill, callData, Object.keys(OFFER_AT)).flatMap(([selector, words]) => {
    const price = valueOrNull(() => {
      const given = structAt(words, 9);
      const offer = OFFER_AT[selector] === 'word 9' ? given : structAt(given, 0);
      return addressAt(offer, SELL_OFFER.borrower) === fill.offerer ? bigintAt(offer, SELL_OFFER.price) : null;
    });
    return price === null ? [] : [price];
  });
  const [amount, ...others] = new Set(offers);
  if (amount === undefined || others.length > 0) return fill;
  const payment = { itemType: ITEM_TYPE.native, token: ZERO_ADDRESS, identifier: 0n, amount };
  return { ...fill, consideration: [{ ...payment, recipient: fill.offerer }] };
}

/** `Refinance`, `Repay`, `StartAuction` and `Seize` are not read: nobody buys the token. */
export const BLEND: SettlementProtocol = {
  name: 'blend',
  listContracts: deployedAt({ ethereum: [BLEND_ADDRESS] }),
  decoders: new Map<Hex, EventDecoder>([
    [BLEND_TOPICS.buyLocked, buyLocked],
    [BLEND_TOPICS.loanOfferTaken, loanOfferTaken],
  ]),
  settlesOwnOrders: false,
  readCallData,
  findMarketplace: () => 'blur',
};
