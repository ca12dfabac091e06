import { render } from 'preact';
import { useState } from 'preact/hooks';

import { bytes, count, dateTime, duration, relative, time } from '../src/lib/format.ts';
import { Badge } from '../src/parts/badge.tsx';
import { Button } from '../src/parts/button.tsx';
import { LineChart } from '../src/parts/charts/line-chart.tsx';
import { CodeBlock } from '../src/parts/data/code-block.tsx';
import { Diff } from '../src/parts/data/diff.tsx';
import { JsonTree } from '../src/parts/data/json-tree.tsx';
import { Table } from '../src/parts/data/table.tsx';
import { SchemaForm } from '../src/parts/form/schema-form.tsx';
import { Dialog } from '../src/parts/overlay/dialog.tsx';
import { NoticeHost } from '../src/parts/overlay/notice-host.tsx';
import { QuestionHost } from '../src/parts/overlay/question-host.tsx';
import { EmptyState } from '../src/parts/page/empty-state.tsx';
import { ProblemNote } from '../src/parts/page/problem-note.tsx';
import { Section } from '../src/parts/page/section.tsx';
import { SearchField } from '../src/parts/search-field.tsx';
import { StateDot } from '../src/parts/state-dot.tsx';
import { looks } from '../src/parts/state-look.ts';
import { Tabs } from '../src/parts/tabs.tsx';
import { makeStore } from '../src/store/store.ts';
import { StoreContext, useStore } from '../src/store/use-store.ts';
import '../src/style/all.css';
import { diffAfter, diffBefore, rows, schema, waves } from './gallery-data.ts';

/** Every part once, to look at while one builds: `npx vite web`, then /fake/gallery.html. */
function Gallery() {
  const { notices } = useStore();
  const [value, setValue] = useState<Readonly<Record<string, unknown>>>({ path: 'README.md' });
  const [query, setQuery] = useState('');
  const [tab, setTab] = useState<'form' | 'json' | 'text'>('form');
  const [isOpen, setOpen] = useState(false);
  const found = rows.filter(({ name }) => name.includes(query));
  return (
    <main class="page">
      <Section title="Buttons, badges, states">
        <p style={{ display: 'flex', gap: '8px', flexWrap: 'wrap', alignItems: 'center' }}>
          <Button kind="main" onPress={() => setOpen(true)}>
            Dialog
          </Button>
          <Button onPress={() => notices.say('Saved.')}>Say</Button>
          <Button onPress={() => notices.fail(new Error('It did not work.'))}>Fail</Button>
          <Button
            kind="danger"
            onPress={async () => {
              const agrees = await notices.confirm({
                title: 'Remove github?',
                text: 'Its tools disappear for every client.',
                action: 'Remove',
                isDangerous: true,
              });
              if (agrees) notices.say('Removed.');
            }}
          >
            Remove
          </Button>
          <Button kind="quiet">Quiet</Button>
          <Button isSmall>Small</Button>
          <Button isDisabled>Disabled</Button>
          {(['plain', 'accent', 'good', 'warn', 'bad'] as const).map((kind) => (
            <Badge key={kind} kind={kind}>
              {kind}
            </Badge>
          ))}
          {Object.keys(looks).map((state) => (
            <StateDot key={state} state={state} />
          ))}
        </p>
      </Section>
      <Section title="Table" aside={`${count(found.length)} of ${count(rows.length)}`}>
        <SearchField label="Search names" value={query} onChange={setQuery} hasShortcut />
        <Table
          label="Calls"
          rows={found}
          keyOf={({ name }) => name}
          onOpen={({ name }) => notices.say(name)}
          maxHeight="320px"
          empty={<EmptyState title="Nothing is called like this">Try fewer letters.</EmptyState>}
          scope={query}
          columns={[
            { name: 'name', title: 'Name', cell: (row) => row.name, sort: (row) => row.name },
            {
              name: 'at',
              title: 'When',
              cell: (row) => `${time(row.at)}, ${relative(row.at, rows[0]?.at ?? 0)}`,
            },
            {
              name: 'size',
              title: 'Size',
              align: 'right',
              cell: (row) => bytes(row.size),
              sort: (row) => row.size,
            },
          ]}
        />
      </Section>
      <Section title="Line chart" isFramed>
        <LineChart label="Median" at={waves.at} lines={waves.lines} format={duration} timeFormat={dateTime} />
      </Section>
      <Section title="Difference">
        <Diff before={diffBefore} after={diffAfter} />
      </Section>
      <Section title="Form from a schema, and its value" isFramed>
        <Tabs
          label="Ways to see it"
          tabs={[
            { name: 'form', title: 'Form' },
            { name: 'json', title: 'Tree' },
            { name: 'text', title: 'Text' },
          ]}
          chosen={tab}
          onChoose={setTab}
        >
          {tab === 'form' && <SchemaForm schema={schema} value={value} onChange={setValue} />}
          {tab === 'json' && <JsonTree value={{ value, schema, rows: rows.slice(0, 300) }} />}
          {tab === 'text' && <CodeBlock text={JSON.stringify(value, null, 2)} copyLabel="Copy" />}
        </Tabs>
      </Section>
      <ProblemNote problem={{ message: 'It did not work.', advice: 'Try again.' }} onRetry={() => {}} />
      {isOpen && (
        <Dialog title="A dialog" onClose={() => setOpen(false)} actions={<Button kind="main">Save</Button>}>
          <SchemaForm schema={schema} value={value} onChange={setValue} />
        </Dialog>
      )}
      <NoticeHost />
      <QuestionHost />
    </main>
  );
}

const root = document.getElementById('app');
if (root !== null) {
  render(
    <StoreContext.Provider value={makeStore(window)}>
      <Gallery />
    </StoreContext.Provider>,
    root,
  );
}
