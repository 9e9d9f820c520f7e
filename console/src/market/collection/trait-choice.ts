// The chosen traits in the query of the URL: `trait.Weather=Fog&trait.Weather=Rain`.

const PREFIX = 'trait.';

export function traitParameter(name: string): string {
  return PREFIX + name;
}

/** The chosen values by the name of their trait. A map, because a trait can have the name of a property of every object. */
export type ChosenTraits = ReadonlyMap<string, readonly string[]>;

export function chosenTraits(parameters: URLSearchParams): ChosenTraits {
  const chosen = [...parameters].filter(([name]) => name.startsWith(PREFIX));
  const byName = Map.groupBy(chosen, ([name]) => name.slice(PREFIX.length));
  return new Map([...byName].map(([name, parts]) => [name, parts.map(([, value]) => value)]));
}

/** The changes of the query that remove all chosen traits. */
export function withoutTraits(chosen: ChosenTraits): Record<string, null> {
  return Object.fromEntries([...chosen.keys()].map((name) => [traitParameter(name), null]));
}

/** Adds the value to the chosen values, or removes it if it was chosen. Returns null if no value is chosen any more. */
export function toggleTrait(chosen: readonly string[], value: string): readonly string[] | null {
  const values = chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value];
  return values.length === 0 ? null : values;
}
