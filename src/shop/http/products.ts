// /api/v1/products: the routes that list, create, read, update and delete products.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { ProductType } from '../products/product.ts';
import { parseNewProduct, parseProductInput } from '../products/product-input.ts';
import type { Deadline } from '../../platform/core/deadline.ts';
import { isId } from '../../platform/core/time-ordered-id.ts';
import type { ServiceError } from '../../platform/core/errors.ts';
import { repeatAborted } from '../../platform/database/port.ts';
import type { ListPosition, ProductFilter, ProductOrder, ProductSort } from '../queries/product-list.ts';
import { ProductReads } from '../products/product-reads.ts';
import {
  INVALID_PRODUCT,
  changeProduct,
  createProduct,
  invalidProduct,
  readProduct,
  removeProduct,
} from '../products/products.ts';
import { registerProductBatchRoute } from './product-batch.ts';
import { authorize, callerOf, productContextOf, shopContextOf } from './authorize.ts';
import { bodyOf } from '../../platform/http/json-body.ts';
import type { StoreRoutesContext } from './context.ts';
import { EXAMPLE_IDS, PRODUCT_EXAMPLE, PRODUCT_UPDATE_EXAMPLE, PRODUCT_UPDATE_TIME } from './example-shop.ts';
import { openStoreCursor, sealStoreCursor } from './cursors.ts';
import { IDS_MAX, productListQuery } from './product-schemas.ts';
import { checkSearchable, invalidQuery } from './query-errors.ts';
import { sendInTransaction } from './transactions.ts';
import { ifMatchCheck, toEtag } from './etags.ts';
import type { PreparedResponse } from './product-responses.ts';
import { prepareProduct, prepareProductPage, toWireProduct, writePrepared } from './product-responses.ts';
import { closed, dataOf, ref } from '../../platform/http/schema-builders.ts';
import { changeHeaders, idempotencyHeader, matchHeader, storeResponses } from './schemas.ts';

type ProductSelection = Omit<ProductFilter, 'ids'> & { ids?: string; sort?: ProductSort; order?: 'asc' | 'desc' };
type ListQuery = ProductSelection & { limit: number; cursor?: string; collection?: string; type?: ProductType };

const PATH = '/api/v1/products';
const ONE_PATH = `${PATH}/:productId`;
const tags = ['Products'];
const params = Type.Object({
  productId: Type.String({ minLength: 1, description: 'Product id.', examples: [EXAMPLE_IDS.product] }),
});

const UPDATED_EXAMPLE = {
  data: { ...PRODUCT_EXAMPLE, ...PRODUCT_UPDATE_EXAMPLE, updatedAt: PRODUCT_UPDATE_TIME },
};

export function registerProductRoutes(app: FastifyInstance, context: StoreRoutesContext): void {
  const reads = new ProductReads(
    (shopId, startBy) => context.shares.sharedStatementsOf(shopId, { startBy }),
    context.shop.clock,
  );
  registerList(app, context, reads);
  registerCreate(app, context);
  registerProductBatchRoute(app, context);
  registerOne(app, context, reads);
}

function registerList(app: FastifyInstance, context: StoreRoutesContext, reads: ProductReads): void {
  app.get(
    PATH,
    {
      onRequest: authorize(context, 'products:read'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'listProducts',
        summary: 'List products',
        description:
          'Newest first, without archived products, unless the parameters say otherwise. `collection` and `type` are applied to the products of ' +
          'each page, so a page may be short or empty while `hasMore` is true. All other filters are exact, and apply before the page is cut. ' +
          'Scope `products:read`.',
        tags,
        querystring: productListQuery,
        response: storeResponses(
          200,
          dataOf(Type.Array(ref('ProductSummary')), {
            pagination: ref('ProductPagination'),
            meta: Type.Object(
              {
                sequence: Type.Integer({
                  minimum: 0,
                  description:
                    'The `after` with which `GET /api/v1/changes` continues from this page. Use that of the first page.',
                  examples: [42],
                }),
              },
              { description: 'The place of the page in the feed of changes.', ...closed },
            ),
          }),
        ),
      },
    },
    async (request, reply) => {
      const { limit, cursor = null, collection = null, type = null, ...selection } = request.query as ListQuery;
      const { shopId } = callerOf(request);
      if (Object.keys(selection).length > 0) {
        const { filter, sort, order } = toSelection(selection);
        const scope = `products ${shopId} ${JSON.stringify([filter, sort, order])}`;
        const after = parsePosition(openStoreCursor(context, scope, cursor ?? undefined));
        const query = { filter, sort, order, after, limit, collection, type };
        const read = (startBy: Deadline) => reads.readMatching(shopId, query, startBy);
        const { products, next, sequence } = await context.shares.admit(shopId, read);
        const nextCursor = sealStoreCursor(context, scope, next && JSON.stringify([next.key, next.id]));
        return sendPrepared(request, reply, prepareProductPage({ products, next: nextCursor, sequence }));
      }
      if (cursor !== null && !isId('prod', cursor)) throw invalidCursor();
      const query = { before: cursor, limit, collection, type };
      const read = (startBy: Deadline) => reads.readPage(shopId, query, startBy);
      return sendPrepared(request, reply, prepareProductPage(await context.shares.admit(shopId, read)));
    },
  );
}

