import { bytesOf, isResult, textOf } from './answer.mjs';

const GRACE_MS = 20_000;

/**
 * Keeps `concurrency` calls in flight for `durationMs` and gives the time of each in milliseconds, and calls a second.
 * Rejects when an answer is an error, smaller than it must be, or missing.
 */
export function load(client, { body, minBytes, concurrency, durationMs }) {
  return new Promise((resolve, reject) => {
    const times = [];
    const begin = performance.now();
    const end = begin + durationMs;
    let inFlight = 0;
    const late = setTimeout(
      () => reject(new Error(`${inFlight} of ${times.length + inFlight} calls were not answered`)),
      durationMs + GRACE_MS,
    );
    const next = () => {
      inFlight++;
      const asked = performance.now();
      client.call(body, (answer) => {
        const now = performance.now();
        times.push(now - asked);
        inFlight--;
        if (!isResult(answer) || bytesOf(answer) < minBytes) {
          clearTimeout(late);
          reject(new Error(`wrong answer: ${textOf(answer).slice(0, 500)}`));
        } else if (now < end) next();
        else if (inFlight === 0) {
          clearTimeout(late);
          resolve({ times, callsPerSecond: (times.length * 1000) / (now - begin) });
        }
      });
    };
    for (let i = 0; i < concurrency; i++) next();
  });
}
