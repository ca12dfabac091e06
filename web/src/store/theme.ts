import { effect, signal, type Signal } from '@preact/signals';

export type ThemeChoice = 'system' | 'light' | 'dark';
export type Theme = Signal<ThemeChoice>;

const KEY = 'trunkline.theme';

/** What the person chose, or what their system says; remembered in this browser. */
export function makeTheme(window: Window): Theme {
  const { documentElement } = window.document;
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const theme = signal<ThemeChoice>(remembered(window));
  const apply = (): void => {
    const isDark = theme.value === 'system' ? dark.matches : theme.value === 'dark';
    documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  };
  dark.addEventListener('change', apply);
  effect(() => {
    apply();
    try {
      window.localStorage.setItem(KEY, theme.value);
    } catch {
      // Best effort: some browsers keep nothing for this page, and the choice then lasts as long as it is open.
    }
  });
  return theme;
}

function remembered(window: Window): ThemeChoice {
  try {
    const value = window.localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}