/** The filter and the order of a list. Throws `bad_request` for values that cannot be searched for. */
function toSelection({ ids, sort, order, ...given }: ProductSelection): ProductOrder & { filter: ProductFilter } {
  checkSearchable(given);
  if (order !== undefined && sort === undefined && given.q !== undefined)
    throw invalidQuery('order', 'needs `sort` in a search, because without `sort` the best matches come first');
  const wanted = ids?.split(',');
  if (wanted && (wanted.length > IDS_MAX || !wanted.every((id) => isId('prod', id))))
    throw invalidQuery('ids', `must be 1 to ${IDS_MAX} product ids, separated by commas`);
  const filter: ProductFilter = { ...given, ...(wanted && { ids: wanted }) };
  if (sort === undefined && given.q !== undefined) return { filter, sort: 'relevance', order: 'desc' };
  const byTime = sort === undefined || sort === 'created' || sort === 'updated';
  return { filter, sort: sort ?? 'created', order: order ?? (byTime ? 'desc' : 'asc') };
}

function parsePosition(position: string | null): ListPosition | null {
  if (position === null) return null;
  const [key, id] = JSON.parse(position) as [string, string];
  return { key, id };
}

function registerCreate(app: FastifyInstance, context: StoreRoutesContext): void {
  app.post(
    PATH,
    {
      onRequest: authorize(context, 'products:write'),
      config: { bucket: 'key', unreadableBody: INVALID_PRODUCT },
      schema: {
        operationId: 'createProduct',
        summary: 'Create a product',
        description: 'Sends `product.created`. Scope `products:write`.',
        tags,
        headers: idempotencyHeader,
        body: ref('ProductCreate'),
        response: storeResponses(201, dataOf(ref('Product')), 409, 422),
      },
    },
    async (request, reply) => {
      const parsed = parseNewProduct(bodyOf(request).value);
      if (!parsed.ok) throw invalidProduct(parsed.details);
      return sendInTransaction(request, reply, async (tx) => {
        const product = await createProduct(shopContextOf(request), tx, callerOf(request), parsed.value);
        const headers = { location: `${PATH}/${product.id}`, etag: toEtag(product) };
        return { status: 201, headers, body: { data: toWireProduct(product) } };
      });
    },
  );
}

function registerOne(app: FastifyInstance, context: StoreRoutesContext, reads: ProductReads): void {
  const idOf = (request: { params: unknown }) => (request.params as { productId: string }).productId;

  app.get(
    ONE_PATH,
    {
      onRequest: authorize(context, 'products:read'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'getProduct',
        summary: 'Read a product',
        description: 'The response has the `ETag` of the product. Scope `products:read`.',
        tags,
        params,
        response: storeResponses(200, dataOf(ref('Product')), 404),
      },
    },
    async (request, reply) => {
      const id = idOf(request);
      const { shopId } = callerOf(request);
      const read = (startBy: Deadline) => readProduct(reads, { shopId, id, startBy });
      return sendPrepared(request, reply, prepareProduct(await context.shares.admit(shopId, read)));
    },
  );

  app.put(
    ONE_PATH,
    {
      onRequest: authorize(context, 'products:write'),
      config: { bucket: 'key', unreadableBody: INVALID_PRODUCT },
      schema: {
        operationId: 'updateProduct',
        summary: 'Update a product',
        description:
          'Omitted fields keep their value. Sends `product.updated`, unless nothing changes. With `If-Match` the product is ' +
          'updated only if the header names its current `ETag`. Scope `products:write`.',
        tags,
        params,
        headers: changeHeaders,
        body: ref('ProductUpdate'),
        response: storeResponses(200, { ...dataOf(ref('Product')), examples: [UPDATED_EXAMPLE] }, 404, 409, 412, 422),
      },
    },
    async (request, reply) => {
      const parsed = parseProductInput(bodyOf(request).value);
      if (!parsed.ok) throw invalidProduct(parsed.details);
      const check = ifMatchCheck(request);
      const shop = productContextOf(request, idOf(request));
      const update = { id: idOf(request), input: parsed.value, check };
      return sendInTransaction(
        request,
        reply,
        async (tx) => {
          const product = await changeProduct(shop, tx, callerOf(request), update);
          return { status: 200, headers: { etag: toEtag(product) }, body: { data: toWireProduct(product) } };
        },
        shop,
      );
    },
  );

  app.delete(
    ONE_PATH,
    {
      onRequest: authorize(context, 'products:write'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'deleteProduct',
        summary: 'Delete a product',
        description: 'Sends `product.deleted`. Entries in the adjustment log stay. Scope `products:write`.',
        tags,
        params,
        headers: matchHeader,
        response: storeResponses(
          200,
          dataOf(
            Type.Object(
              { id: Type.String({ examples: [EXAMPLE_IDS.product] }), deleted: Type.Literal(true) },
              { additionalProperties: false },
            ),
          ),
          404,
          412,
        ),
      },
    },
    async (request) => {
      const id = idOf(request);
      const context = productContextOf(request, id);
      const check = ifMatchCheck(request);
      await repeatAborted(() =>
        context.main.transaction((tx) => removeProduct(context, tx, callerOf(request), { id, check })),
      );
      return { data: { id, deleted: true } };
    },
  );
}

/** Sends a response that is kept for as long as its products are cached. */
function sendPrepared(request: FastifyRequest, reply: FastifyReply, response: PreparedResponse): FastifyReply {
  reply.hijack();
  writePrepared(request.raw, reply.raw, response);
  return reply;
}

function invalidCursor(): ServiceError {
  return invalidQuery('cursor', 'must be a product id from nextCursor');
}
