import type { MenuItem, TrayAction } from './menu.ts';
import type { Look } from './state.ts';

/** What is shown now. */
export interface Shown {
  readonly look: Look;
  /** The look in words. */
  readonly title: string;
  readonly menu: readonly MenuItem[];
}

/** An icon with a menu on somebody's desktop; the one seam between what the tray says and how a desktop shows it. */
export interface TrayIcon extends AsyncDisposable {
  show(shown: Shown): void;
  /** Resolves when the desktop is gone, or the program that draws the icon. */
  readonly gone: Promise<void>;
}

export type OnChosen = (action: TrayAction) => void;
