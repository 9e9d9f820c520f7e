// The pictures of the sample marketplace: SVG drawn from a seed, as data URIs, so that a new service shows something without
// asking anyone. It must never write script, a link out of the picture, or anything that two loads could do differently.

import { createRandom } from './random.ts';
import type { Look } from './drawing.ts';
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

const LOOKS = {
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
} satisfies Record<string, Look>;

export type LookName = keyof typeof LOOKS;

/** A square picture in the look: `subject` seeds it, and some looks write the `label`. */
export function drawPicture(look: LookName, subject: string, label: string): string {
  return draw(look, subject, label, 100);
}

/** A picture three times as wide as high. */
export function drawBanner(look: LookName, subject: string): string {
  return draw(look, subject, '', 300);
}

function draw(look: LookName, subject: string, label: string, width: number): string {
  const inside = LOOKS[look](createRandom('picture', look, subject), width, label);
  const open = `<svg xmlns='http://www.w3.org/2000/svg' width='${width * 4}' height='400' viewBox='0 0 ${width} 100'>`;
  return toDataUri(`${open}${inside}</svg>`);
}

/** Escapes what a URI may not hold; quotes are single ones, so that the whole fits between double quotes anywhere. */
function toDataUri(svg: string): string {
  const escaped = svg.replaceAll('\n', '').replace(/[%#<>" {}|\\^`]|[^ -~]/gu, encodeURIComponent);
  return `data:image/svg+xml,${escaped}`;
}
