import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach } from 'vitest';

import type { AuditEvent } from '../../observability/audit/audit-record.ts';
import type { ChangeAuthor } from './change-author.ts';
import { ServerEditor } from './server-editor.ts';

export const person: ChangeAuthor = { caller: { id: 'cli', via: 'cli', profile: 'default' }, kind: 'person' };
export const program: ChangeAuthor = { ...person, kind: 'program' };
export const model: ChangeAuthor = {
  caller: { id: 'local', via: 'stdio', profile: 'default' },
  kind: 'model',
};

/** A file with comments, odd formatting and secrets. */
export const CONFIG_TEXT = `{
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

/** Creates a configuration file for each test, and records what a ServerEditor reports. */
export function useConfigFile() {
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
    writeFileSync(state.file, CONFIG_TEXT);
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
    editor: (): ServerEditor =>
      new ServerEditor({
        file: state.file,
        version: '1',
        environment: { platform: 'linux', home: '/home/me', env: {}, cwd: '/project' },
        readIdentity: () => ({ files: ['/opt/trunkline/main.js'], addresses: ['127.0.0.1:7332'] }),
        trustDir: join(state.folder, 'state'),
        apply: () => {
          state.applied++;
          return Promise.resolve({ state: 'applied' });
        },
        isApproved: (name) => Promise.resolve(state.approved.includes(name)),
        record: (event) => void state.events.push(event),
        onRemoved: (name) => void state.removed.push(name),
      }),
  };
}
