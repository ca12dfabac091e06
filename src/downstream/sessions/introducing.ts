import type { PostExchange } from '../../wire/http/post-exchange.ts';
import type { ReplyPath } from '../../wire/http/posted-request.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';

const MAX_EARLY = 100;

/** The answer to `initialize` tells the session's id; an error does not, since there is no session then. */
export function introducing(
  session: Session,
  sessions: Pick<Sessions, 'idOf'>,
  exchange: PostExchange,
): ReplyPath {
  const { headers } = exchange;
  const early: string[] = [];
  return {
    canNotify: exchange.canNotify,
    // The id says what was agreed on, so that everything waits for that.
    notify: (text) => {
      if (early.length < MAX_EARLY) early.push(text);
    },
    answer: (text, status) => {
      if (session.facts !== undefined)
        exchange.headers = [...headers, 'Mcp-Session-Id', sessions.idOf(session)];
      for (const told of early) exchange.notify(told);
      exchange.answer(text, status);
    },
    withdraw: (id) => exchange.withdraw(id),
  };
}
