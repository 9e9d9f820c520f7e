// Describes a page of the web console for programs that show a preview of a link: the name of the collection or token, its figures and its
// picture. The data comes from the public interface, with its cached responses.

import type { FastifyInstance } from 'fastify';
import { EXPLORE_PREFIX } from '../market/explore/http/routes.ts';

/** The URLs of the gateways for pictures with the schemes `ipfs:` and `ar:`. */
export type ImageGateways = { ipfs?: string; ar?: string };

export type PageDescription = { title: string; text: string; image: string | null };

/** `missing`: there is no such collection or token. Null: the page has no description, or its data cannot be read at present. */
export type DescribedPage = PageDescription | 'missing' | null;

export type PageParams = Readonly<Record<string, string>>;

type Price = { decimal: number; currency: string };
type Collection = {
  name: string | null;
  slug: string | null;
  id: string;
  contractAddress: string | null;
  image: string | null;
  banner: string | null;
  description: string | null;
  stats: { floor: Price | null; listedCount: number | null; supply: number | null };
};
type Token = {
  name: string | null;
  tokenId: string | null;
  mint: string | null;
  collectionId: string;
  image: string | null;
  listing: { price: Price; marketplace: string } | null;
};

const NOT_FOUND = new Set([400, 404]);
const OK = 200;
const TITLE_LENGTH_MAX = 120;
const TEXT_LENGTH_MAX = 200;
const AMOUNT = new Intl.NumberFormat('en', { maximumSignificantDigits: 4, notation: 'compact' });

export class PageDescriptions {
  readonly #app: FastifyInstance;
  readonly #gateways: ImageGateways;
  /** The reads in progress, by path, which concurrent requests of one page share. */
  readonly #reads = new Map<string, Promise<unknown>>();

  constructor(app: FastifyInstance, gateways: ImageGateways) {
    this.#app = app;
    this.#gateways = gateways;
  }

  async ofCollection({ id = '' }: PageParams): Promise<DescribedPage> {
    const collection = await this.#read<Collection>(['collections', id]);
    if (collection === null || collection === 'missing') return collection;
    const { floor, listedCount, supply } = collection.stats;
    const figures = [
      floor && `Floor ${toAmount(floor)}`,
      listedCount !== null && `${listedCount} listed`,
      supply !== null && `${supply} tokens`,
    ].filter((figure) => typeof figure === 'string');
    return {
      title: toText(collection.name, TITLE_LENGTH_MAX) || collection.id,
      text: toText([figures.join(' · '), collection.description].filter(Boolean).join('. '), TEXT_LENGTH_MAX),
      image: this.#toImage(collection.banner) ?? this.#toImage(collection.image),
    };
  }

  /** A path can have the id of the collection in place of its address. The id does not keep the letter case of an address on Solana. */
  async ofToken({ chain = '', address = '', id = '' }: PageParams): Promise<DescribedPage> {
    const isCollectionId = address.startsWith(`${chain}_`);
    const collection = isCollectionId ? await this.#read<Collection>(['collections', address]) : undefined;
    if (collection === null || collection === 'missing') return collection;
    const contract = collection?.contractAddress ?? address;
    const token = await this.#read<Token>(['tokens', chain, contract, id]);
    if (token === null || token === 'missing') return token;
    const { listing } = token;
    return {
      title: toText(token.name, TITLE_LENGTH_MAX) || `#${token.tokenId ?? token.mint}`,
      text: listing ? `${toAmount(listing.price)} at ${listing.marketplace}` : 'Not listed',
      image: this.#toImage(token.image),
    };
  }

  async #read<Data>(segments: readonly string[]): Promise<Data | 'missing' | null> {
    const path = [EXPLORE_PREFIX, ...segments.map((segment) => encodeURIComponent(segment))].join('/');
    const reading = this.#reads.get(path) ?? this.#readPath(path).finally(() => this.#reads.delete(path));
    this.#reads.set(path, reading);
    return reading as Promise<Data | 'missing' | null>;
  }

  async #readPath(path: string): Promise<unknown> {
    const { statusCode, payload } = await this.#app.inject(path);
    if (NOT_FOUND.has(statusCode)) return 'missing';
    return statusCode === OK ? (JSON.parse(payload) as { data: unknown }).data : null;
  }

  /** Null unless other programs can load the picture: they accept neither inline pictures nor `ipfs:` and `ar:`. */
  #toImage(url: string | null): string | null {
    const [, scheme, rest = ''] = /^(ipfs|ar):\/*(?:ipfs\/)?(.*)$/is.exec(url ?? '') ?? [];
    const gateway = scheme === undefined ? undefined : this.#gateways[scheme.toLowerCase() as keyof ImageGateways];
    if (gateway !== undefined) return `${gateway}/${rest}`;
    return url !== null && /^https?:/i.test(url) ? url : null;
  }
}

function toAmount({ decimal, currency }: Price): string {
  return `${AMOUNT.format(decimal)} ${currency}`;
}

/** One line without control characters and characters that reorder others, cut to a length. */
function toText(text: string | null, lengthMax: number): string {
  const line = (text ?? '').replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= lengthMax
    ? line
    : `${characters
        .slice(0, lengthMax - 1)
        .join('')
        .trimEnd()}…`;
}
