import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomicSync } from '../../core/lib/write-file-atomic-sync.ts';

/** The clients whose `clientInfo.name` is known, by the id that `connect` uses. */
const CLIENT_NAMES: readonly { readonly id: string; readonly names: RegExp }[] = [
  { id: 'claude-code', names: /^claude[- ]code\b/i },
  { id: 'claude-desktop', names: /^claude-ai\b/i },
  { id: 'codex', names: /^codex-mcp-client\b/i },
  { id: 'copilot-cli', names: /^copilot-cli\b/i },
  { id: 'crush', names: /^crush\b/i },
  { id: 'cursor', names: /^cursor(?:-vscode)?\b/i },
  { id: 'gemini-cli', names: /^gemini-cli\b/i },
  { id: 'kilo', names: /^kilo\b/i },
  { id: 'opencode', names: /^opencode\b/i },
  { id: 'vscode', names: /^visual[- ]studio[- ]code\b/i },
  { id: 'windsurf', names: /^windsurf\b/i },
];

/** A client that reconnects often is recorded again only after this time. */
const RECORD_INTERVAL_MS = 60_000;

/** Whether the connections of a client are recorded, because its name is known. */
export function isClientRecorded(id: string): boolean {
  return CLIENT_NAMES.some((client) => client.id === id);
}

/** Returns a function that records when a client connects, so that `doctor` knows whether it has connected since `connect`. */
export function createSeenClientRecorder(stateDir: string): (name: string) => void {
  const recordedAt = new Map<string, number>();
  return (name) => {
    const id = CLIENT_NAMES.find(({ names }) => names.test(name))?.id;
    const now = Date.now();
    if (id === undefined || now - (recordedAt.get(id) ?? -Infinity) < RECORD_INTERVAL_MS) return;
    recordedAt.set(id, now);
    try {
      writeFileAtomicSync(getRecordFile(stateDir, id), `${new Date(now).toISOString()}\n`, 0o600);
    } catch {
      // Best effort: without the record, doctor says that the client has not connected yet.
    }
  };
}

/** Returns when a client last connected, in milliseconds since 1970; undefined if it never did. */
export async function readLastConnection(stateDir: string, id: string): Promise<number | undefined> {
  const text = await readFile(getRecordFile(stateDir, id), 'utf8').catch(() => '');
  const time = Date.parse(text.trim());
  return Number.isNaN(time) ? undefined : time;
}

function getRecordFile(stateDir: string, id: string): string {
  return join(stateDir, 'clients', id);
}
