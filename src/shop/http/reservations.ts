// /api/v1/reservations: holds stock for a checkout.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ServiceError } from '../../platform/core/errors.ts';
import { bodyOf } from '../../platform/http/json-body.ts';
import { dataOf, ref } from '../../platform/http/schema-builders.ts';
import type { ParsedBody } from '../body-fields.ts';
import type { ReservationStatus } from '../reservations/reservation.ts';
import { RESERVATION_STATES, toReservationView } from '../reservations/reservation.ts';
import {
  REFERENCE_LENGTH_MAX,
  parseConsumption,
  parseExtension,
  parseNewReservation,
  parseRelease,
} from '../reservations/reservation-input.ts';
import { readReservation, readReservations } from '../reservations/reservations.ts';
import type { ReservationRequest } from '../reservations/reservation-writer.ts';
import { ReservationWriter } from '../reservations/reservation-writer.ts';
import { authorize, callerOf, shopContextOf } from './authorize.ts';
import type { StoreRoutesContext } from './context.ts';
import { openStoreCursor, sealStoreCursor } from './cursors.ts';
import { EXAMPLE_IDS, RESERVATION_EXAMPLE } from './example-shop.ts';
import { checkSearchable } from './query-errors.ts';
import { idempotencyHeader, storeResponses } from './schemas.ts';
import { onceRequestOf, sendOnce, toRepeatable } from './transactions.ts';

type ListQuery = {
  limit: number;
  cursor?: string;
  status?: ReservationStatus;
  reference?: string;
  product_id?: string;
};

const PATH = '/api/v1/reservations';
const tags = ['Reservations'];
const INVALID_RESERVATION = 'Invalid reservation payload';
const params = Type.Object({
  reservationId: Type.String({ minLength: 1, description: 'Reservation id.', examples: [EXAMPLE_IDS.reservation] }),
});

const ended = (status: 'consumed' | 'released', fields: object) => ({
  data: {
    ...RESERVATION_EXAMPLE,
    status,
    items: RESERVATION_EXAMPLE.items.map((item) => ({ ...item, held: 0, ...fields })),
    endedAt: '2026-06-01T08:36:00.000Z',
  },
});
const CONSUMED_EXAMPLE = ended('consumed', { consumed: RESERVATION_EXAMPLE.items[0]?.quantity });
const RELEASED_EXAMPLE = ended('released', {});

export function registerReservationRoutes(app: FastifyInstance, context: StoreRoutesContext): void {
  registerReads(app, context);
  registerChanges(app, context);
}

function registerReads(app: FastifyInstance, context: StoreRoutesContext): void {
  app.get(
    PATH,
    {
      onRequest: authorize(context, 'inventory:read'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'listReservations',
        summary: 'List reservations',
        description: 'Newest first. Scope `inventory:read`.',
        tags,
        querystring: Type.Object({
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Reservations per page.' }),
          ),
          cursor: Type.Optional(Type.String({ minLength: 1, description: 'A `nextCursor`, passed back unchanged.' })),
          status: Type.Optional(
            Type.Unsafe<ReservationStatus>({
              type: 'string',
              enum: RESERVATION_STATES,
              description: 'Only reservations with this status.',
            }),
          ),
          reference: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: REFERENCE_LENGTH_MAX,
              description: 'Only reservations with this reference.',
            }),
          ),
          product_id: Type.Optional(Type.String({ minLength: 1, description: 'Only reservations of this product.' })),
        }),
        response: storeResponses(200, dataOf(Type.Array(ref('Reservation')), { pagination: ref('StorePagination') })),
      },
    },
    async (request) => {
      const { limit, cursor, ...filters } = request.query as ListQuery;
      const { status = null, reference = null, product_id: productId = null } = filters;
      checkSearchable({ reference: filters.reference });
      const caller = callerOf(request);
      const scope = `reservations ${caller.shopId} ${JSON.stringify([status, reference, productId])}`;
      const before = openStoreCursor(context, scope, cursor);
      const query = { status, reference, productId, before, limit };
      const page = await readReservations(shopContextOf(request), caller, query);
      const nextCursor = sealStoreCursor(context, scope, page.next);
      return {
        data: page.reservations.map(toReservationView),
        pagination: { hasMore: nextCursor !== null, nextCursor },
      };
    },
  );

  app.get(
    `${PATH}/:reservationId`,
    {
      onRequest: authorize(context, 'inventory:read'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'getReservation',
        summary: 'Read a reservation',
        description: 'Scope `inventory:read`.',
        tags,
        params,
        response: storeResponses(200, dataOf(ref('Reservation')), 404),
      },
    },
    async (request) => ({
      data: toReservationView(await readReservation(shopContextOf(request), callerOf(request), idOf(request))),
    }),
  );
}

