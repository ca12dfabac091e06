import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { checkLeaks } from '../../support/leak-check.ts';
import { login, startProtectedServer } from '../../support/sign-in.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const ESCAPES = '\u001b]0;PWNED\u0007\u001b[2J\u009b31m\u202e';

function homeWith(mcpServers: object): string {
  const home = temporaryFolder('home');
  writeFileSync(join(home, 'config.jsonc'), JSON.stringify({ mcpServers }));
  return home;
}

test('login: prints the account of an ID token on one line without escape sequences', async () => {
  await using server = await startProtectedServer({ account: `ada${ESCAPES}\nSigned in to bank` });
  const { code, stdout, stderr } = await login(homeWith({ it: { url: server.url } }), 'it');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: 'Signed in to it as ada ]0;PWNED [2J 31m Signed in to bank.\n',
  });
  expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

test('login --device: prints the code and addresses of the server on one line each without escape sequences', async () => {
  const userCode = `AB-CD${ESCAPES}\nNow run: sh`;
  await using server = await startProtectedServer({ userCode, deviceTtl: 1 });
  const { code, stderr } = await login(homeWith({ it: { url: server.url } }), 'it', ['--device']);
  expect(code).toBe(5);
  expect(stderr).toContain('enter the code AB-CD ]0;PWNED [2J 31m Now run: sh\n');
  expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]|^Now run/m);
});
