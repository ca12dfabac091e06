import type { PostExchange } from '../wire/post-exchange.ts';
import type { ReplyPath } from '../wire/posted-request.ts';
import type { Session } from './sessions.ts';

/** The answer to `initialize` tells the session's id; an error does not, since there is no session then. */
export function introducing(session: Session, exchange: PostExchange, headers: readonly string[]): ReplyPath {
  const introduced = [...headers, 'Mcp-Session-Id', session.id];
  return {
    canNotify: exchange.canNotify,
    notify: (text) => {
      exchange.headers = introduced;
      exchange.notify(text);
    },
    answer: (text, status) => {
      exchange.headers = session.protocol === undefined ? headers : introduced;
      exchange.answer(text, status);
    },
    withdraw: (id) => exchange.withdraw(id),
  };
}
