// A list from which the user chooses one value. The URL contains the chosen value.

import type { Segment } from './segments.tsx';
import { leave } from '../shell/leaving.ts';
import { useLocation } from 'wouter-preact';

type SelectProps<Value extends string> = {
  label: string;
  options: readonly Pick<Segment<Value>, 'value' | 'name'>[];
  value: Value;
  hrefOf: (value: Value) => string;
};

export function Select<Value extends string>({ label, options, value, hrefOf }: SelectProps<Value>) {
  const [, navigate] = useLocation();
  const choose = (chosen: string) => {
    const option = options.find((one) => one.value === chosen);
    if (option) leave(() => navigate(hrefOf(option.value), { replace: true }));
  };
  return (
    <select
      class="input select"
      aria-label={label}
      value={value}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.name}
        </option>
      ))}
    </select>
  );
}
