import { isJsonObject } from '../../../core/json.ts';

/** Formats the error message of a tool. A JSON list of validation issues becomes one line per field. */
export function formatToolError(text: string): string {
  const begin = text.indexOf('[');
  const issues = begin < 0 ? undefined : parseIssues(text.slice(begin, text.lastIndexOf(']') + 1));
  if (issues === undefined) return text;
  return [text.slice(0, begin).trimEnd(), ...issues.map((issue) => `  ${issue}`)].join('\n').trimStart();
}

function parseIssues(text: string): readonly string[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // The brackets belong to a sentence.
  }
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const lines = value.map(formatIssue);
  return lines.every((line) => line !== undefined) ? lines : undefined;
}

function formatIssue(issue: unknown): string | undefined {
  if (!isJsonObject(issue) || typeof issue['message'] !== 'string' || !Array.isArray(issue['path']))
    return undefined;
  const path = issue['path']
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('');
  const expected = typeof issue['expected'] === 'string' ? ` (expected ${issue['expected']})` : '';
  const field = path === '' ? 'the arguments' : path.replace(/^\./, '');
  return `${field} - ${issue['message']}${expected}`;
}
