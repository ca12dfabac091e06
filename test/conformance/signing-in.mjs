import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const browser = fileURLToPath(new URL('../support/approving-browser.mjs', import.meta.url));

/** Returns the config entry of a server that requires a sign-in, with the client credentials that the scenario provides. */
export function entryFor(url, context) {
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context;
  const isMachine = (process.env.MCP_CONFORMANCE_SCENARIO ?? '').includes('client-credentials');
  return {
    url,
    auth: {
      clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
      callbackPort: 'any',
      ...(clientId !== undefined && { clientId }),
      ...(privateKey !== undefined && { privateKey }),
      ...(clientSecret !== undefined && privateKey === undefined && { clientSecret }),
      ...(isMachine && { flow: 'client-credentials' }),
    },
  };
}

/** Runs `trunkline login it`, as the error message tells a person to do. */
export async function signIn(home, config) {
  const args = [program, 'login', 'it', '--config', config, '--timeout', '10', '--text'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, TRUNKLINE_HOME: home, BROWSER: `${process.execPath} ${browser}` },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`trunkline login exited with code ${code}.`);
}

export function wantsSignIn(result) {
  const text = JSON.stringify(result) ?? '';
  return text.includes('needs you to sign in');
}
