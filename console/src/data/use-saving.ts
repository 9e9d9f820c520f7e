// Sends a change to the service. Every change of the console goes through this hook, so that an outage shows the banner, and a key that the
// service rejects ends the session (data/client.ts, shop/session.ts).

import { useMutation } from '@tanstack/preact-query';

export type Saving<Input> = {
  /** Sends the change. The promise never fails: `error` has the reason. */
  save: (input: Input) => Promise<void>;
  isSaving: boolean;
  /** The reason why the last change failed. Null if it succeeded, or while it is being sent. */
  error: unknown;
  reset: () => void;
};

export function useSaving<Input = void>(send: (input: Input) => Promise<unknown>): Saving<Input> {
  const mutation = useMutation({ mutationFn: send, networkMode: 'always', retry: false });
  return {
    save: async (input) => {
      await mutation.mutateAsync(input).catch(() => undefined);
    },
    isSaving: mutation.isPending,
    error: mutation.error,
    reset: mutation.reset,
  };
}
