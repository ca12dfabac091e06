import { render } from 'preact';
import { useState } from 'preact/hooks';

import {
  formatBytes,
  formatCount,
  formatDateTime,
  formatDuration,
  formatRelative,
  formatTime,
} from '../src/lib/format.ts';
import { Badge } from '../src/components/badge.tsx';
import { Button } from '../src/components/button.tsx';
import { LineChart } from '../src/components/charts/line-chart.tsx';
import { CodeBlock } from '../src/components/data/code-block.tsx';
import type { Column } from '../src/components/data/column.ts';
import { Diff } from '../src/components/data/diff.tsx';
import { JsonTree } from '../src/components/data/json-tree.tsx';
import { Table } from '../src/components/data/table.tsx';
import { SchemaForm } from '../src/components/form/schema-form.tsx';
import { Dialog } from '../src/components/overlay/dialog.tsx';
import { NoticeList } from '../src/components/overlay/notice-list.tsx';
import { ConfirmDialog } from '../src/components/overlay/confirm-dialog.tsx';
import { EmptyState } from '../src/components/page/empty-state.tsx';
import { ProblemNote } from '../src/components/page/problem-note.tsx';
import { Section } from '../src/components/page/section.tsx';
import { SearchField } from '../src/components/search-field.tsx';
import { StateDot } from '../src/components/state-dot.tsx';
import { stateStyles } from '../src/components/state-styles.ts';
import { Tabs } from '../src/components/tabs.tsx';
import { createStore } from '../src/store/store.ts';
import { StoreContext, useStore } from '../src/store/use-store.ts';
import '../src/style/all.css';
import { diffAfter, diffBefore, rows, schema, waves } from './gallery-data.ts';

/** Shows every component, for development: `npx vite web`, then open /fake/gallery.html. */
function Gallery() {
  return (
    <main class="page">
      <ButtonSection />
      <TableSection />
      <Section title="Line chart" isFramed>
        <LineChart
          label="Median"
          at={waves.at}
          lines={waves.lines}
          format={formatDuration}
          timeFormat={formatDateTime}
          axisFormat={String}
        />
      </Section>
      <Section title="Diff">
        <Diff before={diffBefore} after={diffAfter} />
      </Section>
      <FormSection />
      <ProblemNote problem={{ message: 'The request failed.', advice: 'Try again.' }} onRetry={() => {}} />
      <NoticeList />
      <ConfirmDialog />
    </main>
  );
}

function ButtonSection() {
  const { notices } = useStore();
  const [isOpen, setOpen] = useState(false);
  const remove = async (): Promise<void> => {
    const isConfirmed = await notices.confirm({
      title: 'Remove github?',
      text: 'Its tools disappear for every client.',
      action: 'Remove',
      isDangerous: true,
    });
    if (isConfirmed) notices.showMessage('Removed.');
  };
  return (
    <Section title="Buttons, badges, states">
      <p style={{ display: 'flex', gap: '8px', flexWrap: 'wrap', alignItems: 'center' }}>
        <Button kind="main" onPress={() => setOpen(true)}>
          Dialog
        </Button>
        <Button onPress={() => notices.showMessage('Saved.')}>Message</Button>
        <Button onPress={() => notices.showError(new Error('The request failed.'))}>Error</Button>
        <Button kind="danger" onPress={remove}>
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
        {Object.keys(stateStyles).map((state) => (
          <StateDot key={state} state={state} />
        ))}
      </p>
      {isOpen && (
        <Dialog title="A dialog" onClose={() => setOpen(false)} actions={<Button kind="main">Save</Button>}>
          <SchemaForm schema={schema} value={{}} onChange={() => {}} />
        </Dialog>
      )}
    </Section>
  );
}

const columns: readonly Column<(typeof rows)[number]>[] = [
  { name: 'name', title: 'Name', cell: (row) => row.name, sort: (row) => row.name },
  {
    name: 'at',
    title: 'When',
    cell: (row) => `${formatTime(row.at)}, ${formatRelative(row.at, rows[0]?.at ?? 0)}`,
  },
  {
    name: 'size',
    title: 'Size',
    align: 'right',
    cell: (row) => formatBytes(row.size),
    sort: (row) => row.size,
  },
];

function TableSection() {
  const { notices } = useStore();
  const [query, setQuery] = useState('');
  const matches = rows.filter(({ name }) => name.includes(query));
  return (
    <Section title="Table" aside={`${formatCount(matches.length)} of ${formatCount(rows.length)}`}>
      <SearchField label="Search names" value={query} onChange={setQuery} hasShortcut />
      <Table
        label="Calls"
        rows={matches}
        columns={columns}
        keyOf={({ name }) => name}
        onOpen={({ name }) => notices.showMessage(name)}
        maxHeight="320px"
        empty={<EmptyState title="No call matches">Try fewer letters.</EmptyState>}
        scope={query}
      />
    </Section>
  );
}

function FormSection() {
  const [value, setValue] = useState<Readonly<Record<string, unknown>>>({ path: 'README.md' });
  const [tab, setTab] = useState<'form' | 'json' | 'text'>('form');
  return (
    <Section title="Form from a schema, and its value" isFramed>
      <Tabs
        label="Views of the value"
        tabs={[
          { name: 'form', title: 'Form' },
          { name: 'json', title: 'Tree' },
          { name: 'text', title: 'Text' },
        ]}
        selected={tab}
        onSelect={setTab}
      >
        {tab === 'form' && <SchemaForm schema={schema} value={value} onChange={setValue} />}
        {tab === 'json' && <JsonTree value={{ value, schema, rows: rows.slice(0, 300) }} />}
        {tab === 'text' && <CodeBlock text={JSON.stringify(value, null, 2)} copyLabel="Copy" />}
      </Tabs>
    </Section>
  );
}

const root = document.getElementById('app');
if (root !== null) {
  render(
    <StoreContext.Provider value={createStore(window)}>
      <Gallery />
    </StoreContext.Provider>,
    root,
  );
}
