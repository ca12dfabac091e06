import { createServer } from 'node:net';
import type { Finding } from './finding.ts';

/** Whether `serve --http` could listen where the configuration says. */
export async function portFindings(address: string, ours: string | undefined): Promise<readonly Finding[]> {
  const [, host = '127.0.0.1', port = ''] = /^(?:\[?(.*?)\]?:)?(\d+)$/.exec(address) ?? [];
  const about = { check: 'port', subject: address } as const;
  if (ours !== undefined && new URL(ours).port === port)
    return [{ ...about, status: 'ok', message: `the gateway listens here: ${ours}` }];
  const trouble = port === '' ? undefined : await trial(host === '' ? '127.0.0.1' : host, Number(port));
  if (trouble === undefined)
    return [{ ...about, status: 'ok', message: 'is free for trunkline serve --http' }];
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

function trial(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
