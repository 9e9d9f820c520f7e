// Draws pictures in the styles that show a single figure, such as a creature, a machine or a fruit. Each function returns SVG content that
// is 100 units high, and 100 (token) or 300 (banner) units wide. A banner repeats the figure.

import type { Random } from './random.ts';
import { at } from './random.ts';
import {
  blob,
  curves,
  dot,
  dots,
  verticalGradient,
  mirror,
  background,
  repeatToWidth,
  stars,
  wheel,
} from './drawing.ts';

export function maps(rng: Random, width: number): string {
  const [paper, sea, shore, land, peak] = rng.pick([
    ['#f1e4c6', '#c9d6c3', '#e9d19a', '#b9b26b', '#8a7a4a'],
    ['#efe0c4', '#b8cfd4', '#ecd7a7', '#c79f62', '#96613c'],
    ['#e9e3d3', '#a9c4cf', '#dfd6b4', '#8fae8b', '#567a63'],
  ] as const);
  const red = '#a8322a';
  const level = (scale: number, fill: string) =>
    `<path d='${blob(rng, 26, 40)}' transform='scale(${scale})' fill='${fill}'/>`;
  const [x, y] = [rng.integer(58, 72), rng.integer(28, 44)];
  const island = `<g transform='translate(${rng.integer(44, 54)},${rng.integer(46, 54)})'>
${level(1.05, sea)}${level(0.85, shore)}${level(0.62, land)}${level(0.3, peak)}</g>
<path d='M${rng.integer(8, 26)},${rng.integer(74, 90)}Q${rng.integer(20, 60)},${rng.integer(40, 70)},${x},${y}' fill='none' stroke='${red}' stroke-width='1.6' stroke-dasharray='3,2'/>
<path d='M${x - 4},${y - 4}l8,8m0,-8l-8,8' stroke='${red}' stroke-width='2.4'/>`;
  let grid = '';
  for (let line = 20; line < width; line += width / 5) grid += `M${line},0v100`;
  for (let line = 20; line < 100; line += 20) grid += `M0,${line}h${width}`;
  return `${background(width, paper)}<path d='${grid}' stroke='${peak}' stroke-width='.4' opacity='.5'/>${repeatToWidth(island, width)}
<path d='M${width - 14},5l2,7,7,2,-7,2,-2,7,-2,-7,-7,-2,7,-2z' fill='${peak}'/>`;
}

export function lanterns(rng: Random, width: number, label: string): string {
  const [high, low, paper, glow] = rng.pick([
    ['#1a1033', '#5b2a6e', '#ff8a5c', '#ffd9a0'],
    ['#0c1d36', '#1f5673', '#ffc45c', '#fff0c2'],
    ['#22122b', '#8a2f4f', '#ff6b6b', '#ffd3b5'],
    ['#0e2a28', '#2f6b5a', '#f2e265', '#fdfbd0'],
  ] as const);
  const [hang, half, tall] = [rng.integer(12, 20), rng.integer(15, 20), rng.integer(30, 38)];
  const y = hang + tall / 2;
  const rib = (bend: number) => `M50,${hang}q${bend},${tall / 2},0,${tall}`;
  const lantern = `<circle cx='50' cy='${y}' r='36' fill='${glow}' opacity='.12'/><circle cx='50' cy='${y}' r='27' fill='${glow}' opacity='.18'/>
<path d='M50,0v${hang + tall + 12}' stroke='${glow}' stroke-width='.8'/><ellipse cx='50' cy='${y}' rx='${half}' ry='${tall / 2}' fill='${paper}'/>
<ellipse cx='50' cy='${y}' rx='${half - 7}' ry='${tall / 2 - 6}' fill='${glow}' opacity='.75'/>
<path d='${rib(half)}${rib(-half)}${rib(0)}' fill='none' stroke='${low}' stroke-width='.8' opacity='.6'/>
<path d='M43,${hang + 1}h14M43,${hang + tall - 1}h14' stroke='${low}' stroke-width='3'/>`;
  const size = label.length > 14 ? 8 : 10;
  const name = `<text x='50' y='90' font-family='Georgia,serif' font-size='${size}' fill='#fff' text-anchor='middle'>${escapeText(label)}</text>`;
  return `${verticalGradient('s', high, low)}${background(width, 'url(#s)')}${stars(rng, width, 70)}${repeatToWidth(lantern, width)}${width === 100 ? name : ''}`;
}

