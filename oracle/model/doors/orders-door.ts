// Signed orders of the model: listings and bids are submitted and cancelled through `/intake/v1/orders`. "orders" is docs/orders.md. The collections are on chains without
// endpoints: "only the order and its signature are checked".

import type { Check, Json } from '../comparison/check.ts';
import { dataOf, isSame, rawOf, show } from '../comparison/check.ts';
import { Difference } from '../errors.ts';
import type { Bid } from '../rules/bids.ts';
import { tokensWith } from '../rules/bids.ts';
import type { Listing, Market } from '../rules/market.ts';
import { statusAt } from '../rules/market.ts';
import type { ListingRecord } from '../rules/records.ts';
import { toCollectionId } from '../rules/records.ts';
import type { BidStep, CancelStep, MirrorStep, SignStep } from '../steps.ts';
import { COLLECTIONS } from '../steps.ts';
import type { ServiceDoors } from './service-doors.ts';
import type { Terms } from './signing.ts';
import { accountOf, DEPLOYMENTS, rootOf, signCancel, signOrder, toAsk, toBid } from './signing.ts';

const ORDERS = '/intake/v1/orders';
const MINUTE_S = 60;
const STARTED_S = 2 * 24 * 60 * MINUTE_S;
/** A token that no record names, so that no trait names the same set of tokens. */
const UNNAMED_TOKEN = '77';

type Side = { side: 'ask'; terms: Listing; tokenId: string } | { side: 'bid'; terms: Bid };
/** An order that was signed. `units`: how many it offers. */
type Signed = Side & { chain: string; contract: string; offerer: number; units: bigint; hash: string; body: object };

export class OrdersDoor {
  readonly #doors: ServiceDoors;
  readonly #market: Market;
  /** The submissions so far that were accepted. */
  readonly #accepted: Signed[] = [];

  constructor(doors: ServiceDoors, market: Market) {
    this.#doors = doors;
    this.#market = market;
  }

  /** Keeps the present state, as a backup does. Calling the result brings it back. */
  keep(): () => void {
    const accepted = this.#accepted.map((one) => ({ ...one }));
    return () => {
      this.#accepted.splice(0, Infinity, ...accepted.map((one) => ({ ...one })));
    };
  }

  /** The record of another marketplace about an accepted listing. Null if no listing was accepted yet. */
  mirror({ of, source, status, listedAt }: Omit<MirrorStep, 'do'> & { listedAt: string }): ListingRecord | null {
    const asks = this.#accepted.filter((one) => one.side === 'ask');
    const { terms, chain, contract, tokenId, hash } = asks[of % Math.max(1, asks.length)] ?? {};
    if (!terms || chain === undefined || contract === undefined || tokenId === undefined) return null;
    return {
      kind: 'listing',
      source,
      chain,
      contractAddress: contract,
      tokenId,
      seller: terms.seller,
      priceRaw: terms.priceRaw.toString(),
      ...(hash !== undefined && { orderHash: hash }),
      timestamp: listedAt,
      ...(status !== undefined && { status }),
    };
  }

