// The JSON schemas of the intake: request and response bodies, and every error code.

import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
import type { TokenStandard } from '../../core/evm.ts';
import type { WireMarketItem } from '../../market/http/market-item.ts';
import { MarketItemSchema } from '../../market/http/market-item.ts';
import type { WirePrice } from '../../market/http/price.ts';
import { PriceSchema } from '../../market/http/price.ts';
import { KEYED_ERRORS, createResponseTable } from '../../http/response-table.ts';
import { closed, dateTime, dateTimeOrNull, ref, typeOrNull } from '../../http/schema-builders.ts';
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
          'The order components with `counter`, as OpenSea, seaport-js and Reservoir write them: numbers as JSON numbers, decimal text or 0x-hex text.',
        additionalProperties: true,
      },
    ),
    signature: Type.String({
      pattern: '^0x([0-9a-fA-F]{2})+$',
      description: 'The signature: 65 or 64 bytes, of one order or of a bulk order, or of a contract (ERC-1271).',
    }),
  },
  { description: 'A signed Seaport order.', ...closed },
);

export const OrderSubmissionSchema = Type.Object(
  {
    chain: Type.String({ description: 'The chain of the order.' }),
    protocolAddress: Type.Optional(
      typeOrNull<string>(
        'string',
        'The deployment of Seaport that the order was signed for; without it, each known deployment is tried.',
      ),
    ),
    order: seaportOrder,
  },
  { $id: 'OrderSubmission', title: 'OrderSubmission', description: 'A signed order to list.', ...closed },
);

export const OrderCancelSchema = Type.Object(
  {
    signature: Type.Optional(
      Type.String({
        pattern: '^0x([0-9a-fA-F]{2})+$',
        description:
          "The offerer's EIP-712 signature of `CancelOrder(bytes32 orderHash)` in the domain `{name: 'Mercat', version: '1', chainId}`. Without a signature the operator cancels, which requires the scope `intake:write`.",
      }),
    ),
  },
  { $id: 'OrderCancel', title: 'OrderCancel', description: 'Who cancels the order.', ...closed },
);

const dormant = Type.Unsafe<'no-balance' | 'not-approved' | null>({
  type: ['string', 'null'],
  enum: ['no-balance', 'not-approved', null],
  description: 'Why an active order cannot be filled now, and is not listed; null when it can be filled.',
});

export const SignedOrderSchema = Type.Object(
  {
    orderHash: hash('The EIP-712 struct hash of the order.'),
    protocolAddress: address('The deployment of Seaport that the order was signed for.'),
    standard: Type.Unsafe<TokenStandard>({
      type: 'string',
      enum: ['erc721', 'erc1155'],
      description: 'Token standard.',
    }),
    quantity: amount('Units offered; the price is for one unit.'),
    filledQuantity: amount('Units filled so far.'),
    buyerTotal: Type.Unsafe<WirePrice | null>({
      anyOf: [{ $ref: 'Price#' }, { type: 'null' }],
      description:
        'What a buyer pays for one unit in all, when the order includes fees; null: platform fee and royalty are added to the price.',
    }),
    counter: amount('The counter that the order was signed with.'),
    operator: address('The account that must be approved to transfer the token.'),
    startsAt: dateTime('When the order can first be filled.'),
    dormant,
    seaport: seaportOrder,
  },
  { $id: 'SignedOrder', title: 'SignedOrder', description: 'What the signature binds.', ...closed },
);
export type WireSignedOrder = Static<typeof SignedOrderSchema>;

export const OrderResponseSchema = Type.Object(
  {
    data: ref<WireMarketItem>('MarketItem'),
    order: Type.Unsafe<WireSignedOrder | null>({
      anyOf: [{ $ref: 'SignedOrder#' }, { type: 'null' }],
      description: 'Null for an order that was imported without its signature.',
    }),
  },
  { $id: 'OrderAnswer', title: 'OrderAnswer', description: 'An order of this service.', ...closed },
);

const tx = typeOrNull<string>('string', 'Transaction hash; null when there was no transaction.');
const status = Type.String({ description: 'One of `active`, `filled`, `cancelled`, `expired`.' });

