// The JSON schemas of the intake interface: request bodies, response bodies and error codes.

import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
import type { TokenStandard } from '../../platform/core/evm.ts';
import type { WireMarketItem } from '../../market/reads/http/market-item.ts';
import { MarketItemSchema } from '../../market/reads/http/market-item.ts';
import type { WirePrice } from '../../market/reads/http/price.ts';
import { PriceSchema } from '../../market/reads/http/price.ts';
import { KEYED_ERRORS, createResponseTable } from '../../platform/http/response-table.ts';
import { closed, dateTime, dateTimeOrNull, ref, typeOrNull } from '../../platform/http/schema-builders.ts';
import {
  CANCEL_SIGNATURE_EXAMPLE,
  CHAIN_EVENT_EXAMPLE,
  EXPLANATION_EXAMPLE,
  ORDER_RESPONSE_EXAMPLE,
  ORDER_SUBMISSION_EXAMPLE,
  SIGNED_ORDER_EXAMPLE,
} from './example-order.ts';
import { IMPORT_SCHEMAS } from './record-schemas.ts';
import type { OrderSide } from '../../market/orders/order-id.ts';
import { ORDER_SIDES } from '../../market/orders/order-id.ts';
import { SET_TOKENS_MAX, SET_TRAITS_MAX } from '../../market/orders/token-sets.ts';
import { REJECTION_CODES } from './rejections.ts';

const HASH = '^0x[0-9a-f]{64}$';
const ADDRESS = '^0x[0-9a-f]{40}$';
const AMOUNT = '^(0|[1-9][0-9]{0,77})$';
const hash = (description: string) => Type.String({ pattern: HASH, description });
const address = (description: string) => Type.String({ pattern: ADDRESS, description });
const amount = (description: string) => Type.String({ pattern: AMOUNT, description });
const seaportOrder = Type.Object(
  {
    parameters: Type.Object(
      {},
      {
        description:
          'The order components, with `counter`, in the form that OpenSea, seaport-js and Reservoir write. Numbers may be JSON numbers, decimal text, or hexadecimal text with 0x.',
        additionalProperties: true,
      },
    ),
    signature: Type.String({
      pattern: '^0x([0-9a-fA-F]{2})+$',
      description:
        'The signature of the order, in one of these forms: 64 or 65 bytes for a single order; these bytes, the index of the order and its Merkle proof for a bulk order; or any bytes for a contract as the offerer (ERC-1271).',
    }),
  },
  { description: 'A signed Seaport order.', ...closed },
);

const OrderSubmissionSchema = Type.Object(
  {
    chain: Type.String({ description: 'The chain of the order.' }),
    protocolAddress: Type.Optional(
      typeOrNull<string>(
        'string',
        'The deployment of Seaport that the order was signed for. If absent or null, the signature is checked against each known deployment.',
      ),
    ),
    order: seaportOrder,
    criteria: Type.Optional(
      Type.Unsafe<object | null>({
        type: ['object', 'null'],
        additionalProperties: false,
        description:
          'For a bid that names its tokens by a Merkle root: these tokens, either by `tokenIds` or by `traits`. A token of the set has all the traits. ' +
          'The root must be that of the tokens.',
        properties: {
          tokenIds: {
            type: 'array',
            items: { type: 'string', pattern: AMOUNT },
            minItems: 1,
            maxItems: SET_TOKENS_MAX,
            description: 'The tokens of the set.',
          },
          traits: {
            type: 'array',
            items: ref('Trait'),
            minItems: 1,
            maxItems: SET_TRAITS_MAX,
            description: 'The traits that the tokens of the set have.',
          },
        },
      }),
    ),
  },
  {
    $id: 'OrderSubmission',
    title: 'OrderSubmission',
    description: 'A signed order to store: a listing or a bid.',
    examples: [ORDER_SUBMISSION_EXAMPLE],
    ...closed,
  },
);

const TraitSchema = Type.Object(
  {
    name: Type.String({ description: 'The name of the trait.' }),
    value: Type.String({ description: 'The value of the trait.' }),
  },
  {
    $id: 'Trait',
    title: 'Trait',
    description: 'A trait of a token.',
    examples: [{ name: 'Wind', value: 'Gale' }],
    ...closed,
  },
);

