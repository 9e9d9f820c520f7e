// A run of the model against a service: takes the drawn steps on both, and compares everything that is served after each step.

import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { createRandom } from '../../devnet/random.ts';
import { allChecks } from './comparison/all.ts';
import type { Check } from './comparison/check.ts';
import { dataOf, differenceOf } from './comparison/check.ts';
import type { Context } from './comparison/context.ts';
import { StreamCopy } from './doors/copy.ts';
import { toCsv } from './doors/csv.ts';
import { Difference, Unavailable } from './errors.ts';
import type { Outcome } from './rules/market.ts';
import { hasRepeatedRows, Market, toIdentity } from './rules/market.ts';
import type { MarketRecord } from './rules/records.ts';
import { toCollectionId, warningOf } from './rules/records.ts';
import { OrdersDoor } from './doors/orders-door.ts';
import { ServiceDoors } from './doors/service-doors.ts';
import { ANY } from './rules/shop.ts';
import { ShopDoor } from './doors/shop-door.ts';
import type { RestartStep, Step } from './steps.ts';
import { COLLECTION_IDS, START, step, toRecord } from './steps.ts';

/** Between two steps, the clock of the service advances by this time, so that responses of the step before are no longer fresh. */
const STEP_MS = 2_017;
/** A service must agree with the model after this time. Workers copy and merge in the background. */
const PATIENCE_MS = 3_000;
/** However long they take, the workers have run so often before a difference counts. */
const ATTEMPTS_MIN = 6;
/** How often a case is taken again, on an empty database, because a write did not end. */
const TRIES_MAX = 5;
const POLL_MS = 25;
/** How far the clock advances while the run waits for the workers. */
const WAIT_MS = 1_000;
/** After so many steps, and at the end of a case, everything is compared. */
const COMPLETE_EVERY = 100;
/** After the other steps, this many checks are made: at most so many of what the step may have changed, and of the rest. */
const CHECKS = 5;
const TOUCHED_CHECKS = 3;
/** Pages of several sizes, so that lists are cut at other places. */
const PAGE_SIZES = [100, 25, 3, 100, 100, 1, 100];
/** This many checks are made at the same time: a read waits for the database more than it computes. */
const PARALLEL = 8;
const WORKERS = ['catalog', 'expiry', 'activity', 'rarity'];

export type RunOptions = {
  /** Calls `use` with the settings of a service with a new, empty database. */
  withDatabase: (use: (settings: Record<string, string>) => Promise<void>) => Promise<void>;
  seed: number;
  cases: number;
  stepsPerCase: number;
  /** How long a failing run is made smaller. */
  shrinkMs: number;
  patienceMs?: number;
  /** How many processes serve the database, one if absent. Only with PostgreSQL. */
  processes?: number;
  /** The probability that a request to the endpoint of the chain fails, none if absent. */
  faultShare?: number;
  /** Is called with each difference, after how many steps it was found. Then the run goes on. Without it, a run ends with its first difference. */
  onDifference?: (text: string, steps: number) => void;
  onProgress?: (line: string) => void;
};

/** `repeated`: how many cases were taken again, because the service did not respond in time to a write. */
type Counts = { steps: number; responses: number; repeated: number };

export type RunResult = Counts & { failure: string | null };

type Done = { step: Step; commands: string[] };

export async function runModel(options: RunOptions): Promise<RunResult> {
  const counts = newCounts();
  const startedAt = performance.now();
  let cases = 0;
  const property = fc.asyncProperty(
    fc.array(step, { minLength: options.stepsPerCase, maxLength: options.stepsPerCase, size: 'max' }),
    async (steps) => {
      await runSteps(steps, options, counts);
      cases += 1;
      options.onProgress?.(
        `case ${cases} of ${options.cases}, ${counts.steps} steps, ${Math.round((performance.now() - startedAt) / 1_000)} s`,
      );
    },
  );
  const details = await fc.check(property, { seed: options.seed, numRuns: options.cases, endOnFailure: true });
  if (!details.failed) return { ...counts, failure: null };
  if (!(details.errorInstance instanceof Difference)) throw details.errorInstance;
  const [steps = []] = details.counterexample ?? [];
  if (options.shrinkMs === 0) return { ...counts, failure: details.errorInstance.message };
  const small = await shrink(steps, details.errorInstance.message, options);
  return { ...counts, failure: small };
}

