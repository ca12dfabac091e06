import type { AdminHeld } from '../../../../src/admin/contract/contract.ts';
import { plural } from '../../lib/format.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icon.tsx';
import { ruleWords } from './review-words.ts';

/** What the scanner found, passage by passage. */
export function FindingList({ findings }: Pick<AdminHeld, 'findings'>) {
  if (findings.length === 0) return null;
  const places = [...new Set(findings.map(({ where }) => where))];
  return (
    <section class="findings" aria-label="Findings">
      <h3>
        <Icon name="warn" />
        The scanner found {plural(findings.length, 'passage')}
      </h3>
      {places.map((where) => (
        <div key={where} class="passage">
          <p class="small">
            In <code>{visible(where)}</code>
          </p>
          <ul>
            {findings
              .filter((finding) => finding.where === where)
              .map(({ rule, excerpt }, at) => (
                <li key={at}>
                  <b>{ruleWords(rule)}</b>
                  <q>{visible(excerpt)}</q>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </section>
  );
}
