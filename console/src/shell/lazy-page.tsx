// Pages and parts of pages whose scripts are loaded when they are first displayed.

import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
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
      }, setError);
    };
    useEffect(() => {
      if (!loaded) start();
    }, []);
    if (error !== null) return <ErrorPanel error={error} onRetry={start} />;
    const Loaded = loaded;
    return Loaded ? <Loaded {...props} /> : <Loading />;
  };
}