function newCounts(): Counts {
  return { steps: 0, responses: 0, repeated: 0 };
}

async function shrink(steps: readonly Step[], first: string, options: RunOptions): Promise<string> {
  const deadline = performance.now() + options.shrinkMs;
  let failure = await failureOf(steps, options);
  if (!failure) return `${first}\n\nthis does not repeat:\n${steps.map((one) => JSON.stringify(one)).join('\n')}`;
  let small = steps.slice(0, failure.taken);
  options.onProgress?.(`a difference after ${failure.taken} steps: ${failure.text.slice(0, 600)}`);
  for (let size = Math.ceil(small.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = small.length - size; at >= 0 && performance.now() < deadline; at -= size) {
      const without = [...small.slice(0, at), ...small.slice(at + size)];
      const found = await failureOf(without, options);
      if (!found) continue;
      failure = found;
      small = without.slice(0, found.taken);
      options.onProgress?.(`${small.length} steps`);
    }
  }
  for (let at = 0; at < small.length; at += 1) {
    for (;;) {
      const one = small[at];
      if (one?.do !== 'import' || one.records.length === 0 || performance.now() > deadline) break;
      let isSmaller = false;
      for (let index = 0; index < one.records.length; index += 1) {
        const without = small.with(at, { ...one, records: one.records.toSpliced(index, 1) });
        const found = await failureOf(without, options);
        if (!found) continue;
        failure = found;
        small = without;
        isSmaller = true;
        break;
      }
      if (!isSmaller) break;
    }
  }
  return `${failure.commands.join('\n')}\n\n${failure.text}`;
}

type Failure = { taken: number; text: string; commands: string[] };

/** Takes the steps with a new service. Null if service and model agree. */
async function failureOf(steps: readonly Step[], options: RunOptions): Promise<Failure | null> {
  const done: Done[] = [];
  try {
    await runSteps(steps, options, newCounts(), done);
    return null;
  } catch (error) {
    if (!(error instanceof Difference)) throw error;
    return { taken: done.length, text: error.message, commands: done.flatMap(({ commands }) => commands) };
  }
}

/** On a busy machine, a write may exceed its deadline. Whether it was made is not known then, so the case begins again with another database. */
async function runSteps(steps: readonly Step[], options: RunOptions, counts: Counts, done: Done[] = []): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    done.length = 0;
    try {
      return await options.withDatabase((settings) => runOn(settings, steps, { options, counts, done }));
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      if (tries === TRIES_MAX) throw new Difference(`in ${tries} runs, the service did not respond: ${error.message}`);
      counts.repeated += 1;
    }
  }
}

async function runOn(
  settings: Record<string, string>,
  steps: readonly Step[],
  { options, counts, done }: { options: RunOptions; counts: Counts; done: Done[] },
): Promise<void> {
  const all = Array.from({ length: options.processes ?? 1 }, (_, index) =>
    index === 0 ? settings : { ...settings, DATA_DIR: temporaryDirectory() },
  );
  const doors = await ServiceDoors.start(all, { now: START, faultShare: options.faultShare ?? 0 });
  try {
    const run = new Run(doors, options.patienceMs ?? PATIENCE_MS);
    for (const [index, one] of steps.entries()) {
      const entry: Done = { step: one, commands: [] };
      done.push(entry);
      counts.steps += 1;
      await run.take(one, entry.commands, { isLast: index === steps.length - 1 }).catch((error: unknown) => {
        if (!options.onDifference || !(error instanceof Difference)) throw error;
        options.onDifference(error.message, counts.steps);
      });
    }
    counts.responses += doors.responses;
  } finally {
    await doors.close();
  }
}

