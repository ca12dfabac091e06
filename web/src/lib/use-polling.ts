import { useEffect } from 'preact/hooks';

/** Does something now and again, never twice at once, and not while nobody looks at the page. */
export function usePolling(act: () => Promise<void>, everyMs: number, subject: string): void {
  useEffect(() => {
    let timer: number | undefined;
    let isOver = false;
    const turn = async (): Promise<void> => {
      if (!document.hidden) await act();
      if (!isOver) timer = window.setTimeout(() => void turn(), everyMs);
    };
    void turn();
    return () => {
      isOver = true;
      window.clearTimeout(timer);
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- it begins anew with another subject alone
  }, [everyMs, subject]);
}
