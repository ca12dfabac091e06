import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RankRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface RankEndpoint extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly RankRequest[];
  /** Answers the next requests: a returned value is sent as JSON with status 200. */
  answer: (request: RankRequest, response: ServerResponse) => unknown;
}

/** Starts an endpoint on loopback whose answers the test defines. */
export async function startRankEndpoint(): Promise<RankEndpoint> {
  const heard: RankRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as RankRequest['body'];
      const one = { path: request.url ?? '', headers: request.headers, body };
      heard.push(one);
      const answer = endpoint.answer(one, response);
      if (answer !== undefined)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const endpoint: RankEndpoint = {
    url: `http://127.0.0.1:${port}`,
    requests: heard,
    answer: () => ({}),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return endpoint;
}

/** Returns a response of the chat completions API. */
export function chatAnswer(content: unknown): unknown {
  return { choices: [{ message: { role: 'assistant', content } }] };
}