class Run {
  readonly #doors: ServiceDoors;
  readonly #patienceMs: number;
  readonly #market = new Market();
  /** The imports so far: their ids at the service, and their files. */
  readonly #imports: { id: string | null; records: readonly MarketRecord[]; options: ImportOptions }[] = [];
  readonly #copy: StreamCopy;
  readonly #shop: ShopDoor;
  readonly #orders: OrdersDoor;
  /** Brings back the state of the model at the last backup. */
  #backup: (() => Promise<void>) | null = null;
  /** The ids of listings that the model has learnt. */
  readonly #learnt = new Set<string>();
  #turn = 0;
  /** What the present step may have changed: ids of collections, and other names as in `Check`. */
  #touched = new Set<string>();

  constructor(doors: ServiceDoors, patienceMs: number) {
    this.#doors = doors;
    this.#copy = new StreamCopy(doors);
    this.#shop = new ShopDoor(doors);
    this.#orders = new OrdersDoor(doors, this.#market);
    this.#patienceMs = patienceMs;
  }

  async take(one: Step, commands: string[], { isLast }: { isLast: boolean }): Promise<void> {
    this.#turn += 1;
    this.#touched = new Set([one.do]);
    this.#doors.advance(STEP_MS);
    await this.#do(one, commands);
    await this.#compare(isLast || this.#turn % COMPLETE_EVERY === 0 || isRestoring(one));
  }

  async #do(one: Step, commands: string[]): Promise<void> {
    const { now } = this.#doors;
    switch (one.do) {
      case 'import': {
        const { replace, createCollections } = one;
        const records = one.records.map((draft) => toRecord(draft, now));
        return this.#import(records, { through: one.through, replace, createCollections }, commands);
      }
      case 'repeat': {
        const { records, options } = this.#imports[one.of % this.#imports.length] ?? {};
        return records && options ? this.#import(records, options, commands) : undefined;
      }
      case 'undo': {
        const index = this.#imports.length === 0 ? -1 : one.of % this.#imports.length;
        const undone = this.#imports[index];
        if (!undone || undone.id === null) return;
        commands.push(`mercat imports undo ${undone.id}`);
        this.#touch(undone.records);
        const kept = await this.#doors.undo(undone.id);
        const expected = this.#market.undo(index);
        expectSame(`rows that stay after the undo of ${undone.id}`, expected, kept);
        return;
      }
      case 'purge': {
        const id = COLLECTION_IDS[one.place] ?? '';
        commands.push(`mercat collections remove ${id} --purge --yes`);
        this.#touched.add(id);
        await this.#doors.purge(id);
        this.#market.purge(id);
        await this.#doors.runTasks(WORKERS);
        await this.#copy.follow();
        expectSame(`open orders of ${id} in a copy after its removal`, [], this.#copy.of(id));
        return;
      }
      case 'removeSample':
        // Records: "to remove the sample marketplace, mercat sample remove". No record of the run is part of it.
        commands.push('mercat sample remove');
        await this.#doors.operate('sample.remove', {});
        return;
      case 'sign':
      case 'bid':
        this.#touched.add('orders').add(await this.#orders.submit(one, commands));
        return;
      case 'cancel': {
        const id = await this.#orders.cancel(one, commands);
        if (id !== null) this.#touched.add('orders').add(id);
        return;
      }
      case 'mirror': {
        const record = this.#orders.mirror({ ...one, listedAt: new Date(START).toISOString() });
        const options = { through: 'http', replace: false, createCollections: false } as const;
        return record ? this.#import([record], options, commands) : undefined;
      }
      case 'shop':
        return this.#shop.take(one, commands);
      case 'chain':
        commands.push(
          `# the chain replaces ${one.depth} blocks, and ${one.blocks} blocks are mined (test/support/chain/fake), report: ${one.report}`,
        );
        return this.#doors.chain.mine(this.#doors, one);
      case 'trade':
        this.#touched.add('chain');
        return this.#doors.chain.trade(this.#doors, one, commands);
      case 'vendor':
        commands.push(`# the marketplace has ${JSON.stringify(one)} (test/support/replay/opensea.ts)`);
        return this.#doors.vendor.take(this.#doors, one);
      case 'restart':
        return this.#restart(one, commands);
      case 'clock':
        commands.push(`# ${one.minutes} minutes pass`);
        this.#doors.advance(one.minutes * 60_000);
        return;
    }
  }

