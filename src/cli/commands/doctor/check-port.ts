import { createServer } from 'node:net';
import type { Finding } from './finding.ts';

const ANSWER_TIMEOUT_MS = 1000;
/** The maximum number of characters that are read. The answers of a gateway are shorter. */
const MAX_CHARACTERS = 100;

/** Checks whether `serve --http` could listen on the configured address, unless the running gateway already does. */
export async function checkPort(
  address: string,
  gatewayUrl: string | undefined,
): Promise<readonly Finding[]> {
  const [, host = '127.0.0.1', port = ''] = /^(?:\[?(.*?)\]?:)?(\d+)$/.exec(address) ?? [];
  const about = { check: 'port', subject: address } as const;
  if (gatewayUrl !== undefined && new URL(gatewayUrl).port === port)
    return [{ ...about, status: 'ok', message: `the gateway listens here: ${gatewayUrl}` }];
  const errorCode = port === '' ? undefined : await tryListen(host === '' ? '127.0.0.1' : host, Number(port));
  if (errorCode === undefined)
    return [{ ...about, status: 'ok', message: 'is free for trunkline serve --http' }];
  if (errorCode === 'EADDRINUSE' && (await isTrunkline(host === '' ? '127.0.0.1' : host, port)))
    return [
      {
        ...about,
        status: 'warning',
        message: 'is used by another Trunkline, with another configuration (for example `npm start`)',
        fix: 'Inspect it with: trunkline status --config FILE, or set another http.address in this configuration.',
      },
    ];
  const message =
    errorCode === 'EADDRINUSE' ? 'is used by another program' : `cannot be used for listening (${errorCode})`;
  return [
    {
      ...about,
      status: 'warning',
      message,
      fix: 'Set another http.address, or run: trunkline serve --http 127.0.0.1:0',
    },
  ];
}

/** Recognizes a Trunkline gateway by its answers at /readyz and /healthz. */
async function isTrunkline(host: string, port: string): Promise<boolean> {
  const readyUrl = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}/readyz`);
  try {
    const [ready, health] = await Promise.all(
      [readyUrl, new URL('/healthz', readyUrl)].map(async (url) => {
        const answer = await fetch(url, {
          redirect: 'error',
          signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
        });
        return readBeginning(answer);
      }),
    );
    return health === 'ok' && (ready === 'ready' || ready === 'not ready');
  } catch {
    return false; // The program does not speak HTTP, redirects, or does not answer in time.
  }
}

/** Reads only the beginning, because an unknown program may send any amount of data. */
async function readBeginning({ body }: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true }); // The body of a fetch response holds bytes.
    if (text.length > MAX_CHARACTERS) break;
  }
  return text.trim();
}

/** Returns the error code if the address cannot be listened on, or undefined if it can. */
function tryListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
