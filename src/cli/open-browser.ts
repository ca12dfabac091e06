import { startDetached } from './start-detached.ts';

export interface DesktopEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/**
 * Opens a page in the browser that the `BROWSER` variable names, or in the default browser. Returns false if there is no browser, or if the
 * URL is not an HTTP URL. The URL never passes through a shell.
 */
export function openBrowser(url: URL, { env, platform }: DesktopEnvironment): Promise<boolean> {
  const [command, ...args] = findBrowser({ env, platform });
  if (command === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return Promise.resolve(false);
  return startDetached(command, [...args, url.href]);
}

/** Returns the program that opens pages, followed by its arguments. The list is empty if there is no such program. */
export function findBrowser({ env, platform }: DesktopEnvironment): readonly string[] {
  // By convention, BROWSER is a list of commands separated by colons, in which `%s` stands for the URL.
  const named = env['BROWSER']?.split(':')[0]?.trim();
  if (named !== undefined && named !== '') return named.split(/\s+/).filter((word) => word !== '%s');
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  // Without a display, xdg-open fails or opens a text browser inside the terminal.
  return env['DISPLAY'] === undefined && env['WAYLAND_DISPLAY'] === undefined ? [] : ['xdg-open'];
}
