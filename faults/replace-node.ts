// Replaces a node behind a balancer by another version, as docs/deploying.md describes it.

import type { Platform } from './platform.ts';

/** Resolves when the balancer sends requests to the new process. */
export async function replaceNode({ balancer, nodes }: Platform, index: number, root: string): Promise<void> {
  const node = nodes[index];
  if (!node) throw new Error(`there is no node ${index}`);
  await balancer.drain(index);
  await node.end('SIGTERM');
  node.root = root;
  node.launch();
  await balancer.resume(index);
  await balancer.chosen(index);
}
