const FONT_SIZE = 14;
const COLUMN_WIDTH = 8.43;
const LINE_HEIGHT = 19;
const PADDING = 16;
const BAR_HEIGHT = 34;
/** How long the last frame stays, in milliseconds. */
const LAST_MS = 4000;
const COLOURS = {
  1: '#ff7b72',
  2: '#7ee787',
  3: '#e3b341',
  4: '#79c0ff',
  5: '#d2a8ff',
  6: '#76e3ea',
  8: '#8b949e',
};

/** Returns an SVG that plays the frames. Each different row is defined once; each frame is a column of a wide strip. */
export function renderRecording(frames, { columns, rows, picture, transcript }) {
  const width = Math.ceil(columns * COLUMN_WIDTH + 2 * PADDING);
  const height = rows * LINE_HEIGHT + 2 * PADDING + BAR_HEIGHT;
  const ids = new Map();
  const shown = withoutRepeats(frames);
  const strip = shown.map((frame, index) => {
    const x = index * width;
    if (frame.isPicture) return renderPicture(picture, { x, width, height });
    const uses = frame.rows.flatMap((spans, row) => {
      if (spans.length === 0) return [];
      const text = renderRow(spans);
      const id = ids.get(text) ?? `r${ids.size}`;
      ids.set(text, id);
      return [`<use href="#${id}" y="${row * LINE_HEIGHT}"/>`];
    });
    return `<g transform="translate(${x + PADDING} ${PADDING + BAR_HEIGHT})">${uses.join('')}</g>`;
  });
  const total = (shown.at(-1)?.at ?? 0) + LAST_MS;
  const steps = shown.map(
    ({ at }, index) => `${((100 * at) / total).toFixed(3)}%{transform:translateX(${-index * width}px)}`,
  );
  const colours = Object.entries(COLOURS).map(([number, colour]) => `.c${number}{fill:${colour}}`);
  const last = `translateX(${-(shown.length - 1) * width}px)`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">A terminal: trunkline init tests the servers of three clients, fixes two, connects the clients and finds a tool; connect --undo restores a client.</title>
<desc id="run">${escapeXml(transcript)}</desc>
<style>
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}
.b{font-weight:700}.d{opacity:.65}${colours.join('')}
.strip{animation:play ${(total / 1000).toFixed(2)}s step-end infinite}
@keyframes play{${steps.join('')}}
@media (prefers-reduced-motion:reduce){.strip{animation:none;transform:${last}}}
</style>
<defs>
${[...ids].map(([text, id]) => `<text id="${id}" y="${FONT_SIZE}">${text}</text>`).join('\n')}
</defs>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="20" cy="18" r="6" fill="#ff5f57"/><circle cx="40" cy="18" r="6" fill="#febc2e"/><circle cx="60" cy="18" r="6" fill="#28c840"/>
<g class="strip">
${strip.join('\n')}
</g>
</svg>
`;
}

/** Leaves out frames that look like the one before. */
function withoutRepeats(frames) {
  let before;
  return frames.filter((frame) => {
    const now = frame.isPicture ? 'picture' : JSON.stringify(frame.rows);
    const isNew = now !== before;
    before = now;
    return isNew;
  });
}

function renderRow(spans) {
  return spans
    .map(({ text, style, column }) => {
      const classes = style.replace(/(?<=.)(?=[dc])/g, ' ');
      const x = column === 0 ? '' : ` x="${(column * COLUMN_WIDTH).toFixed(1)}"`;
      const length = ` textLength="${(text.length * COLUMN_WIDTH).toFixed(1)}"`;
      return `<tspan${x}${length}${classes === '' ? '' : ` class="${classes}"`}>${escapeXml(text)}</tspan>`;
    })
    .join('');
}

function renderPicture(picture, { x, width, height }) {
  const data = picture.toString('base64');
  return `<image x="${x + 1}" y="${BAR_HEIGHT}" width="${width - 2}" height="${height - BAR_HEIGHT - 8}" preserveAspectRatio="xMidYMin meet" href="data:image/jpeg;base64,${data}"/>`;
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
