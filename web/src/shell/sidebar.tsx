import { Badge } from '../components/badge.tsx';
import { Icon } from '../components/icon.tsx';
import { IconButton } from '../components/icon-button.tsx';
import { Logo } from '../components/logo.tsx';
import { StateDot } from '../components/state-dot.tsx';
import type { ConnectionState } from '../store/event-connection.ts';
import type { ThemeChoice } from '../store/theme.ts';
import { useLoad, useStore } from '../store/use-store.ts';
import { PauseButton } from './pause-button.tsx';
import { pages } from './pages.ts';

/** The navigation with the number of held items, and the state of the connection. */
export function Sidebar() {
  const { router, status, notices, signOut } = useStore();
  useLoad(status);
  const held = status.value.value?.held;
  const heldCount = held === undefined ? 0 : held.servers + held.entries + held.calls;
  return (
    <header class="side">
      <a class="brand" href="/">
        <Logo />
        Trunkline
      </a>
      <nav class="nav" aria-label="Pages">
        <ul>
          {pages.map(({ path, title, icon }) => (
            <li key={path}>
              <a href={path} aria-current={router.path.value === path ? 'page' : undefined}>
                <Icon name={icon} />
                {title}
                {path === '/approvals' && heldCount > 0 && (
                  <Badge kind="warn" class="count">
                    {heldCount}
                    <span class="hidden-text"> held for approval</span>
                  </Badge>
                )}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="side-foot">
        <ConnectionDot />
        <span class="version number">{status.value.value?.version ?? ''}</span>
        <div class="tools">
          <PauseButton />
          <ThemeButton />
          <IconButton
            icon="sign-out"
            label="Sign out"
            onPress={() => void signOut().catch((error: unknown) => notices.showError(error))}
          />
        </div>
      </div>
    </header>
  );
}

const connectionLabels: Readonly<Record<ConnectionState, string>> = {
  off: 'not connected',
  connecting: 'connecting',
  live: 'live',
  lost: 'connection lost',
};

const connectionStates: Readonly<Record<ConnectionState, string>> = {
  off: 'connecting',
  connecting: 'connecting',
  live: 'ready',
  lost: 'failed',
};

function ConnectionDot() {
  const { connection, status } = useStore();
  const state = connection.value;
  if (state === 'live' && status.value.value?.pausedSince !== undefined)
    return <StateDot state="held">paused</StateDot>;
  return <StateDot state={connectionStates[state]}>{connectionLabels[state]}</StateDot>;
}

const nextTheme: Readonly<Record<ThemeChoice, ThemeChoice>> = {
  system: 'light',
  light: 'dark',
  dark: 'system',
};

function ThemeButton() {
  const { theme } = useStore();
  const choice = theme.value;
  return (
    <IconButton
      icon={choice}
      label={`Theme: ${choice}`}
      onPress={() => {
        theme.value = nextTheme[choice];
      }}
    />
  );
}
