// The images of rows, and GET /explore/v1/images/{collectionId}/{name}, which serves the inline images that are too large for a row.
//
// An image comes from a stranger. An SVG document can have scripts, so each response has a policy that allows none, also if a browser opens
// it as a page.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { INLINE_IMAGE_BYTES_MAX, isLargeInlineImage, toServedImage } from '../../../platform/core/image-url.ts';
import { ServiceError } from '../../../platform/core/errors.ts';
import { createCachedFile } from '../../../platform/http/cached-response.ts';
import { cachedRoute } from '../../../platform/http/cached-route.ts';
import { typeOrNull } from '../../../platform/http/schema-builders.ts';
import { marketResponses } from '../../reads/http/envelopes.ts';
import { EXAMPLE_COLLECTION, EXAMPLE_TOKEN } from '../../reads/http/example-collection.ts';
import { COLLECTION_IMAGES, readInlineImage } from '../images.ts';
import type { ExploreContext } from './context.ts';

const PATH = '/explore/v1/images';

/** Browsers keep an image, because a page with a hundred images would otherwise send a hundred requests at each view. */
const CACHE_POLICY = { maxAgeS: 3_600, sharedMaxAgeS: 3_600, staleWhileRevalidateS: 86_400 };

const HEADERS = {
  'content-security-policy': "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
};

export const imageField = (subject: string) =>
  typeOrNull<string>(
    'string',
    `${subject} An inline image (\`data:\`) of more than ${INLINE_IMAGE_BYTES_MAX} bytes is replaced by a URL of this service, from which it is loaded.`,
  );
export const collectionImageFields = { image: imageField('Image URL.'), banner: imageField('Banner image URL.') };

const EXAMPLE_IMAGE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0,0h1v1z"/></svg>';

export type ImageLinks = Pick<ExploreContext, 'baseUrl'>;
type ImageName = { collectionId: string; name: string };

/** The URL of an image in a response. `image`: as it is stored, or as a list has read it. */
export function toExploredImage({ baseUrl }: ImageLinks, image: string | null, { collectionId, name }: ImageName) {
  if (image === null || !isLargeInlineImage(image)) return toServedImage(image);
  return `${baseUrl()}${PATH}/${encodeURIComponent(collectionId)}/${encodeURIComponent(name)}`;
}

/** The images of a collection in a response. */
export function toCollectionImages(
  links: ImageLinks,
  { id: collectionId, image, banner }: { id: string; image: string | null; banner: string | null },
) {
  return {
    image: toExploredImage(links, image, { collectionId, name: 'image' }),
    banner: toExploredImage(links, banner, { collectionId, name: 'banner' }),
  };
}

export function registerImageRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market } = context;

  cachedRoute(app, context, {
    path: `${PATH}/:collectionId/:name`,
    bucket: 'single',
    schema: {
      operationId: 'getImage',
      summary: 'Load an inline image',
      description:
        'An image that a record or the metadata of a token contains as a `data:` URL. Rows have the URLs of such images; images of other hosts are not here.',
      tags: ['Tokens'],
      params: Type.Object({
        collectionId: Type.String({
          description: 'Canonical id of the collection.',
          examples: [EXAMPLE_COLLECTION.id],
        }),
        name: Type.String({
          description: `${COLLECTION_IMAGES.map((name) => `\`${name}\``).join(' or ')} of the collection, or the token id or mint of a token.`,
          examples: [EXAMPLE_TOKEN.tokenId],
        }),
      }),
      response: marketResponses(
        {
          description: 'The image.',
          content: { 'image/*': { schema: { type: 'string', examples: [EXAMPLE_IMAGE] } } },
        },
        400,
        404,
        502,
      ),
    },
    respond: async ({ collectionId = '', name = '' }) => {
      const image = await readInlineImage(market, { collectionId, name });
      if (!image) throw new ServiceError('not_found', 'There is no such inline image');
      return createCachedFile({
        bytes: image.bytes,
        type: image.type,
        headers: HEADERS,
        cacheTag: collectionId.toLowerCase(),
        policy: CACHE_POLICY,
      });
    },
  });
}
