// Looks of sample collections that are scenes or patterns: they fill any width by themselves.

import type { Random } from './random.ts';
import { at } from './random.ts';
import { curves, dot, dots, fall, panel, spread, stars, wheel } from './drawing.ts';

export function harbour(chance: Random, width: number): string {
  const [high, low, water, land] = chance.pick([
    ['#0b1f3a', '#4f83a8', '#0d2a45', '#071526'],
    ['#1c1440', '#d1698a', '#2a1f4f', '#120b2b'],
    ['#12343b', '#e8a25d', '#1d4a52', '#0a2329'],
    ['#101a3c', '#8d78c2', '#1a2654', '#0a1029'],
  ] as const);
  const lit = chance.pick(['#ffd97a', '#ffb27a', '#fff3c9', '#a8ecff']);
  const tower = chance.between(14, width - 14);
  const side = tower > width / 2 ? -1 : 1;
  let hills = 'M0,64';
  for (let x = 0; x < width; x += 25) hills += `q${chance.between(8, 16)},-${chance.between(8, 26)},25,0`;
  let lamps = '';
  let shine = '';
  for (let x = chance.between(4, 9); x < width - 3; x += chance.between(7, 15) * (width === 100 ? 1 : 2)) {
    lamps += dot(x, chance.between(60, 63));
    shine += `M${x},68v${chance.between(8, 26)}`;
  }
  return `${fall('s', high, low)}${panel(width, 'url(#s)')}
<circle cx='${chance.between(12, width - 12)}' cy='${chance.between(12, 30)}' r='${chance.between(5, 10)}' fill='#fdf6d8' opacity='.9'/>
<path d='M${tower},35l${side * width},-${width / 5}v${(width / 3) | 0}z' fill='#fff6c2' opacity='.25'/><path d='${hills}z' fill='${land}'/>
<path d='M0,64h${width}v36H0z' fill='${water}'/><path d='M${tower - 4},66l2,-29h4l2,29z' fill='#f6efe2'/>
<path d='M${tower - 3},50h6M${tower - 3},58h6' stroke='#c8423b' stroke-width='4'/>${dots(dot(tower, 35), 5, '#fff6c2')}
${dots(lamps, 3, lit)}<path d='${shine}' stroke='${lit}' stroke-width='2' stroke-dasharray='4,3' opacity='.55'/>`;
}

export function tiles(chance: Random, width: number): string {
  const [ground, line, inlay] = chance.pick([
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
      // Both turns meet their neighbours in the middle of each side, so that lines run on over tiles and mirrored halves.
      arcs += chance.happens(0.5)
        ? `M${x + 12.5},${y}q0,12.5,-12.5,12.5m25,0q-12.5,0,-12.5,12.5`
        : `M${x + 12.5},${y}q0,12.5,12.5,12.5m-25,0q12.5,0,12.5,12.5`;
      if (chance.happens(0.3)) studs += dot(x, y);
    }
  }
  const weight = chance.pick([4, 5, 6]);
  const field = `<path d='${arcs}' fill='none' stroke='${line}' stroke-width='${weight}'/>${dots(studs, 7, inlay)}`;
  return `${panel(width, ground)}${spread(field, width)}`;
}

export function meadow(chance: Random, width: number): string {
  const [high, low, grass] = chance.pick([
    ['#fde9c9', '#f7c59f', '#5b7553'],
    ['#d7ecf0', '#f4f1de', '#4f7a5a'],
    ['#f6d6d6', '#fff1e0', '#6b7a4b'],
    ['#cfe3d4', '#f5efd5', '#3f6b52'],
  ] as const);
  const petals = chance.shuffle(['#d1495b', '#edae49', '#66a182', '#6d597a', '#2e6f95', '#e07a5f']);
  const count = width === 100 ? 3 : 5;
  let stems = '';
  let heads = '';
  for (let index = 0; index < count; index += 1) {
    const x = Math.round((width * (index + 0.5)) / count) + chance.between(-4, 4);
    const y = chance.between(22, 58);
    stems += `M${x},${y}q${chance.between(-8, 8)},20,0,${100 - y}`;
    heads += `<use href='#p' transform='translate(${x},${y})scale(${chance.pick(['1', '1.2', '1.4'])})' stroke='${at(petals, index)}'/>`;
  }
  for (let x = 3; x < width; x += width / 6) stems += `M${Math.round(x)},100q2,-${chance.between(8, 18)},5,-18`;
  // Cogs for flowers: the petals take their colour from where the head is used.
  const head = `<g id='p'>${wheel(9, 8, chance.between(7, 12), 0.7)}${wheel(6, 3, 12, 0.5, '#8a5a2b')}<circle r='5' fill='#e3b23c' stroke='none'/><circle r='2' stroke='#5c3d1e'/></g>`;
  return `${fall('s', high, low)}${panel(width, 'url(#s)')}<path d='M0,88q${width / 4},-10,${width / 2},-3t${width / 2},-1v16H0z' fill='${grass}'/>
${curves(stems, 1.6, grass)}<defs>${head}</defs>${heads}`;
}