export function fruit(rng: Random, width: number): string {
  const [paper, ring] = rng.pick([
    ['#fbf3e4', '#efe0c2'],
    ['#eef4e6', '#dbe8cc'],
    ['#fdeee6', '#f8dccb'],
    ['#eaf2f4', '#d3e4e8'],
  ] as const);
  const [rind, pith, flesh, core] = rng.pick([
    ['#f08a24', '#fde8c8', '#f7a541', '#fff3dc'],
    ['#6a994e', '#eef5dc', '#a7c957', '#f5fbe6'],
    ['#c1121f', '#ffe3e0', '#e5383b', '#fff0ee'],
    ['#7b2d6b', '#f8e1f0', '#a63d8f', '#fdf0f8'],
    ['#e9b824', '#fffbe0', '#f6d743', '#fffdf0'],
  ] as const);
  const wedges = rng.integer(6, 11);
  const slice = `<circle cx='50' cy='54' r='42' fill='${ring}'/><g transform='translate(50,54)rotate(${rng.integer(0, 59)})'>
<circle r='32' fill='${rind}'/><circle r='29' fill='${pith}'/>${wheel(14, 25, wedges, 0.92, flesh)}<circle r='4' fill='${core}'/>
<circle r='10' fill='none' stroke='#5b3a1e' stroke-width='2.6' stroke-linecap='round' pathLength='${wedges}' stroke-dasharray='.1,.9' stroke-dashoffset='-.4'/></g>
<path d='M52,24q${rng.integer(2, 8)},-18,${rng.integer(22, 28)},-14q-6,17,-26,14' fill='#4f772d'/><path d='M51,26q-2,-8,-7,-11' fill='none' stroke='#6b4423' stroke-width='2.4'/>`;
  const dial = `<circle cx='${width - 13}' cy='13' r='7' fill='#2f3e46'/><circle cx='${width - 13 + rng.integer(-5, 5)}' cy='12' r='6' fill='#f6e7b4'/>`;
  return `${background(width, paper)}${repeatToWidth(slice, width)}${dial}`;
}

export function automata(rng: Random, width: number): string {
  const ground = rng.pick(['#f4d35e', '#a1c6ea', '#f2b5a7', '#b8d8ba', '#d9c6ec', '#f0e0c8']);
  const [shell, dark, glow] = rng.pick([
    ['#5c6b73', '#253237', '#9ef0e1'],
    ['#d9dcd6', '#3a5a72', '#ffcf56'],
    ['#b5651d', '#3d2314', '#ffe8a3'],
    ['#7d8cc4', '#2a2d54', '#f9f871'],
    ['#e4572e', '#4a1f14', '#fff1d0'],
  ] as const);
  const round = rng.pick([5, 10, 18]);
  const eyes = rng.pick([
    `${dots('M38,48h.1M62,48h.1', 13, dark)}${dots('M38,48h.1M62,48h.1', 7, glow)}`,
    `${dots('M38,48h24', 13, dark)}${dots(`M${rng.integer(38, 46)},48h10`, 5, glow)}`,
    `${dots('M38,48h.1M62,48h.1', 13, dark)}<path d='M33,48q5,5,10,0m14,0q5,5,10,0' fill='none' stroke='${glow}' stroke-width='2.4'/>`,
    `${dots('M50,47h.1', 20, dark)}${dots('M50,47h.1', 11, glow)}${dots('M52,45h.1', 3, '#fff')}`,
  ]);
  const mouth = rng.pick([
    `<path d='M38,65h24' stroke='${dark}' stroke-width='7' stroke-dasharray='2,2'/>`,
    curves('M42,65q8,5,16,0', 3, dark),
    dots('M43,66h14', 5, dark),
  ]);
  const aerial = rng.pick(['M50,28V14', 'M40,28L34,14M60,28l6,-14', 'M50,28q0,-8,8,-12']);
  const lamps = aerial.startsWith('M40') ? dot(34, 13) + dot(66, 13) : dot(aerial.includes('q') ? 58 : 50, 14);
  const robot = `<path d='M42,74h16v9H42zM22,100q0,-19,20,-19h16q20,0,20,19z' fill='${dark}'/><path d='M28,100q0,-14,16,-14h12q16,0,16,14z' fill='${shell}'/>
${curves(aerial, 2.4, dark)}${dots(lamps, 6, glow)}${dots('M22,50v8M78,50v8', 8, dark)}<rect x='24' y='28' width='52' height='48' rx='${round}' fill='${shell}'/>
${dots('M31,34h38', 4, '#ffffff44')}${eyes}${mouth}${width === 100 ? dots(`M${rng.integer(44, 48)},93h.1m6,0h.1`, 3, glow) : ''}`;
  return `${background(width, ground)}${repeatToWidth(`${dots('M50,52h.1', 92, '#ffffff4d')}${robot}`, width)}`;
}

