import type { AdminTokens } from '../../../../src/admin/contract/contract.ts';
import { compact, count, plural } from '../../lib/format.ts';
import { Bars } from '../../parts/charts/bars.tsx';
import { EmptyState } from '../../parts/page/empty-state.tsx';

const weekday = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', timeZone: 'UTC' });

/** What clients were sent to know the tools, against what all of them in full would have cost. */
export function TokenPanel({ tokens }: { readonly tokens: AdminTokens }) {
  const { whole, menu, search, saved, lists, searches, days } = tokens;
  if (lists + searches === 0) {
    return (
      <EmptyState title="No client has asked for tools this week">
        <p>
          Write the gateway into your clients with <code>trunkline connect</code>; what it spares them is
          counted here.
        </p>
      </EmptyState>
    );
  }
  const spent = menu + search;
  return (
    <div class="tokens frame">
      <div class="tokens-said">
        <p>
          <strong class="figure number">{compact(Math.abs(saved))}</strong>
          <span class="soft">{saved >= 0 ? 'tokens saved' : 'tokens more than without'}</span>
        </p>
        <p>
          <strong class="figure number">{compact(spent)}</strong>
          <span class="soft">tokens spent</span>
        </p>
        <dl class="small number">
          <Item name="All tools in full would have cost" value={count(whole)} />
          <Item name={`Sent as lists (${plural(lists, 'list')})`} value={`− ${count(menu)}`} />
          <Item
            name={`Sent as search answers (${plural(searches, 'search', 'searches')})`}
            value={`− ${count(search)}`}
          />
          <Item name={saved >= 0 ? 'Saved' : 'Lost'} value={count(saved)} isSum />
        </dl>
        <p class="faint small">
          {saved < 0
            ? 'With this few tools, listing them all is cheaper: set "expose" to "direct".'
            : 'Estimated from what was really sent; searches and descriptions are counted as spent.'}
        </p>
      </div>
      <Bars
        label="Tokens per day"
        parts={[
          { name: 'Lists', kind: 'accent' },
          { name: 'Searches', kind: 'soft' },
          { name: 'Saved', kind: 'plain' },
        ]}
        bars={days.map((day) => ({
          label: weekday.format(Date.parse(day.day)),
          values: [day.menu, day.search, Math.max(0, day.saved)],
        }))}
        format={compact}
      />
    </div>
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