const OrderCancelSchema = Type.Object(
  {
    signature: Type.Optional(
      Type.String({
        pattern: '^0x([0-9a-fA-F]{2})+$',
        description:
          "The offerer's EIP-712 signature of `CancelOrder(bytes32 orderHash)` in the domain `{name: 'Mercat', version: '1', chainId}`. Without a signature the operator cancels, which requires the scope `intake:write`.",
      }),
    ),
  },
  {
    $id: 'OrderCancel',
    title: 'OrderCancel',
    description: 'A cancel by the offerer (with a signature) or by the operator of the service (without a signature).',
    examples: [{ signature: CANCEL_SIGNATURE_EXAMPLE }],
    ...closed,
  },
);

const dormant = Type.Unsafe<'no-balance' | 'not-approved' | null>({
  type: ['string', 'null'],
  enum: ['no-balance', 'not-approved', null],
  description:
    'Why an active order cannot be filled at present. Such an order is not listed. `no-balance`: the seller does not hold the token, or the bidder not the price. `not-approved`: the operator may not transfer it. Null for any other order.',
});

const SignedOrderSchema = Type.Object(
  {
    side: Type.Unsafe<OrderSide>({
      type: 'string',
      enum: ORDER_SIDES,
      description: '`ask`: a listing, which offers a token. `bid`: an offer to buy.',
    }),
    orderHash: hash('The EIP-712 struct hash of the order.'),
    protocolAddress: address('The deployment of Seaport that the order was signed for.'),
    standard: Type.Unsafe<TokenStandard>({
      type: 'string',
      enum: ['erc721', 'erc1155'],
      description: 'Token standard.',
    }),
    quantity: amount('Units offered or wanted. The price is for one unit.'),
    filledQuantity: amount('Units filled so far.'),
    buyerTotal: Type.Unsafe<WirePrice | null>({
      anyOf: [{ $ref: 'Price#' }, { type: 'null' }],
      description:
        'What a buyer pays for one unit in total, if the signed order includes fees. Null if the signed order includes no fees: the platform fee and the royalty are then added to the price.',
    }),
    proceeds: Type.Unsafe<WirePrice | null>({
      anyOf: [{ $ref: 'Price#' }, { type: 'null' }],
      description: 'For a bid: what the seller of one unit keeps after the fees in the order. Null for an ask.',
    }),
    root: typeOrNull<string>(
      'string',
      'For a bid that the tokens of a set meet: the root of their Merkle tree. Null for any other order.',
    ),
    counter: amount('The counter that the order was signed with.'),
    operator: address(
      'The account that the offerer must approve to transfer the token, or to spend the currency of a bid: the Seaport deployment, or the conduit of the order.',
    ),
    startsAt: dateTime('When the order can first be filled.'),
    dormant,
    seaport: seaportOrder,
  },
  {
    $id: 'SignedOrder',
    title: 'SignedOrder',
    description: 'The signed order, its terms, and how much of it is filled.',
    examples: [SIGNED_ORDER_EXAMPLE],
    ...closed,
  },
);
export type WireSignedOrder = Static<typeof SignedOrderSchema>;

const OrderResponseSchema = Type.Object(
  {
    data: ref<WireMarketItem>('MarketItem'),
    order: Type.Unsafe<WireSignedOrder | null>({
      anyOf: [{ $ref: 'SignedOrder#' }, { type: 'null' }],
      description: 'Null for an order that was imported without its signature.',
    }),
  },
  {
    $id: 'OrderResponse',
    title: 'OrderResponse',
    description:
      'An order of this service. `data` of a bid has the bidder as `buyer`, no `seller`, and no token if several tokens meet the bid. The prices of a bid are in its currency.',
    examples: [ORDER_RESPONSE_EXAMPLE],
    ...closed,
  },
);

const tx = typeOrNull<string>('string', 'Transaction hash. Null when there was no transaction.');
const status = Type.String({ description: 'One of `active`, `filled`, `cancelled`, `expired`.' });

const ChainEventSchema = Type.Object(
  {
    kind: Type.String({ description: 'The kind of the event, such as `transfer`.' }),
    blockNumber: Type.Integer({ minimum: 0, description: 'Number of the block.' }),
    blockTime: dateTime('Time of the block.'),
    tx: Type.String({ description: 'Transaction hash.' }),
    logIndex: Type.Integer({ minimum: 0, description: 'Index of the EVM log in its block.' }),
    part: Type.Integer({ minimum: 0, description: 'Index of the event among the events of one EVM log.' }),
    details: Type.Object(
      {},
      { additionalProperties: true, description: 'The other values of the event. Large numbers are text.' },
    ),
  },
  {
    $id: 'ChainEvent',
    title: 'ChainEvent',
    description: 'An event on the chain.',
    examples: [CHAIN_EVENT_EXAMPLE],
    ...closed,
  },
);

