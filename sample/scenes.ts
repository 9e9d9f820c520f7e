// Draws pictures in the styles that show a scene or a pattern. Most styles fill a banner with one scene. The other styles repeat one figure
// across the banner.

import type { Random } from './random.ts';
import { at } from './random.ts';
import { curves, dot, dots, verticalGradient, background, repeatToWidth, stars, wheel } from './drawing.ts';

export function harbour(rng: Random, width: number): string {
  const [high, low, water, land] = rng.pick([
    ['#0b1f3a', '#4f83a8', '#0d2a45', '#071526'],
    ['#1c1440', '#d1698a', '#2a1f4f', '#120b2b'],
    ['#12343b', '#e8a25d', '#1d4a52', '#0a2329'],
    ['#101a3c', '#8d78c2', '#1a2654', '#0a1029'],
  ] as const);
  const lit = rng.pick(['#ffd97a', '#ffb27a', '#fff3c9', '#a8ecff']);
  const tower = rng.integer(14, width - 14);
  const side = tower > width / 2 ? -1 : 1;
  let hills = 'M0,64';
  for (let x = 0; x < width; x += 25) hills += `q${rng.integer(8, 16)},-${rng.integer(8, 26)},25,0`;
  let lamps = '';
  let shine = '';
  for (let x = rng.integer(4, 9); x < width - 3; x += rng.integer(7, 15) * (width === 100 ? 1 : 2)) {
    lamps += dot(x, rng.integer(60, 63));
    shine += `M${x},68v${rng.integer(8, 26)}`;
  }
  return `${verticalGradient('s', high, low)}${background(width, 'url(#s)')}
<circle cx='${rng.integer(12, width - 12)}' cy='${rng.integer(12, 30)}' r='${rng.integer(5, 10)}' fill='#fdf6d8' opacity='.9'/>
<path d='M${tower},35l${side * width},-${width / 5}v${(width / 3) | 0}z' fill='#fff6c2' opacity='.25'/><path d='${hills}z' fill='${land}'/>
<path d='M0,64h${width}v36H0z' fill='${water}'/><path d='M${tower - 4},66l2,-29h4l2,29z' fill='#f6efe2'/>
<path d='M${tower - 3},50h6M${tower - 3},58h6' stroke='#c8423b' stroke-width='4'/>${dots(dot(tower, 35), 5, '#fff6c2')}
${dots(lamps, 3, lit)}<path d='${shine}' stroke='${lit}' stroke-width='2' stroke-dasharray='4,3' opacity='.55'/>`;
}

export function tiles(rng: Random, width: number): string {
  const [ground, line, inlay] = rng.pick([
    ['#0f4c5c', '#f2e8cf', '#e36414'],
    ['#264653', '#e9c46a', '#2a9d8f'],
    ['#5f0f40', '#fb8b24', '#e9d8a6'],
    ['#1d3557', '#a8dadc', '#e63946'],
    ['#2d3a2e', '#c5d86d', '#f7f7ff'],
  ] as const);
  let arcs = '';
  let studs = '';
  for (let y = 0; y < 100; y += 25) {
    for (let x = 0; x < 100; x += 25) {
      // Each cell has one of two variants. The curves of both variants end in the middle of the sides of the cell, so that the curves of
      // neighbouring cells join.
      arcs += rng.boolean(0.5)
        ? `M${x + 12.5},${y}q0,12.5,-12.5,12.5m25,0q-12.5,0,-12.5,12.5`
        : `M${x + 12.5},${y}q0,12.5,12.5,12.5m-25,0q12.5,0,12.5,12.5`;
      if (rng.boolean(0.3)) studs += dot(x, y);
    }
  }
  const weight = rng.pick([4, 5, 6]);
  const field = `<path d='${arcs}' fill='none' stroke='${line}' stroke-width='${weight}'/>${dots(studs, 7, inlay)}`;
  return `${background(width, ground)}${repeatToWidth(field, width)}`;
}

