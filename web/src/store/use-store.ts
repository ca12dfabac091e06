import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';

import { Problem } from '../api/problem.ts';
import type { Resource } from './resource.ts';
import type { Store } from './store.ts';

export const StoreContext = createContext<Store | undefined>(undefined);

export function useStore(): Store {
  const store = useContext(StoreContext);
  if (store === undefined) throw new Problem({ message: 'The component is not inside a StoreContext.' });
  return store;
}

/** Loads resources when the component is mounted. The component reads the values from the resources themselves. */
export function useLoad(...resources: readonly Pick<Resource<unknown>, 'load'>[]): void {
  useEffect(() => {
    for (const resource of resources) void resource.load();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- resources exist as long as the store
  }, []);
}
