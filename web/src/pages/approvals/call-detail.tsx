import { useMemo } from 'preact/hooks';

import type { AdminHeldCall } from '../../../../src/admin/contract/contract.ts';
import { CodeBlock } from '../../components/data/code-block.tsx';
import { ExpandButton } from '../../components/data/expand-button.tsx';
import { escapeInvisible } from '../../lib/escape-invisible.ts';
import { CUT_LIMITS, formatDefinition, NO_LIMITS } from '../../lib/format-definition.ts';
import { formatCountdown } from '../../lib/format.ts';
import { useClock } from '../../lib/use-clock.ts';

interface CallDetailProps {
  readonly call: AdminHeldCall;
  /** Whether long arguments are shown whole. */
  readonly isExpanded: boolean;
  readonly onExpand: () => void;
}

/** Shows a held call: its caller, its arguments and the remaining time. */
export function CallDetail({ call, isExpanded, onExpand }: CallDetailProps) {
  const { caller, profile, server, name, rule, message, isOpen } = call;
  const { text, hidden } = useMemo(
    () => formatDefinition(call.arguments, isExpanded ? NO_LIMITS : CUT_LIMITS),
    [call.arguments, isExpanded],
  );
  return (
    <>
      <div class="review-title">
        <p class="small soft">
          call to <a href={`/servers?server=${encodeURIComponent(server)}`}>{server}</a>
        </p>
        <h2>{escapeInvisible(name)}</h2>
        <p class="soft">
          <b>{escapeInvisible(caller)}</b> wants to make this call with the profile {profile}.{' '}
          {message ?? `The rule "${rule}" requires your approval.`}
        </p>
      </div>
      <TimeLeft call={call} />
      {!isOpen && (
        <p class="note">
          The client no longer waits. Your decision applies if it repeats the call within the remaining time.
        </p>
      )}
      <section class="section" aria-label="Arguments">
        <div class="section-head">
          <h3>Arguments</h3>
          <ExpandButton hidden={hidden} onExpand={onExpand} />
        </div>
        {text === '' ? <p class="soft">None.</p> : <CodeBlock text={text} />}
      </section>
    </>
  );
}

function TimeLeft({ call: { since, until } }: { call: AdminHeldCall }) {
  const now = useClock();
  const left = Math.max(0, until - now);
  const share = until > since ? left / (until - since) : 0;
  return (
    <div class="time-left">
      <span class="number">{left > 0 ? `${formatCountdown(left)} left` : 'Expired'}</span>
      <span class="time-bar" aria-hidden="true">
        <span class={share < 0.25 ? 'short' : ''} style={{ width: `${Math.min(1, share) * 100}%` }} />
      </span>
    </div>
  );
}