  /** Submits a new order, or an accepted one again. Returns the id of its collection. */
  async submit(step: SignStep | BidStep, commands: string[]): Promise<string> {
    const { now } = this.#doors;
    const sameSide = this.#accepted.filter(({ side }) => side === (step.do === 'bid' ? 'bid' : 'ask'));
    const again = step.again === null ? undefined : sameSide[step.again % Math.max(1, sameSide.length)];
    const signed = again ?? (await (step.do === 'bid' ? this.#signBid(step) : this.#signAsk(step)));
    commands.push(`curl -H "authorization: Bearer $KEY" -d '${JSON.stringify(signed.body)}' "$URL${ORDERS}"`);
    const { status, body: served } = await this.#doors.intake('POST', ORDERS, signed.body, 'orders');
    const expected = again ? this.#refusalOfRepeat(again) : refusalOf(step);
    expectSame(`POST ${ORDERS}`, expected, toRefusal(status, served));
    const { collectionId } = signed.terms;
    if (expected !== null) return collectionId;
    this.#accept(signed, served as { data: Json; order: Json }, now);
    if (!again) this.#accepted.push(signed);
    return collectionId;
  }

  /** The checks that an accepted order does not pass again, in the order of the table. */
  #refusalOfRepeat(signed: Signed): string | null {
    const { expiresAt, collectionId, orderId } = signed.terms;
    if (expiresAt !== null && expiresAt <= this.#doors.now) return '422 expired';
    if (signed.side === 'ask') return this.#market.tables.order.has(orderId) ? '409 duplicate' : null;
    const { traits, tokens } = signed.terms;
    const reader = { market: this.#market, now: this.#doors.now };
    // "The order is stored only if the Merkle root of these tokens is the signed one."
    if (traits && !isSame(tokensWith(reader, collectionId, traits).toSorted(), tokens?.toSorted()))
      return '422 criteria_not_valid';
    return this.#market.bids.has(orderId) ? '409 duplicate' : null;
  }

  /** Takes the id and the time that the service gave to the order, and stores the order. */
  #accept(signed: Signed, { data, order }: { data: Json; order: Json }, now: number): void {
    const orderId = String(data['orderId']);
    const listedAt = Date.parse(String(data['timestamp']));
    signed.hash = String(order['orderHash']);
    const { priceRaw } = signed.terms;
    const common = { raw: priceRaw.toString(), status: 'active', quantity: signed.units.toString() };
    const served = { raw: rawOf(data['price']), status: data['status'], quantity: order['quantity'] };
    if (signed.side === 'ask') {
      // Specification, "orderId formats by source": `<chain>_<contract>_<tokenId>_<epochMillis>`.
      const id = `${signed.terms.collectionId}_${signed.tokenId}_${listedAt}`;
      expectSame(
        'a signed order',
        { ...common, id, seller: signed.terms.seller },
        { ...served, id: orderId, seller: data['seller'] },
      );
      signed.terms = { ...signed.terms, key: orderId, orderId, listedAt };
      this.#market.addSigned(signed.terms, signed.hash, now);
      return;
    }
    const { maker, proceedsRaw } = signed.terms;
    // Orders, "Bids": "has the bidder as `buyer` and no `seller`; `order` has `side`, `proceeds` and `root`".
    expectSame(
      'a signed bid',
      { ...common, buyer: maker, seller: null, side: 'bid', proceeds: proceedsRaw.toString() },
      {
        ...served,
        buyer: data['buyer'],
        seller: data['seller'],
        side: order['side'],
        proceeds: rawOf(order['proceeds']),
      },
    );
    signed.terms = { ...signed.terms, orderId, listedAt };
    this.#market.bids.set(orderId, signed.terms);
  }

  /** Orders, "Cancelling". Returns the id of the collection. */
  async cancel({ of, by }: CancelStep, commands: string[]): Promise<string | null> {
    const signed = this.#accepted[of % Math.max(1, this.#accepted.length)];
    if (!signed) return null;
    const { now } = this.#doors;
    const { chain, offerer, hash, terms } = signed;
    const path = `${ORDERS}/${terms.orderId}/cancel`;
    const hasBody = by === 'offerer' || by === 'stranger';
    const signer = by === 'stranger' ? offerer + 1 : offerer;
    const body = hasBody ? { signature: await signCancel(chain, hash, signer) } : undefined;
    commands.push(`curl -X POST -H "authorization: Bearer $KEY" -d '${JSON.stringify(body ?? {})}' "$URL${path}"`);
    const key = by === 'operator' ? 'intake' : 'orders';
    const { status, body: served } = await this.#doors.intake('POST', path, body, key);
    const row = this.#storedOf(signed);
    const state = row && statusAt(row, now);
    // Orders: "The operator of the service sends no body", "with an API key that has the scope intake:write".
    if (by === 'nobody') {
      expectSame(`POST ${path} by nobody`, '403 forbidden', toRefusal(status, served));
      return null;
    }
    const expected = !row ? '404 not_found' : state === 'expired' ? '409 expired' : null;
    // "A second cancel changes nothing; its response is 200."
    const isRefused = by === 'stranger' && state !== undefined;
    expectSame(`POST ${path} by the ${by}`, isRefused ? '422 signature_invalid' : expected, toRefusal(status, served));
    if (isRefused) return row?.collectionId ?? null;
    if (expected !== null || !row) return null;
    expectSame(`POST ${path}`, 'cancelled', dataOf(served)['status']);
    if (signed.side === 'ask')
      this.#market.tables.order.set(signed.terms.key, { ...(row as Listing), status: 'cancelled' });
    else this.#market.bids.set(terms.orderId, { ...(row as Bid), status: 'cancelled' });
    return row.collectionId;
  }

  #storedOf({ side, terms: { orderId } }: Signed): Listing | Bid | undefined {
    return side === 'ask' ? this.#market.tables.order.get(orderId) : this.#market.bids.get(orderId);
  }

  /** Orders, "Reading": "returns the order, whatever its status". */
  checks(): Check[] {
    return this.#accepted.map((signed) => {
      const path = `${ORDERS}/${signed.terms.orderId}`;
      return {
        path,
        of: 'orders',
        compare: async () => {
          const row = this.#storedOf(signed);
          const { status, body } = await this.#doors.intake('GET', path);
          if (!row || status !== 200) return [row ? 200 : 404, status];
          const { data, order } = body as { data: Json; order: Json };
          const { orderHash, quantity } = order;
          return [
            [statusAt(row, this.#doors.now), signed.hash, row.priceRaw.toString(), signed.units.toString()],
            [data['status'], orderHash, rawOf(data['price']), quantity],
          ];
        },
      };
    });
  }

  async #signAsk(step: SignStep): Promise<Signed> {
    const { units, fee, place } = step;
    const price = BigInt(step.price);
    const fees = { none: 0n, small: price / 20n, large: price + 1n }[fee];
    const { chain, contract, terms } = this.#termsOf(step, { price, fee: fees });
    const order = await signOrder(toAsk(terms, step.tokenId), chain, step.isForged ? step.offerer + 1 : step.offerer);
    const seller = accountOf(step.offerer).address.toLowerCase();
    return {
      side: 'ask',
      chain,
      contract,
      tokenId: step.tokenId,
      offerer: step.offerer,
      units: BigInt(units),
      hash: '',
      body: { chain, order },
      terms: {
        key: '',
        orderId: '',
        listedAt: 0,
        source: null,
        collectionId: collectionIdOf(place),
        asset: step.tokenId,
        // Orders: "what the offerer receives for one unit, rounded up".
        priceRaw: perUnit(price, units),
        // "If the order includes fees, buyerTotal is what a buyer pays for one unit in all".
        buyerTotalRaw: fees > 0n ? perUnit(price + fees, units) : null,
        seller,
        orderHash: null,
        status: 'active',
        expiresAt: terms.endTime * 1_000,
        tx: null,
      },
    };
  }

