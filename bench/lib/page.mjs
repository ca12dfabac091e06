const BEGIN = '<!-- run -->';
const END = '<!-- /run -->';

/** Returns the page with its run replaced by this one; `picture` is the path of the picture, relative to the page. */
export function insertRun(
  page,
  { mode, isBusy, machine, date, seconds, failures, peers, skipped, text, picture },
) {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`the page has no ${BEGIN} … ${END}`);
  const command = `npm run bench${mode === 'full' ? ' -- --full' : ''}`;
  const busy = isBusy ? 'one busy loop beside the calls' : 'no busy loop';
  const notes = [
    ...(peers ?? []).map(({ name, version }) => `${name} ${version}`),
    ...(skipped ?? []).map(({ name, version, reason }) => `${name} ${version} left out: ${reason}`),
    ...failures.map(({ name, reason }) => `${name} could not be measured: ${reason.split('\n', 1)[0]}`),
  ];
  const lines = [
    BEGIN,
    '',
    ...(picture === undefined ? [] : [`![Trunkline beside other gateways](${picture})`, '']),
    `\`${command}\` on ${date.slice(0, 10)}: ${machine}; ${busy}, ${seconds} s.${notes.length > 0 ? ` Peers and notes: ${notes.join('; ')}.` : ''}`,
    '',
    '```',
    text.trim(),
    '```',
    '',
  ];
  return page.slice(0, from) + lines.join('\n') + page.slice(to);
}
