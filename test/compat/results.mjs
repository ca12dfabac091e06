import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { renderPage } from './page.mjs';

const file = fileURLToPath(new URL('results.json', import.meta.url));
const page = fileURLToPath(new URL('../../docs/compatibility.md', import.meta.url));

/** Returns the results of earlier runs, by the id of the client. */
export function readResults() {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { clients: {} };
}

/** Writes the results and the page that shows them. */
export function writeResults(results) {
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(page, renderPage(results));
}
