import type { AuditRecord } from './audit-record.ts';
import { MEMBERS } from './audit-row.ts';

export type ExportFormat = 'jsonl' | 'csv';

/** What stands before the first record. */
export function exportHead(format: ExportFormat): string {
  return format === 'csv' ? `time,${MEMBERS.join(',')}\r\n` : '';
}

/** Records as lines; the time is there for people as well. */
export function exportText(records: readonly AuditRecord[], format: ExportFormat): string {
  const lines = records.map((record) => {
    const time = new Date(record.at).toISOString();
    if (format === 'jsonl') return `${JSON.stringify({ time, ...record })}\n`;
    return `${[time, ...MEMBERS.map((member) => record[member])].map(csvCell).join(',')}\r\n`;
  });
  return lines.join('');
}

/** Also behind blank space and in full width, which some spreadsheets look through. */
const FORMULA = /^[\s\p{Cf}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/** RFC 4180. A text that a spreadsheet would take for a formula gets a quote before it, since names come from anybody. */
function csvCell(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
