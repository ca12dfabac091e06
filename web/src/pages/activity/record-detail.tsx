import type { AuditRecord } from '../../../../src/admin/contract/contract.ts';
import { bytes, count, dateTime, duration } from '../../lib/format.ts';
import { visible } from '../../lib/visible.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/data/code-block.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';

interface RecordDetailProps {
  readonly record: AuditRecord;
  readonly onClose: () => void;
}

/** Everything that is recorded of one operation. */
export function RecordDetail({ record, onClose }: RecordDetailProps) {
  const { arguments: args, result, details } = record;
  return (
    <Dialog
      title={visible(record.entry ?? record.action ?? record.kind)}
      size="large"
      onClose={onClose}
      actions={
        <Button kind="main" onPress={onClose}>
          Close
        </Button>
      }
    >
      <dl class="facts">
        {factsOf(record).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{visible(value)}</dd>
          </div>
        ))}
      </dl>
      {args !== undefined && <Text title="Arguments" text={args} />}
      {result !== undefined && <Text title="Result" text={result} />}
      {details !== undefined && <Text title="Details" text={details} />}
      {args === undefined && record.digest !== undefined && (
        <p class="small faint">
          Arguments and results are kept only where <code>audit.arguments</code> and{' '}
          <code>audit.results</code> say so.
        </p>
      )}
    </Dialog>
  );
}

function Text({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h3>{title}</h3>
      <CodeBlock text={text} copyLabel={`Copy: ${title}`} />
    </>
  );
}

function factsOf(record: AuditRecord): readonly (readonly [string, string])[] {
  const { ms, bytesIn, bytesOut, tokensIn, tokensOut, clientVersion } = record;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Time', dateTime(record.at)],
    ['Outcome', [record.outcome, record.code].filter(Boolean).join(' · ')],
    ['Kind', [record.kind, record.action].filter(Boolean).join(' · ')],
    ['Server', record.server],
    ['Caller', `${record.caller} over ${record.via}, profile ${record.profile}`],
    ['Client', record.client && [record.client, clientVersion].filter(Boolean).join(' ')],
    ['Effect', record.tier],
    ['Rule', record.rule],
    ['Took', ms === undefined ? undefined : duration(ms)],
    ['Sent', bytesIn === undefined ? undefined : size(bytesIn, tokensIn)],
    ['Received', bytesOut === undefined ? undefined : size(bytesOut, tokensOut)],
    ['Fingerprint', record.fingerprint],
    ['Digest of arguments', record.digest],
    ['Request', record.request],
    ['Group', record.group === record.request ? undefined : record.group],
    ['Number', count(record.seq)],
    ['Hash', record.hash],
  ];
  return facts.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  );
}

function size(length: number, tokens: number | undefined): string {
  return tokens === undefined ? bytes(length) : `${bytes(length)}, about ${count(tokens)} tokens`;
}
