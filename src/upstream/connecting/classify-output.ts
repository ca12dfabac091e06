import type { FailureReason } from '../../core/failure-reason.ts';
import { sanitizeText } from '../../core/lib/sanitize-text.ts';

export interface OutputFinding {
  readonly reason: FailureReason;
  /** The program that wrote the output, such as `npm`. */
  readonly program: string;
  /** The package, image or module that is missing. */
  readonly subject?: string | undefined;
}

type Pattern = Omit<OutputFinding, 'subject'> & {
  /** Its first group, if any, is the subject. */
  readonly pattern: RegExp;
};

/** The first pattern that matches any line wins, so those that name a package come before general ones. */
const PATTERNS: readonly Pattern[] = [
  npm('package-not-found', /\b404\s+'(@?[^'@]+)@[^']*' (?:is not in|could not be found)/),
  npm('package-not-found', /\b404\s+The requested resource '(@?[^'@]+)@/),
  npm('package-not-found', /notarget No matching version found for (\S+?)\.?$/),
  npm('package-not-found', /\b404 Not Found - GET \S*\/((?:@[^/\s]+(?:%2f|\/))?[^/\s]+)/i),
  npm('package-not-found', /\bcode E404\b/),
  npm('registry-refused', /\bcode E40[13]\b/),
  npm(
    'registry-unreachable',
    /\bcode (?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT)\b/,
  ),
  {
    reason: 'package-not-found',
    program: 'uv',
    pattern: /Because (\S+) was not found in the package registry/,
  },
  {
    reason: 'registry-unreachable',
    program: 'uv',
    pattern: /Failed to fetch: `?https?:\/\/|Could not connect, are you offline/,
  },
  { reason: 'package-not-found', program: 'Docker', pattern: /pull access denied for ([^,\s]+)/ },
  { reason: 'package-not-found', program: 'Docker', pattern: /manifest for (\S+) not found/ },
  { reason: 'engine-not-running', program: 'Docker', pattern: /Cannot connect to the Docker daemon/ },
  { reason: 'file-missing', program: 'Node', pattern: /Cannot find (?:module|package) '([^']+)'/ },
  { reason: 'file-missing', program: 'Python', pattern: /No module named '?([\w.]+)/ },
  { reason: 'file-missing', program: 'Python', pattern: /can't open file '([^']+)'/ },
  {
    reason: 'file-missing',
    program: '',
    pattern:
      /no such file|could not determine executable to run|command not found|: not found$|is not recognized|\bENOENT\b/i,
  },
];

/**
 * Searches the output of a program for the reason why it ended. This is the only place that reads messages of package managers,
 * interpreters and shells; other code reads the reason.
 */
export function classifyOutput(lines: readonly string[]): OutputFinding | undefined {
  for (const { reason, program, pattern } of PATTERNS) {
    for (const line of lines) {
      const match = pattern.exec(line);
      if (match === null || (program === 'npm' && !/^npm (?:error|ERR!)/.test(line))) continue;
      const subject = match[1]?.replace(/%2f/i, '/');
      return { reason, program, subject: subject && sanitizeText(subject) };
    }
  }
  return undefined;
}

function npm(reason: FailureReason, pattern: RegExp): Pattern {
  return { reason, program: 'npm', pattern };
}
