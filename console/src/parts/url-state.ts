// The state of a page that stands in the query of its URL.

import { useLocation, useSearchParams } from 'wouter-preact';

export type UrlState = {
  get: (name: string) => string | null;
  /** The link to this page with some parameters changed. Null removes a parameter. */
  href: (changes: Readonly<Record<string, string | null>>) => string;
};

export function useUrlState(): UrlState {
  const [path] = useLocation();
  const [parameters] = useSearchParams();
  return {
    get: (name) => parameters.get(name),
    href: (changes) => {
      const changed = new URLSearchParams(parameters);
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) changed.delete(name);
        else changed.set(name, value);
      }
      const query = changed.toString();
      return query === '' ? path : `${path}?${query}`;
    },
  };
}

/** The value if it is one of `values`, or else the first of them. */
export function oneOf<Value extends string>(values: readonly [Value, ...Value[]], value: string | null): Value {
  return values.find((one) => one === value) ?? values[0];
}
