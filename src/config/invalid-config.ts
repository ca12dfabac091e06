import { GatewayError } from '../model/errors.ts';
import type { ConfigWarning } from './config.ts';
import { formatPath, positionAt } from './file/document.ts';
import type { Problem } from './file/document.ts';
import { shownConfig } from './file/inline.ts';

/** A configuration as it is written, and where. */
export interface ConfigText {
  readonly file: string;
  readonly text: string;
}

/** More are not read by anybody; the rest is told once these are mended. */
const MAX_REPORTED = 20;

/** Why a configuration cannot be used, line by line, as compilers report. */
export function invalidConfig(problems: readonly Problem[], source: ConfigText): GatewayError {
  const warnings = problems.slice(0, MAX_REPORTED).map((problem) => configWarning(problem, source));
  const lines = warnings.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);
  const more = problems.length - warnings.length;
  if (more > 0) lines.push(`${shownConfig(source.file)}: … and ${more} more`);
  return new GatewayError('CONFIG_INVALID', lines.join('\n'), {
    details: { ...warnings[0], ...(warnings.length > 1 && { problems: warnings }) },
  });
}

export function configWarning({ path, offset, message }: Problem, { file, text }: ConfigText): ConfigWarning {
  return { file: shownConfig(file), ...positionAt(text, offset), path: formatPath(path), message };
}
