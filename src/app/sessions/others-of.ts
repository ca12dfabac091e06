import type { Others } from '../../downstream/sessions/between/others.ts';
import type { Fleet } from '../../fleet/fleet.ts';

/** The fleet as sessions see it. */
export function othersOf({ replicas, line }: Pick<Fleet, 'replicas' | 'line'>): Others {
  return {
    self: replicas.self.id,
    all: () => replicas.others().map(({ id }) => id),
    ask: (replica, subject, body, options) => line.ask(replica, subject, body, options),
    answer: (subject, answerer) => line.answer(subject, answerer),
  };
}
