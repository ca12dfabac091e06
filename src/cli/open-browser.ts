import { startDetached } from './start-detached.ts';

export interface Desktop {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** Opens a page in the person's browser, `BROWSER` first; false where that cannot be tried. No shell sees the address. */
export function openBrowser(url: URL, { env, platform }: Desktop): Promise<boolean> {
  const [command, ...args] = browserFor({ env, platform });
  if (command === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return Promise.resolve(false);
  return startDetached(command, [...args, url.href]);
}

/** The program that opens pages, with its arguments; empty where there is none. */
export function browserFor({ env, platform }: Desktop): readonly string[] {
  const named = env['BROWSER']?.split(':')[0]?.trim();
  if (named !== undefined && named !== '') return named.split(/\s+/).filter((word) => word !== '%s');
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  // Without a display there is no browser to open, and some terminals would open one inside themselves.
  return env['DISPLAY'] === undefined && env['WAYLAND_DISPLAY'] === undefined ? [] : ['xdg-open'];
}
