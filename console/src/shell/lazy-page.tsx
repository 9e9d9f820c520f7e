// Loads the scripts of pages, and of parts of pages, when they are first displayed. If a script cannot be loaded because the service does
// not respond, the script is loaded when the service responds again.

import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { lostSince, noteLost } from './connection.tsx';
import { useStore } from './store.ts';
import { MercatError } from '../../../client/src/market.ts';
import { queries } from '../data/client.ts';
import { ErrorPanel, PageSkeleton, PartSkeleton } from '../parts/states.tsx';

export function lazyPage(load: () => Promise<() => VNode>): () => VNode {
  const Page = lazy<object>(load, PageSkeleton);
  return () => <Page />;
}

export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>): (props: Props) => VNode {
  return lazy(load, PartSkeleton);
}

function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Loading: () => VNode,
): (props: Props) => VNode {
  let loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props) {
    const [, setState] = useState(0);
    const [error, setError] = useState<unknown>(null);
    const start = () => {
      setError(null);
      load().then((component) => {
        loaded = component;
        setState((count) => count + 1);
      }, fail);
    };
    const fail = (cause: unknown) => {
      setError(new MercatError('network_error', 'The script of this part could not be loaded', { cause }));
      noteLost(queries);
    };
    const isLost = useStore(lostSince) !== null;
    useEffect(() => {
      if (!loaded && !(isLost && error !== null)) start();
    }, [isLost]);
    if (error !== null && !loaded) return <ErrorPanel error={error} onRetry={start} />;
    const Loaded = loaded;
    return Loaded ? <Loaded {...props} /> : <Loading />;
  };
}