const explained = {
  order: ref<Static<typeof OrderResponseSchema>>('OrderResponse'),
  status,
  dormant,
  checks: Type.Array(
    Type.Object(
      {
        check: Type.String({ description: 'Name of the check.' }),
        ok: typeOrNull<boolean>('boolean', 'Whether the order passes the check. Null when this service cannot know.'),
        detail: Type.String({ description: 'The evidence for the result.' }),
      },
      closed,
    ),
    { description: 'Every check that decides whether the order can be filled now.' },
  ),
  transitions: Type.Array(
    Type.Object(
      {
        at: dateTimeOrNull(
          'Time of the transition. For `dormant`, the time of the newest event that took away the token or the approval; null when ' +
            'this event is older than the events in `tokenEvents`.',
        ),
        to: Type.String({ description: 'One of `active`, `dormant`, `filled`, `cancelled`, `expired`.' }),
        because: Type.String({ description: 'Reason for the transition.' }),
        tx,
      },
      closed,
    ),
    {
      description:
        'The steps to the present status, in order: the storing of the order, each partial fill, and then the end of the order, or the reason why the order is dormant.',
    },
  ),
  cancel: Type.Unsafe<object | null>({
    anyOf: [
      Type.Object(
        {
          cancelledBy: Type.String({ enum: ['offerer', 'operator'], description: 'Who cancelled.' }),
          signature: typeOrNull<string>('string', "The offerer's signature."),
          createdAt: dateTime('Time of the cancel.'),
        },
        closed,
      ),
      { type: 'null' },
    ],
    description: 'The cancel that was made without a transaction. Null when there is none.',
  }),
  events: Type.Array(ref('ChainEvent'), {
    description: "Events of the order and of its offerer's counter, in block order.",
  }),
  tokenEvents: Type.Array(ref('ChainEvent'), {
    description: 'Events of the token and its approvals, newest first, at most 50.',
  }),
  readTo: Type.Unsafe<object | null>({
    anyOf: [
      Type.Object(
        {
          blockNumber: Type.Integer({ minimum: 0, description: 'Number of the block.' }),
          blockHash: Type.String({ description: 'Hash of the block.' }),
          blockTime: dateTime('Time of the block.'),
        },
        closed,
      ),
      { type: 'null' },
    ],
    description: 'The last block of the chain that was read. Null when the chain is not followed.',
  }),
  endedAt: dateTimeOrNull('When the order ended. Null while it is active.'),
};

const OrderExplanationSchema = Type.Object(
  { data: Type.Object(explained, closed) },
  {
    $id: 'OrderExplanation',
    title: 'OrderExplanation',
    description: 'Why an order is in the state it is in.',
    examples: [EXPLANATION_EXAMPLE],
    ...closed,
  },
);
export type WireExplanation = Static<typeof OrderExplanationSchema>['data'];

const REQUEST_CODES = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'rate_limited',
  'internal_error',
  'unavailable',
];

export const IntakeErrorSchema = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.String({
          enum: [...REQUEST_CODES, ...REJECTION_CODES],
          description: 'The kind of the error. If an order is rejected, the code of the check that failed.',
        }),
        message: Type.String({ description: 'A description of the error.' }),
        details: Type.Optional(
          Type.Array(Type.Object({ path: Type.String(), message: Type.String() }, closed), {
            description: 'The fields that are wrong, and why.',
          }),
        ),
      },
      closed,
    ),
  },
  { $id: 'Error', title: 'Error', description: 'The body of every response that is not a success.', ...closed },
);

export const INTAKE_SCHEMAS: TSchema[] = [
  PriceSchema,
  MarketItemSchema,
  TraitSchema,
  OrderSubmissionSchema,
  OrderCancelSchema,
  SignedOrderSchema,
  OrderResponseSchema,
  ChainEventSchema,
  OrderExplanationSchema,
  ...IMPORT_SCHEMAS,
  IntakeErrorSchema,
];

const ERRORS: Record<number, string> = {
  400: 'The request or the order is malformed; `details` names the field.',
  401: 'Missing or invalid API key.',
  403: 'The API key does not have the required scope.',
  404: 'There is no order with this id.',
  409: 'The order is already stored, has ended, or was imported without its signature.',
  422: 'The order was rejected. `code` names the check that failed.',
  429: 'Too many requests.',
  500: 'An error inside the service.',
  503: 'The database or the chain does not respond. Try again after `Retry-After` seconds.',
};

export const intakeResponses = createResponseTable({
  descriptions: ERRORS,
  always: KEYED_ERRORS,
  envelope: 'Error',
});
