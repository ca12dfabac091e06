import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { Button } from './components/button.tsx';
import { ConfirmDialog } from './components/overlay/confirm-dialog.tsx';
import { NoticeList } from './components/overlay/notice-list.tsx';
import { PageHead } from './components/page/page-head.tsx';
import { formatTime } from './lib/format.ts';
import { Access } from './pages/access/access.tsx';
import { Activity } from './pages/activity/activity.tsx';
import { Approvals } from './pages/approvals/approvals.tsx';
import { Clients } from './pages/clients/clients.tsx';
import { Overview } from './pages/overview/overview.tsx';
import { Servers } from './pages/servers/servers.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { Tools } from './pages/tools/tools.tsx';
import { pages } from './shell/pages.ts';
import { Sidebar } from './shell/sidebar.tsx';
import { resumeCalls } from './store/resume-calls.ts';
import { useStore } from './store/use-store.ts';

export function App() {
  const { session } = useStore();
  if (session.value === 'unknown') return null;
  return (
    <>
      {session.value === 'signed-out' ? <SignIn /> : <Shell />}
      <NoticeList />
      <ConfirmDialog />
    </>
  );
}

function Shell() {
  const { router, connection } = useStore();
  const main = useRef<HTMLElement>(null);
  const path = router.path.value;
  // The details of a tool count as a page of their own, although they have the path of the tool list.
  const tool = path === '/tools' ? router.query.value.get('tool') : null;
  const isFirstPage = useRef(true);
  useEffect(() => {
    const title = pages.find((page) => page.path === path)?.title;
    document.title = title === undefined ? 'Trunkline' : `${title} – Trunkline`;
    // Screen reader and keyboard users continue at the beginning of the new page.
    if (!isFirstPage.current) main.current?.focus();
    isFirstPage.current = false;
  }, [path, tool]);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Sidebar />
      <div>
        {connection.value === 'lost' && (
          <p class="banner" role="status">
            The connection to the gateway was lost. This page may be out of date. It reconnects automatically.
          </p>
        )}
        <PauseBanner />
        <main class="page" id="main" tabIndex={-1} ref={main}>
          {pageAt(path)}
        </main>
      </div>
    </div>
  );
}

function PauseBanner() {
  const store = useStore();
  const since = store.status.value.value?.pausedSince;
  if (since === undefined) return null;
  return (
    <div class="banner" role="status">
      <p>Paused since {formatTime(since)}: every call is refused. Clients still see the tools.</p>
      <Button isSmall label="Resume calls" onPress={async () => resumeCalls(store)}>
        Resume
      </Button>
    </div>
  );
}

function pageAt(path: string): ComponentChildren {
  switch (path) {
    case '/':
      return <Overview />;
    case '/servers':
      return <Servers />;
    case '/tools':
      return <Tools />;
    case '/approvals':
      return <Approvals />;
    case '/clients':
      return <Clients />;
    case '/activity':
      return <Activity />;
    case '/access':
      return <Access />;
    default:
      return (
        <>
          <PageHead title="Page not found" />
          <p>
            <a href="/">Go to the overview</a>
          </p>
        </>
      );
  }
}