export function suns(chance: Random, width: number): string {
  const [high, low, near, far, sun] = chance.pick([
    ['#2b1055', '#ff9a76', '#3b1c5a', '#6b2d6b', '#ffe29a'],
    ['#0f3057', '#f6b17a', '#102a43', '#2d4f6c', '#fff0c9'],
    ['#3d0e2e', '#ff6f59', '#2a0a22', '#7a1f3d', '#ffd166'],
    ['#12372a', '#f2d388', '#16302b', '#3f6b52', '#fff6d6'],
  ] as const);
  const x = chance.between(30, width - 30);
  const y = chance.between(40, 56);
  const size = chance.between(17, 24);
  const second = x < width / 2 ? chance.between(x + 24, width - 8) : chance.between(8, x - 24);
  let bands = '';
  for (let step = 0; step < 4; step += 1) bands += `M${x - 30},${y + 3 + step * 6}h60`;
  const dune = (top: number, bend: number, fill: string) =>
    `<path d='M0,${top}q${width / 4},${bend},${width / 2},0t${width / 2},0V100H0z' fill='${fill}'/>`;
  return `${fall('s', high, low)}${panel(width, 'url(#s)')}${stars(chance, width, 34)}
<mask id='m'><path d='M0,0h${width}v100H0z' fill='#fff'/><path d='${bands}' stroke='#000' stroke-width='1.8'/></mask>
<circle cx='${x}' cy='${y}' r='${size}' fill='${sun}' mask='url(#m)'/>
<circle cx='${second}' cy='${chance.between(16, 34)}' r='${chance.between(5, 9)}' fill='${sun}' opacity='.85'/>
${dune(chance.between(64, 70), chance.between(-14, 14), far)}${dune(chance.between(78, 84), chance.between(-12, 12), near)}`;
}

export function weave(chance: Random, width: number): string {
  const [base, ...threads] = chance.pick([
    ['#e8e2d4', '#7189a6', '#34506b', '#c9a66b'],
    ['#f3d9b1', '#c96f53', '#8c3b3b', '#e3a857'],
    ['#dfe7e3', '#5f8f86', '#2f4f4f', '#d9cf9c'],
    ['#e6dcea', '#8a6fa8', '#4b3b66', '#d98fa5'],
  ] as const);
  const rows = threads.map(() => '');
  for (let y = 5; y < 100; y += 10) {
    const row = chance.between(0, threads.length - 1);
    rows[row] += `M0,${y}h${width}`;
  }
  const columns = ['', ''];
  for (let x = 5; x < width; x += 10) columns[((x - 5) / 10) % 2] += `M${x},0v100`;
  const [warp, weft] = [chance.pick(threads), chance.pick(threads)];
  const lay = (path: string, paint: string, dash: string) =>
    path ? `<path d='${path}' stroke='${paint}' stroke-width='8.6'${dash}/>` : '';
  // Columns alternate over and under the rows: a dash as long as a row is wide, set off by one row in every second column.
  return `<linearGradient id='s'><stop stop-color='${warp}'/><stop offset='.5' stop-color='${base}'/><stop offset='1' stop-color='${weft}'/></linearGradient>
${panel(width, '#2b2622')}${rows.map((path, row) => lay(path, threads[row] ?? base, '')).join('')}
${lay(columns[0] ?? '', 'url(#s)', ` stroke-dasharray='10'`)}${lay(columns[1] ?? '', 'url(#s)', ` stroke-dasharray='10' stroke-dashoffset='10'`)}
<circle cx='${chance.between(20, width - 20)}' cy='${chance.between(20, 80)}' r='${chance.between(14, 26)}' fill='${base}' opacity='.42'/>`;
}

