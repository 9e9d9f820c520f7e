// The wire shapes of the intake: what is sent, what is answered, and every code with which an order can be refused.

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
    signature: Type.String({ pattern: '^0x([0-9a-fA-F]{2})+$', description: 'The signature, of any form.' }),
  },
  { description: 'A signed Seaport order.', ...closed },
);

export const OrderSubmissionSchema = Type.Object(
  {
    chain: Type.String({ description: 'The chain that the order is for.' }),
    protocolAddress: Type.Optional(
      typeOrNull<string>(
        'string',
        'The deployment of Seaport that it was signed for; without it, each known one is tried.',
      ),
    ),
    order: seaportOrder,
  },
  { $id: 'OrderSubmission', title: 'OrderSubmission', description: 'A signed order to be listed.', ...closed },
);

export const OrderCancelSchema = Type.Object(
  {
    signature: Type.Optional(
      Type.String({
        pattern: '^0x([0-9a-fA-F]{2})+$',
        description:
          "The offerer's EIP-712 signature of `CancelOrder(bytes32 orderHash)` in the domain `{name: 'Mercat', version: '1', chainId}`. Without it: the operator's word, which needs the scope `intake:write`.",
      }),
    ),
  },
  { $id: 'OrderCancel', title: 'OrderCancel', description: 'Who takes the order back.', ...closed },
);

const dormant = Type.Unsafe<'no-balance' | 'not-approved' | null>({
  type: ['string', 'null'],
  enum: ['no-balance', 'not-approved', null],
  description: 'Why an active order cannot be filled now, and is hidden; null when it can.',
});

export const SignedOrderSchema = Type.Object(
  {
    orderHash: hash('The EIP-712 struct hash of the order.'),
    protocolAddress: address('The deployment of Seaport that it was signed for.'),
    standard: Type.Unsafe<TokenStandard>({
      type: 'string',
      enum: ['erc721', 'erc1155'],
      description: 'Token standard.',
    }),
    quantity: amount('Units offered; the price is for one.'),
    filledQuantity: amount('Units filled so far.'),
    buyerTotal: Type.Unsafe<WirePrice | null>({
      anyOf: [{ $ref: 'Price#' }, { type: 'null' }],
      description:
        'What a buyer pays for one unit in all, where the order carries fees; null: platform fee and royalty come on top.',
    }),
    counter: amount('The counter that it was signed with.'),
    operator: address('Who has to be approved to move the token.'),
    startsAt: dateTime('When it can be filled from.'),
    dormant,
    seaport: seaportOrder,
  },
  { $id: 'SignedOrder', title: 'SignedOrder', description: 'What the signature binds.', ...closed },
);
export type WireSignedOrder = Static<typeof SignedOrderSchema>;

export const OrderAnswerSchema = Type.Object(
  {
    data: ref<WireMarketItem>('MarketItem'),
    order: Type.Unsafe<WireSignedOrder | null>({
      anyOf: [{ $ref: 'SignedOrder#' }, { type: 'null' }],
      description: 'Null for an order that was imported without its signature.',
    }),
  },
  { $id: 'OrderAnswer', title: 'OrderAnswer', description: 'An order of the own book.', ...closed },
);

const tx = typeOrNull<string>('string', 'Transaction hash; null where there was none.');
const status = Type.String({ description: 'One of `active`, `filled`, `cancelled`, `expired`.' });

export const ChainEventSchema = Type.Object(
  {
    kind: Type.String({ description: 'What happened.' }),
    blockNumber: Type.Integer({ minimum: 0, description: 'Block.' }),
    blockTime: dateTime('Time of the block.'),
    tx: Type.String({ description: 'Transaction hash.' }),
    logIndex: Type.Integer({ minimum: 0, description: 'Index of the log in its block.' }),
    part: Type.Integer({ minimum: 0, description: 'Which of the facts that the log tells.' }),
    details: Type.Object(
      {},
      { additionalProperties: true, description: 'The rest of the fact; wide numbers as text.' },
    ),
  },
  { $id: 'ChainEvent', title: 'ChainEvent', description: 'A fact that the chain told.', ...closed },
);

const explained = {
  order: ref<Static<typeof OrderAnswerSchema>>('OrderAnswer'),
  status,
  dormant,
  checks: Type.Array(
    Type.Object(
      {
        check: Type.String({ description: 'What is asked.' }),
        ok: typeOrNull<boolean>('boolean', 'Null: cannot be known here.'),
        detail: Type.String({ description: 'The evidence.' }),
      },
      closed,
    ),
    { description: 'Everything that decides whether it can be filled, as it is now.' },
  ),
  transitions: Type.Array(
    Type.Object({ at: dateTime('When.'), to: status, because: Type.String({ description: 'Why.' }), tx }, closed),
    { description: 'How it came to its state, oldest first.' },
  ),
  cancel: Type.Unsafe<object | null>({
    anyOf: [
      Type.Object(
        {
          word: Type.String({ description: '`offerer` or `operator`.' }),
          signature: typeOrNull<string>('string', "The offerer's signature."),
          createdAt: dateTime('When.'),
        },
        closed,
      ),
      { type: 'null' },
    ],
    description: 'The word by which it was cancelled without a transaction.',
  }),
  events: Type.Array(ref('ChainEvent'), {
    description: "Of the order and its offerer's counter, in the order of the chain.",
  }),
  tokenEvents: Type.Array(ref('ChainEvent'), {
    description: 'Of the token and its approvals, newest first, at most 50.',
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
    description: 'How far the chain has been read; null where it is not followed.',
  }),
  endedAt: dateTimeOrNull('When it ended; null while active.'),
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
          description: 'What went wrong; for an order, the check that it does not pass.',
        }),
        message: Type.String({ description: 'The same in words.' }),
        details: Type.Optional(
          Type.Array(Type.Object({ path: Type.String(), message: Type.String() }, closed), {
            description: 'Which fields are wrong.',
          }),
        ),
      },
      closed,
    ),
  },
  { $id: 'Error', title: 'Error', description: 'The body of every answer that is not a success.', ...closed },
);

export const INTAKE_SCHEMAS: TSchema[] = [
  PriceSchema,
  MarketItemSchema,
  OrderSubmissionSchema,
  OrderCancelSchema,
  SignedOrderSchema,
  OrderAnswerSchema,
  ChainEventSchema,
  OrderExplanationSchema,
  IntakeErrorSchema,
];

const ERRORS: Record<number, string> = {
  400: 'The request or the order cannot be read; `details` says which field.',
  401: 'Missing or invalid API key.',
  403: 'The key lacks the scope.',
  404: 'There is no order of that id.',
  409: 'The order is in the book, or has ended.',
  422: 'The order does not pass a check: `code` names it.',
  429: 'Rate limited.',
  500: 'Something went wrong inside the service.',
  503: 'The database or the chain is away: try again after `Retry-After` seconds.',
};

export const intakeResponses = createResponseTable({
  descriptions: ERRORS,
  always: KEYED_ERRORS,
  envelope: 'Error',
});
