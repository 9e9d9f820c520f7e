// Calls between the supervisor and a serving process. All calls and replies of one turn of the event loop are sent in one message, because
// a message for each call would cost more than the call itself.

/** One end of a connection to another process. `send` must not throw when the connection has ended. */
export type Link = { send(message: object): void; onMessage(receive: (message: unknown) => void): void };

/** The calls that one side accepts: the input and the output of each, which must be JSON. */
export type CallTable = Readonly<Record<string, { input: unknown; output: unknown }>>;

export type CallHandlers<Calls extends CallTable> = {
  [Name in keyof Calls]: (input: Calls[Name]['input']) => Calls[Name]['output'] | Promise<Calls[Name]['output']>;
};

type SentCall = [id: number, name: string, input: unknown];
type Reply = [id: number, error: string | null, output: unknown];
type Batch = { calls: SentCall[]; replies: Reply[] };
type WaitingCall = { resolve: (output: unknown) => void; reject: (error: Error) => void };

/** `Remote`: the calls of the other side. `Own`: the calls of this side. */
export class Channel<Remote extends CallTable, Own extends CallTable> {
  readonly #link: Link;
  readonly #handlers: CallHandlers<Own>;
  readonly #waiting = new Map<number, WaitingCall>();
  #batch: Batch | null = null;
  #lastId = 0;
  #isClosed = false;

  constructor(link: Link, handlers: CallHandlers<Own>) {
    this.#link = link;
    this.#handlers = handlers;
    link.onMessage((message) => {
      if (isBatch(message)) this.#receive(message);
    });
  }

  /** Rejects if the handler of the other side has failed, or if the channel is closed before the reply. */
  call<Name extends keyof Remote & string>(name: Name, input: Remote[Name]['input']): Promise<Remote[Name]['output']> {
    if (this.#isClosed) return Promise.reject(new Error('the channel is closed'));
    this.#lastId += 1;
    const { promise, resolve, reject } = Promise.withResolvers<Remote[Name]['output']>();
    this.#waiting.set(this.#lastId, { resolve, reject });
    this.#toBatch().calls.push([this.#lastId, name, input]);
    return promise;
  }

  /** Rejects the calls that wait for a reply, and handles no more calls. Called when the other process has ended. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.values()) reject(new Error('the other process has ended'));
    this.#waiting.clear();
  }

  #toBatch(): Batch {
    if (this.#batch) return this.#batch;
    setImmediate(() => {
      const batch = this.#batch;
      this.#batch = null;
      if (batch && !this.#isClosed) this.#link.send(batch);
    });
    return (this.#batch = { calls: [], replies: [] });
  }

  #receive({ calls, replies }: Batch): void {
    for (const [id, error, output] of replies) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === null) waiting?.resolve(output);
      else waiting?.reject(new Error(error));
    }
    if (calls.length === 0) return;
    // A call may depend on a reply in the same batch. For example, a reply gives this process a part of a rate limit window, and a call of
    // `giveBack` asks for the unused rest of this part. So the code that waits for the replies runs before the calls are handled.
    setImmediate(() => {
      for (const call of calls) void this.#handle(call);
    });
  }

  async #handle([id, name, input]: SentCall): Promise<void> {
    if (this.#isClosed) return;
    let reply: Reply;
    try {
      const handler = Object.hasOwn(this.#handlers, name) ? this.#handlers[name] : undefined;
      if (!handler) throw new Error(`there is no call ${name}`);
      reply = [id, null, await handler(input)];
    } catch (error) {
      reply = [id, error instanceof Error ? error.message : String(error), null];
    }
    if (!this.#isClosed) this.#toBatch().replies.push(reply);
  }
}

/** Whether Mercat sent the message. Node sends messages of its own between the processes. */
function isBatch(message: unknown): message is Batch {
  const { calls, replies } = (message ?? {}) as Partial<Record<keyof Batch, unknown>>;
  return Array.isArray(calls) && Array.isArray(replies);
}
