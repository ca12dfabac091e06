import type { JsonObject } from '../../core/json.ts';
import type { AuthFailure } from './auth-result.ts';

interface ProtectedResourceOptions {
  /** The address at which clients reach the gateway, if it differs from the requested host. */
  readonly publicUrl?: string | undefined;
  /** The issuers whose tokens are accepted; empty where OAuth is not configured. */
  readonly issuers: () => readonly string[];
  readonly scopes: readonly string[];
}

/** Describes the gateway to OAuth clients. */
export interface ProtectedResource {
  /** Returns the RFC 9728 document at this path, or undefined for any other path. */
  metadata(path: string, host: string): JsonObject | undefined;
  /** Returns the `WWW-Authenticate` header for a failure. */
  challenge(failure: AuthFailure, path: string, host: string): string;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
/** Matches any profile or server name, so a response never reveals which names exist. */
const RESOURCE_PATH = /^\/(?:mcp(?:\/[ps]\/[A-Za-z0-9._~%-]+)?|sse)$/;

export function createProtectedResource(options: ProtectedResourceOptions): ProtectedResource {
  const { publicUrl, scopes } = options;
  // The Host header was checked before, so the response may contain it.
  const originFor = (host: string): string => publicUrl ?? `http://${host}`;
  return {
    metadata: (path, host) => {
      const issuers = options.issuers();
      if (issuers.length === 0 || !path.startsWith(WELL_KNOWN)) return undefined;
      const rest = path.slice(WELL_KNOWN.length);
      if (rest !== '' && !RESOURCE_PATH.test(rest)) return undefined;
      return {
        resource: `${originFor(host)}${rest === '' ? '/mcp' : rest}`,
        authorization_servers: issuers,
        bearer_methods_supported: ['header'],
        resource_name: 'Trunkline',
        scopes_supported: scopes.length > 0 ? scopes : undefined,
      };
    },
    challenge: ({ error, scope, message }, path, host) => {
      const hasIssuer = options.issuers().length > 0;
      const requiredScope = scope ?? (hasIssuer && scopes.length > 0 ? scopes.join(' ') : undefined);
      // Clients of the SSE transport post to `/messages`, but the resource is `/sse`.
      const resource = path === '/messages' ? '/sse' : path;
      const parameters = ['realm="trunkline"'];
      if (error !== undefined)
        parameters.push(`error="${error}"`, `error_description="${toQuotedText(message)}"`);
      if (requiredScope !== undefined) parameters.push(`scope="${toQuotedText(requiredScope)}"`);
      if (hasIssuer && RESOURCE_PATH.test(resource))
        parameters.push(`resource_metadata="${originFor(host)}${WELL_KNOWN}${resource}"`);
      return `Bearer ${parameters.join(', ')}`;
    },
  };
}

/** Replaces the characters that RFC 6750 does not allow in a quoted value. */
function toQuotedText(text: string): string {
  return text.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, '?');
}
