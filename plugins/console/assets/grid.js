// A list of any length: only the lines in view are elements.
import {element} from './dom.js';

const LINE = 28, MORE = 12;  // height of a line in pixels (style.css), and lines drawn beyond those in view

export class Grid {
  // `columns`: [{name, width}]. `cells(item)`: one node or text for each column. Items are kept in the order of their `key` texts.
  constructor(cells) {
    this.cells = cells;
    this.items = new Map();
    this.order = [];
    this.filter = '';
    this.fresh = new Map();  // key → time of the last change
    this.head = element('div', {class: 'head', role: 'row'});
    this.space = element('div', {class: 'space', role: 'rowgroup'});
    this.root = element('div', {class: 'grid', role: 'table', tabindex: '0', 'aria-label': 'Objects', onscroll: () => this.draw()},
      element('div', {role: 'rowgroup'}, this.head), this.space);
    this.count = element('span', {class: 'soft', role: 'status'});
  }

  setColumns(columns) {
    this.root.style.setProperty('--columns', columns.map((column) => column.width).join(' '));
    this.head.replaceChildren(...columns.map((column) => element('span', {role: 'columnheader', title: column.description || ''}, column.name)));
  }

  clear() { this.items.clear(); this.later(true); }

  put(key, item, changed = false) {
    const isNew = !this.items.has(key);
    this.items.set(key, item);
    if (changed) this.fresh.set(key, Date.now());
    this.later(isNew);
  }

  remove(key) { if (this.items.delete(key)) this.later(true); }

  setFilter(text) { this.filter = text.toLowerCase(); this.later(true); }

  // Draws once before the next frame, however many changes come.
  later(reorder) {
    this.reorder = this.reorder || reorder;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.sort(); this.draw(); });
  }

  sort() {
    if (!this.reorder) return;
    this.reorder = false;
    const keys = [...this.items.keys()];
    this.order = (this.filter ? keys.filter((key) => key.toLowerCase().includes(this.filter)) : keys).sort();
    this.space.style.height = `${this.order.length * LINE}px`;
    this.root.setAttribute('aria-rowcount', this.order.length + 1);
    const all = this.items.size;
    this.count.textContent = this.order.length === all ? `${all} objects` : `${this.order.length} of ${all} objects`;
  }

  draw() {
    const first = Math.max(0, Math.floor(this.root.scrollTop / LINE) - MORE);
    const last = Math.min(this.order.length, first + Math.ceil(this.root.clientHeight / LINE) + 2 * MORE);
    const now = Date.now();
    const shown = [];
    for (let i = first; i < last; ++i) {
      const key = this.order[i];
      const line = element('div', {class: 'line', role: 'row', 'aria-rowindex': String(i + 2)},
        this.cells(this.items.get(key)).map((cell) => element('span', {role: 'cell', title: typeof cell === 'string' ? cell : ''}, cell)));
      line.style.top = `${i * LINE}px`;
      if (now - (this.fresh.get(key) || 0) < 1500) line.classList.add('changed');
      shown.push(line);
    }
    this.space.replaceChildren(...shown);
  }
}
