// Starts the console.

import { render } from 'preact';
import { App } from './app.tsx';
import { copyExactAmounts } from './parts/price.tsx';
import { applyTheme } from './shell/theme.ts';

applyTheme();
copyExactAmounts();
const root = document.getElementById('console');
if (root) render(<App />, root);
