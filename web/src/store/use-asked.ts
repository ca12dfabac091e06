import { useEffect, useMemo } from 'preact/hooks';

import { resource, type Resource } from './resource.ts';

/** An answer that only one place shows; asked for when the place appears, and anew with another subject. */
export function useAsked<Value>(ask: () => Promise<Value>, subject: string): Resource<Value> {
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the subject says what is asked for
  const asked = useMemo(() => resource(ask), [subject]);
  useEffect(() => void asked.load(), [asked]);
  return asked;
}