function registerChanges(app: FastifyInstance, context: StoreRoutesContext): void {
  const writer = new ReservationWriter({
    statementsOf: (shopId, options) => context.shares.sharedStatementsOf(shopId, options),
    clock: context.shop.clock,
    secretKeys: context.shop.secretKeys,
    toResponse: (reservation, { kind }) => {
      const body = { data: toReservationView(reservation) };
      if (kind !== 'reserve') return toRepeatable({ status: 200, body });
      return toRepeatable({ status: 201, headers: { location: `${PATH}/${reservation.id}` }, body });
    },
  });
  const change = async (request: FastifyRequest, reply: FastifyReply, wanted: ReservationRequest) => {
    const { shopId } = callerOf(request);
    const once = onceRequestOf(request);
    return sendOnce(
      reply,
      await context.shares.admit(shopId, (startBy) => writer.change(shopId, wanted, { once, startBy })),
    );
  };
  const options = {
    onRequest: authorize(context, 'inventory:write'),
    config: { bucket: 'key', unreadableBody: INVALID_RESERVATION } as const,
  };

  app.post(
    PATH,
    {
      ...options,
      schema: {
        operationId: 'createReservation',
        summary: 'Reserve stock',
        description:
          'Holds all items or none. `inventory` of each product falls by what is held. Sends `reservation.created`. Scope `inventory:write`.',
        tags,
        headers: idempotencyHeader,
        body: ref('ReservationCreate'),
        response: storeResponses(201, dataOf(ref('Reservation')), 404, 409, 422),
      },
    },
    async (request, reply) => {
      const reservation = valueOf(parseNewReservation(bodyOf(request).value));
      return change(request, reply, { kind: 'reserve', keyId: callerOf(request).keyId, ...reservation });
    },
  );

  app.post(
    `${PATH}/:reservationId/extend`,
    {
      ...options,
      schema: {
        operationId: 'extendReservation',
        summary: 'Hold a reservation for longer',
        description: 'The time is counted from now, and is never made shorter. Scope `inventory:write`.',
        tags,
        params,
        headers: idempotencyHeader,
        body: ref('ReservationExtension'),
        response: storeResponses(200, dataOf(ref('Reservation')), 404, 409, 422),
      },
    },
    async (request, reply) => {
      const expiresInMs = valueOf(parseExtension(bodyOf(request).value));
      const { keyId } = callerOf(request);
      return change(request, reply, { kind: 'extend', keyId, id: idOf(request), expiresInMs });
    },
  );

  app.post(
    `${PATH}/:reservationId/consume`,
    {
      ...options,
      schema: {
        operationId: 'consumeReservation',
        summary: 'Sell what is reserved',
        description:
          'What is consumed leaves the reservation and does not return to the stock. Sends `reservation.consumed`. Scope `inventory:write`.',
        tags,
        params,
        headers: idempotencyHeader,
        body: ref('ReservationConsumption'),
        response: storeResponses(200, { ...dataOf(ref('Reservation')), examples: [CONSUMED_EXAMPLE] }, 404, 409, 422),
      },
    },
    async (request, reply) => {
      const consumption = valueOf(parseConsumption(bodyOf(request).value));
      const { keyId } = callerOf(request);
      return change(request, reply, { kind: 'consume', keyId, id: idOf(request), ...consumption });
    },
  );

  app.post(
    `${PATH}/:reservationId/release`,
    {
      ...options,
      schema: {
        operationId: 'releaseReservation',
        summary: 'Return what is reserved to the stock',
        description: 'Returns all that is held. Sends `reservation.released`. Scope `inventory:write`.',
        tags,
        params,
        headers: idempotencyHeader,
        response: storeResponses(200, { ...dataOf(ref('Reservation')), examples: [RELEASED_EXAMPLE] }, 404, 409, 422),
      },
    },
    async (request, reply) => {
      valueOf(parseRelease(bodyOf(request).value));
      return change(request, reply, { kind: 'release', keyId: callerOf(request).keyId, id: idOf(request) });
    },
  );
}

const idOf = (request: FastifyRequest) => (request.params as { reservationId: string }).reservationId;

function valueOf<T>(parsed: ParsedBody<T>): T {
  if (parsed.ok) return parsed.value;
  throw new ServiceError('bad_request', INVALID_RESERVATION, { details: parsed.details });
}