export function inkblots(rng: Random, width: number): string {
  const paper = rng.pick(['#f5f0e6', '#f7ede2', '#ecf0ee', '#f3eef6']);
  const [ink, wash] = rng.pick([
    ['#1f2041', '#7768ae'],
    ['#14213d', '#3d7ea6'],
    ['#3c1518', '#a44a3f'],
    ['#0b3d2e', '#5c9e7c'],
    ['#2d1e2f', '#b56b8f'],
  ] as const);
  const drop = (x: number, y: number, scale: number, fill: string) =>
    `<path transform='translate(${x},${y})scale(${scale})' d='${blob(rng, 16, 40)}' fill='${fill}'/>`;
  let spots = '';
  for (let spot = 0; spot < (width === 100 ? 4 : 2); spot += 1) spots += dot(rng.integer(6, 38), rng.integer(8, 92));
  const half = `${drop(rng.integer(24, 32), rng.integer(28, 44), 0.75, wash)}${drop(43, 52, 0.8, ink)}${drop(rng.integer(36, 44), rng.integer(70, 78), 0.5, ink)}
${drop(rng.integer(30, 38), rng.integer(18, 28), 0.36, ink)}${dots(spots, 2.4, ink)}`;
  const [x, y, squint] = [rng.integer(38, 43), rng.integer(38, 48), rng.integer(-2, 2)];
  // The eyes are drawn last, because the mirrored half covers part of the first half.
  const eyes = `${dots(dot(x, y) + dot(100 - x, y), 9, paper)}${dots(dot(x + squint, y + 1) + dot(100 - x + squint, y + 1), 4, ink)}`;
  return `${background(width, paper)}${repeatToWidth(mirror(half) + eyes, width)}`;
}

export function stamps(rng: Random, width: number): string {
  const desk = rng.pick(['#bfd7ea', '#e8d6cb', '#cfe0c3', '#d8d2e1']);
  const [high, low, skin] = rng.pick([
    ['#3fa7d6', '#12355b', '#f9c784'],
    ['#2a9d8f', '#0b3c49', '#ffb4a2'],
    ['#7a77b9', '#1f1a4a', '#f4e285'],
    ['#ee8572', '#63326e', '#e9f5db'],
  ] as const);
  const kind = rng.integer(0, 2);
  const [x, y] = [rng.integer(43, 50), rng.integer(42, 50)];
  const creature = at(
    [
      `<path d='M${x - 16},${y}q0,-18,16,-18t16,18z' fill='${skin}'/>${curves(`M${x - 11},${y + 3}q-4,8,1,18M${x - 3},${y + 3}q4,9,-1,22M${x + 5},${y + 3}q-4,9,1,20M${x + 12},${y + 3}q4,8,0,15`, 2.2, skin)}`,
      `<path d='M${x - 20},${y}q18,-22,36,0l12,-10v20l-12,-10q-18,22,-36,0' fill='${skin}'/><path d='M${x - 4},${y - 10}v20m7,-18v16' stroke='${low}' stroke-width='2'/>${dots(dot(x - 11, y - 2), 3.4, low)}`,
      `<path d='M${x},${y - 18}l5,12,13,1,-10,9,4,13,-12,-7,-12,7,4,-13,-10,-9,13,-1z' fill='${skin}' stroke='${skin}' stroke-width='5' stroke-linejoin='round'/>${dots(`${dot(x, y)}m0,-7h.1m6,5h.1m-3,7h.1m-7,0h.1m-3,-7h.1`, 2, low)}`,
    ],
    kind,
  );
  let bubbles = '';
  for (let bubble = 0; bubble < 6; bubble += 1) bubbles += dot(rng.integer(28, 72), rng.integer(24, 60));
  const tilt = rng.integer(-6, 6);
  const value = `<text x='25' y='77' font-family='Georgia,serif' font-size='11' fill='#fff'>${rng.pick([1, 2, 5, 10, 25, 50])}</text>`;
  const stamp = `<g transform='rotate(${tilt},50,50)'><path d='M16,14h68v72H16z' fill='#fffaf0'/><path d='M16,14h68v72H16z' fill='none' stroke='${desk}' stroke-width='4' stroke-linecap='round' stroke-dasharray='.1,6.57'/>
<path d='M22,20h56v60H22z' fill='url(#s)'/>${dots(bubbles, 1.8, '#ffffff88')}${creature}
<path d='M22,74q8,-7,14,0t14,0,14,0,14,0v6H22z' fill='${skin}' opacity='.5'/>${width === 100 ? value : ''}</g>`;

  return `${verticalGradient('s', high, low)}${background(width, desk)}${repeatToWidth(stamp, width)}`;
}

