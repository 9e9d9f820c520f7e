// Calls between the supervisor and a serving process.

/** One end of a connection to another process. `send` must not throw when the connection has ended. */
export type Link = { send(message: object): void; onMessage(receive: (message: unknown) => void): void };

/** The calls that one side accepts: the input and the output of each, which must be JSON. */
export type CallTable = Readonly<Record<string, { input: unknown; output: unknown }>>;

export type CallHandlers<Calls extends CallTable> = {
  [Name in keyof Calls]: (input: Calls[Name]['input']) => Calls[Name]['output'] | Promise<Calls[Name]['output']>;
};

type SentCall = [id: number, name: string, input: unknown];
type Reply = [id: number, error: string | null, output: unknown];
type Message = { call: SentCall } | { reply: Reply };
type WaitingCall = { resolve: (output: unknown) => void; reject: (error: Error) => void };

/** `Remote`: the calls of the other side. `Own`: the calls of this side. */
export class Channel<Remote extends CallTable, Own extends CallTable> {
  readonly #link: Link;
  readonly #handlers: CallHandlers<Own>;
  readonly #waiting = new Map<number, WaitingCall>();
  #lastId = 0;
  #isClosed = false;

  constructor(link: Link, handlers: CallHandlers<Own>) {
    this.#link = link;
    this.#handlers = handlers;
    link.onMessage((message) => {
      if (!isMessage(message)) return;
      if ('call' in message) void this.#handle(message.call);
      else this.#settle(message.reply);
    });
  }

  /** Rejects if the handler of the other side has failed, or if the channel is closed before the reply. */
  call<Name extends keyof Remote & string>(name: Name, input: Remote[Name]['input']): Promise<Remote[Name]['output']> {
    if (this.#isClosed) return Promise.reject(new Error('the channel is closed'));
    this.#lastId += 1;
    const { promise, resolve, reject } = Promise.withResolvers<Remote[Name]['output']>();
    this.#waiting.set(this.#lastId, { resolve, reject });
    this.#send({ call: [this.#lastId, name, input] });
    return promise;
  }

  /** Rejects the calls that wait for a reply, and handles no more calls. Called when the other process has ended. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.values()) reject(new Error('the other process has ended'));
    this.#waiting.clear();
  }

  #send(message: Message): void {
    this.#link.send(message);
  }

  #settle([id, error, output]: Reply): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === null) waiting?.resolve(output);
    else waiting?.reject(new Error(error));
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
    if (!this.#isClosed) this.#send({ reply });
  }
}

/** Whether Mercat sent the message. Node sends messages of its own between the processes. */
function isMessage(message: unknown): message is Message {
  const { call, reply } = (message ?? {}) as Partial<Record<'call' | 'reply', unknown>>;
  return Array.isArray(call) || Array.isArray(reply);
}
