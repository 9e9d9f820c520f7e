// The form in which a reader signs in to a shop with an API key.

import { useState } from 'preact/hooks';
import { describeError } from '../data/errors.ts';
import { TextField } from '../parts/field.tsx';
import { useStore } from '../shell/store.ts';
import { texts } from '../texts.ts';
import { isKeyRejected, isUnauthorized, signIn } from './session.ts';

export function SignIn() {
  const [key, setKey] = useState('');
  const [error, setError] = useState<string | undefined>(undefined);
  const [isChecking, setChecking] = useState(false);
  const isEnded = useStore(isKeyRejected);

  const submit = async () => {
    const trimmed = key.trim();
    // The key is sent in a header, where only visible ASCII characters are allowed.
    if (!/^[!-~]+$/.test(trimmed)) {
      setError(texts.shop.signIn.wrong);
      return;
    }
    setChecking(true);
    setError(undefined);
    try {
      if ((await signIn(trimmed)) === null) setError(texts.shop.signIn.noScope);
    } catch (reason) {
      setError(isUnauthorized(reason) ? texts.shop.signIn.wrong : describeError(reason));
    } finally {
      setChecking(false);
    }
  };

  return (
    <form
      class="panel sign-in"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h2>{texts.shop.signIn.title}</h2>
      {isEnded && (
        <p class="note note-warn" role="alert">
          {texts.shop.signIn.ended}
        </p>
      )}
      <TextField
        label={texts.shop.signIn.key}
        hint={texts.shop.signIn.hint}
        error={error}
        name="key"
        type="password"
        value={key}
        isMono
        isRequired
        onChange={setKey}
      />
      <button type="submit" class="button button-primary" disabled={isChecking}>
        {isChecking ? texts.shop.signIn.checking : texts.shop.signIn.button}
      </button>
      <div class="sign-in-help">
        <p class="muted">{texts.shop.signIn.noKey}</p>
        <pre class="commands" tabIndex={0}>
          {texts.shop.signIn.commands.join('\n')}
        </pre>
      </div>
    </form>
  );
}
