// Shows a new secret of a webhook. The service does not return this secret again.

import { CopyButton } from '../../parts/copy-button.tsx';
import { texts } from '../texts.ts';

export function SecretPanel({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <section class="panel secret" role="status">
      <h2>{texts.webhook.secretTitle}</h2>
      <p class="muted">{texts.webhook.secretText}</p>
      <p class="secret-value">
        <code class="mono">{secret}</code>
        <CopyButton text={secret} label={texts.webhook.secret} />
      </p>
      <button type="button" class="button" onClick={onDone}>
        {texts.webhook.secretDone}
      </button>
    </section>
  );
}
