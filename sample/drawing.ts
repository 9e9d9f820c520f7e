// The few shapes that the looks of the sample collections are made of, as SVG text. Whole numbers only and no trigonometry,
// because engines may round it differently; nothing here may write script or a reference out of the picture.

import type { Random } from './random.ts';
import { at } from './random.ts';

/**
 * Says what is inside a picture 100 high and `width` wide: 100 for a token, 300 for a banner. Coordinates are joined by
 * commas, because a space costs three bytes in a data URI.
 */
export type Look = (chance: Random, width: number, label: string) => string;

/** The whole canvas in one fill. */
export function panel(width: number, fill: string): string {
  return `<path d='M0,0h${width}v100H0z' fill='${fill}'/>`;
}

/** A gradient from top to bottom, to be used as `url(#id)`. */
export function fall(id: string, top: string, bottom: string): string {
  return `<linearGradient id='${id}' x2='0' y2='1'><stop stop-color='${top}'/><stop offset='1' stop-color='${bottom}'/></linearGradient>`;
}

/** Path data of one dot: a line too short to see under its round cap. */
export function dot(x: number, y: number): string {
  return `M${x},${y}h.1`;
}

/** Dots and straight lines with round ends, in one colour. They enclose nothing, so they need no word about their fill. */
export function dots(path: string, size: number, colour: string): string {
  return `<path d='${path}' stroke='${colour}' stroke-width='${size}' stroke-linecap='round'/>`;
}

/** Bent lines with round ends, in one colour. */
export function curves(path: string, size: number, colour: string): string {
  return `<path d='${path}' fill='none' stroke='${colour}' stroke-width='${size}' stroke-linecap='round'/>`;
}

/** Small dots over the upper part of the canvas. */
export function stars(chance: Random, width: number, height: number, colour = '#fff'): string {
  let path = '';
  for (let star = 0; star < width / 12; star += 1) path += dot(chance.between(2, width - 2), chance.between(3, height));
  return `<g opacity='.7'>${dots(path, 0.9, colour)}</g>`;
}

/** A wheel of `count` wedges: a circle whose stroke is cut by dashes. Without a colour it takes that of its surroundings. */
export function wheel(radius: number, thick: number, count: number, share: number, colour?: string): string {
  const stroke = colour === undefined ? '' : `stroke='${colour}' `;
  return `<circle r='${radius}' fill='none' ${stroke}stroke-width='${thick}' pathLength='${count}' stroke-dasharray='${share},${Math.round((1 - share) * 100) / 100}'/>`;
}

/** One figure drawn for a token is repeated to fill a banner, the middle one mirrored. */
export function spread(figure: string, width: number): string {
  if (width === 100) return figure;
  return `<g id='f'>${figure}</g><use href='#f' transform='matrix(-1,0,0,1,200,0)'/><use href='#f' x='200'/>`;
}

/** Half a figure (left of x = 50) made whole by its mirror image. */
export function mirror(half: string): string {
  return `<g id='h'>${half}</g><use href='#h' transform='matrix(-1,0,0,1,100,0)'/>`;
}

/** Eight directions at a length of 20, so that a blob needs no sines. */
const COMPASS = [
  [20, 0],
  [14, 14],
  [0, 20],
  [-14, 14],
  [-20, 0],
  [-14, -14],
  [0, -20],
  [14, -14],
] as const;

/** Path data of a soft closed shape around the origin, its radius between the bounds. */
export function blob(chance: Random, min: number, max: number): string {
  const corners = COMPASS.map(([x, y]) => {
    const radius = chance.between(min, max);
    return [Math.round((x * radius) / 20), Math.round((y * radius) / 20)] as const;
  });
  const [firstX, firstY] = middle(at(corners, 7), at(corners, 0));
  const curves = corners.map((corner, index) => {
    const [x, y] = middle(corner, at(corners, (index + 1) % 8));
    return `Q${corner[0]},${corner[1]},${x},${y}`;
  });
  return `M${firstX},${firstY}${curves.join('')}`;
}

function middle(a: readonly [number, number], b: readonly [number, number]): readonly [number, number] {
  return [Math.round((a[0] + b[0]) / 2), Math.round((a[1] + b[1]) / 2)];
}