/** Two leaves on each side, behind the drum. */
const FRONDS =
  'M50,60q-16,-44,-44,-36q2,30,44,36q16,-44,44,-36q-2,30,-44,36M50,68q-30,-24,-46,-4q18,20,46,4q30,-24,46,-4q-18,20,-46,4';

export function drummers(rng: Random, width: number): string {
  const [high, low, leaf, wood, bright, hide] = rng.pick([
    ['#12372a', '#0b2118', '#2f6b4f', '#8a4b2a', '#f2a541', '#fbe8c8'],
    ['#28456b', '#16263f', '#3e7a80', '#7b3f61', '#ff8c61', '#ffe3d3'],
    ['#5a2a3d', '#2b131d', '#a3535f', '#b0622f', '#ffd23f', '#fff4d6'],
    ['#cfe3b4', '#8fbf8a', '#4c8b5f', '#5a3d7a', '#f46197', '#fde2ec'],
    ['#f7d9a8', '#e8a36b', '#7c9a4b', '#2f5d6b', '#e4572e', '#fff6e3'],
  ] as const);
  const [top, foot, tall] = [rng.integer(20, 27), rng.integer(12, 19), rng.integer(44, 52)];
  const [left, right, base] = [50 - top, 50 + top, 32 + tall];
  const lace = `M${left + 1},34${'l5,20l5,-18'.repeat(Math.floor((top - 1) / 5))}`;
  const side = `M${left},32Q${left + rng.integer(-4, 8)},58,${50 - foot},${base}h${foot * 2}Q${right - rng.integer(-4, 8)},58,${right},32z`;
  const band = rng.pick(['4,3', '1,3', '8,2', '1,0']);
  const drum = `<path d='${FRONDS}' fill='${leaf}'/><ellipse cx='50' cy='${base + 2}' rx='${foot + 8}' ry='5' fill='#000' opacity='.25'/><path id='b' d='${side}' fill='${wood}'/>
<clipPath id='c'><use href='#b'/></clipPath><g clip-path='url(#c)' fill='none'><path d='M0,62h99M0,72h99' stroke='${bright}' stroke-width='5' stroke-dasharray='${band}'/><path d='${lace}' stroke='${hide}' stroke-width='1.6'/></g>
<ellipse cx='50' cy='32' rx='${top + 2}' ry='9' fill='${bright}'/><ellipse cx='50' cy='31' rx='${top - 1}' ry='6.6' fill='${hide}'/>
${dots(`M${rng.integer(18, 28)},8L44,30M${rng.integer(72, 82)},10L57,32`, 2.6, hide)}${dots('M44,30h.1M57,32h.1', 5, bright)}`;
  return `${verticalGradient('s', high, low)}${background(width, 'url(#s)')}${repeatToWidth(drum, width)}`;
}

