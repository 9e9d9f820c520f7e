// The pictures of the sample marketplace: SVG drawn from a seed, as data URIs, so that they are shown without network access. A
// picture contains no script and no link, and is the same in every load.

import { Random } from './random.ts';
import type { ArtStyle } from './drawing.ts';
import {
  arcade,
  automata,
  drummers,
  fruit,
  inkblots,
  lanterns,
  maps,
  marbles,
  owls,
  rockpool,
  stamps,
} from './figures.ts';
import { comets, harbour, kites, meadow, suns, tiles, weave } from './scenes.ts';

const ART = {
  arcade,
  automata,
  comets,
  drummers,
  fruit,
  harbour,
  inkblots,
  kites,
  lanterns,
  maps,
  marbles,
  meadow,
  owls,
  rockpool,
  stamps,
  suns,
  tiles,
  weave,
} satisfies Record<string, ArtStyle>;

export type ArtName = keyof typeof ART;

/** A square picture in the given style. Some styles show the `label`. */
export function drawPicture(art: ArtName, seed: string, label: string): string {
  return draw(art, seed, label, 100);
}

/** A picture that is three times as wide as high. */
export function drawBanner(art: ArtName, seed: string): string {
  return draw(art, seed, '', 300);
}

function draw(art: ArtName, seed: string, label: string, width: number): string {
  const inside = ART[art](new Random('picture', art, seed), width, label);
  const open = `<svg xmlns='http://www.w3.org/2000/svg' width='${width * 4}' height='400' viewBox='0 0 ${width} 100'>`;
  return toDataUri(`${open}${inside}</svg>`);
}

/** Escapes the characters that a URI cannot contain. Quotes in the SVG are single, so that the URI fits between double quotes. */
function toDataUri(svg: string): string {
  const escaped = svg.replaceAll('\n', '').replace(/[%#<>" {}|\\^`]|[^ -~]/gu, encodeURIComponent);
  return `data:image/svg+xml,${escaped}`;
}
