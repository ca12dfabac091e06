import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { quoteShellWord } from '../../../core/lib/quote-shell-word.ts';
import type { Finding } from './finding.ts';

/** The maximum number of files that are checked. */
const MAX_FILES = 500;

/** Checks whether other users could change the configuration or read the state. */
export async function checkFilePermissions(
  { config, stateDir }: { readonly config: string; readonly stateDir: string },
  platform: NodeJS.Platform,
): Promise<readonly Finding[]> {
  // Windows has no permission bits, and folders in the user's profile are private there.
  if (platform === 'win32') return [];
  const findings: Finding[] = [];
  const configMode = await readMode(config);
  if (configMode !== undefined && (configMode & 0o022) !== 0) {
    findings.push({
      check: 'files',
      subject: config,
      status: 'failure',
      message: 'other users can change this file, which decides what programs are started',
      fix: `chmod go-w ${quoteShellWord(config)}`,
      exit: 1,
    });
  }
  for (const file of await findReadableFiles(stateDir)) {
    findings.push({
      check: 'files',
      subject: file,
      status: 'warning',
      message: 'other users can read this file, which may hold secrets',
      fix: `chmod go= ${quoteShellWord(file)}`,
    });
  }
  if (findings.length > 0) return findings;
  return [
    {
      check: 'files',
      subject: stateDir,
      status: 'ok',
      message: 'only you can read and change your files',
    },
  ];
}

/** Returns the files in the state folder that other users can access. Returns none if other users cannot access the folder itself. */
async function findReadableFiles(stateDir: string): Promise<readonly string[]> {
  const mode = await readMode(stateDir);
  if (mode === undefined || (mode & 0o077) === 0) return [];
  const entries = await readdir(stateDir).catch(() => []);
  const open: string[] = [];
  for (const name of entries.slice(0, MAX_FILES)) {
    const file = join(stateDir, name);
    if ((((await readMode(file)) ?? 0) & 0o077) !== 0) open.push(file);
  }
  return open;
}

async function readMode(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mode & 0o777;
  } catch {
    return undefined; // The file does not exist or cannot be accessed.
  }
}
