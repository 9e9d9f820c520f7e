// Generated from openapi/intake.json by `npm run generate`.

import type { Operations } from '../calls.ts';
import type { CallOptions } from '../transport.ts';
import type { MarketItem, Price } from './marketplace.ts';

/** An event on the chain. */
export type ChainEvent = {
  /** The kind of the event, such as `transfer`. */
  kind: string;
  /** Number of the block. */
  blockNumber: number;
  /** Time of the block. */
  blockTime: string;
  /** Transaction hash. */
  tx: string;
  /** Index of the EVM log in its block. */
  logIndex: number;
  /** Index of the event among the events of one EVM log. */
  part: number;
  /** The other values of the event. Large numbers are text. */
  details: Record<string, unknown>;
};

/** A cancel by the offerer (with a signature) or by the operator of the service (without a signature). */
export type OrderCancel = {
  /** The offerer's EIP-712 signature of `CancelOrder(bytes32 orderHash)` in the domain `{name: 'Mercat', version: '1', chainId}`. Without a signature the operator cancels, which requires the scope `intake:write`. */
  signature?: string;
};

/** Why an order is in the state it is in. */
export type OrderExplanation = {
  data: {
    order: OrderResponse;
    /** One of `active`, `filled`, `cancelled`, `expired`. */
    status: string;
    /** Why an active order cannot be filled at present. Such an order is not listed. `no-balance`: the seller does not hold the token, or the bidder not the price. `not-approved`: the operator may not transfer it. Null for any other order. */
    dormant: 'no-balance' | 'not-approved' | null;
    /** Every check that decides whether the order can be filled now. */
    checks: {
      /** Name of the check. */
      check: string;
      /** Whether the order passes the check. Null when this service cannot know. */
      ok: boolean | null;
      /** The evidence for the result. */
      detail: string;
    }[];
    /** The steps to the present status, in order: the storing of the order, each partial fill, and then the end of the order, or the reason why the order is dormant. */
    transitions: {
      /** Time of the transition. For `dormant`, the time of the newest event that took away the token or the approval; null when this event is older than the events in `tokenEvents`. */
      at: string | null;
      /** One of `active`, `dormant`, `filled`, `cancelled`, `expired`. */
      to: string;
      /** Reason for the transition. */
      because: string;
      /** Transaction hash. Null when there was no transaction. */
      tx: string | null;
    }[];
    /** The cancel that was made without a transaction. Null when there is none. */
    cancel: {
      /** Who cancelled. */
      cancelledBy: 'offerer' | 'operator';
      /** The offerer's signature. */
      signature: string | null;
      /** Time of the cancel. */
      createdAt: string;
    } | null;
    /** Events of the order and of its offerer's counter, in block order. */
    events: ChainEvent[];
    /** Events of the token and its approvals, newest first, at most 50. */
    tokenEvents: ChainEvent[];
    /** The last block of the chain that was read. Null when the chain is not followed. */
    readTo: {
      /** Number of the block. */
      blockNumber: number;
      /** Hash of the block. */
      blockHash: string;
      /** Time of the block. */
      blockTime: string;
    } | null;
    /** When the order ended. Null while it is active. */
    endedAt: string | null;
  };
};

/** An order of this service. `data` of a bid has the bidder as `buyer`, no `seller`, and no token if several tokens meet the bid. The prices of a bid are in its currency. */
export type OrderResponse = {
  data: MarketItem;
  /** Null for an order that was imported without its signature. */
  order: SignedOrder | null;
};

/** A signed order to store: a listing or a bid. */
export type OrderSubmission = {
  /** The chain of the order. */
  chain: string;
  /** The deployment of Seaport that the order was signed for. If absent or null, the signature is checked against each known deployment. */
  protocolAddress?: string | null;
  /** A signed Seaport order. */
  order: {
    /** The order components, with `counter`, in the form that OpenSea, seaport-js and Reservoir write. Numbers may be JSON numbers, decimal text, or hexadecimal text with 0x. */
    parameters: Record<string, unknown>;
    /** The signature of the order, in one of these forms: 64 or 65 bytes for a single order; these bytes, the index of the order and its Merkle proof for a bulk order; or any bytes for a contract as the offerer (ERC-1271). */
    signature: string;
  };
  /** For a bid that names its tokens by a Merkle root: these tokens, either by `tokenIds` or by `traits`. A token of the set has all the traits. The root must be that of the tokens. */
  criteria?: {
    /** The tokens of the set. */
    tokenIds?: string[];
    /** The traits that the tokens of the set have. */
    traits?: Trait[];
  } | null;
};

