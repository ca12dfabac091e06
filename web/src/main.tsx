import { render } from 'preact';

import { App } from './app.tsx';
import { escapeRenderedText } from './lib/escape-rendered-text.ts';
import { createStore } from './store/store.ts';
import { StoreContext } from './store/use-store.ts';
import './style/all.css';

escapeRenderedText();
const store = createStore(window);
const root = document.getElementById('app');
if (root !== null) {
  render(
    <StoreContext.Provider value={store}>
      <App />
    </StoreContext.Provider>,
    root,
  );
}
void store.start();
