// Keeps the state of a page in the query of its URL.

import { useLocation, useSearchParams } from 'wouter-preact';

export type UrlState = {
  get: (name: string) => string | null;
  parameters: URLSearchParams;
  /**
   * The link to this page with some parameters changed. A parameter with the value null is removed. For a list, the link has the parameter
   * once for each element.
   */
  href: (changes: Readonly<Record<string, string | readonly string[] | null>>) => string;
};

export function useUrlState(): UrlState {
  const [path] = useLocation();
  const [parameters] = useSearchParams();
  return {
    get: (name) => parameters.get(name),
    parameters,
    href: (changes) => {
      const changed = new URLSearchParams(parameters);
      for (const [name, value] of Object.entries(changes)) {
        changed.delete(name);
        for (const one of value === null ? [] : [value].flat()) changed.append(name, one);
      }
      const query = changed.toString();
      return query === '' ? path : `${path}?${query}`;
    },
  };
}

/** Returns `value` if it is in `values`, or else the first of `values`. */
export function oneOf<Value extends string>(values: readonly [Value, ...Value[]], value: string | null): Value {
  return values.find((one) => one === value) ?? values[0];
}
