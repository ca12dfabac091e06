import { useEffect, useState } from 'preact/hooks';

const NARROW_QUERY = '(max-width: 760px)';

/** Returns whether the page is as narrow as on a phone. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => window.matchMedia(NARROW_QUERY).matches);
  useEffect(() => {
    const query = window.matchMedia(NARROW_QUERY);
    const read = (): void => setNarrow(query.matches);
    query.addEventListener('change', read);
    return () => query.removeEventListener('change', read);
  }, []);
  return isNarrow;
}
