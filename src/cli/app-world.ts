import type { AppOptions } from '../app/app-options.ts';
import type { CliContext } from './context.ts';

type World = Pick<
  AppOptions,
  | 'env'
  | 'home'
  | 'platform'
  | 'pid'
  | 'version'
  | 'build'
  | 'vectors'
  | 'codeWorker'
  | 'auditWorker'
  | 'web'
  | 'openapi'
  | 'stdin'
  | 'stdout'
>;

/** What a gateway in this process touches of the outside world. */
export function appWorld(context: CliContext): World {
  const {
    env,
    home,
    platform,
    pid,
    version,
    build,
    vectors,
    codeWorker,
    auditWorker,
    web,
    openapi,
    stdin,
    stdout,
  } = context;
  return {
    env,
    home,
    platform,
    pid,
    version,
    build,
    vectors,
    codeWorker,
    auditWorker,
    web,
    openapi,
    stdin,
    stdout,
  };
}
