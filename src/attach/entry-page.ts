import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeFileAtomic } from '../lib/atomic-file.ts';
import { runDirOf } from './gateway-record.ts';

/**
 * A page that leads on to a link of the dashboard. Everybody on a machine can read command lines, so a browser is given this
 * file, which only its owner can read, instead of the link.
 */
export async function writeEntryPage(stateDir: string, link: URL): Promise<URL> {
  const file = entryPage(stateDir, link.searchParams.get('ticket') ?? '');
  await writeFileAtomic(file, pageTo(link), 0o600);
  return pathToFileURL(file);
}

/** Named by a hash, so that whoever knows a ticket finds its page and nobody learns the ticket from a name. */
export function entryPage(stateDir: string, ticket: string): string {
  const name = createHash('sha256').update(ticket).digest('hex').slice(0, 32);
  return join(runDirOf(stateDir), `enter-${name}.html`);
}

/** Best effort: a ticket that was used or is too old opens nothing. */
export async function removeEntryPage(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => {});
}

/** Without a script, since browsers may have them switched off for files. */
function pageTo(link: URL): string {
  const address = link.href.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${address}">
<title>Trunkline</title>
<p><a href="${address}" rel="noreferrer">Go to the dashboard</a></p>
</html>
`;
}
