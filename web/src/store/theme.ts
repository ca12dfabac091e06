import { effect, signal, type Signal } from '@preact/signals';

export type ThemeChoice = 'system' | 'light' | 'dark';
export type Theme = Signal<ThemeChoice>;

const STORAGE_KEY = 'trunkline.theme';

/** Creates the signal for the user's theme, applies it to the page and stores it in this browser. `system` follows the system. */
export function createTheme(window: Window): Theme {
  const { documentElement } = window.document;
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const theme = signal<ThemeChoice>(readChoice(window));
  const apply = (): void => {
    const isDark = theme.value === 'system' ? dark.matches : theme.value === 'dark';
    documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  };
  dark.addEventListener('change', apply);
  effect(() => {
    apply();
    try {
      window.localStorage.setItem(STORAGE_KEY, theme.value);
    } catch {
      // Best effort: without storage, the choice lasts until the page is closed.
    }
  });
  return theme;
}

function readChoice(window: Window): ThemeChoice {
  try {
    const value = window.localStorage.getItem(STORAGE_KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}
