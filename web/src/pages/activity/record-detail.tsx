import type { AuditRecord } from '../../../../src/admin/contract/contract.ts';
import { formatBytes, formatCount, formatDateTime, formatDuration } from '../../lib/format.ts';
import { escapeInvisible } from '../../lib/escape-invisible.ts';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/data/code-block.tsx';
import { Dialog } from '../../components/overlay/dialog.tsx';

interface RecordDetailProps {
  readonly record: AuditRecord;
  readonly onClose: () => void;
}

/** Shows all fields of an audit record. */
export function RecordDetail({ record, onClose }: RecordDetailProps) {
  const { arguments: args, result, details } = record;
  return (
    <Dialog
      title={escapeInvisible(record.entry ?? record.action ?? record.kind)}
      size="large"
      onClose={onClose}
      actions={
        <Button kind="main" onPress={onClose}>
          Close
        </Button>
      }
    >
      <dl class="facts">
        {listFacts(record).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{escapeInvisible(value)}</dd>
          </div>
        ))}
      </dl>
      {args !== undefined && <Text title="Arguments" text={args} />}
      {result !== undefined && <Text title="Result" text={result} />}
      {details !== undefined && <Text title="Details" text={details} />}
      {args === undefined && record.digest !== undefined && (
        <p class="small faint">
          Arguments and results are recorded only if <code>audit.arguments</code> and{' '}
          <code>audit.results</code> are on.
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

function listFacts(record: AuditRecord): readonly (readonly [string, string])[] {
  const { ms, bytesIn, bytesOut, tokensIn, tokensOut, clientVersion } = record;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Time', formatDateTime(record.at)],
    ['Outcome', [record.outcome, record.code].filter(Boolean).join(' · ')],
    ['Kind', [record.kind, record.action].filter(Boolean).join(' · ')],
    ['Server', record.server],
    ['Caller', `${record.caller} over ${record.via}, profile ${record.profile}`],
    ['Client', record.client && [record.client, clientVersion].filter(Boolean).join(' ')],
    ['Effect', record.tier],
    ['Rule', record.rule],
    ['Duration', ms === undefined ? undefined : formatDuration(ms)],
    ['Sent', bytesIn === undefined ? undefined : formatSize(bytesIn, tokensIn)],
    ['Received', bytesOut === undefined ? undefined : formatSize(bytesOut, tokensOut)],
    ['Fingerprint', record.fingerprint],
    ['Digest of arguments', record.digest],
    ['Request', record.request],
    ['Group', record.group === record.request ? undefined : record.group],
    ['Sequence number', formatCount(record.seq)],
    ['Hash', record.hash],
  ];
  return facts.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  );
}

function formatSize(length: number, tokens: number | undefined): string {
  return tokens === undefined
    ? formatBytes(length)
    : `${formatBytes(length)}, about ${formatCount(tokens)} tokens`;
}
