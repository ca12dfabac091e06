import { createHash } from 'node:crypto';
import type { GatewayRecord } from './gateway-record.ts';

/** The properties that a shared gateway must have in common with its client. */
export interface SharedGatewayIdentity {
  readonly version: string;
  /** The absolute path of the configuration. */
  readonly config: string;
  /** The text of the configuration. */
  readonly text: string;
}

/** Returns the part of a gateway's record that identifies it. */
export function hashIdentity({
  version,
  config,
  text,
}: SharedGatewayIdentity): Pick<GatewayRecord, 'version' | 'config' | 'revision'> {
  return { version, config, revision: hashText(text) };
}

/** Whether the gateway could match the client after a reload, because only the text of its configuration is known to differ. */
export function couldMatchAfterReload(record: GatewayRecord, identity: SharedGatewayIdentity): boolean {
  const { version, config, text } = identity;
  return record.version === version && record.config === config && record.revision !== hashText(text);
}

/** Whether a client with this identity may use the gateway of the record. Differing environments do not matter. */
export function matchesIdentity(record: GatewayRecord, identity: SharedGatewayIdentity): boolean {
  return (
    record.version === identity.version &&
    record.config === identity.config &&
    record.revision === hashText(identity.text)
  );
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
