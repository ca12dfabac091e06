import { existsSync } from 'node:fs';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where the browser of this machine is; tests that need one say so where there is none. */
export function chromiumPath(): string {
  const path = places.find((place) => existsSync(place));
  if (path === undefined) throw new Error('There is no Chromium here: install the package "chromium".');
  return path;
}
