import { useEffect, useState } from 'preact/hooks';

/** A value once it has not changed for a moment; compared by what it says. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  const words = JSON.stringify(value);
  useEffect(() => {
    if (words === JSON.stringify(settled)) return undefined;
    const timer = window.setTimeout(() => setSettled(value), ms);
    return () => window.clearTimeout(timer);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- its words are the value
  }, [words, ms]);
  return settled;
}
