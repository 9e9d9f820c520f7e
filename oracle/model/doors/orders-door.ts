// Signed orders of the model: they are submitted and cancelled through `/intake/v1/orders`. "orders" is docs/orders.md. The collections are on chains without
// endpoints: "only the order and its signature are checked".

import { numberToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { toJson } from '../../../client/src/json.ts';
import type { SeaportDeployment } from '../../../client/src/seaport.ts';
import { SEAPORT_TYPES, toListingOrder, toSeaportDomain } from '../../../client/src/seaport.ts';
import { Difference } from '../errors.ts';
import type { Json } from '../comparison/explore.ts';
import type { Listing, Market } from '../rules/market.ts';
import { statusAt } from '../rules/market.ts';
import type { ListingRecord } from '../rules/records.ts';
import { toCollectionId } from '../rules/records.ts';
import type { ServiceDoors } from './service-doors.ts';
import type { CancelStep, MirrorStep, SignStep } from '../steps.ts';
import { COLLECTIONS } from '../steps.ts';

const DEPLOYMENTS: Readonly<Record<string, SeaportDeployment>> = {
  base: { address: '0x0000000000000068f116a894984e2db1123eb395', version: '1.6', chainId: 8453 },
  polygon: { address: '0x0000000000000068f116a894984e2db1123eb395', version: '1.6', chainId: 137 },
};
const ORDERS = '/intake/v1/orders';
const MINUTE_S = 60;
const FEE_RECIPIENT = '0x00000000000000000000000000000000000000fe';

type Signed = { chain: string; contract: string; tokenId: string; offerer: number; hash: string; orderId: string };
type Submission = { body: object; terms: Omit<Listing, 'key' | 'orderId' | 'listedAt'>; signed: Signed };

export class OrdersDoor {
  readonly #doors: ServiceDoors;
  readonly #market: Market;
  /** The submissions so far that were accepted. */
  readonly #accepted: Submission[] = [];

  constructor(doors: ServiceDoors, market: Market) {
    this.#doors = doors;
    this.#market = market;
  }

  /** The record of another marketplace about an accepted order. Null if no order was accepted yet. */
  mirror({ of, source, status, listedAt }: Omit<MirrorStep, 'do'> & { listedAt: string }): ListingRecord | null {
    const { terms, signed } = this.#accepted[of % Math.max(1, this.#accepted.length)] ?? {};
    if (!terms || !signed) return null;
    const { chain, contract, tokenId, hash } = signed;
    return {
      kind: 'listing',
      source,
      chain,
      contractAddress: contract,
      tokenId,
      seller: terms.seller,
      priceRaw: terms.priceRaw.toString(),
      orderHash: hash,
      timestamp: listedAt,
      ...(status !== undefined && { status }),
    };
  }

  /** Submits a new order, or an accepted one again. Returns the id of its collection. */
  async submit(step: SignStep, commands: string[]): Promise<string> {
    const { now } = this.#doors;
    const again = step.again === null ? -1 : step.again % Math.max(1, this.#accepted.length);
    const submission = this.#accepted[again] ?? (await toSubmission(step, now));
    const { terms, signed, body } = submission;
    commands.push(`curl -H "authorization: Bearer $KEY" -d '${JSON.stringify(body)}' "$URL${ORDERS}"`);
    const { status, body: served } = await this.#doors.intake('POST', ORDERS, body, 'orders');
    const isExpired = terms.expiresAt !== null && terms.expiresAt <= now;
    const isStored = this.#market.tables.order.has(signed.orderId);
    const expected =
      this.#accepted[again] === undefined
        ? refusalOf(step)
        : isExpired
          ? '422 expired'
          : isStored
            ? '409 duplicate'
            : null;
    expectSame(`POST ${ORDERS}`, expected, toRefusal(status, served));
    if (expected !== null) return terms.collectionId;
    const { data, order } = served as { data: Json; order: Json };
    const orderId = String(data['orderId']);
    const listedAt = Number(orderId.split('_').at(-1));
    // Specification, "orderId formats by source": `<chain>_<contract>_<tokenId>_<epochMillis>`.
    expectSame('the id of a signed order', `${terms.collectionId}_${terms.asset}_${listedAt}`, orderId);
    expectSame(
      'a signed order',
      { seller: terms.seller, raw: terms.priceRaw.toString(), status: 'active', timestamp: iso(listedAt) },
      { seller: data['seller'], raw: rawOf(data['price']), status: data['status'], timestamp: data['timestamp'] },
    );
    const accepted = { ...submission, signed: { ...signed, orderId, hash: String(order['orderHash']) } };
    this.#market.addSigned({ ...terms, key: orderId, orderId, listedAt }, accepted.signed.hash, now);
    if (this.#accepted[again] === undefined) this.#accepted.push(accepted);
    else this.#accepted[again] = accepted;
    return terms.collectionId;
  }

  /** Orders, "Cancelling". Returns the id of the collection. */
  async cancel({ of, by }: CancelStep, commands: string[]): Promise<string | null> {
    const { signed } = this.#accepted[of % Math.max(1, this.#accepted.length)] ?? {};
    if (!signed) return null;
    const { now } = this.#doors;
    const path = `${ORDERS}/${signed.orderId}/cancel`;
    const body =
      by === 'operator' || by === 'nobody' ? undefined : { signature: await signCancel(signed, by === 'stranger') };
    commands.push(`curl -X POST -H "authorization: Bearer $KEY" -d '${JSON.stringify(body ?? {})}' "$URL${path}"`);
    const { status, body: served } = await this.#doors.intake(
      'POST',
      path,
      body,
      by === 'operator' ? 'intake' : 'orders',
    );
    const row = this.#market.tables.order.get(signed.orderId);
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
    expectSame(`POST ${path}`, 'cancelled', (served as { data: Json }).data['status']);
    this.#market.tables.order.set(row.key, { ...row, status: 'cancelled' });
    return row.collectionId;
  }

  /** Orders, "Reading": "returns the order, whatever its status". */
  async compare(expect: (path: string, expected: unknown, served: unknown) => void): Promise<void> {
    for (const { signed } of this.#accepted) {
      const path = `${ORDERS}/${signed.orderId}`;
      const row = this.#market.tables.order.get(signed.orderId);
      const { status, body } = await this.#doors.intake('GET', path);
      const { data, order } = body as { data: Json; order: Json };
      expect(
        path,
        row ? { status: statusAt(row, this.#doors.now), hash: signed.hash, raw: row.priceRaw.toString() } : 404,
        status === 200 ? { status: data['status'], hash: order['orderHash'], raw: rawOf(data['price']) } : status,
      );
    }
  }
}

/** The first check that fails. Null: the order is accepted. */
function refusalOf({ price, fee, expiresIn, isForged }: SignStep): string | null {
  // "The buyer would pay nothing." A large fee is at least 1.
  if (BigInt(price) === 0n && fee !== 'large') return '422 price_not_positive';
  // "Accounts other than the offerer receive more than half of what the buyer pays."
  if (fee === 'large') return '422 fees_over_limit';
  if (expiresIn <= 0) return '422 expired';
  return isForged ? '422 signature_invalid' : null;
}

async function toSubmission(step: SignStep, now: number): Promise<Submission> {
  const { place, tokenId, offerer, expiresIn, fee, isForged } = step;
  const { chain, contractAddress } = COLLECTIONS[place] ?? { chain: '', contractAddress: '' };
  const deployment = DEPLOYMENTS[chain];
  if (!deployment) throw new Error(`no orders are signed on ${chain}`);
  const price = BigInt(step.price);
  const fees = { none: 0n, small: price / 20n, large: price + 1n }[fee];
  const seller = accountOf(offerer).address;
  const seconds = Math.floor(now / 1_000);
  const order = toListingOrder({
    seller,
    tokens: [
      { contract: contractAddress.toLowerCase() as `0x${string}`, tokenId: BigInt(tokenId), standard: 'erc721' },
    ],
    payments: [
      { recipient: seller, amount: price },
      ...(fees > 0n ? [{ recipient: FEE_RECIPIENT as `0x${string}`, amount: fees }] : []),
    ],
    startTime: seconds - 2 * 24 * 60 * MINUTE_S,
    endTime: seconds + expiresIn * MINUTE_S,
    counter: 0n,
    salt: BigInt(now) * 8n + BigInt(offerer),
  });
  const signature = await accountOf(isForged ? offerer + 1 : offerer).signTypedData({
    domain: toSeaportDomain(deployment),
    types: SEAPORT_TYPES,
    primaryType: 'OrderComponents',
    message: order,
  });
  const parameters = {
    ...(JSON.parse(toJson(order)) as Json),
    totalOriginalConsiderationItems: order.consideration.length,
  };
  const collectionId = toCollectionId({ chain, contractAddress });
  return {
    body: { chain, order: { parameters, signature } },
    terms: {
      source: null,
      collectionId,
      asset: tokenId,
      priceRaw: price,
      // Orders: "If the order includes fees, buyerTotal is what a buyer pays for one unit in all".
      buyerTotalRaw: fees > 0n ? price + fees : null,
      seller: seller.toLowerCase(),
      orderHash: null,
      status: 'active',
      expiresAt: (seconds + expiresIn * MINUTE_S) * 1_000,
      tx: null,
    },
    signed: { chain, contract: contractAddress, tokenId, offerer, hash: '', orderId: '' },
  };
}

function accountOf(n: number) {
  return privateKeyToAccount(numberToHex(n, { size: 32 }));
}

function signCancel({ chain, offerer, hash }: Signed, isForged: boolean): Promise<string> {
  const orderHash = hash as `0x${string}`;
  return accountOf(isForged ? offerer + 1 : offerer).signTypedData({
    domain: { name: 'Mercat', version: '1', chainId: DEPLOYMENTS[chain]?.chainId ?? 0 },
    types: { CancelOrder: [{ name: 'orderHash', type: 'bytes32' }] },
    primaryType: 'CancelOrder',
    message: { orderHash },
  });
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function rawOf(price: unknown): unknown {
  return (price as Json)['raw'];
}

/** Status and code of a refusal. Null for a response that is none. */
function toRefusal(status: number, body: unknown): string | null {
  if (status < 300) return null;
  return `${status} ${(body as { error: { code: string } }).error.code}`;
}

function expectSame(what: string, expected: unknown, served: unknown): void {
  const [a, b] = [JSON.stringify(expected), JSON.stringify(served)];
  if (a !== b) throw new Difference(`${what}\n    model:  ${a}\n    served: ${b}`);
}
