import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeFileAtomic } from '../../core/lib/write-file-atomic.ts';

/**
 * Writes a page that redirects to a dashboard link, and returns its URL. The command that opens a browser gets this URL instead of the link:
 * every user of the machine can read command lines, but only the owner can read the file.
 */
export async function writeEntryPage(stateDir: string, link: URL): Promise<URL> {
  const file = entryPageFile(stateDir, link.searchParams.get('ticket') ?? '');
  await writeFileAtomic(file, redirectTo(link), 0o600);
  return pathToFileURL(file);
}

/** Returns the file of a ticket's page. Its name is a hash, which does not reveal the ticket. */
export function entryPageFile(stateDir: string, ticket: string): string {
  const name = createHash('sha256').update(ticket).digest('hex').slice(0, 32);
  return join(stateDir, 'run', `enter-${name}.html`);
}

/** Removes a page. A page that cannot be removed is harmless, because its ticket was used or has expired. */
export async function removeEntryPage(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => {});
}

/** Returns a page that redirects without a script, because browsers can disable scripts for files. */
function redirectTo(link: URL): string {
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
