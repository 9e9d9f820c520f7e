// The JSON shapes of /api/v1/reservations.

import Type from 'typebox';
import { RESERVATION_STATES } from '../reservations/reservation.ts';
import type { ReservationStatus } from '../reservations/reservation.ts';
import {
  EXPIRES_IN_S,
  RESERVED_ITEMS_MAX,
  REFERENCE_LENGTH_MAX,
  REMAINDERS,
} from '../reservations/reservation-input.ts';
import { STOCK_MAX } from '../products/product.ts';
import { closed, dateTime, typeOrNull } from '../../platform/http/schema-builders.ts';
import { ONE_PRODUCT_NAME, productName } from './inventory-schemas.ts';
import { EXAMPLE_IDS, EXAMPLE_STOCK, RESERVATION_EXAMPLE } from './example-shop.ts';

const quantityOf = (description: string) => Type.Integer({ minimum: 0, maximum: STOCK_MAX, description });

const reservationProperties = {
  id: Type.String({ description: 'Reservation id.' }),
  status: Type.Unsafe<ReservationStatus>({
    type: 'string',
    enum: RESERVATION_STATES,
    description: '`held`, or how the reservation has ended: `consumed`, `released` or `expired`.',
  }),
  reference: typeOrNull<string>('string', "The shop's own name for the reservation; null if it was given none."),
  items: Type.Array(
    Type.Object(
      {
        productId: Type.String({ description: 'Product id.' }),
        name: typeOrNull<string>('string', 'Name of the product; null after the product was deleted.'),
        quantity: quantityOf('How much was reserved.'),
        held: quantityOf('How much is held.'),
        consumed: quantityOf('How much was sold. What is neither held nor sold was returned to the stock.'),
      },
      closed,
    ),
    { description: 'The items, in the order of the request.' },
  ),
  createdAt: dateTime('When the reservation was made.'),
  expiresAt: dateTime('When the reservation expires, or would have expired.'),
  endedAt: typeOrNull<string>('string', 'When the reservation ended (ISO 8601); null while it is held.', {
    format: 'date-time',
  }),
};

const ReservationSchema = Type.Object(reservationProperties, {
  $id: 'Reservation',
  title: 'Reservation',
  description: 'Stock that is held for a checkout.',
  examples: [RESERVATION_EXAMPLE],
  ...closed,
});

const items = Type.Array(
  Type.Object(
    {
      ...productName,
      quantity: Type.Integer({ minimum: 1, maximum: STOCK_MAX, description: 'How much.' }),
    },
    { ...ONE_PRODUCT_NAME, ...closed },
  ),
  { minItems: 1, maxItems: RESERVED_ITEMS_MAX, description: 'Products and quantities. Each product may occur once.' },
);

const expiresInSeconds = Type.Integer({
  minimum: EXPIRES_IN_S.min,
  maximum: EXPIRES_IN_S.max,
  default: EXPIRES_IN_S.default,
  description: 'The time from now until the reservation expires.',
});

const itemExample = { product_id: EXAMPLE_IDS.product, quantity: -EXAMPLE_STOCK.adjustment };

const ReservationCreateSchema = Type.Object(
  {
    items,
    expiresInSeconds: Type.Optional(expiresInSeconds),
    reference: Type.Optional(
      typeOrNull<string>('string', "The shop's own name for the reservation, such as the id of a cart.", {
        minLength: 1,
        maxLength: REFERENCE_LENGTH_MAX,
      }),
    ),
  },
  {
    $id: 'ReservationCreate',
    title: 'ReservationCreate',
    description: 'A new reservation.',
    examples: [{ items: [itemExample], expiresInSeconds: 900, reference: RESERVATION_EXAMPLE.reference }],
    ...closed,
  },
);

const ReservationExtensionSchema = Type.Object(
  { expiresInSeconds },
  {
    $id: 'ReservationExtension',
    title: 'ReservationExtension',
    description: 'How long a reservation shall be held from now on.',
    examples: [{ expiresInSeconds: 600 }],
    ...closed,
  },
);

const ReservationConsumptionSchema = Type.Object(
  {
    items: Type.Optional(items),
    remaining: Type.Optional(
      Type.Unsafe<(typeof REMAINDERS)[number]>({
        type: 'string',
        enum: REMAINDERS,
        default: 'release',
        description: 'What becomes of what is not consumed: it is returned to the stock, or stays held.',
      }),
    ),
  },
  {
    $id: 'ReservationConsumption',
    title: 'ReservationConsumption',
    description: 'What was sold: all that is held, unless `items` names a part.',
    examples: [{ items: [itemExample], remaining: 'release' }],
    ...closed,
  },
);

export const RESERVATION_SCHEMAS = [
  ReservationSchema,
  ReservationCreateSchema,
  ReservationExtensionSchema,
  ReservationConsumptionSchema,
];
