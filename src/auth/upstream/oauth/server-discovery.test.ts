import { expect, test } from 'vitest';

import { discoverAuthorizationServer } from './server-discovery.ts';

const ORIGIN = 'http://127.0.0.1:1';
/** As deep as a response of 512 KB can be. */
const DEEP = `${'['.repeat(250_000)}${']'.repeat(250_000)}`;

test.each(['resource', 'issuer'])(
  'discovery: a deeply nested %s is a sign-in error, not a stack overflow',
  async (member) => {
    const documents = [
      { resource: `${ORIGIN}/mcp`, authorization_servers: [ORIGIN] },
      { issuer: ORIGIN, authorization_endpoint: `${ORIGIN}/a`, token_endpoint: `${ORIGIN}/t` },
    ].map((document) =>
      JSON.stringify(document, (key, value: unknown) => (key === member ? 'DEEP' : value)).replace(
        '"DEEP"',
        DEEP,
      ),
    );
    const fetch = ({ pathname }: URL) =>
      Promise.resolve({
        status: 200,
        headers: {},
        text: documents[pathname.includes('protected-resource') ? 0 : 1] ?? '',
      });
    const discovery = discoverAuthorizationServer({ url: new URL(`${ORIGIN}/mcp`), challenge: {}, fetch });
    await expect(discovery).rejects.toMatchObject({ code: 'SIGN_IN_FAILED' });
    await expect(discovery).rejects.toThrow('of type object');
  },
);
