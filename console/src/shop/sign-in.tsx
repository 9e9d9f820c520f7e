// The form in which a reader signs in to a shop with an API key.

import { useState } from 'preact/hooks';
import { describeError } from '../data/errors.ts';
import { useSaving } from '../data/use-saving.ts';
import { TextField } from '../parts/field.tsx';
import { usePageTitle } from '../shell/shell.tsx';
import { useStore } from '../shell/store.ts';
import { texts } from './texts.ts';
import { isKeyRejected, isUnauthorized, signIn } from './session.ts';

export function SignIn() {
  usePageTitle(texts.title);
  const [key, setKey] = useState('');
  const [invalid, setInvalid] = useState<string | undefined>(undefined);
  const isEnded = useStore(isKeyRejected);

  const {
    save: check,
    isSaving: isChecking,
    error: reason,
  } = useSaving(async (typed: string) => {
    if ((await signIn(typed)) === null) setInvalid(texts.signIn.noScope);
  });
  const submit = () => {
    const trimmed = key.trim();
    // The key is sent in a header, where only visible ASCII characters are allowed.
    const canBeSent = /^[!-~]+$/.test(trimmed);
    setInvalid(canBeSent ? undefined : trimmed === '' ? texts.signIn.none : texts.signIn.wrong);
    if (canBeSent) void check(trimmed);
  };
  const failure = reason === null ? undefined : isUnauthorized(reason) ? texts.signIn.wrong : describeError(reason);

  return (
    <form
      class="panel sign-in"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>{texts.signIn.title}</h2>
      {isEnded && (
        <p class="note note-warn" role="alert">
          {texts.signIn.ended}
        </p>
      )}
      <TextField
        label={texts.signIn.key}
        hint={texts.signIn.hint}
        error={invalid ?? failure}
        name="key"
        type="password"
        value={key}
        isMono
        isRequired
        onChange={setKey}
      />
      <button type="submit" class="button button-primary" disabled={isChecking}>
        {isChecking ? texts.signIn.checking : texts.signIn.button}
      </button>
      <div class="sign-in-help">
        <p class="muted">{texts.signIn.noKey}</p>
        <pre class="commands">{texts.signIn.commands.join('\n')}</pre>
      </div>
    </form>
  );
}