  async #restart({ data }: RestartStep, commands: string[]): Promise<void> {
    const isOlder = data === 'older' && this.#backup !== null;
    const isRestored = isOlder || data === 'restore';
    const backup = data === 'keep' || data === 'restore' ? 'mercat backup FILE' : '';
    const parts = ['restart', backup, isRestored ? 'mercat restore --replace FILE' : ''].filter((part) => part !== '');
    commands.push(`# ${parts.join(', ')}`);
    await this.#doors.restart({ data: data === 'older' && !isOlder ? 'same' : data });
    if (isOlder) await this.#backup?.();
    if (data === 'keep' || data === 'restore') this.#backup = this.#keep();
    if (!isRestored) return;
    await this.#shop.begin();
    await this.#copy.begin();
  }

  /** Keeps the present state of the model. Calling the result brings it back. */
  #keep(): () => Promise<void> {
    const { chain, vendor } = this.#doors;
    const states = [this.#market, this.#shop, this.#orders].map((one) => one.keep());
    const [imports, chainState, vendorState] = [[...this.#imports], chain.keep(), vendor.keep()];
    return async () => {
      for (const bringBack of states) bringBack();
      this.#imports.splice(0, Infinity, ...imports);
      await chainState(this.#doors);
      await vendorState(this.#doors);
    };
  }

  async #import(records: readonly MarketRecord[], options: ImportOptions, commands: string[]): Promise<void> {
    const { now } = this.#doors;
    if (records.length === 0) {
      // What a step that was taken away leaves behind, so that later steps still undo and repeat the same imports.
      this.#imports.push({ id: null, records, options });
      this.#market.import(records, { ...options, now });
      return;
    }
    this.#touch(records);
    commands.push(toCommand(records, options));
    const { id, counts, rejected, warnings } = await this.#doors.import(records, options.through, options);
    this.#imports.push({ id, records, options });
    const outcomes = this.#market.import(records, { ...options, now });
    // The texts do not say how the earlier ones of several records of one row are counted.
    const isRepeated = hasRepeatedRows(records);
    const shown = (all: Record<string, number>) => (isRepeated ? { ...all, updated: ANY, unchanged: ANY } : all);
    expectSame(`counts of the import ${id} (${rejected.join('; ')})`, shown(toCounts(outcomes)), shown(counts));
    const accepted = records.filter((_, index) => outcomes[index] !== 'refused').map(warningOf);
    for (const code of ['zeroPrice', 'lowBuyerTotal'] as const)
      expectSame(
        `warnings ${code} of the import ${id}`,
        accepted.filter((one) => one === code).length,
        warnings[code]?.count ?? 0,
      );
  }

  #touch(records: readonly MarketRecord[]): void {
    for (const record of records) if (record.kind !== 'rate') this.#touched.add(toCollectionId(record));
  }

  /** Reads the listings whose ids are digests, so that the model knows the ids. */
  async #learnIds(): Promise<void> {
    for (const orderId of this.#copy.orderIds) {
      const [, source] = /^([a-z-]+)_[0-9a-f]{32}$/.exec(orderId) ?? [];
      if (source === undefined || this.#learnt.has(orderId)) continue;
      const { status, body } = await this.#doors.get(`/explore/v1/orders/${orderId}`);
      if (status !== 200) continue;
      const { listing } = dataOf(body) as { listing: Record<string, unknown> };
      const { collectionId, tokenId, mint, seller, price, timestamp } = listing;
      const identity = toIdentity({
        source,
        collectionId: String(collectionId),
        asset: String(tokenId ?? mint),
        seller: String(seller),
        priceRaw: (price as { raw: string }).raw,
        listedAt: Date.parse(String(timestamp)),
      });
      this.#market.learnId(identity, orderId);
      this.#learnt.add(orderId);
    }
  }

  /** Compares until service and model agree, or the patience ends: everything, or some of it. */
  async #compare(isComplete: boolean): Promise<void> {
    const deadline = performance.now() + this.#patienceMs;
    let wanted: ReadonlySet<string> | null = null;
    for (let attempts = 1; ; attempts += 1) {
      if (attempts > 1) await this.#doors.runTasks(WORKERS);
      await this.#copy.follow();
      await this.#learnIds();
      const all = allChecks(this.#context(), { shop: this.#shop, orders: this.#orders });
      const checks: Check[] = wanted
        ? all.filter(({ path }) => wanted?.has(path))
        : isComplete
          ? all
          : this.#choose(all);
      const differences = await differencesOf(checks);
      const errors = this.#doors.takeErrors();
      if (errors.length > 0) throw new Difference(`the service logged an error: ${errors.join('\n')}`);
      if (differences.size === 0) return;
      if (attempts >= ATTEMPTS_MIN && performance.now() > deadline)
        throw new Difference([...differences.values()].join('\n'));
      // What agreed is not read again.
      wanted = new Set(differences.keys());
      await delay(POLL_MS);
      this.#doors.advance(WAIT_MS);
    }
  }

  #context(): Context {
    const reader = { market: this.#market, now: this.#doors.now };
    const limit = PAGE_SIZES[this.#turn % PAGE_SIZES.length] ?? 100;
    return { doors: this.#doors, reader, copy: this.#copy, limit };
  }

  /** Some of the checks of what the step has touched, and some of the others. The same step of the same case chooses the same. */
  #choose(all: readonly Check[]): Check[] {
    const shuffled = createRandom(this.#turn).shuffle(all);
    const isTouched = ({ of }: Check) => of !== null && this.#touched.has(of);
    const touched = shuffled.filter(isTouched).slice(0, TOUCHED_CHECKS);
    return [...touched, ...shuffled.filter((one) => !isTouched(one)).slice(0, CHECKS - touched.length)];
  }
}

/** The differences, by the path of the check. */
async function differencesOf(checks: readonly Check[]): Promise<Map<string, string>> {
  const differences = new Map<string, string>();
  const left = checks.values();
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      for (const check of left) {
        const difference = await differenceOf(check);
        if (difference !== null) differences.set(check.path, difference);
      }
    }),
  );
  return differences;
}

