import { useMemo, useState } from 'preact/hooks';

import type { AdminHeld } from '../../../../src/admin/contract/contract.ts';
import { count, plural } from '../../lib/format.ts';
import { visible } from '../../lib/visible.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/data/code-block.tsx';
import { Diff } from '../../parts/data/diff.tsx';
import { AskedBy } from './asked-by.tsx';
import { definitionText } from './definition-text.ts';
import { FindingList } from './finding-list.tsx';
import { kinds, reasons, titleOf, whyOf } from './review-words.ts';

/** More is shown when somebody wants all of it. */
const SOME = { longest: 4000, mostLines: 1500 };
const ALL = {};

/** Something that is held: why, what the scanner found in it, and what is different. */
export function HeldDetail({ held }: { held: AdminHeld }) {
  const { server, kind, reason, exposed } = held;
  return (
    <>
      <div class="review-title">
        <p class="small soft">
          {kinds[kind]}
          {kind !== 'server' && (
            <>
              {' of '}
              <a href={`/servers?server=${encodeURIComponent(server)}`}>{server}</a>
            </>
          )}
          {exposed !== undefined && (
            <>
              {', for clients '}
              <code>{visible(exposed)}</code>
            </>
          )}
        </p>
        <h2>
          {titleOf(held)} <Badge kind={reasons[reason].kind}>{reasons[reason].word}</Badge>
        </h2>
        <p class="soft">{whyOf(held)}</p>
        {kind === 'server' && <AskedBy server={server} />}
      </div>
      <FindingList findings={held.findings} />
      <Definition held={held} />
    </>
  );
}

function Definition({ held: { approved, offered, changes, kind } }: { held: AdminHeld }) {
  const [isWhole, setWhole] = useState(false);
  const most = isWhole ? ALL : SOME;
  const isSorted = approved !== undefined;
  const now = useMemo(() => definitionText(offered, { ...most, isSorted }), [offered, most, isSorted]);
  const before = useMemo(
    () => approved && definitionText(approved.definition, { ...most, isSorted }),
    [approved, most, isSorted],
  );
  const hidden = now.hidden + (before?.hidden ?? 0);
  return (
    <section class="section" aria-label="Definition">
      <div class="section-head">
        <h3>
          {before !== undefined
            ? `What is different, in ${plural(changes.length, 'place')}`
            : kind === 'server'
              ? 'What would be run'
              : 'What is offered'}
        </h3>
        {hidden > 0 && (
          <div class="actions">
            <Button isSmall onPress={() => setWhole(true)}>
              Show {count(hidden)} more characters
            </Button>
          </div>
        )}
      </div>
      {before === undefined ? <CodeBlock text={now.text} /> : <Diff before={before.text} after={now.text} />}
    </section>
  );
}
