import type { ClientBehind } from '../model/client-behind.ts';
import { RpcError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { RPC } from '../wire/era.ts';
import type { Origin, PeerHandlers } from '../wire/peer.ts';
import type { OwnedIds } from './owned-ids.ts';
import { answerQuestion, isQuestion, placed } from './questions.ts';

export interface ServerMessageOptions {
  readonly onListChanged: () => void;
  /** About a resource or a task. */
  readonly onNews: (params: JsonObject) => void;
  /** The server asked something without saying in which call. */
  readonly onQuestion: () => void;
  /** Whom to turn to outside of calls, where that is certain. */
  readonly outside: () => ClientBehind | undefined;
  readonly owned: OwnedIds;
}

const LIST_CHANGES: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
]);
const NEWS: ReadonlySet<string> = new Set(['notifications/resources/updated', 'notifications/tasks']);
/** About something that one client began; anybody else must not hear of it. */
const OWNED: ReadonlySet<string> = new Set([
  'notifications/tasks/status',
  'notifications/elicitation/complete',
]);
/** Between the server and us. */
const OF_THE_HOP: ReadonlySet<string> = new Set([
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/progress',
  'notifications/subscriptions/acknowledged',
]);

/** What becomes of everything that a server says or asks on its own. */
export function serverMessages(
  options: ServerMessageOptions,
  left: () => void,
): Pick<PeerHandlers, 'request' | 'notification'> {
  return {
    request: async (method, params, about) => {
      const behind = clientOf(about.origin, options);
      if (!isQuestion(method) && behind?.isAlone !== true)
        throw new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
      const isUnplaced = about.origin.own === undefined && about.origin.waiting.length > 0;
      if (isUnplaced && behind?.isOnlyOne !== true) {
        options.onQuestion();
        if (behind !== undefined) behind.onLeft = left;
      }
      if (method === 'elicitation/create') options.owned.asked(params, behind);
      return answerQuestion(method, params, { ...about, behind });
    },
    notification: (method, params, origin) => {
      if (LIST_CHANGES.has(method)) options.onListChanged();
      else if (NEWS.has(method)) {
        if (params !== undefined) options.onNews(params);
      } else if (method === 'notifications/message') {
        if (params !== undefined) clientOf(origin, options)?.log(params);
      } else if (OWNED.has(method)) options.owned.tell(method, params);
      else if (!OF_THE_HOP.has(method)) passOn(method, params, placed(origin) ?? options.outside());
    },
  };
}

/** Outside of calls only a server that one client has to itself can mean somebody. */
function clientOf(origin: Origin, { outside }: ServerMessageOptions): ClientBehind | undefined {
  const known = placed(origin);
  if (known !== undefined) return known;
  const only = outside();
  return only?.isOnlyOne === true ? only : undefined;
}

function passOn(method: string, params: JsonObject | undefined, behind: ClientBehind | undefined): void {
  if (behind?.isAlone === true) behind.tell?.(method, params);
}
