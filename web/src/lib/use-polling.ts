import { useEffect } from 'preact/hooks';

/** Calls `poll` at once and then periodically, but not while the page is hidden. The next call waits until the previous one has ended. */
export function usePolling(poll: () => Promise<void>, intervalMs: number, subject: string): void {
  useEffect(() => {
    let timer: number | undefined;
    let isStopped = false;
    const run = async (): Promise<void> => {
      if (!document.hidden) await poll();
      if (!isStopped) timer = window.setTimeout(() => void run(), intervalMs);
    };
    void run();
    return () => {
      isStopped = true;
      window.clearTimeout(timer);
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- polling starts again only for another subject
  }, [intervalMs, subject]);
}
