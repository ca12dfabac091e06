import { createServer } from 'node:net';
import type { Finding } from './finding.ts';

const ANSWERS_WITHIN_MS = 1000;
const MOST = 100;

/** Whether `serve --http` could listen where the configuration says. */
export async function portFindings(address: string, ours: string | undefined): Promise<readonly Finding[]> {
  const [, host = '127.0.0.1', port = ''] = /^(?:\[?(.*?)\]?:)?(\d+)$/.exec(address) ?? [];
  const about = { check: 'port', subject: address } as const;
  if (ours !== undefined && new URL(ours).port === port)
    return [{ ...about, status: 'ok', message: `the gateway listens here: ${ours}` }];
  const trouble = port === '' ? undefined : await trial(host === '' ? '127.0.0.1' : host, Number(port));
  if (trouble === undefined)
    return [{ ...about, status: 'ok', message: 'is free for trunkline serve --http' }];
  if (trouble === 'EADDRINUSE' && (await isTrunkline(host === '' ? '127.0.0.1' : host, port)))
    return [
      {
        ...about,
        status: 'warning',
        message: 'is used by another Trunkline, with another configuration (`npm start` is one)',
        fix: 'Ask that one by its configuration: trunkline status --config FILE; or choose another http.address.',
      },
    ];
  const message =
    trouble === 'EADDRINUSE' ? 'is used by another program' : `cannot be listened on: ${trouble}`;
  return [
    {
      ...about,
      status: 'warning',
      message,
      fix: 'Choose another http.address, or: trunkline serve --http 127.0.0.1:0',
    },
  ];
}

/** Whoever answers as we do where clients ask whether it is ready. */
async function isTrunkline(host: string, port: string): Promise<boolean> {
  const at = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}/readyz`);
  try {
    const [ready, health] = await Promise.all(
      [at, new URL('/healthz', at)].map(async (url) => {
        const answer = await fetch(url, {
          redirect: 'error',
          signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
        });
        return textOf(answer);
      }),
    );
    return health === 'ok' && (ready === 'ready' || ready === 'not ready');
  } catch {
    return false; // It speaks something else.
  }
}

/** Its beginning, since nobody knows who answers. */
async function textOf({ body }: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true }); // A body of fetch has bytes.
    if (text.length > MOST) break;
  }
  return text.trim();
}

function trial(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
