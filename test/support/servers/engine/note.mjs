import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';

const file = process.env.FIXTURE_LOG;
const preset = basename(process.argv[1] ?? '', '.mjs');

/**
 * Appends one line about what really happened at the server, for tests to count.
 * Written synchronously, so that nothing is lost when the process ends right after it.
 */
export function note(event, fields = {}) {
  if (file === undefined || file === '') return;
  appendFileSync(file, `${JSON.stringify({ event, preset, pid: process.pid, at: Date.now(), ...fields })}\n`);
}

/** A client broke a rule of the protocol; tests expect none of these. */
export function violation(what, fields = {}) {
  note('violation', { what, ...fields });
}
