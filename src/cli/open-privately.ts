import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { removeEntryPage, writeEntryPage } from '../attach/entry-page.ts';
import { browserFor } from './open-browser.ts';
import type { Desktop } from './open-browser.ts';
import { startDetached } from './start-detached.ts';

const ANSWER_WITHIN_MS = 2000;

/** `confined` is a browser that may not read files of hidden folders, so that nothing was opened. */
type Opening = 'opened' | 'no-browser' | 'confined';

/** Opens a link of the dashboard in the person's browser, with nothing of it on a command line, where others on this machine could read it. */
export async function openPrivately(link: URL, stateDir: string, desktop: Desktop): Promise<Opening> {
  const [command, ...args] = browserFor(desktop);
  if (command === undefined) return 'no-browser';
  if (await isConfined(command, desktop)) return 'confined';
  const page = await writeEntryPage(stateDir, link);
  if (await startDetached(command, [...args, page.href])) return 'opened';
  await removeEntryPage(fileURLToPath(page));
  return 'no-browser';
}

/** Browsers of snaps see no hidden folder of the home, and neither /tmp nor the runtime folder as others do. */
async function isConfined(command: string, { platform, env }: Desktop): Promise<boolean> {
  if (platform !== 'linux') return false;
  if (command !== 'xdg-open') return command.startsWith('/snap/');
  // Desktop files of snaps are named after the snap and its program.
  return /^[a-z0-9-]+_[\w.-]+\.desktop$/.test(await opensPages(env));
}

/** The desktop file of what opens HTML; empty where nobody knows. */
function opensPages(env: Desktop['env']): Promise<string> {
  return new Promise((resolve) => {
    const options = { env, timeout: ANSWER_WITHIN_MS, encoding: 'utf8' } as const;
    execFile('xdg-mime', ['query', 'default', 'text/html'], options, (error, stdout) =>
      resolve(error === null ? stdout.trim() : ''),
    );
  });
}
