import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { GatewayRecord } from './gateway-record.ts';

/** What makes two gateways the same one for a client. */
export interface Identity {
  readonly version: string;
  /** Absolute path of the configuration. */
  readonly config: string;
  /** Its text. */
  readonly text: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The part of a gateway's record that says who it is. */
export function identified(
  identity: Identity,
): Pick<GatewayRecord, 'version' | 'config' | 'revision' | 'environment' | 'salt'> {
  const salt = randomBytes(16).toString('hex');
  const { version, config, text } = identity;
  return { version, config, revision: revisionOf(text), environment: environmentOf(identity, salt), salt };
}

/** Whether it might become a gateway for such a client by reading its configuration again. */
export function isSameButForText(record: GatewayRecord, identity: Identity): boolean {
  const { version, config, text } = identity;
  return record.version === version && record.config === config && record.revision !== revisionOf(text);
}

/** Whether a client with this identity may use that gateway. */
export function isSame(record: GatewayRecord, identity: Identity): boolean {
  return (
    record.version === identity.version &&
    record.config === identity.config &&
    record.revision === revisionOf(identity.text) &&
    record.environment === environmentOf(identity, record.salt)
  );
}

function revisionOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** Salted, so that nothing can be told from it without knowing the values; the file is the user's own besides. */
function environmentOf({ text, env }: Identity, salt: string): string {
  const hash = createHmac('sha256', salt);
  for (const name of [...referencedVariables(text), ...signInVariables(env)]) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    hash.update(`${name}\0${value === undefined ? 'absent' : `=${value}`}\0`);
  }
  return hash.digest('base64url').slice(0, 22);
}

/** Those that bring tokens, or say where the key of the saved ones goes; no configuration refers to them. */
function signInVariables(env: Identity['env']): readonly string[] {
  const names = Object.keys(env).filter((name) => name.startsWith('TRUNKLINE_TOKENS_'));
  return ['TRUNKLINE_KEYCHAIN', ...names.toSorted()];
}

/** Names in `${NAME}` and `${env:NAME}`, wherever they stand: one too many does no harm, and nothing is parsed. */
export function referencedVariables(text: string): readonly string[] {
  const names = new Set<string>();
  for (const [, body = ''] of text.matchAll(/\$\{([^}]*)\}/g)) {
    if (/^(?:file|keychain):/.test(body)) continue;
    const [name = ''] = body.replace(/^env:/, '').split(':-');
    if (name !== '') names.add(name);
  }
  return [...names].toSorted();
}
