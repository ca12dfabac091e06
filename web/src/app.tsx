import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { Access } from './pages/access/access.tsx';
import { Activity } from './pages/activity/activity.tsx';
import { Approvals } from './pages/approvals/approvals.tsx';
import { Overview } from './pages/overview/overview.tsx';
import { Servers } from './pages/servers/servers.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { Tools } from './pages/tools/tools.tsx';
import { NoticeHost } from './parts/overlay/notice-host.tsx';
import { QuestionHost } from './parts/overlay/question-host.tsx';
import { PageHead } from './parts/page/page-head.tsx';
import { PauseBanner } from './shell/pause-banner.tsx';
import { Side } from './shell/side.tsx';
import { pages } from './shell/pages.ts';
import { useStore } from './store/use-store.ts';

export function App() {
  const { session } = useStore();
  if (session.value === 'unknown') return null;
  return (
    <>
      {session.value === 'out' ? <SignIn /> : <Shell />}
      <NoticeHost />
      <QuestionHost />
    </>
  );
}

function Shell() {
  const { router, link } = useStore();
  const main = useRef<HTMLElement>(null);
  const path = router.path.value;
  // One tool is a page of its own, though its path is that of all.
  const tool = path === '/tools' ? router.query.value.get('tool') : null;
  const isFirst = useRef(true);
  useEffect(() => {
    const title = pages.find((page) => page.path === path)?.title;
    document.title = title === undefined ? 'Trunkline' : `${title} – Trunkline`;
    // Whoever uses a screen reader or the keyboard goes on at the new page, not in the middle of the old one.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [path, tool]);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Side />
      <div>
        {link.value === 'lost' && (
          <p class="banner" role="status">
            The connection to the gateway is lost. What you see may be old; it comes back by itself.
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
    case '/activity':
      return <Activity />;
    case '/access':
      return <Access />;
    default:
      return (
        <>
          <PageHead title="There is no such page" />
          <p>
            <a href="/">Go to the overview</a>
          </p>
        </>
      );
  }
}