/** The signed order, its terms, and how much of it is filled. */
export type SignedOrder = {
  /** `ask`: a listing, which offers a token. `bid`: an offer to buy. */
  side: 'ask' | 'bid';
  /** The EIP-712 struct hash of the order. */
  orderHash: string;
  /** The deployment of Seaport that the order was signed for. */
  protocolAddress: string;
  /** Token standard. */
  standard: 'erc721' | 'erc1155';
  /** Units offered or wanted. The price is for one unit. */
  quantity: string;
  /** Units filled so far. */
  filledQuantity: string;
  /** What a buyer pays for one unit in total, if the signed order includes fees. Null if the signed order includes no fees: the platform fee and the royalty are then added to the price. */
  buyerTotal: Price | null;
  /** For a bid: what the seller of one unit keeps after the fees in the order. Null for an ask. */
  proceeds: Price | null;
  /** For a bid that the tokens of a set meet: the root of their Merkle tree. Null for any other order. */
  root: string | null;
  /** The counter that the order was signed with. */
  counter: string;
  /** The account that the offerer must approve to transfer the token, or to spend the currency of a bid: the Seaport deployment, or the conduit of the order. */
  operator: string;
  /** When the order can first be filled. */
  startsAt: string;
  /** Why an active order cannot be filled at present. Such an order is not listed. `no-balance`: the seller does not hold the token, or the bidder not the price. `not-approved`: the operator may not transfer it. Null for any other order. */
  dormant: 'no-balance' | 'not-approved' | null;
  /** A signed Seaport order. */
  seaport: {
    /** The order components, with `counter`, in the form that OpenSea, seaport-js and Reservoir write. Numbers may be JSON numbers, decimal text, or hexadecimal text with 0x. */
    parameters: Record<string, unknown>;
    /** The signature of the order, in one of these forms: 64 or 65 bytes for a single order; these bytes, the index of the order and its Merkle proof for a bulk order; or any bytes for a contract as the offerer (ERC-1271). */
    signature: string;
  };
};

/** A trait of a token. */
export type Trait = {
  /** The name of the trait. */
  name: string;
  /** The value of the trait. */
  value: string;
};

export type SubmitOrderParameters = OrderSubmission;

export type GetOrderParameters = {
  /** Order id. */
  orderId: string;
};

export type ExplainOrderParameters = {
  /** Order id. */
  orderId: string;
};

export type CancelOrderParameters = {
  /** Order id. */
  orderId: string;
} & OrderCancel;

export type IntakeMethods = {
  /** Submit a signed order. Stores a signed Seaport order, a listing or a bid, or rejects it with the code of the first check that fails. Scope `orders:write`. Orders for a chain that `TRADING_CHAINS` names need no key. */
  submitOrder(parameters: SubmitOrderParameters, options?: CallOptions): Promise<OrderResponse>;
  /** Read an order. Returns an order of this service, whatever its status is. Scope `orders:write` or `intake:write`. */
  getOrder(parameters: GetOrderParameters, options?: CallOptions): Promise<OrderResponse>;
  /** Explain the state of an order. Returns the status of an order, with the checks, transitions and chain events from which the status follows. Each chain event has its block, transaction and EVM log index. Scope `orders:write` or `intake:write`. */
  explainOrder(parameters: ExplainOrderParameters, options?: CallOptions): Promise<OrderExplanation>;
  /** Cancel an order without a transaction. Cancels an order. The offerer cancels with a signature (scope `orders:write` or `intake:write`). The operator of the service cancels without a signature (scope `intake:write`). A second cancel changes nothing. */
  cancelOrder(parameters: CancelOrderParameters, options?: CallOptions): Promise<OrderResponse>;
};

export const INTAKE_OPERATIONS = {
  submitOrder: { method: 'POST', path: '/intake/v1/orders', kind: 'write', hasBody: true },
  getOrder: { method: 'GET', path: '/intake/v1/orders/{orderId}', kind: 'read' },
  explainOrder: { method: 'GET', path: '/intake/v1/orders/{orderId}/explain', kind: 'read' },
  cancelOrder: { method: 'POST', path: '/intake/v1/orders/{orderId}/cancel', kind: 'write', hasBody: true },
} as const satisfies Operations;
