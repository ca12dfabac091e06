import type { AdminWaitingCall } from '../../../../src/admin/contract/contract.ts';
import { countdown } from '../../lib/format.ts';
import { useClock } from '../../lib/use-clock.ts';
import { visible } from '../../lib/visible.ts';
import { CodeBlock } from '../../parts/data/code-block.tsx';
import { definitionText } from './definition-text.ts';

/** A call that waits: who wants it, what exactly is asked for, and how long there is time. */
export function CallDetail({ call }: { call: AdminWaitingCall }) {
  const { caller, profile, server, name, rule, message, isOpen } = call;
  const given = definitionText(call.arguments).text;
  return (
    <>
      <div class="review-title">
        <p class="small soft">
          call of <a href={`/servers?server=${encodeURIComponent(server)}`}>{server}</a>
        </p>
        <h2>{visible(name)}</h2>
        <p class="soft">
          <b>{visible(caller)}</b> wants to make this call with the profile {profile}.{' '}
          {message === undefined ? `The rule "${rule}" asks you first.` : message}
        </p>
      </div>
      <TimeLeft call={call} />
      {!isOpen && (
        <p class="note">
          The client does not wait any more. The same call again within the time that is left finds your
          decision.
        </p>
      )}
      <section class="section" aria-label="Arguments">
        <h3>Arguments</h3>
        {given === '' ? <p class="soft">None.</p> : <CodeBlock text={given} />}
      </section>
    </>
  );
}

function TimeLeft({ call: { since, until } }: { call: AdminWaitingCall }) {
  const now = useClock();
  const left = Math.max(0, until - now);
  const share = until > since ? left / (until - since) : 0;
  return (
    <div class="time-left">
      <span class="number">{left > 0 ? `${countdown(left)} left` : 'Its time is over'}</span>
      <span class="time-bar" aria-hidden="true">
        <span class={share < 0.25 ? 'short' : ''} style={{ width: `${Math.min(1, share) * 100}%` }} />
      </span>
    </div>
  );
}