  async #signBid(step: BidStep): Promise<Signed> {
    const { place, wants, tokenId, offerer, isForged } = step;
    const collectionId = collectionIdOf(place);
    const units = BigInt(step.units);
    const price = BigInt(step.price);
    const fee = { none: 0n, small: price / 20n, large: price }[step.fee];
    const { chain, contract, terms } = this.#termsOf(step, { price: price * units, fee: fee * units });
    const reader = { market: this.#market, now: this.#doors.now };
    const named = wants === 'traits' ? tokensWith(reader, collectionId, [step.trait]) : [];
    const traits = named.length > 0 ? [step.trait] : null;
    const isSet = wants === 'traits' || wants === 'tokens';
    const tokens = isSet ? (traits ? named : [tokenId, UNNAMED_TOKEN]) : null;
    const root = tokens ? rootOf(step.fault === 'root' ? [...tokens, '78'] : tokens) : 0n;
    const wanted = wants === 'item' ? { tokenId } : { root };
    const currency = step.fault === 'currency' ? contract : (DEPLOYMENTS[chain]?.wrapped ?? '0x');
    const bid = toBid(terms, currency as `0x${string}`, wanted);
    const order = await signOrder(bid, chain, isForged ? offerer + 1 : offerer);
    const criteria = traits ? { traits } : { tokenIds: tokens };
    return {
      side: 'bid',
      chain,
      contract,
      offerer,
      units,
      hash: '',
      body: { chain, order, ...(tokens && { criteria }) },
      terms: {
        orderId: '',
        listedAt: 0,
        collectionId,
        asset: wants === 'item' ? tokenId : null,
        tokens,
        traits,
        priceRaw: price,
        proceedsRaw: price - fee,
        quantity: units,
        maker: accountOf(offerer).address.toLowerCase(),
        status: 'active',
        expiresAt: terms.endTime * 1_000,
      },
    };
  }

