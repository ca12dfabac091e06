import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { GatewayRecord } from './gateway-record.ts';

/** The properties that a shared gateway must have in common with its client. */
export interface SharedGatewayIdentity {
  readonly version: string;
  /** The absolute path of the configuration. */
  readonly config: string;
  /** The text of the configuration. */
  readonly text: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the part of a gateway's record that identifies it. */
export function hashIdentity(
  identity: SharedGatewayIdentity,
): Pick<GatewayRecord, 'version' | 'config' | 'revision' | 'environment' | 'salt'> {
  const salt = randomBytes(16).toString('hex');
  const { version, config, text } = identity;
  return { version, config, revision: hashText(text), environment: hashEnvironment(identity, salt), salt };
}

/** Whether the gateway could match the client after a reload, because only the text of its configuration is known to differ. */
export function couldMatchAfterReload(record: GatewayRecord, identity: SharedGatewayIdentity): boolean {
  const { version, config, text } = identity;
  return record.version === version && record.config === config && record.revision !== hashText(text);
}

/** Whether a client with this identity may use the gateway of the record. */
export function matchesIdentity(record: GatewayRecord, identity: SharedGatewayIdentity): boolean {
  return (
    record.version === identity.version &&
    record.config === identity.config &&
    record.revision === hashText(identity.text) &&
    record.environment === hashEnvironment(identity, record.salt)
  );
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** Hashes the variables with a salt, so that the hash reveals nothing about the values. The record is a private file in any case. */
function hashEnvironment({ text, env }: SharedGatewayIdentity, salt: string): string {
  const hash = createHmac('sha256', salt);
  for (const name of [...findReferencedVariables(text), ...listSignInVariables(env)]) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    // References treat an empty variable as unset, and some clients pass unset variables as empty strings.
    hash.update(`${name}\0${value === undefined || value === '' ? 'absent' : `=${value}`}\0`);
  }
  return hash.digest('base64url').slice(0, 22);
}

/** Returns the variables that contain tokens or select where the encryption key is stored. No configuration refers to them. */
function listSignInVariables(env: SharedGatewayIdentity['env']): readonly string[] {
  const names = Object.keys(env).filter((name) => name.startsWith('TRUNKLINE_TOKENS_'));
  return ['TRUNKLINE_KEYCHAIN', ...names.toSorted()];
}

/** Returns the names in `${NAME}` and `${env:NAME}` anywhere in the text. Does not parse the text; a superfluous name is harmless. */
export function findReferencedVariables(text: string): readonly string[] {
  const names = new Set<string>();
  for (const [, body = ''] of text.matchAll(/\$\{([^}]*)\}/g)) {
    if (/^(?:file|secret|keychain|cmd|op|vault|aws-sm):/.test(body)) continue;
    const [name = ''] = body.replace(/^env:/, '').split(':-');
    if (name !== '') names.add(name);
  }
  return [...names].toSorted();
}