export function comets(chance: Random, width: number, label: string): string {
  const [night, rule, tail] = chance.pick([
    ['#0b132b', '#3a506b', '#6fffe9'],
    ['#1b1725', '#5b4b6b', '#ffc6d9'],
    ['#0d1f22', '#3c6e71', '#f4d58d'],
    ['#10002b', '#5a189a', '#c8b6ff'],
  ] as const);
  const x = chance.between(58, width - 18);
  const y = chance.between(22, 52);
  const [back, up] = [chance.between(44, 56) + width / 2 - 50, chance.between(-26, 30)];
  let rules = '';
  for (let line = 78; line < 98; line += 6) rules += `M10,${line}h${chance.between(30, 80)}`;
  const number = /\d+$/.exec(label)?.[0] ?? '';
  return `${panel(width, night)}${stars(chance, width, 66)}
<linearGradient id='s'><stop stop-color='${tail}' stop-opacity='0'/><stop offset='1' stop-color='${tail}'/></linearGradient>
<ellipse cx='${x - 20}' cy='${y + 4}' rx='${chance.between(40, 60)}' ry='${chance.between(12, 24)}' fill='none' stroke='${rule}' stroke-width='.8' stroke-dasharray='2,3'/>
<path d='M${x},${y - 5}l-${back},${up}L${x},${y + 5}z' fill='url(#s)'/><path d='M${x},${y - 3}l-${back - 16},${up + 12}L${x},${y + 4}z' fill='url(#s)'/>
<circle cx='${x}' cy='${y}' r='9' fill='${tail}' opacity='.3'/><circle cx='${x}' cy='${y}' r='5.4' fill='#fff'/>
${dots(rules, 1.2, rule)}<text x='${width - 8}' y='94' font-family='monospace' font-size='9' fill='${tail}' text-anchor='end'>${number}</text>`;
}

export function kites(chance: Random, width: number): string {
  const [high, low] = chance.pick([
    ['#7cc6fe', '#e8f6ff'],
    ['#ffb88c', '#fff1d6'],
    ['#8f94fb', '#e9defa'],
    ['#5fc9b8', '#effbe6'],
  ] as const);
  const cloth = chance.shuffle(['#ef476f', '#ffd166', '#06a77d', '#118ab2', '#f3722c', '#fdfcdc', '#3d348b']);
  const paint = (index: number) => cloth[index] ?? high;
  let clouds = '';
  for (let x = chance.between(4, 20); x < width; x += chance.between(36, 60))
    clouds += `M${x},${chance.between(14, 88)}h${chance.between(12, 20)}m-10,-4h6`;
  const [wide, tall] = [chance.between(17, 24), chance.between(26, 32)];
  const rise = Math.round(tall * 0.6);
  const [knot, x, y] = [chance.between(6, 10), chance.between(46, 56), chance.between(32, 40)];
  const quarter = (dx: number, dy: number, index: number) => `<path d='M0,0h${dx}L0,${dy}z' fill='${paint(index)}'/>`;
  const tail = `M0,${tall}q${knot + 6},8,0,16t-4,18`;
  const kite = `<g transform='translate(${x},${y})rotate(${chance.between(-24, 24)})'>
<path d='M0,0Q-10,40,-${x - 40},70' fill='none' stroke='#fff' stroke-width='.6'/>${curves(tail, 1.2, paint(4))}
<path d='${tail}' fill='none' stroke='${paint(0)}' stroke-width='6' stroke-dasharray='3,8'/>
${quarter(wide, -rise, 0)}${quarter(-wide, -rise, 1)}${quarter(wide, tall, 2)}${quarter(-wide, tall, 3)}
<circle r='${chance.between(3, 5)}' fill='${paint(5)}'/></g>`;
  return `${fall('s', high, low)}${panel(width, 'url(#s)')}<g opacity='.7'>${dots(clouds, 8, '#fff')}</g>${spread(kite, width)}`;
}