  #termsOf(
    step: SignStep | BidStep,
    { price, fee }: { price: bigint; fee: bigint },
  ): { chain: string; contract: string; terms: Terms } {
    const { now } = this.#doors;
    const { place, offerer, expiresIn, units } = step;
    // A bid for several tokens of a collection is one of ERC-721 tokens.
    const hasUnits = step.do === 'sign' || (step.wants === 'item' && step.fault !== 'quantity');
    const { chain, contractAddress: contract } = COLLECTIONS[place] ?? { chain: '', contractAddress: '' };
    const seconds = Math.floor(now / 1_000);
    const terms: Terms = {
      offerer,
      contract,
      standard: hasUnits && units > 1 ? 'erc1155' : 'erc721',
      units: BigInt(units),
      price,
      fee,
      startTime: seconds - STARTED_S,
      endTime: seconds + expiresIn * MINUTE_S,
      salt: BigInt(now) * 8n + BigInt(offerer),
    };
    return { chain, contract, terms };
  }
}

function collectionIdOf(place: number): string {
  return toCollectionId(COLLECTIONS[place] ?? { chain: '', contractAddress: '' });
}

function perUnit(amount: bigint, units: number): bigint {
  return (amount + BigInt(units) - 1n) / BigInt(units);
}

/** The first check that fails, in the order of the table. Null: the order is accepted. */
function refusalOf(step: SignStep | BidStep): string | null {
  const { price, fee, expiresIn, isForged } = step;
  const fault = step.do === 'bid' ? step.fault : null;
  const isSet = step.do === 'bid' && (step.wants === 'traits' || step.wants === 'tokens');
  // "The quantity of an ERC-721 token is not 1."
  if (fault === 'quantity' && step.do === 'bid' && step.wants === 'item' && step.units > 1)
    return '422 quantity_not_valid';
  if (fault === 'currency') return '422 unsupported_currency';
  // "The buyer would pay nothing." A large fee of a listing is at least 1.
  if (BigInt(price) === 0n && (step.do === 'bid' || fee !== 'large')) return '422 price_not_positive';
  // "Accounts other than the seller receive more than half of what the buyer pays."
  if (fee === 'large') return '422 fees_over_limit';
  if (expiresIn <= 0) return '422 expired';
  if (isForged) return '422 signature_invalid';
  return fault === 'root' && isSet ? '422 criteria_not_valid' : null;
}

/** Status and code of a refusal. Null for a response that is none. */
function toRefusal(status: number, body: unknown): string | null {
  if (status < 300) return null;
  return `${status} ${(body as { error: { code: string } }).error.code}`;
}

function expectSame(what: string, expected: unknown, served: unknown): void {
  if (!isSame(expected, served))
    throw new Difference(`${what}\n    model:  ${show(expected)}\n    served: ${show(served)}`);
}
