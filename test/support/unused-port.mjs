import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range of ephemeral ports, which systems assign to listeners on port 0 and to outgoing connections. */
const [FIRST, LAST] = [20_000, 32_000];
const ATTEMPTS = 50;

/** Returns a free port that stays free across a restart, because the system does not assign it to other sockets. */
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
