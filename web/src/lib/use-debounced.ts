import { useEffect, useState } from 'preact/hooks';

/** Returns the latest value that stayed unchanged for the given time. Values are compared by their JSON. */
export function useDebounced<Value>(value: Value, ms: number): Value {
  const [debounced, setDebounced] = useState(value);
  const json = JSON.stringify(value);
  useEffect(() => {
    if (json === JSON.stringify(debounced)) return undefined;
    const timer = window.setTimeout(() => setDebounced(value), ms);
    return () => window.clearTimeout(timer);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the JSON represents the value
  }, [json, ms]);
  return debounced;
}
