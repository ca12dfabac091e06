import type { AuditRecord } from './audit-record.ts';
import { RECORD_FIELDS } from './audit-row.ts';

export type ExportFormat = 'jsonl' | 'csv';

/** Returns the header line of an export; empty for JSON Lines. */
export function formatExportHeader(format: ExportFormat): string {
  return format === 'csv' ? `time,${RECORD_FIELDS.join(',')}\r\n` : '';
}

/** Formats records as lines, with an additional readable time. */
export function formatExportRecords(records: readonly AuditRecord[], format: ExportFormat): string {
  const lines = records.map((record) => {
    const time = new Date(record.at).toISOString();
    if (format === 'jsonl') return `${JSON.stringify({ time, ...record })}\n`;
    return `${[time, ...RECORD_FIELDS.map((field) => record[field])].map(formatCsvCell).join(',')}\r\n`;
  });
  return lines.join('');
}

/** Matches the beginning of a formula, also in full-width characters and after white space or invisible characters, which spreadsheets may drop. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/**
 * Formats a cell as RFC 4180 describes. A text that a spreadsheet could run as a formula gets a leading quote, because clients and servers
 * choose names. Everything else stays exact, including control characters, because programs read exports.
 */
function formatCsvCell(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
