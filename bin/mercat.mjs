#!/usr/bin/env node
// Runs src/main.ts. If the Node that runs this file is too old, this file starts the Node that the project pins.
import { spawn } from 'node:child_process';
import module from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 26;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const main = new URL('../src/main.ts', import.meta.url);

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) {
  // The cache is in node_modules, because only users who may change the program can write there. If this process cannot write there, it
  // caches nothing.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/mercat', import.meta.url)));
  await import(main.href);
} else startPinned(findPinned());

/** The Node that npm installed for this platform, or null. */
function findPinned() {
  const { platform, arch } = process;
  const [system, program] = platform === 'win32' ? ['win', 'node.exe'] : [platform, 'node'];
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node';
  try {
    const manifest = module.createRequire(import.meta.url).resolve(`${prefix}-${system}-${arch}/package.json`);
    return path.join(path.dirname(manifest), 'bin', program);
  } catch {
    return null;
  }
}

function startPinned(program) {
  if (program === null) {
    console.error(
      `mercat: Node ${NODE_MAJOR_MIN} or newer is needed, and this is ${process.version}. ` +
        'Run "npm ci" in the folder of mercat to install a newer Node there, or update Node.',
    );
    process.exit(1);
  }
  // The options of Node itself are not passed on, because the pinned Node may not have the options of an older Node.
  const child = spawn(program, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`mercat: ${program} cannot be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    // Ends by the same signal, so that the caller sees what ended the child.
    for (const name of SIGNALS) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}
