import type {
  AdminAddServerResult,
  AdminAddServersResult,
} from '../../../../../src/admin/contract/contract.ts';
import { Badge } from '../../../components/badge.tsx';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { summarizeEntry } from '../entry/summarize-entry.ts';
import { serverUrl } from '../run-server-action.ts';

/** Lists what happened, or would happen, to each server. */
export function AddResultList({ added: { results, dryRun } }: { added: AdminAddServersResult }) {
  return (
    <ul class="add-results" aria-label={dryRun ? 'Servers to add' : 'Added servers'} aria-live="polite">
      {results.map((server, index) => (
        <li key={index}>
          <p class="add-result-head">
            {dryRun || server.result === 'refused' ? (
              <b>{escapeInvisible(server.name)}</b>
            ) : (
              <a href={serverUrl(server.name)}>{escapeInvisible(server.name)}</a>
            )}
            <ResultBadges server={server} dryRun={dryRun} />
          </p>
          {server.reason !== undefined && <p class="small soft">{escapeInvisible(server.reason)}</p>}
          {server.entry !== undefined && (
            <pre class="entry-text">{summarizeEntry(server.entry).join('\n')}</pre>
          )}
          {server.remarks.map((remark) => (
            <p key={remark} class="small remark">
              {escapeInvisible(remark)}
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}

function ResultBadges({
  server: { result, trust },
  dryRun,
}: {
  server: AdminAddServerResult;
  dryRun: boolean;
}) {
  if (result === 'refused') return <Badge kind="bad">{dryRun ? 'cannot be added' : 'not added'}</Badge>;
  if (result === 'same') return <Badge>already configured</Badge>;
  return (
    <>
      <Badge kind={dryRun ? 'accent' : 'good'}>{dryRun ? 'will be added' : 'added'}</Badge>
      {trust === 'manual' && <Badge kind="warn">held for approval</Badge>}
    </>
  );
}
