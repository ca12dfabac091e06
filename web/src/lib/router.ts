import { signal, type ReadonlySignal } from '@preact/signals';

/** The current page. It uses the browser history, so that back, forward and bookmarks work. */
export interface Router {
  readonly path: ReadonlySignal<string>;
  readonly query: ReadonlySignal<URLSearchParams>;
  /** Opens a page with a new history entry and scrolls to the top. */
  readonly go: (to: string) => void;
  /** Changes query parameters without a new history entry. An empty or undefined value deletes the parameter. */
  readonly set: (changes: Readonly<Record<string, string | undefined>>) => void;
}

export function createRouter(window: Window & typeof globalThis): Router {
  const { location, history } = window;
  const path = signal(trimSlash(location.pathname));
  const query = signal(new URLSearchParams(location.search));
  const read = (): void => {
    path.value = trimSlash(location.pathname);
    query.value = new URLSearchParams(location.search);
  };
  const go = (to: string): void => {
    history.pushState(null, '', to);
    read();
    window.scrollTo(0, 0);
  };
  window.addEventListener('popstate', read);
  window.document.addEventListener('click', (event) => {
    const to = internalTarget(event, location.origin);
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  });
  return {
    path,
    query,
    go,
    set(changes) {
      const next = new URLSearchParams(location.search);
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined || value === '') next.delete(name);
        else next.set(name, value);
      }
      const search = next.toString();
      history.replaceState(null, '', location.pathname + (search === '' ? '' : `?${search}`));
      query.value = next;
    },
  };
}

/** Returns the target of a plain click on a link to a dashboard page, or undefined if the browser should handle the click. */
function internalTarget(event: MouseEvent, origin: string): string | undefined {
  if (event.defaultPrevented || event.button !== 0) return undefined;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return undefined;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.target !== '' || link.hasAttribute('download')) return undefined;
  if (link.origin !== origin || link.pathname.startsWith('/api/') || link.hash !== '') return undefined;
  return link.pathname + link.search;
}

function trimSlash(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, '') || '/' : path;
}