function isRestoring(one: Step): boolean {
  return one.do === 'restart' && one.data !== 'same';
}

type ImportOptions = { through: 'http' | 'socket' | 'csv'; replace: boolean; createCollections: boolean };

function toCounts(outcomes: readonly Outcome[]): Record<string, number> {
  const names: Outcome[] = ['inserted', 'updated', 'unchanged', 'conflict', 'refused'];
  return Object.fromEntries(names.map((name) => [name, outcomes.filter((one) => one === name).length]));
}

function expectSame(what: string, expected: unknown, served: unknown): void {
  const [a, b] = [JSON.stringify(expected), JSON.stringify(served)];
  if (a !== b) throw new Difference(`${what}\n    model:  ${a}\n    served: ${b}`);
}

function strings(options: Record<string, boolean>): Record<string, string> {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)]));
}

/** The command that repeats an import. */
function toCommand(records: readonly MarketRecord[], { through, replace, createCollections }: ImportOptions): string {
  const csv = through === 'csv' ? toCsv(records) : null;
  if (csv) {
    const query = new URLSearchParams({ ...strings({ replace, createCollections }), format: 'csv' });
    return `cat > records.csv <<'END'\n${csv.text}END\ncurl -H "authorization: Bearer $KEY" -H 'content-type: text/csv' --data-binary @records.csv --url-query 'map=${JSON.stringify(csv.map)}' "$URL/intake/v1/records?${query.toString()}"`;
  }
  const lines = records.map((record) => JSON.stringify(record)).join('\n');
  const file = `cat > records.ndjson <<'END'\n${lines}\nEND\n`;
  if (through === 'socket') {
    const options = [replace && ' --replace', createCollections && ' --create-collections'].filter(Boolean).join('');
    return `${file}mercat import records.ndjson${options}`;
  }
  const query = `replace=${replace}&createCollections=${createCollections}`;
  return `${file}curl -H "authorization: Bearer $KEY" -H 'content-type: application/x-ndjson' --data-binary @records.ndjson "$URL/intake/v1/records?${query}"`;
}
