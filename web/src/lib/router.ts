import { signal, type ReadonlySignal } from '@preact/signals';

/** Where the person is; history paths, so that back, forward and bookmarks do what one expects. */
export interface Router {
  readonly path: ReadonlySignal<string>;
  readonly query: ReadonlySignal<URLSearchParams>;
  readonly go: (to: string) => void;
  /** Changes parts of the query in place, so that filters survive a reload; empty and undefined delete. */
  readonly set: (changes: Readonly<Record<string, string | undefined>>) => void;
}

export function makeRouter(window: Window & typeof globalThis): Router {
  const { location, history } = window;
  const path = signal(normal(location.pathname));
  const query = signal(new URLSearchParams(location.search));
  const read = (): void => {
    path.value = normal(location.pathname);
    query.value = new URLSearchParams(location.search);
  };
  const go = (to: string): void => {
    history.pushState(null, '', to);
    read();
    window.scrollTo(0, 0);
  };
  window.addEventListener('popstate', read);
  window.document.addEventListener('click', (event) => {
    const to = ownLink(event, location.origin);
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

/** Where a plain click on a link of ours leads; undefined for what the browser does itself. */
function ownLink(event: MouseEvent, origin: string): string | undefined {
  if (event.defaultPrevented || event.button !== 0) return undefined;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return undefined;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.target !== '' || link.hasAttribute('download')) return undefined;
  if (link.origin !== origin || link.pathname.startsWith('/api/') || link.hash !== '') return undefined;
  return link.pathname + link.search;
}

/** Without the slash at the end. */
function normal(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, '') || '/' : path;
}
