import { existsSync } from 'node:fs';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Returns the path of Chromium on this machine; throws with instructions if it is missing. */
export function chromiumPath(): string {
  const path = places.find((place) => existsSync(place));
  if (path === undefined) throw new Error('There is no Chromium here: install the package "chromium".');
  return path;
}
