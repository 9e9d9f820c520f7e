// The chosen traits in the query of the URL: `trait.Weather=Fog&trait.Weather=Rain`.

const PREFIX = 'trait.';

export function traitParameter(name: string): string {
  return PREFIX + name;
}

/** The chosen values by the name of their trait. */
export function chosenTraits(parameters: URLSearchParams): Record<string, string[]> {
  const chosen: Record<string, string[]> = {};
  for (const [name, value] of parameters) {
    if (name.startsWith(PREFIX)) (chosen[name.slice(PREFIX.length)] ??= []).push(value);
  }
  return chosen;
}

/** Adds the value to the chosen values, or removes it if it was chosen. Returns null if no value is chosen any more. */
export function toggleTrait(chosen: readonly string[], value: string): readonly string[] | null {
  const values = chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value];
  return values.length === 0 ? null : values;
}
