// The dialog that lists the keyboard shortcuts.

import { Dialog } from '../parts/dialog.tsx';
import { texts } from '../texts.ts';
import './help-dialog.css';

export function HelpDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title={texts.shell.help} isOpen={isOpen} onClose={onClose}>
      <dl class="keys">
        {texts.keys.map(({ keys, meaning }) => (
          <div key={meaning}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
