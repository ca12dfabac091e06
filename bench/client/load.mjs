import { bytesOf, isResult, textOf } from './answer.mjs';

const GRACE_MS = 20_000;

/**
 * Keeps `concurrency` calls in flight for `durationMs`, or until `maxCalls` were made. Resolves with the time of each call in milliseconds
 * and the calls per second. Rejects if an answer is an error, too small or missing.
 */
export function load(client, { body, minBytes, concurrency, durationMs, maxCalls = Infinity }) {
  return new Promise((resolve, reject) => {
    const times = [];
    const begin = performance.now();
    const end = begin + durationMs;
    let inFlight = 0;
    let made = 0;
    const late = setTimeout(
      () => reject(new Error(`${inFlight} of ${times.length + inFlight} calls were not answered`)),
      durationMs + GRACE_MS,
    );
    const next = () => {
      inFlight++;
      made++;
      const asked = performance.now();
      client.call(body, (answer) => {
        const now = performance.now();
        times.push(now - asked);
        inFlight--;
        if (!isResult(answer) || bytesOf(answer) < minBytes) {
          clearTimeout(late);
          reject(new Error(`wrong answer: ${textOf(answer).slice(0, 500)}`));
        } else if (now < end && made < maxCalls) next();
        else if (inFlight === 0) {
          clearTimeout(late);
          resolve({ times, callsPerSecond: (times.length * 1000) / (now - begin) });
        }
      });
    };
    for (let i = 0; i < concurrency; i++) next();
  });
}
