import type { AdminAddedServer, AdminAddedServers } from '../../../../../src/admin/contract/contract.ts';
import { visible } from '../../../lib/visible.ts';
import { Badge } from '../../../parts/badge.tsx';
import { serverPath } from '../act-on-server.ts';
import { entryLines } from '../entry/entry-lines.ts';

/** What becomes of each server that was given, or became of it. */
export function AddedList({ added: { results, dryRun } }: { added: AdminAddedServers }) {
  return (
    <ul class="added" aria-label={dryRun ? 'What would be added' : 'What was added'} aria-live="polite">
      {results.map((each, at) => (
        <li key={at}>
          <p class="added-head">
            {dryRun || each.result === 'refused' ? (
              <b>{visible(each.name)}</b>
            ) : (
              <a href={serverPath(each.name)}>{visible(each.name)}</a>
            )}
            <Outcome server={each} dryRun={dryRun} />
          </p>
          {each.reason !== undefined && <p class="small soft">{visible(each.reason)}</p>}
          {each.entry !== undefined && <pre class="entry-text">{entryLines(each.entry).join('\n')}</pre>}
          {each.remarks.map((remark) => (
            <p key={remark} class="small remark">
              {visible(remark)}
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}

function Outcome({ server: { result, trust }, dryRun }: { server: AdminAddedServer; dryRun: boolean }) {
  if (result === 'refused') return <Badge kind="bad">{dryRun ? 'cannot be added' : 'not added'}</Badge>;
  if (result === 'same') return <Badge>there already</Badge>;
  return (
    <>
      <Badge kind={dryRun ? 'accent' : 'good'}>{dryRun ? 'will be added' : 'added'}</Badge>
      {trust === 'manual' && <Badge kind="warn">waits for approval</Badge>}
    </>
  );
}
