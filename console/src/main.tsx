// Starts the console.

import { render } from 'preact';
import './style/console.css';
import { App, startReading } from './app.tsx';
import { copyExactAmounts } from './parts/price.tsx';
import { applyTheme } from './shell/theme.ts';
import './style/workplaces.css';

/** The longest wait for the first paint. A tab in the background does not paint. */
const PAINT_MAX_MS = 300;

applyTheme();
startReading(location);
copyExactAmounts();
const root = document.getElementById('console');
if (root) {
  const start = () => render(<App />, root);
  if (root.firstElementChild) void afterPaint().then(start);
  else start();
}

/** Resolves when the browser has painted the content of the served page. Rendering the components earlier would delay this paint. */
function afterPaint(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, PAINT_MAX_MS);
    requestAnimationFrame(() => setTimeout(resolve));
  });
}
