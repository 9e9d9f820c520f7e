// The ledger of the load: every write that the service has acknowledged. The checks after a fault compare the ledger with the stored rows.

export type StockMovement = {
  /** Recorded as the reason of the adjustment, so that its entry in the log can be found. */
  marker: string;
  delta: number;
};

export type LedgerProduct = {
  id: string;
  name: string;
  isDeleted: boolean;
};

/** An event that an acknowledged write has to cause. */
export type ExpectedEvent = { type: string; id: string; name: string | null };

export class Ledger {
  /** The initial stock of each product whose stock the load adjusts, by product id. */
  readonly initialStock = new Map<string, number>();
  readonly movements = new Map<string, StockMovement[]>();
  readonly products = new Map<string, LedgerProduct>();
  readonly events: ExpectedEvent[] = [];
  /** The most recent acknowledged name of each token, by token id. */
  readonly tokens = new Map<string, string>();

  noteStock(productId: string, stock: number): void {
    this.initialStock.set(productId, stock);
    this.movements.set(productId, []);
  }

  noteMovement(productId: string, movement: StockMovement): void {
    this.movements.get(productId)?.push(movement);
  }

  noteCreated(id: string, name: string): void {
    this.products.set(id, { id, name, isDeleted: false });
    this.events.push({ type: 'product.created', id, name });
  }

  noteRenamed(id: string, name: string): void {
    const product = this.products.get(id);
    if (product) product.name = name;
    this.events.push({ type: 'product.updated', id, name });
  }

  noteDeleted(id: string): void {
    const product = this.products.get(id);
    if (product) product.isDeleted = true;
    this.events.push({ type: 'product.deleted', id, name: null });
  }

  noteTokens(tokens: Iterable<readonly [string, string]>): void {
    for (const [tokenId, name] of tokens) this.tokens.set(tokenId, name);
  }

  /** The number of acknowledged writes. */
  get size(): number {
    const movements = [...this.movements.values()].reduce((sum, { length }) => sum + length, 0);
    return movements + this.events.length + this.tokens.size;
  }
}
