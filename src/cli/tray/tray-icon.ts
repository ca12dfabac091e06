import type { MenuItem, TrayAction } from './tray-menu.ts';
import type { IconState } from './tray-state.ts';

/** Everything that a desktop displays for the tray. */
export interface IconContent {
  readonly state: IconState;
  /** Describes the state in words, for the tooltip and for screen readers. */
  readonly title: string;
  readonly menu: readonly MenuItem[];
}

/** An icon with a menu on a desktop. This interface separates the content of the tray from the way a desktop displays it. */
export interface TrayIcon extends AsyncDisposable {
  show(content: IconContent): void;
  /** Resolves when the desktop session or the program that draws the icon has ended. */
  readonly closed: Promise<void>;
}

/** Called when the user chooses a menu item. */
export type ActionListener = (action: TrayAction) => void;
