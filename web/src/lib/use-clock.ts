import { useEffect, useState } from 'preact/hooks';

/** The time, as often as said; for what counts down before one's eyes. */
export function useClock(everyMs = 1000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
