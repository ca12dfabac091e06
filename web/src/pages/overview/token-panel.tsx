import type { AdminTokenUsage } from '../../../../src/admin/contract/contract.ts';
import { BarChart } from '../../components/charts/bar-chart.tsx';
import { EmptyState } from '../../components/page/empty-state.tsx';
import { formatCompact, formatCount, pluralize } from '../../lib/format.ts';

const weekdayFormat = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', timeZone: 'UTC' });

/** Compares the tokens that clients received to learn about the tools with the cost of listing all tools in full. */
export function TokenPanel({ tokens }: { readonly tokens: AdminTokenUsage }) {
  const { menu, search, saved, lists, searches, days } = tokens;
  if (lists + searches === 0) {
    return (
      <EmptyState title="No client has listed tools this week">
        <p>
          Connect your clients with <code>trunkline connect</code>. This panel then shows the tokens that they
          save.
        </p>
      </EmptyState>
    );
  }
  return (
    <div class="tokens frame">
      <div class="tokens-summary">
        <p>
          <strong class="figure number">{formatCompact(Math.abs(saved))}</strong>
          <span class="soft">{saved >= 0 ? 'tokens saved' : 'tokens lost'}</span>
        </p>
        <p>
          <strong class="figure number">{formatCompact(menu + search)}</strong>
          <span class="soft">tokens spent</span>
        </p>
        <Calculation tokens={tokens} />
        <p class="faint small">
          {saved < 0
            ? 'With so few tools, listing all of them is cheaper: set "expose" to "direct".'
            : 'Estimated from the messages that were sent; searches and descriptions count as spent.'}
        </p>
      </div>
      <BarChart
        label="Tokens per day"
        parts={[
          { name: 'Lists', kind: 'accent' },
          { name: 'Searches', kind: 'soft' },
          { name: 'Saved', kind: 'plain' },
        ]}
        bars={days.map((day) => ({
          label: weekdayFormat.format(Date.parse(day.day)),
          values: [day.menu, day.search, Math.max(0, day.saved)],
        }))}
        format={formatCompact}
      />
    </div>
  );
}

function Calculation({
  tokens: { whole, menu, search, saved, lists, searches },
}: {
  tokens: AdminTokenUsage;
}) {
  return (
    <dl class="small number">
      <Item name="Cost of listing all tools in full" value={formatCount(whole)} />
      <Item name={`Sent as tool lists (${pluralize(lists, 'list')})`} value={`− ${formatCount(menu)}`} />
      <Item
        name={`Sent as search results (${pluralize(searches, 'search', 'searches')})`}
        value={`− ${formatCount(search)}`}
      />
      <Item name={saved >= 0 ? 'Saved' : 'Lost'} value={formatCount(saved)} isSum />
    </dl>
  );
}

function Item({ name, value, isSum = false }: { name: string; value: string; isSum?: boolean }) {
  return (
    <div class={isSum ? 'sum' : ''}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
