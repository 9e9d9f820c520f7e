// The fields of forms. The label is above the input, and the hint is below it. An error of the field replaces the hint. The first field of a form with
// an error gets the focus.

import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

type FieldProps = { label: string; hint?: string | undefined; error?: string | undefined };

const INVALID = '[aria-invalid=true]';

type Described = { id: string; 'aria-describedby': string; 'aria-invalid': boolean };

function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & { children: (described: Described) => ComponentChildren }) {
  const id = useId();
  const noteId = `${id}-note`;
  const field = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (error === undefined) return;
    const own = field.current?.querySelector<HTMLElement>(INVALID);
    if (own && own.closest('form')?.querySelector(INVALID) === own) own.focus();
  }, [error]);
  return (
    <div ref={field} class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': noteId, 'aria-invalid': error !== undefined })}
      <p id={noteId} class={error === undefined ? 'field-hint' : 'field-error'}>
        {error ?? hint}
      </p>
    </div>
  );
}

type TextFieldProps = FieldProps & {
  name: string;
  value: string;
  onChange: (value: string) => void;
  type?: 'text' | 'password' | 'url' | 'datetime-local';
  inputMode?: 'text' | 'numeric' | 'decimal' | 'url';
  isRequired?: boolean;
  isDisabled?: boolean;
  isMono?: boolean;
  lengthMax?: number;
};

export function TextField({ name, value, onChange, type = 'text', inputMode = 'text', ...props }: TextFieldProps) {
  return (
    <Field {...props}>
      {(described) => (
        <input
          {...described}
          class={props.isMono ? 'input mono' : 'input'}
          type={type}
          inputMode={inputMode}
          name={name}
          value={value}
          required={props.isRequired ?? false}
          disabled={props.isDisabled ?? false}
          {...(props.lengthMax !== undefined && { maxLength: props.lengthMax })}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type TextAreaProps = FieldProps & {
  name: string;
  value: string;
  onChange: (value: string) => void;
  rows: number;
  isDisabled?: boolean;
};

export function TextArea({ name, value, onChange, rows, isDisabled = false, ...props }: TextAreaProps) {
  return (
    <Field {...props}>
      {(described) => (
        <textarea
          {...described}
          class="input"
          name={name}
          rows={rows}
          value={value}
          disabled={isDisabled}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type ChoiceProps<Value extends string> = {
  label: string;
  name: string;
  value: Value;
  options: readonly { value: Value; name: string }[];
  onChange: (value: Value) => void;
  isDisabled?: boolean;
};

/** A group of radio buttons. */
export function Choice<Value extends string>({
  label,
  name,
  value,
  options,
  onChange,
  isDisabled = false,
}: ChoiceProps<Value>) {
  return (
    <fieldset class="field choice" disabled={isDisabled}>
      <legend>{label}</legend>
      <div class="choice-options">
        {options.map((option) => (
          <label key={option.value} class="choice-option">
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span>{option.name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

type CheckboxProps = {
  label: string;
  hint?: string;
  name: string;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
  isDisabled?: boolean;
};

export function Checkbox({ label, hint, name, isChecked, onChange, isDisabled = false }: CheckboxProps) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        name={name}
        checked={isChecked}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span class="field-hint">{hint}</span>}
      </span>
    </label>
  );
}
