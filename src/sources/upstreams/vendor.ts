// Defines a vendor: a marketplace, an indexer or another service from which tasks read. All code for one vendor is in its folder, and
// registry.ts lists the vendors.

import type { Setting, SettingTable, ValueOf } from '../../platform/core/setting.ts';
import { readSettings } from '../../platform/core/setting.ts';
import type { Task } from '../../platform/tasks/task.ts';
import type { UpstreamContext } from './context.ts';
import type { RecordedFormat } from './recorded-format.ts';
import type { UpstreamPace } from './upstream-client.ts';

/**
 * `S`: the values of the vendor's settings. `E`: the values of the settings if the vendor is enabled. For example, the API key is then not
 * null.
 */
export type VendorDefinition<S extends object, E extends object = S> = {
  /** Lower case, with hyphens: `magic-eden`. */
  name: string;
  settings: SettingTable<S>;
  /** Returns null if the settings are not sufficient to read from the vendor. The vendor then has no tasks and no probes. */
  enable: (settings: S) => E | null;
  /** Set if the vendor has its own names for collections. Otherwise collections are requested by their contract. */
  collectionName?: CollectionName;
  /** Requests with which `mercat doctor` checks the vendor. */
  probes?: (settings: E) => readonly Probe[];
  /** The formats of recorded responses that `mercat import` can read. */
  formats?: readonly RecordedFormat[];
  /** Must import the module of the tasks only when this function is called, so that commands without tasks do not load the module. */
  createTasks: (context: UpstreamContext, settings: E, pace: UpstreamPace) => Promise<readonly Task[]>;
};

/** How the vendor's name of a collection appears in `mercat collections add` and `mercat collections list`. */
export type CollectionName = {
  /** The option of `mercat collections add`, such as `opensea`. The input of the operation `collections.add` has a field of the same name. */
  option: string;
  /** The placeholder for the value of the option in the help, such as `SLUG`. */
  placeholder: string;
  /** The description of the option in the help, such as `its slug at OpenSea`. */
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

/** Creates the tasks of all vendors, in the order of the vendors. Only tests set `pace`. */
export async function createVendorTasks(
  vendors: readonly ConfiguredVendor[],
  context: UpstreamContext,
  pace: UpstreamPace = {},
): Promise<Task[]> {
  const tasks = await Promise.all(vendors.map((vendor) => vendor.createTasks(context, pace)));
  return tasks.flat();
}

/** Makes a vendor from its definition. The type `Vendor` hides the types of the settings, so that one list can hold all vendors. */
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
