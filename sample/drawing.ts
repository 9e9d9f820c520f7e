// Draws the shapes of the pictures of sample collections as SVG text. Coordinates are computed without trigonometric functions, because the
// results of these functions may differ between JavaScript engines. A shape must not contain a script or a reference to another file.

import type { Random } from './random.ts';
import { at } from './random.ts';

/**
 * Draws a picture that is 100 high and `width` wide: 100 for a token, 300 for a banner. Coordinates are separated by commas, because a
 * space takes three bytes in a data URI.
 */
export type ArtStyle = (rng: Random, width: number, label: string) => string;

/** Fills the complete picture. */
export function background(width: number, fill: string): string {
  return `<path d='M0,0h${width}v100H0z' fill='${fill}'/>`;
}

/** A gradient from top to bottom, used as `url(#id)`. */
export function verticalGradient(id: string, top: string, bottom: string): string {
  return `<linearGradient id='${id}' x2='0' y2='1'><stop stop-color='${top}'/><stop offset='1' stop-color='${bottom}'/></linearGradient>`;
}

/** Path data of one dot: a very short line with round caps. */
export function dot(x: number, y: number): string {
  return `M${x},${y}h.1`;
}

/** Dots and straight lines with round ends, in one colour and without `fill`. */
export function dots(path: string, size: number, colour: string): string {
  return `<path d='${path}' stroke='${colour}' stroke-width='${size}' stroke-linecap='round'/>`;
}

/** Curved lines with round ends, in one colour. */
export function curves(path: string, size: number, colour: string): string {
  return `<path d='${path}' fill='none' stroke='${colour}' stroke-width='${size}' stroke-linecap='round'/>`;
}

/** Small dots in the upper part of the picture. */
export function stars(rng: Random, width: number, height: number, colour = '#fff'): string {
  let path = '';
  for (let star = 0; star < width / 12; star += 1) path += dot(rng.integer(2, width - 2), rng.integer(3, height));
  return `<g opacity='.7'>${dots(path, 0.9, colour)}</g>`;
}

/**
 * A wheel of `count` wedges, drawn as a circle with a dashed stroke. Together, the wedges cover the fraction `share` of the circle. Default
 * colour: the stroke colour of the parent element.
 */
export function wheel(radius: number, thick: number, count: number, share: number, colour?: string): string {
  const stroke = colour === undefined ? '' : `stroke='${colour}' `;
  return `<circle r='${radius}' fill='none' ${stroke}stroke-width='${thick}' pathLength='${count}' stroke-dasharray='${share},${Math.round((1 - share) * 100) / 100}'/>`;
}

/** Draws a figure once for a token, or three times for a banner, with the figure in the middle mirrored. */
export function repeatToWidth(figure: string, width: number): string {
  if (width === 100) return figure;
  return `<g id='f'>${figure}</g><use href='#f' transform='matrix(-1,0,0,1,200,0)'/><use href='#f' x='200'/>`;
}

/** A figure whose left half (x < 50) is given, and whose right half is its mirror image. */
export function mirror(half: string): string {
  return `<g id='h'>${half}</g><use href='#h' transform='matrix(-1,0,0,1,100,0)'/>`;
}

/** Vectors in eight directions, with a length of about 20. They replace sines and cosines. */
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

/** Path data of a closed, rounded shape around the origin, with a radius between `min` and `max`. */
export function blob(rng: Random, min: number, max: number): string {
  const corners = COMPASS.map(([x, y]) => {
    const radius = rng.integer(min, max);
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
