// Tables of surfaces are sorted in the page: how somebody looks at rows is nobody else's, so nothing is sent (D43). A
// module of its own: most conversations have no table to sort.

import { all, focused, when } from './dom.js';

const MORE = 'a2-table__more';
const watched = new WeakMap();     // body -> column and direction, and what hears of changes
const words = new Intl.Collator(document.documentElement.lang || undefined, { numeric: true });

// What a cell sorts by: a number that the server has given, or its words; undefined where it is empty.
function keyOf(row, column) {
  const { dataset: { v }, textContent } = row.cells[column], said = v ?? textContent.trim();
  if (said) return v === undefined ? said : +v;
}

function compare(one, other, sign) {
  if (one === undefined || other === undefined) return (one === undefined) - (other === undefined);
  return sign * (typeof one === 'number' ? one - other : words.compare(one, other));
}

// Moves what stands elsewhere and leaves the rest alone. The notice that there are more stays last, and is asked for
// them: an order of some rows would pass for one of all.
function sort(body) {
  const { column, sign, observer } = watched.get(body), { activeElement } = document;
  const rows = [...body.rows].filter(row => !row.classList.contains(MORE)).map(row => [row, keyOf(row, column)]);
  rows.sort(([, one], [, other]) => compare(one, other, sign));
  let at = body.firstElementChild;
  for (const [row] of rows) {
    if (row === at) at = at.nextElementSibling;
    else (body.moveBefore ?? body.insertBefore).call(body, row, at);
  }
  if (focused() !== activeElement) activeElement.focus({ preventScroll: true });
  observer.takeRecords();
  const more = body.querySelector(`.${MORE} [data-more]`);
  if (more && more.ariaDisabled !== 'true') more.click();
}

when('click', '[data-sort]', button => {
  const head = button.closest('th'), body = button.closest('table').tBodies[0];
  const up = head.ariaSort !== 'ascending', { observer = new MutationObserver(() => sort(body)) } = watched.get(body) ?? {};
  for (const other of all('[aria-sort]', head.parentNode)) other.ariaSort = 'none';
  head.ariaSort = up ? 'ascending' : 'descending';
  watched.set(body, { column: head.cellIndex, sign: up ? 1 : -1, observer });
  // What the server changes meanwhile finds its place too.
  observer.observe(body, { childList: true, subtree: true, characterData: true, attributeFilter: ['data-v'] });
  sort(body);
});
