import { IconButton } from '../parts/icon-button.tsx';
import { useStore } from '../store/use-store.ts';
import type { ThemeChoice } from '../store/theme.ts';

const next: Readonly<Record<ThemeChoice, ThemeChoice>> = { system: 'light', light: 'dark', dark: 'system' };

export function ThemeButton() {
  const { theme } = useStore();
  const choice = theme.value;
  return (
    <IconButton
      icon={choice}
      label={`Colours: ${choice === 'system' ? 'as the system' : choice}`}
      onPress={() => {
        theme.value = next[choice];
      }}
    />
  );
}
