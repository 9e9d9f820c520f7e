// Reads the first output of a program that a measurement has started, and stops the program.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** The first text that the program writes. Rejects if the program ends without output. */
export function readFirstOutput(program: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    program.stdout?.once('data', (data: Buffer) => resolve(data.toString()));
    program.once('error', reject);
    program.once('close', (code, signal) => reject(new Error(`the program ended without output (${code ?? signal})`)));
  });
}

/** The URL of the service that the program starts. Rejects if the program ends without writing it. */
export function readServiceUrl(program: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let written = '';
    program.stdout?.on('data', (data: Buffer) => {
      written += data.toString();
      const url = /serves on (http:\S+)\n/.exec(written)?.[1];
      if (url !== undefined) resolve(url);
    });
    program.once('error', reject);
    program.once('close', (code, signal) =>
      reject(new Error(`the service ended before it served (${code ?? signal})`)),
    );
  });
}

/** Stops the program with SIGTERM, and waits for its end. Does nothing if it has ended. */
export async function stopProgram(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const exited = once(program, 'exit');
  program.kill('SIGTERM');
  await exited;
}