export function meadow(rng: Random, width: number): string {
  const [high, low, grass] = rng.pick([
    ['#fde9c9', '#f7c59f', '#5b7553'],
    ['#d7ecf0', '#f4f1de', '#4f7a5a'],
    ['#f6d6d6', '#fff1e0', '#6b7a4b'],
    ['#cfe3d4', '#f5efd5', '#3f6b52'],
  ] as const);
  const petals = rng.shuffle(['#d1495b', '#edae49', '#66a182', '#6d597a', '#2e6f95', '#e07a5f']);
  const count = width === 100 ? 3 : 5;
  let stems = '';
  let heads = '';
  for (let index = 0; index < count; index += 1) {
    const x = Math.round((width * (index + 0.5)) / count) + rng.integer(-4, 4);
    const y = rng.integer(22, 58);
    stems += `M${x},${y}q${rng.integer(-8, 8)},20,0,${100 - y}`;
    heads += `<use href='#p' transform='translate(${x},${y})scale(${rng.pick(['1', '1.2', '1.4'])})' stroke='${at(petals, index)}'/>`;
  }
  for (let x = 3; x < width; x += width / 6) stems += `M${Math.round(x)},100q2,-${rng.integer(8, 18)},5,-18`;
  // A flower head is drawn once. Each `use` of the head sets the colour of its petals.
  const head = `<g id='p'>${wheel(9, 8, rng.integer(7, 12), 0.7)}${wheel(6, 3, 12, 0.5, '#8a5a2b')}<circle r='5' fill='#e3b23c' stroke='none'/><circle r='2' stroke='#5c3d1e'/></g>`;
  return `${verticalGradient('s', high, low)}${background(width, 'url(#s)')}<path d='M0,88q${width / 4},-10,${width / 2},-3t${width / 2},-1v16H0z' fill='${grass}'/>
${curves(stems, 1.6, grass)}<defs>${head}</defs>${heads}`;
}

export function suns(rng: Random, width: number): string {
  const [high, low, near, far, sun] = rng.pick([
    ['#2b1055', '#ff9a76', '#3b1c5a', '#6b2d6b', '#ffe29a'],
    ['#0f3057', '#f6b17a', '#102a43', '#2d4f6c', '#fff0c9'],
    ['#3d0e2e', '#ff6f59', '#2a0a22', '#7a1f3d', '#ffd166'],
    ['#12372a', '#f2d388', '#16302b', '#3f6b52', '#fff6d6'],
  ] as const);
  const x = rng.integer(30, width - 30);
  const y = rng.integer(40, 56);
  const size = rng.integer(17, 24);
  const second = x < width / 2 ? rng.integer(x + 24, width - 8) : rng.integer(8, x - 24);
  let bands = '';
  for (let step = 0; step < 4; step += 1) bands += `M${x - 30},${y + 3 + step * 6}h60`;
  const dune = (top: number, bend: number, fill: string) =>
    `<path d='M0,${top}q${width / 4},${bend},${width / 2},0t${width / 2},0V100H0z' fill='${fill}'/>`;
  return `${verticalGradient('s', high, low)}${background(width, 'url(#s)')}${stars(rng, width, 34)}
<mask id='m'><path d='M0,0h${width}v100H0z' fill='#fff'/><path d='${bands}' stroke='#000' stroke-width='1.8'/></mask>
<circle cx='${x}' cy='${y}' r='${size}' fill='${sun}' mask='url(#m)'/>
<circle cx='${second}' cy='${rng.integer(16, 34)}' r='${rng.integer(5, 9)}' fill='${sun}' opacity='.85'/>
${dune(rng.integer(64, 70), rng.integer(-14, 14), far)}${dune(rng.integer(78, 84), rng.integer(-12, 12), near)}`;
}

export function weave(rng: Random, width: number): string {
  const [base, ...threads] = rng.pick([
    ['#e8e2d4', '#7189a6', '#34506b', '#c9a66b'],
    ['#f3d9b1', '#c96f53', '#8c3b3b', '#e3a857'],
    ['#dfe7e3', '#5f8f86', '#2f4f4f', '#d9cf9c'],
    ['#e6dcea', '#8a6fa8', '#4b3b66', '#d98fa5'],
  ] as const);
  const rows = threads.map(() => '');
  for (let y = 5; y < 100; y += 10) {
    const row = rng.integer(0, threads.length - 1);
    rows[row] += `M0,${y}h${width}`;
  }
  const columns = ['', ''];
  for (let x = 5; x < width; x += 10) columns[((x - 5) / 10) % 2] += `M${x},0v100`;
  const [warp, weft] = [rng.pick(threads), rng.pick(threads)];
  const lay = (path: string, paint: string, dash: string) =>
    path ? `<path d='${path}' stroke='${paint}' stroke-width='8.6'${dash}/>` : '';
  // A column is a dashed line. It passes over every second row, because its dashes and gaps are as long as a row is high. In every
  // second column the dashes are shifted by one row.
  return `<linearGradient id='s'><stop stop-color='${warp}'/><stop offset='.5' stop-color='${base}'/><stop offset='1' stop-color='${weft}'/></linearGradient>
${background(width, '#2b2622')}${rows.map((path, row) => lay(path, threads[row] ?? base, '')).join('')}
${lay(columns[0] ?? '', 'url(#s)', ` stroke-dasharray='10'`)}${lay(columns[1] ?? '', 'url(#s)', ` stroke-dasharray='10' stroke-dashoffset='10'`)}
<circle cx='${rng.integer(20, width - 20)}' cy='${rng.integer(20, 80)}' r='${rng.integer(14, 26)}' fill='${base}' opacity='.42'/>`;
}

