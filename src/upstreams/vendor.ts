// Defines a vendor: a marketplace, an indexer or another service that tasks read. All code for one vendor is in its folder, and registry.ts
// lists the vendors.

import type { Setting, SettingTable, ValueOf } from '../core/setting.ts';
import { readSettings } from '../core/setting.ts';
import type { Task } from '../tasks/task.ts';
import type { UpstreamContext } from './context.ts';
import type { RecordedFormat } from './recorded-format.ts';
import type { UpstreamPace } from './upstream-client.ts';

/** `S`: the values of the vendor's settings. `E`: the values of an enabled vendor, for example with a key that is not null. */
export type VendorDefinition<S extends object, E extends object = S> = {
  /** Lower case, with hyphens: `magic-eden`. */
  name: string;
  settings: SettingTable<S>;
  /** Null when the settings are not sufficient to read the vendor. The vendor then has no tasks and no probes. */
  enable: (settings: S) => E | null;
  /** Set if the vendor has its own names for collections. Otherwise collections are requested by their contract. */
  collectionName?: CollectionName;
  /** Requests with which `mercat doctor` checks the vendor. */
  probes?: (settings: E) => readonly Probe[];
  /** Recorded responses that `mercat import` reads. */
  formats?: readonly RecordedFormat[];
  /** Imports the module of the tasks when it is called, so that commands that run no tasks do not load it. */
  createTasks: (context: UpstreamContext, settings: E, pace: UpstreamPace) => Promise<readonly Task[]>;
};

/** How the vendor's name of a collection appears in `mercat collections add` and `mercat collections list`. */
export type CollectionName = {
  /** The option of `mercat collections add`, and the field of the operation behind it: `opensea`. */
  option: string;
  /** The placeholder of the value in help: `SLUG`. */
  placeholder: string;
  /** The line of help: `its slug at OpenSea`. */
  meaning: string;
  /** The field of `mercat collections list --json`: `openseaSlug`. */
  listedAs: string;
};

/** One small request that shows whether a vendor can be reached and accepts its key. */
export type Probe = {
  name: string;
  url: string;
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** The settings to check when the probe fails, in words: `OPENSEA_URL and OPENSEA_API_KEY`. */
  settings: string;
  /** True when the service works without the vendor, so that a failure is only a warning. */
  isOptional?: true;
};

export type Vendor = {
  readonly name: string;
  readonly settings: readonly Setting<unknown>[];
  readonly collectionName: CollectionName | null;
  readonly formats: readonly RecordedFormat[];
  configure(valueOf: ValueOf): ConfiguredVendor;
};

export type ConfiguredVendor = {
  readonly name: string;
  readonly collectionName: CollectionName | null;
  readonly isEnabled: boolean;
  probes(): readonly Probe[];
  createTasks(context: UpstreamContext, pace: UpstreamPace): Promise<readonly Task[]>;
};

/** In the order of the vendors. Tests set another `pace`. */
export async function createVendorTasks(
  vendors: readonly ConfiguredVendor[],
  context: UpstreamContext,
  pace: UpstreamPace = {},
): Promise<Task[]> {
  const tasks = await Promise.all(vendors.map((vendor) => vendor.createTasks(context, pace)));
  return tasks.flat();
}

/** The type `Vendor` hides the types of the settings, so that all vendors fit in one list. */
export function defineVendor<S extends object, E extends object = S>(definition: VendorDefinition<S, E>): Vendor {
  const { name, settings, collectionName = null, formats = [] } = definition;
  return {
    name,
    settings: Object.values<Setting<unknown>>(settings),
    collectionName,
    formats,
    configure: (valueOf) => new VendorWithSettings(definition, readSettings(settings, valueOf)),
  };
}

class VendorWithSettings<S extends object, E extends object> implements ConfiguredVendor {
  readonly name: string;
  readonly collectionName: CollectionName | null;
  readonly #definition: VendorDefinition<S, E>;
  readonly #settings: E | null;

  constructor(definition: VendorDefinition<S, E>, settings: S) {
    this.name = definition.name;
    this.collectionName = definition.collectionName ?? null;
    this.#definition = definition;
    this.#settings = definition.enable(settings);
  }

  get isEnabled(): boolean {
    return this.#settings !== null;
  }

  probes(): readonly Probe[] {
    return this.#settings === null ? [] : (this.#definition.probes?.(this.#settings) ?? []);
  }

  async createTasks(context: UpstreamContext, pace: UpstreamPace): Promise<readonly Task[]> {
    return this.#settings === null ? [] : this.#definition.createTasks(context, this.#settings, pace);
  }
}
