import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const browser = fileURLToPath(new URL('../support/agreeing-browser.mjs', import.meta.url));

/** The entry of a server that wants us to sign in, with whatever the scenario hands to its client. */
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

/** Does what a person does who is told to run `trunkline login it`. */
export async function signIn(home, config) {
  const args = [program, 'login', 'it', '--config', config, '--timeout', '10', '--text'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, TRUNKLINE_HOME: home, BROWSER: `${process.execPath} ${browser}` },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`Signing in ended with ${code}.`);
}

export function wantsSignIn(result) {
  const text = JSON.stringify(result) ?? '';
  return text.includes('needs you to sign in');
}
