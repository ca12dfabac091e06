import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below what systems give to whoever asks for any port, or connects to somebody. */
const [FIRST, LAST] = [20_000, 32_000];
const ATTEMPTS = 50;

/** A port to come back to after a restart: meanwhile nobody gets it by chance, not even those who keep trying to connect to it. */
export async function unusedPort() {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST, LAST);
    if (await isUnused(port)) return port;
  }
  throw new Error('There is no unused port.');
}

function isUnused(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
