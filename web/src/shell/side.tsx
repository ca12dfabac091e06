import { Badge } from '../parts/badge.tsx';
import { Icon } from '../parts/icon.tsx';
import { IconButton } from '../parts/icon-button.tsx';
import { Mark } from '../parts/mark.tsx';
import type { LinkState } from '../store/live.ts';
import { useLoaded, useStore } from '../store/use-store.ts';
import { StateDot } from '../parts/state-dot.tsx';
import { pages } from './pages.ts';
import { ThemeButton } from './theme-button.tsx';

const linkWords: Readonly<Record<LinkState, string>> = {
  off: 'not connected',
  connecting: 'connecting',
  live: 'live',
  lost: 'connection lost',
};

const dots: Readonly<Record<LinkState, string>> = {
  off: 'connecting',
  connecting: 'connecting',
  live: 'ready',
  lost: 'failed',
};

/** Where one can go, how much waits there, and whether what is shown is fresh. */
export function Side() {
  const { router, status, link, notices, signOut } = useStore();
  useLoaded(status);
  const held = status.value.value?.held;
  const waiting = held === undefined ? 0 : held.servers + held.entries + held.calls;
  const state = link.value;
  const isPaused = state === 'live' && status.value.value?.pausedSince !== undefined;
  return (
    <header class="side">
      <a class="brand" href="/">
        <Mark />
        Trunkline
      </a>
      <nav class="nav" aria-label="Pages">
        <ul>
          {pages.map(({ path, title, icon }) => (
            <li key={path}>
              <a href={path} {...(router.path.value === path && { 'aria-current': 'page' })}>
                <Icon name={icon} />
                {title}
                {path === '/approvals' && waiting > 0 && (
                  <Badge kind="warn" class="count">
                    {waiting}
                    <span class="hidden-text"> waiting</span>
                  </Badge>
                )}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="side-foot">
        <StateDot state={isPaused ? 'held' : dots[state]}>{isPaused ? 'paused' : linkWords[state]}</StateDot>
        <span class="version number">{status.value.value?.version ?? ''}</span>
        <div class="tools">
          <ThemeButton />
          <IconButton
            icon="leave"
            label="Sign out"
            onPress={() => void signOut().catch((error: unknown) => notices.fail(error))}
          />
        </div>
      </div>
    </header>
  );
}
