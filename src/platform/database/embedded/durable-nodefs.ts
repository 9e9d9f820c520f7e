// The file system of the embedded database: PGlite's Node file system with a working fsync. In PGlite 0.5.16, fsync does nothing and
// reports success. Here a failed fsync is reported to PostgreSQL.

import { fsyncSync } from 'node:fs';
import type { postgresMod } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

export type PostgresModule = postgresMod.PostgresMod;

/** Emscripten's number of EIO. PostgreSQL panics after every failed fsync, whatever the error number is. */
const EIO = 29;

type NodeStream = { nfd?: number };
type NodeFsModule = {
  NODEFS: { stream_ops: { fsync?: (stream: NodeStream) => number } };
  FS: { ErrnoError: new (errno: number) => Error };
};

export class DurableNodeFS extends NodeFS {
  readonly #onLoaded: (module: PostgresModule) => void;

  /** `onLoaded` receives the engine's WebAssembly module before PostgreSQL's main function runs. */
  constructor(dir: string, onLoaded: (module: PostgresModule) => void) {
    super(dir);
    this.#onLoaded = onLoaded;
  }

  override async init(...args: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...args);
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addFsync] } };
  }

  override async initialSyncFs(): Promise<void> {
    await super.initialSyncFs();
    if (this.pg === undefined) throw new Error('the file system was synchronised before it was initialised');
    this.#onLoaded(this.pg.Module);
  }
}

function addFsync(module: unknown): void {
  const { NODEFS, FS } = module as NodeFsModule;
  NODEFS.stream_ops.fsync = ({ nfd }) => {
    try {
      if (nfd === undefined) throw new Error('fsync of a file that is not open');
      fsyncSync(nfd);
      return 0;
    } catch (error) {
      throw Object.assign(new FS.ErrnoError(EIO), { cause: error });
    }
  };
}
