import type { IncomingMessage, ServerResponse } from 'node:http';
import { admitLocal } from '../../auth/downstream/authenticate.ts';
import { protectedResource } from '../../auth/downstream/protected-resource.ts';
import type { ProtectedResource } from '../../auth/downstream/protected-resource.ts';
import type { Authenticate } from '../../auth/downstream/verdict.ts';
import type { WebReply, WebRequest } from '../../auth/downstream/web.ts';
import type { Emitter } from '../../lib/emitter.ts';

/** Who may come in over HTTP, and what there is besides MCP. */
export interface Door {
  readonly authenticate: Authenticate;
  readonly resource: ProtectedResource;
  /** Tells the id of a caller whose credentials were revoked. */
  readonly events?: Emitter<{ gone: string }>;
  /** Whether nobody is asked who they are. */
  readonly isOpen?: boolean;
  /** Pages and endpoints of our authorization server. */
  readonly pages?:
    | {
        takes(path: string): boolean;
        answer(request: WebRequest): Promise<WebReply>;
      }
    | undefined;
  /** The admin API and its pages, which ask for credentials of their own. */
  readonly admin?: {
    takes(path: string): boolean;
    handle(request: IncomingMessage, response: ServerResponse): void;
  };
  /** Somebody was not let in; called seldom, however many there are. */
  readonly onRefused?: (refused: { readonly message: string; readonly count: number }) => void;
}

/** The door of a gateway that asks nobody who they are, which is why it serves this machine only. */
export const openDoor: Door = {
  authenticate: admitLocal,
  isOpen: true,
  resource: protectedResource({ issuers: () => [], scopes: [] }),
};