export function comets(rng: Random, width: number, label: string): string {
  const [night, rule, tail] = rng.pick([
    ['#0b132b', '#3a506b', '#6fffe9'],
    ['#1b1725', '#5b4b6b', '#ffc6d9'],
    ['#0d1f22', '#3c6e71', '#f4d58d'],
    ['#10002b', '#5a189a', '#c8b6ff'],
  ] as const);
  const x = rng.integer(58, width - 18);
  const y = rng.integer(22, 52);
  const [back, up] = [rng.integer(44, 56) + width / 2 - 50, rng.integer(-26, 30)];
  let rules = '';
  for (let line = 78; line < 98; line += 6) rules += `M10,${line}h${rng.integer(30, 80)}`;
  const number = /\d+$/.exec(label)?.[0] ?? '';
  return `${background(width, night)}${stars(rng, width, 66)}
<linearGradient id='s'><stop stop-color='${tail}' stop-opacity='0'/><stop offset='1' stop-color='${tail}'/></linearGradient>
<ellipse cx='${x - 20}' cy='${y + 4}' rx='${rng.integer(40, 60)}' ry='${rng.integer(12, 24)}' fill='none' stroke='${rule}' stroke-width='.8' stroke-dasharray='2,3'/>
<path d='M${x},${y - 5}l-${back},${up}L${x},${y + 5}z' fill='url(#s)'/><path d='M${x},${y - 3}l-${back - 16},${up + 12}L${x},${y + 4}z' fill='url(#s)'/>
<circle cx='${x}' cy='${y}' r='9' fill='${tail}' opacity='.3'/><circle cx='${x}' cy='${y}' r='5.4' fill='#fff'/>
${dots(rules, 1.2, rule)}<text x='${width - 8}' y='94' font-family='monospace' font-size='9' fill='${tail}' text-anchor='end'>${number}</text>`;
}

export function kites(rng: Random, width: number): string {
  const [high, low] = rng.pick([
    ['#7cc6fe', '#e8f6ff'],
    ['#ffb88c', '#fff1d6'],
    ['#8f94fb', '#e9defa'],
    ['#5fc9b8', '#effbe6'],
  ] as const);
  const cloth = rng.shuffle(['#ef476f', '#ffd166', '#06a77d', '#118ab2', '#f3722c', '#fdfcdc', '#3d348b']);
  const paint = (index: number) => cloth[index] ?? high;
  let clouds = '';
  for (let x = rng.integer(4, 20); x < width; x += rng.integer(36, 60))
    clouds += `M${x},${rng.integer(14, 88)}h${rng.integer(12, 20)}m-10,-4h6`;
  const [wide, tall] = [rng.integer(17, 24), rng.integer(26, 32)];
  const rise = Math.round(tall * 0.6);
  const [knot, x, y] = [rng.integer(6, 10), rng.integer(46, 56), rng.integer(32, 40)];
  const quarter = (dx: number, dy: number, index: number) => `<path d='M0,0h${dx}L0,${dy}z' fill='${paint(index)}'/>`;
  const tail = `M0,${tall}q${knot + 6},8,0,16t-4,18`;
  const kite = `<g transform='translate(${x},${y})rotate(${rng.integer(-24, 24)})'>
<path d='M0,0Q-10,40,-${x - 40},70' fill='none' stroke='#fff' stroke-width='.6'/>${curves(tail, 1.2, paint(4))}
<path d='${tail}' fill='none' stroke='${paint(0)}' stroke-width='6' stroke-dasharray='3,8'/>
${quarter(wide, -rise, 0)}${quarter(-wide, -rise, 1)}${quarter(wide, tall, 2)}${quarter(-wide, tall, 3)}
<circle r='${rng.integer(3, 5)}' fill='${paint(5)}'/></g>`;
  return `${verticalGradient('s', high, low)}${background(width, 'url(#s)')}<g opacity='.7'>${dots(clouds, 8, '#fff')}</g>${repeatToWidth(kite, width)}`;
}
