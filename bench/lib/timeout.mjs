export const LATE = 'gave up waiting';

/** Resolves with the work, or rejects if it takes longer. */
export async function withinMs(work, ms, complaint = LATE) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(complaint)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The first line of an error; the output of the process is below it. */
export function noteOf(error) {
  return error.message.split('\n', 1)[0].slice(0, 140);
}