export function arcade(rng: Random, width: number): string {
  const [screen, line, first, second] = rng.pick([
    ['#1a1c2c', '#292d48', '#41a6f6', '#f4f4f4'],
    ['#20150f', '#33231a', '#ffcd75', '#ef7d57'],
    ['#0f2417', '#193a26', '#a7f070', '#38b764'],
    ['#2b0f30', '#431a4a', '#ff77a8', '#ffccaa'],
    ['#0d1b2a', '#1b2d44', '#73eff7', '#b13e53'],
  ] as const);
  let body = '';
  let detail = '';
  for (let row = 0; row < 9; row += 1) {
    for (let column = 0; column < 5; column += 1) {
      const inside = row > 0 && row < 8 && column > 1;
      if (!rng.boolean(inside ? 0.82 : 0.38)) continue;
      const pixel = `M${column},${row}h1`;
      if (rng.boolean(0.24)) detail += pixel;
      else body += pixel;
    }
  }
  // `half` has columns 0 to 4 of the nine columns. Its mirror image fills columns 4 to 8, so both have the middle column.
  const half = `<path d='${body}' stroke='${first}'/><path d='${detail}' stroke='${second}'/>`;
  const eyes = `<path d='M2,3h2m1,0h2' stroke='#fff'/><path d='M${rng.pick([2, 3])},3h1m2,0h1' stroke='${screen}'/>`;
  const sprite = `<g transform='translate(14,18)scale(8)' shape-rendering='crispEdges'><g id='h'>${half}</g><use href='#h' transform='matrix(-1,0,0,1,9,0)'/>${eyes}</g>`;
  let scan = '';
  for (let y = 2; y < 100; y += 8) scan += `M0,${y}h${width}`;
  return `${background(width, screen)}<path d='${scan}' stroke='${line}' stroke-width='3'/>${repeatToWidth(sprite, width)}`;
}

export function marbles(rng: Random, width: number): string {
  const ground = rng.pick(['#dfe7e0', '#e9e1d6', '#dde3ee', '#efdfe2']);
  const glass = [
    ['#ffe8a3', '#f4a259', '#8c3b1f'],
    ['#d6f6ff', '#48a9c5', '#12455c'],
    ['#e3ffd9', '#6ab04c', '#1f5a2c'],
    ['#f7dcff', '#a66cc9', '#46206b'],
    ['#ffdede', '#e0566b', '#731d34'],
  ] as const;
  const [pale, mid, deep] = rng.pick(glass);
  const [, swirl, other] = rng.pick(glass);
  const size = rng.integer(27, 34);
  const small = rng.integer(8, 12);
  const x = rng.integer(42, 56);
  const y = 52;
  const curl = (bend: number) => `M-${size},0Q-${bend},-${size},0,0T${size},0`;
  const marble = `<ellipse cx='${x + 4}' cy='${y + size}' rx='${size}' ry='5' fill='#000' opacity='.16'/><circle cx='${x}' cy='${y}' r='${size}' fill='url(#s)'/>
<g transform='translate(${x},${y})rotate(${rng.integer(0, 179)})scale(.86)' fill='none' stroke-linecap='round' opacity='.85'><path d='${curl(rng.integer(4, 16))}' stroke='${swirl}' stroke-width='${rng.integer(6, 10)}'/>
<path d='${curl(rng.integer(14, 26))}' stroke='${other}' stroke-width='3'/><path d='${curl(rng.integer(0, 6))}' stroke='#fff' stroke-width='2'/></g>
<circle cx='${rng.pick([15, 85])}' cy='${y + size - small + 3}' r='${small}' fill='url(#s)'/><ellipse cx='${x - Math.round(size / 3)}' cy='${y - Math.round(size / 2)}' rx='7' ry='4' transform='rotate(-32,${x},${y})' fill='#fff' opacity='.75'/>`;
  return `<radialGradient id='s' cx='.36' cy='.3' r='.8'><stop stop-color='${pale}'/><stop offset='.55' stop-color='${mid}'/><stop offset='1' stop-color='${deep}'/></radialGradient>
${background(width, ground)}${repeatToWidth(marble, width)}`;
}

