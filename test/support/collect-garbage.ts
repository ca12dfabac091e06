import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects garbage several times a second until it is disposed of. */
export function collectGarbageRepeatedly(): Disposable {
  setFlagsFromString('--expose-gc');
  const timer = setInterval(runInNewContext('gc') as () => void, 50);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
