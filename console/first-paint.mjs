// The static HTML of the market page: its header and its title. The browser displays them before the scripts have run. The scripts then
// render shell/header.tsx and market/collections-page.tsx into the same elements. So the HTML here must have the same elements, classes
// and order as these components.

import { texts as market } from './src/market/texts.ts';
import { texts } from './src/texts.ts';

/**
 * These comments enclose the first paint. On all pages but the market, the service removes the comments and the HTML between them
 * (src/server/console.ts).
 */
const START = '<!--first paint of the market-->';
const END = '<!--end of the first paint-->';

const MARK = `<svg class="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><rect width="32" height="32" rx="8" class="mark-ground" /><path d="M7 14.5 9.4 8h13.2l2.4 6.5a3 3 0 0 1-6 0 3 3 0 0 1-6 0 3 3 0 0 1-6 0Z" class="mark-figure" /><path d="M9.5 19.5V24h13v-4.5" class="mark-line" /></svg>`;

const HEADER = `<header class="header"><button type="button" class="skip-link">${texts.shell.skip}</button><a href="./" class="wordmark" aria-label="${texts.name}">${MARK}<span>${texts.name}</span></a><nav class="workplaces" aria-label="${texts.shell.workplaces}"><a href="./" aria-current="page">${texts.shell.market}</a><a href="./shop">${texts.shell.shop}</a><a href="./service">${texts.shell.service}</a></nav></header>`;

const MAIN = `<main id="content" class="content" tabindex="-1"><div class="page market"><div class="page-head"><h1>${market.market.title}</h1><p class="muted from-tablet">${market.market.lead}</p></div></div></main>`;

/** A plugin of Vite that puts the first paint into the page. */
export function firstPaint() {
  return {
    name: 'first-paint',
    transformIndexHtml: (page) =>
      page.replace('<div id="console"></div>', `<div id="console">${START}${HEADER}${MAIN}${END}</div>`),
  };
}
