import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { removeEntryPage, writeEntryPage } from '../admin/sessions/entry-page.ts';
import { findBrowser } from './open-browser.ts';
import type { DesktopEnvironment } from './open-browser.ts';
import { startDetached } from './start-detached.ts';

const QUERY_TIMEOUT_MS = 2000;

/** `confined`: the browser cannot read files in hidden folders, so nothing was opened. */
type OpenResult = 'opened' | 'no-browser' | 'confined';

/** Opens a dashboard link in the user's browser. The link is passed in a file, because other users can read command lines. */
export async function openDashboardLink(
  link: URL,
  stateDir: string,
  desktop: DesktopEnvironment,
): Promise<OpenResult> {
  const [command, ...args] = findBrowser(desktop);
  if (command === undefined) return 'no-browser';
  if (await isConfined(command, desktop)) return 'confined';
  const page = await writeEntryPage(stateDir, link);
  if (await startDetached(command, [...args, page.href])) return 'opened';
  await removeEntryPage(fileURLToPath(page));
  return 'no-browser';
}

/** Whether the browser is a snap. Snaps cannot read hidden folders, and have their own /tmp and runtime folder. */
async function isConfined(command: string, { platform, env }: DesktopEnvironment): Promise<boolean> {
  if (platform !== 'linux') return false;
  if (command !== 'xdg-open') return command.startsWith('/snap/');
  // A snap's desktop file is named SNAP_PROGRAM.desktop.
  return /^[a-z0-9-]+_[\w.-]+\.desktop$/.test(await findHtmlApplication(env));
}

/** Returns the desktop file of the application that opens HTML. Returns an empty string if it is unknown. */
function findHtmlApplication(env: DesktopEnvironment['env']): Promise<string> {
  return new Promise((resolve) => {
    const options = { env, timeout: QUERY_TIMEOUT_MS, encoding: 'utf8' } as const;
    execFile('xdg-mime', ['query', 'default', 'text/html'], options, (error, stdout) =>
      resolve(error === null ? stdout.trim() : ''),
    );
  });
}