export function rockpool(rng: Random, width: number): string {
  const [sand, water, deep] = rng.pick([
    ['#e9d8a6', '#94d2bd', '#0a9396'],
    ['#f0d9c0', '#8ecae6', '#3286a8'],
    ['#dcd3c2', '#a3c9a8', '#50808e'],
    ['#f3d5c0', '#b8c0e0', '#6a76b0'],
  ] as const);
  const [shell, stripe, body] = rng.pick([
    ['#f4a261', '#b5541c', '#e76f51'],
    ['#cdb4db', '#7b5ea7', '#f28482'],
    ['#f6bd60', '#a8641a', '#d1495b'],
    ['#fefae0', '#a98467', '#e07a5f'],
    ['#90be6d', '#3f6b35', '#f3722c'],
  ] as const);
  const flip = rng.boolean(0.5) ? ` transform='matrix(-1,0,0,1,100,0)'` : '';
  const [lean, gaze] = [rng.integer(-8, 8), rng.integer(26, 32)];
  let pebbles = '';
  for (let x = 6; x < 100; x += width === 100 ? 14 : 50) pebbles += dot(x, rng.integer(88, 97));
  const crab = `<ellipse cx='50' cy='56' rx='44' ry='36' fill='${water}'/><ellipse cx='50' cy='60' rx='36' ry='27' fill='${deep}' opacity='.55'/>${dots(pebbles, 7, '#00000022')}
<g${flip}>${dots('M36,72l-8,10M44,75l-5,11M54,76v11M62,75l5,10', 4, body)}<path d='M22,70q2,-18,22,-18h18q8,14,-4,23q-24,8,-36,-5' fill='${body}'/>
<g transform='rotate(${lean},60,56)'><path d='M40,68q-6,-30,18,-38q30,-2,28,26q-4,20,-26,19z' fill='${shell}'/>
<path d='M44,66q-2,-24,16,-29t20,15q0,16,-15,16t-12,-13q3,-8,10,-5' fill='none' stroke='${stripe}' stroke-width='${rng.integer(2, 5)}' stroke-linecap='round'/></g>
${dots(`M30,60L${gaze},44M38,58L${gaze + 11},42`, 2.4, body)}${dots(dot(gaze, 43) + dot(gaze + 11, 41), 8, '#fff')}${dots(dot(gaze - 1, 43) + dot(gaze + 10, 41), 4, '#22223b')}
<path d='M24,72q-14,-2,-12,-14q5,2,6,6q1,-6,6,-7q6,8,0,15' fill='${body}'/></g>`;
  return `${background(width, sand)}${repeatToWidth(crab, width)}`;
}

export function owls(rng: Random, width: number): string {
  const ground = rng.pick(['#2f3e46', '#f2e9e4', '#cad2c5', '#3d405b', '#ffe5d9']);
  const [light, mid, dark, bill] = rng.pick([
    ['#f4d6a0', '#d9a05b', '#a86b32', '#e4572e'],
    ['#cfe8ef', '#7fb7c9', '#3f7d94', '#f4a259'],
    ['#f3c6d3', '#d98aa3', '#a3506f', '#f6bd60'],
    ['#dfe8c0', '#a5bd6b', '#64803a', '#d1603d'],
    ['#ded6f0', '#a594cc', '#665394', '#f2a541'],
  ] as const);
  const ear = rng.integer(8, 16);
  const wing = rng.integer(10, 18);
  const pupil = rng.integer(5, 8);
  // Each facet has its own shade, like folded paper, so the two halves are not mirror images.
  const facet = (points: string, fill: string) => `<path d='M${points}z' fill='${fill}'/>`;
  const owl = `${facet(`24,46L${wing},84l18,6l10,-30`, dark)}${facet(`76,46L${100 - wing},84l-18,6l-10,-30`, mid)}${facet('26,40L50,56V94L30,84', mid)}${facet('74,40L50,56V94l20,-10', dark)}
${facet('50,56L38,70l12,24l12,-24', light)}${facet(`26,40L22,${ear}l16,14h12V58`, light)}${facet(`74,40L78,${ear}L62,${ear + 14}H50V58`, mid)}${facet(`22,${ear}l16,14l-12,16`, dark)}${facet(`78,${ear}l-16,14l12,16`, dark)}
${dots('M38,40h.1M62,40h.1', 19, '#fffdf5')}${dots('M38,40h.1M62,40h.1', pupil + 4, bill)}${dots('M38,40h.1M62,40h.1', pupil, '#20202a')}${facet('50,44l-5,5l5,10l5,-10', bill)}
${dots(`M42,95h.1m5,0h.1m6,0h.1m5,0h.1`, 4, bill)}`;
  return `${background(width, ground)}${repeatToWidth(`${dots('M50,48h.1', 80, `${light}40`)}${owl}`, width)}`;
}

/** Escapes the characters that are special in SVG text. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
