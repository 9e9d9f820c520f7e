// The pictures of the sample marketplace, as SVG in data URIs, so that clients need no network access. A picture is drawn from a seed, so
// it is the same whenever the sample marketplace is loaded. It contains no script and no link.

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

/** Draws a square picture. Some styles write the `label` into it. */
export function drawPicture(art: ArtName, seed: string, label: string): string {
  return draw(art, seed, label, 100);
}

/** Draws a picture whose width is three times its height. */
export function drawBanner(art: ArtName, seed: string): string {
  return draw(art, seed, '', 300);
}

function draw(art: ArtName, seed: string, label: string, width: number): string {
  const inside = ART[art](new Random('picture', art, seed), width, label);
  const open = `<svg xmlns='http://www.w3.org/2000/svg' width='${width * 4}' height='400' viewBox='0 0 ${width} 100'>`;
  return toDataUri(`${open}${inside}</svg>`);
}

/** Escapes the characters that a URI cannot contain. The SVG has single quotes, so that the URI can stand in double quotes. */
function toDataUri(svg: string): string {
  const escaped = svg.replaceAll('\n', '').replace(/[%#<>" {}|\\^`]|[^ -~]/gu, encodeURIComponent);
  return `data:image/svg+xml,${escaped}`;
}
