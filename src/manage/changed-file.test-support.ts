import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach } from 'vitest';

import type { AuditEvent } from '../observe/audit/audit-record.ts';
import type { ChangedBy } from './changed-by.ts';
import { ServerChanges } from './server-changes.ts';

export const person: ChangedBy = { caller: { id: 'cli', via: 'cli', profile: 'default' }, is: 'person' };
export const program: ChangedBy = { ...person, is: 'program' };
export const model: ChangedBy = { caller: { id: 'local', via: 'stdio', profile: 'default' }, is: 'model' };

/** A file with comments, odd formatting and secrets. */
export const TEXT = `{
  // What I have.
  "mcpServers": {
    /* mine */ "one": { "command": "one-server", "args": ["--token", "hush-hush-1"], "env": { "TOKEN": "hush-hush-2", "MODE": "\${env:MODE}" } }, // keep
    "two": {
      "url": "https://example.com/mcp?api_key=hush-hush-3", // address
      "trust": "manual",
    },
  },
  "log": { "level": "info" } // quiet
}
`;

/** A file of its own for each test, with what was told about changes of it. */
export function changedFile() {
  const state = {
    folder: '',
    file: '',
    events: [] as AuditEvent[],
    applied: 0,
    removed: [] as string[],
    approved: [] as string[],
  };
  beforeEach(() => {
    state.folder = mkdtempSync(join(tmpdir(), 'trunkline-manage-'));
    state.file = join(state.folder, 'config.jsonc');
    writeFileSync(state.file, TEXT);
    [state.events, state.applied, state.removed, state.approved] = [[], 0, [], []];
  });
  afterEach(() => rmSync(state.folder, { recursive: true }));
  return {
    get file(): string {
      return state.file;
    },
    get trustDir(): string {
      return join(state.folder, 'state');
    },
    get events(): readonly AuditEvent[] {
      return state.events;
    },
    get applied(): number {
      return state.applied;
    },
    get removed(): readonly string[] {
      return state.removed;
    },
    approve: (name: string): void => void state.approved.push(name),
    now: (): string => readFileSync(state.file, 'utf8'),
    write: (text: string): void => writeFileSync(state.file, text),
    changes: (): ServerChanges =>
      new ServerChanges({
        file: state.file,
        version: '1',
        places: { platform: 'linux', home: '/home/me', env: {}, cwd: '/work' },
        own: () => ({ files: ['/opt/trunkline/main.js'], addresses: ['127.0.0.1:7332'] }),
        trustDir: join(state.folder, 'state'),
        applied: () => {
          state.applied++;
          return Promise.resolve({ state: 'applied' });
        },
        isApproved: (name) => Promise.resolve(state.approved.includes(name)),
        record: (event) => void state.events.push(event),
        onRemoved: (name) => void state.removed.push(name),
      }),
  };
}
