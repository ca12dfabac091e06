// Search alone: quality with our own requests and the public sets, speed and size with the generated catalog and a tenfold one.
//   node bench/search/run.mjs [--json FILE] [--per-query FILE] [--without-vectors] [--only quality|speed|product]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { build } from '../../scripts/build.mjs';
import { ownChildren } from '../lib/children.mjs';
import { measureSearch } from './measure.mjs';
import { searchTables } from './report.mjs';

const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    'per-query': { type: 'string' },
    'without-vectors': { type: 'boolean', default: false },
    only: { type: 'string', default: 'quality,speed' },
  },
});
const parts = options.only.split(',');
const children = ownChildren();
try {
  if (parts.includes('product')) await build();
  const report = await measureSearch({ parts, children, isWithoutVectors: options['without-vectors'] });
  console.log(searchTables(report));
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  if (options['per-query'] !== undefined) {
    const rows = (report.quality ?? []).flatMap(({ rows: own = [] }) => own);
    writeFileSync(options['per-query'], `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`);
  }
} finally {
  await children.close();
}
