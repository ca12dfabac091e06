import { render } from 'preact';

import { App } from './app.tsx';
import { makeStore } from './store/store.ts';
import { StoreContext } from './store/use-store.ts';
import './style/all.css';

const store = makeStore(window);
const root = document.getElementById('app');
if (root !== null) {
  render(
    <StoreContext.Provider value={store}>
      <App />
    </StoreContext.Provider>,
    root,
  );
}
void store.begin();
