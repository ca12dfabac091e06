import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { shellWord } from '../../../lib/shell-word.ts';
import type { Finding } from './finding.ts';

const MAX_FILES = 500;

/** Whether others on this machine could change what we start, or read what we remember. */
export async function fileFindings(
  { config, stateDir }: { readonly config: string; readonly stateDir: string },
  platform: NodeJS.Platform,
): Promise<readonly Finding[]> {
  // Windows has no such bits; its folders in the user's profile are private.
  if (platform === 'win32') return [];
  const findings: Finding[] = [];
  const configMode = await modeOf(config);
  if (configMode !== undefined && (configMode & 0o022) !== 0) {
    findings.push({
      check: 'files',
      subject: config,
      status: 'failure',
      message: 'others can change this file, and it says which programs are started',
      fix: `chmod go-w ${shellWord(config)}`,
      exit: 1,
    });
  }
  for (const file of await readable(stateDir)) {
    findings.push({
      check: 'files',
      subject: file,
      status: 'warning',
      message: 'others can read what is remembered here',
      fix: `chmod go= ${shellWord(file)}`,
    });
  }
  if (findings.length > 0) return findings;
  return [
    {
      check: 'files',
      subject: stateDir,
      status: 'ok',
      message: 'only you can read and change what is yours',
    },
  ];
}

/** What others can reach in the state folder; nothing where the folder itself is closed to them. */
async function readable(stateDir: string): Promise<readonly string[]> {
  const mode = await modeOf(stateDir);
  if (mode === undefined || (mode & 0o077) === 0) return [];
  const entries = await readdir(stateDir).catch(() => []);
  const open: string[] = [];
  for (const name of entries.slice(0, MAX_FILES)) {
    const file = join(stateDir, name);
    if ((((await modeOf(file)) ?? 0) & 0o077) !== 0) open.push(file);
  }
  return open;
}

async function modeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mode & 0o777;
  } catch {
    return undefined; // What is not there is open to nobody.
  }
}
