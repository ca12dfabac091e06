import { useEffect, useMemo } from 'preact/hooks';

import { createResource, type Resource } from './resource.ts';

/** Creates a resource for one component and loads it. When the subject changes, creates and loads a new resource. */
export function useResource<Value>(request: () => Promise<Value>, subject: string): Resource<Value> {
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the subject identifies the request
  const resource = useMemo(() => createResource(request), [subject]);
  useEffect(() => void resource.load(), [resource]);
  return resource;
}
