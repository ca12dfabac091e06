import { useMemo } from 'preact/hooks';

import type { AdminHeldItem } from '../../../../src/admin/contract/contract.ts';
import { Badge } from '../../components/badge.tsx';
import { CodeBlock } from '../../components/data/code-block.tsx';
import { ExpandButton } from '../../components/data/expand-button.tsx';
import { Diff } from '../../components/data/diff.tsx';
import { Icon } from '../../components/icon.tsx';
import { escapeInvisible } from '../../lib/escape-invisible.ts';
import { CUT_LIMITS, formatDefinition, NO_LIMITS } from '../../lib/format-definition.ts';
import { formatDateTime, formatRelative, pluralize } from '../../lib/format.ts';
import { useResource } from '../../store/use-resource.ts';
import { useStore } from '../../store/use-store.ts';
import { describeRule, explainReason, itemTitle, kindLabels, reasonStyles } from './review-text.ts';

interface DefinitionProps {
  readonly held: AdminHeldItem;
  /** Whether long definitions are shown whole. */
  readonly isExpanded: boolean;
  readonly onExpand: () => void;
}

/** Shows a held item: the reason, the findings of the scanner and the changes. */
export function HeldDetail(props: DefinitionProps) {
  const { held } = props;
  const { server, kind, reason, exposed } = held;
  return (
    <>
      <div class="review-title">
        <p class="small soft">
          {kindLabels[kind]}
          {kind !== 'server' && (
            <>
              {' of '}
              <a href={`/servers?server=${encodeURIComponent(server)}`}>{server}</a>
            </>
          )}
          {exposed !== undefined && (
            <>
              {', exposed as '}
              <code>{escapeInvisible(exposed)}</code>
            </>
          )}
        </p>
        <h2>
          {itemTitle(held)} <Badge kind={reasonStyles[reason].kind}>{reasonStyles[reason].label}</Badge>
        </h2>
        <p class="soft">{explainReason(held)}</p>
        {kind === 'server' && <AddedBy server={server} />}
      </div>
      <FindingList findings={held.findings} />
      <Definition {...props} />
    </>
  );
}

/** Shows who last added or changed a server and when. Shows nothing if the file was edited by hand, because there is no record. */
function AddedBy({ server }: { server: string }) {
  const { api, now } = useStore();
  const records = useResource(
    async () => api.request('GET /api/audit', { kind: 'config', server, outcome: 'ok', limit: 1 }),
    server,
  );
  const record = records.value.value?.[0];
  if (record === undefined) return null;
  const { at, caller, client, action } = record;
  return (
    <p class="small soft">
      {action === 'add' ? 'Added' : 'Changed'} by <b>{escapeInvisible(caller)}</b>
      {client !== undefined && ` (${escapeInvisible(client)})`},{' '}
      <span title={formatDateTime(at)}>{formatRelative(at, now.value)}</span>
    </p>
  );
}

function FindingList({ findings }: Pick<AdminHeldItem, 'findings'>) {
  if (findings.length === 0) return null;
  const paths = [...new Set(findings.map(({ where }) => where))];
  return (
    <section class="findings" aria-label="Findings">
      <h3>
        <Icon name="warn" />
        The scanner found {pluralize(findings.length, 'passage')}
      </h3>
      {paths.map((path) => (
        <div key={path} class="passage">
          <p class="small">
            In <code>{escapeInvisible(path)}</code>
          </p>
          <ul>
            {findings
              .filter(({ where }) => where === path)
              .map(({ rule, excerpt }, index) => (
                <li key={index}>
                  <b>{describeRule(rule)}</b>
                  <q>{escapeInvisible(excerpt)}</q>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function Definition({ held: { approved, offered, changes, kind }, isExpanded, onExpand }: DefinitionProps) {
  const limits = isExpanded ? NO_LIMITS : CUT_LIMITS;
  const isSorted = approved !== undefined;
  const current = useMemo(
    () => formatDefinition(offered, { ...limits, isSorted }),
    [offered, limits, isSorted],
  );
  const previous = useMemo(
    () => approved && formatDefinition(approved.definition, { ...limits, isSorted }),
    [approved, limits, isSorted],
  );
  const hidden = current.hidden + (previous?.hidden ?? 0);
  const newTitle = kind === 'server' ? 'What would run' : 'Definition';
  return (
    <section class="section" aria-label="Definition">
      <div class="section-head">
        <h3>{previous === undefined ? newTitle : pluralize(changes.length, 'change')}</h3>
        <ExpandButton hidden={hidden} onExpand={onExpand} />
      </div>
      {previous === undefined ? (
        <CodeBlock text={current.text} />
      ) : (
        <Diff before={previous.text} after={current.text} hasLimit={!isExpanded} />
      )}
    </section>
  );
}
