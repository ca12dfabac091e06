import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';

import { Problem } from '../api/problem.ts';
import type { Resource } from './resource.ts';
import type { Store } from './store.ts';

export const StoreContext = createContext<Store | undefined>(undefined);

export function useStore(): Store {
  const store = useContext(StoreContext);
  if (store === undefined) throw new Problem({ message: 'A part that needs the store is outside of it.' });
  return store;
}

/** Loads what a page shows when the page appears; the values are read from the resources. */
export function useLoaded(...resources: readonly Pick<Resource<unknown>, 'load'>[]): void {
  useEffect(() => {
    for (const each of resources) void each.load();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- resources live as long as the store
  }, []);
}
