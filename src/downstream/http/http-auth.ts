import type { IncomingMessage, ServerResponse } from 'node:http';
import { authenticateLocal } from '../../auth/downstream/authenticate.ts';
import { createProtectedResource } from '../../auth/downstream/protected-resource.ts';
import type { ProtectedResource } from '../../auth/downstream/protected-resource.ts';
import type { Authenticator } from '../../auth/downstream/auth-result.ts';
import type { WebResponse, WebRequest } from '../../auth/downstream/web-request.ts';
import type { Emitter } from '../../core/lib/emitter.ts';

/** Authentication over HTTP, and the pages that are served beside MCP. */
export interface HttpAuth {
  readonly authenticate: Authenticator;
  readonly resource: ProtectedResource;
  /** `gone` reports the id of a caller whose credentials were revoked. */
  readonly events?: Emitter<{ gone: string }>;
  /** Whether callers are accepted without credentials. */
  readonly isAnonymous?: boolean;
  /** Pages and endpoints of the gateway's own authorization server. */
  readonly pages?: WebPages | undefined;
  /** The admin API and the dashboard, which check their own credentials. */
  readonly admin?:
    | {
        canHandle(path: string): boolean;
        /** Whether the dashboard answers a request for an unknown path with a page, because a browser sent the request. */
        hasNotFoundPage(request: IncomingMessage): boolean;
        handle(request: IncomingMessage, response: ServerResponse): void;
      }
    | undefined;
  /** Called with the number of callers rejected since the last call, at most every ten seconds. */
  readonly onAuthFailures?: (failures: { readonly message: string; readonly count: number }) => void;
}

export interface WebPages {
  canHandle(path: string): boolean;
  answer(request: WebRequest): Promise<WebResponse>;
}

/** Accepts every caller without credentials. `listen` then allows loopback addresses only. */
export const noAuthentication: HttpAuth = {
  authenticate: authenticateLocal,
  isAnonymous: true,
  resource: createProtectedResource({ issuers: () => [], scopes: [] }),
};