export const ChainEventSchema = Type.Object(
  {
    kind: Type.String({ description: 'What happened.' }),
    blockNumber: Type.Integer({ minimum: 0, description: 'Block.' }),
    blockTime: dateTime('Time of the block.'),
    tx: Type.String({ description: 'Transaction hash.' }),
    logIndex: Type.Integer({ minimum: 0, description: 'Index of the log in its block.' }),
    part: Type.Integer({ minimum: 0, description: 'Index of the event among those of one log.' }),
    details: Type.Object(
      {},
      { additionalProperties: true, description: 'The other values of the event; large numbers as text.' },
    ),
  },
  { $id: 'ChainEvent', title: 'ChainEvent', description: 'An event on the chain.', ...closed },
);

const explained = {
  order: ref<Static<typeof OrderResponseSchema>>('OrderAnswer'),
  status,
  dormant,
  checks: Type.Array(
    Type.Object(
      {
        check: Type.String({ description: 'Name of the check.' }),
        ok: typeOrNull<boolean>('boolean', 'Null: this service cannot know.'),
        detail: Type.String({ description: 'The evidence.' }),
      },
      closed,
    ),
    { description: 'Every check that decides whether the order can be filled now.' },
  ),
  transitions: Type.Array(
    Type.Object({ at: dateTime('When.'), to: status, because: Type.String({ description: 'Why.' }), tx }, closed),
    { description: 'How the order came to its state, oldest first.' },
  ),
  cancel: Type.Unsafe<object | null>({
    anyOf: [
      Type.Object(
        {
          word: Type.String({ description: 'Who cancelled: `offerer` or `operator`.' }),
          signature: typeOrNull<string>('string', "The offerer's signature."),
          createdAt: dateTime('When.'),
        },
        closed,
      ),
      { type: 'null' },
    ],
    description: 'The cancel without a transaction; null when there is none.',
  }),
  events: Type.Array(ref('ChainEvent'), {
    description: "Events of the order and of its offerer's counter, in the order of the chain.",
  }),
  tokenEvents: Type.Array(ref('ChainEvent'), {
    description: 'Events of the token and its approvals, newest first, at most 50.',
  }),
  readTo: Type.Unsafe<object | null>({
    anyOf: [
      Type.Object(
        {
          blockNumber: Type.Integer({ minimum: 0, description: 'Block.' }),
          blockHash: Type.String({ description: 'Its hash.' }),
          blockTime: dateTime('Its time.'),
        },
        closed,
      ),
      { type: 'null' },
    ],
    description: 'The last block of the chain that was read; null when the chain is not followed.',
  }),
  endedAt: dateTimeOrNull('When the order ended; null while active.'),
};

export const OrderExplanationSchema = Type.Object(
  { data: Type.Object(explained, closed) },
  {
    $id: 'OrderExplanation',
    title: 'OrderExplanation',
    description: 'Why an order is in the state it is in.',
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
          description: 'What went wrong; for an order, the check that failed.',
        }),
        message: Type.String({ description: 'What went wrong, in words.' }),
        details: Type.Optional(
          Type.Array(Type.Object({ path: Type.String(), message: Type.String() }, closed), {
            description: 'Which fields are wrong.',
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
  OrderSubmissionSchema,
  OrderCancelSchema,
  SignedOrderSchema,
  OrderResponseSchema,
  ChainEventSchema,
  OrderExplanationSchema,
  IntakeErrorSchema,
];

const ERRORS: Record<number, string> = {
  400: 'The request or the order is malformed; `details` names the field.',
  401: 'Missing or invalid API key.',
  403: 'The key lacks the scope.',
  404: 'There is no order with this id.',
  409: 'The order is already stored, or has ended.',
  422: 'A check of the order failed: `code` names it.',
  429: 'Rate limited.',
  500: 'Something went wrong inside the service.',
  503: 'The database or the chain does not answer: try again after `Retry-After` seconds.',
};

export const intakeResponses = createResponseTable({
  descriptions: ERRORS,
  always: KEYED_ERRORS,
  envelope: 'Error',
});
