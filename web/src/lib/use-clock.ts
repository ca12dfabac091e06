import { useEffect, useState } from 'preact/hooks';

/** Returns the current time and updates it periodically, for countdowns. */
export function useClock(intervalMs = 1000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
}
