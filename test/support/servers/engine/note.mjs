import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';

const file = process.env.FIXTURE_LOG;
const preset = basename(process.argv[1] ?? '', '.mjs');

/**
 * Appends an event to the log file that tests read.
 * Writes synchronously, so that nothing is lost if the process exits right afterwards.
 */
export function note(event, fields = {}) {
  if (file === undefined || file === '') return;
  appendFileSync(file, `${JSON.stringify({ event, preset, pid: process.pid, at: Date.now(), ...fields })}\n`);
}

/** Logs a protocol violation of the client; tests expect none. */
export function violation(what, fields = {}) {
  note('violation', { what, ...fields });
}
