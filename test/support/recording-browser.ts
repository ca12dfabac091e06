import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { temporaryFolder } from './test-run.ts';

/** A browser that only records its arguments. */
export interface RecordingBrowser {
  /** The folder of the program, for PATH. */
  readonly folder: string;
  readonly program: string;
  /** Returns the arguments of each start. */
  openedPages(): readonly string[];
}

export function createRecordingBrowser(name = 'browser'): RecordingBrowser {
  const folder = temporaryFolder('browser');
  const program = join(folder, name);
  const file = join(folder, 'told');
  writeFileSync(file, '');
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$*" >> '${file}'\n`, { mode: 0o755 });
  return { folder, program, openedPages: () => readFileSync(file, 'utf8').split('\n').slice(0, -1) };
}

/** Returns the URL to which an opened page redirects. */
export function redirectTargetOf(page: string): string {
  const text = readFileSync(fileURLToPath(page), 'utf8');
  const address = /content="0;url=([^"]+)"/.exec(text)?.[1];
  if (address === undefined) throw new Error(`This page does not redirect: ${text}`);
  return address.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}
