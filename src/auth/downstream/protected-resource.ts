import type { JsonObject } from '../../model/json.ts';
import type { Refusal } from './verdict.ts';

export interface ProtectedResourceOptions {
  /** Where clients find us, if that is not what they ask for. */
  readonly publicUrl?: string | undefined;
  /** Issuers whose tokens we take; none where OAuth has no part in it. */
  readonly issuers: () => readonly string[];
  readonly scopes: readonly string[];
}

export interface ProtectedResource {
  /** The document of RFC 9728 that this path asks for; undefined for other paths. */
  metadata(path: string, host: string): JsonObject | undefined;
  /** The header that goes with a refusal. */
  challenge(refusal: Refusal, path: string, host: string): string;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
/** Every name looks the same here, so that nobody learns which exist. */
const RESOURCE = /^\/(?:mcp(?:\/[ps]\/[A-Za-z0-9._~%-]+)?|sse)$/;

/** What clients that speak OAuth are told about us. */
export function protectedResource(options: ProtectedResourceOptions): ProtectedResource {
  const { publicUrl, scopes } = options;
  // A host that got here is one of those that we answer to.
  const origin = (host: string): string => publicUrl ?? `http://${host}`;
  return {
    metadata: (path, host) => {
      const issuers = options.issuers();
      if (issuers.length === 0 || !path.startsWith(WELL_KNOWN)) return undefined;
      const rest = path.slice(WELL_KNOWN.length);
      if (rest !== '' && !RESOURCE.test(rest)) return undefined;
      return {
        resource: `${origin(host)}${rest === '' ? '/mcp' : rest}`,
        authorization_servers: issuers,
        bearer_methods_supported: ['header'],
        resource_name: 'Trunkline',
        ...(scopes.length > 0 && { scopes_supported: scopes }),
      };
    },
    challenge: ({ error, scope, message }, path, host) => {
      const hasIssuer = options.issuers().length > 0;
      const wanted = scope ?? (hasIssuer && scopes.length > 0 ? scopes.join(' ') : undefined);
      const about = path === '/messages' ? '/sse' : path;
      const parts = [
        'realm="trunkline"',
        ...(error === undefined ? [] : [`error="${error}"`, `error_description="${quotable(message)}"`]),
        ...(wanted === undefined ? [] : [`scope="${quotable(wanted)}"`]),
        ...(hasIssuer && RESOURCE.test(about)
          ? [`resource_metadata="${origin(host)}${WELL_KNOWN}${about}"`]
          : []),
      ];
      return `Bearer ${parts.join(', ')}`;
    },
  };
}

/** What RFC 6750 allows between the quotes. */
function quotable(text: string): string {
  return text.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, '?');
}
