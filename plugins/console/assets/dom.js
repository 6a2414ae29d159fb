// Elements from data. Text is always a text node, so that a name or an object's text is never read as HTML.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name in made && typeof value !== 'string') made[name] = value;
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null));
  return made;
}

// Replaces the content of `holder`; null children are left out.
export function show(holder, ...children) {
  holder.replaceChildren(...children.flat(Infinity).filter((child) => child !== undefined && child !== null));
}

export function link(text, ...path) {
  return element('a', {href: '#/' + path.map(encodeURIComponent).join('/')}, text);
}

export function field(label, input) {
  return element('label', {}, label, input);
}

export function errorBox(error) {
  const lines = [error.message, ...(error.causes || []).map((cause) => `  ${cause.field ? cause.field + ': ' : ''}${cause.message}`)];
  return element('div', {class: 'error', role: 'alert'}, lines.join('\n'));
}

export function table(columns, rows) {
  const cell = (tag) => (value, i) => element(tag, {class: columns[i].number ? 'number' : undefined, scope: tag === 'th' ? 'col' : undefined}, value);
  return element('table', {},
    element('thead', {}, element('tr', {}, columns.map((column, i) => cell('th')(column.name, i)))),
    element('tbody', {}, rows.map((row) => element('tr', {}, row.map(cell('td'))))));
}

// Asks before something that cannot be undone. Resolves to whether the user agreed.
export function confirmed(question, action) {
  return new Promise((resolve) => {
    const dialog = element('dialog', {'aria-label': question, onclose: () => { resolve(dialog.returnValue === 'yes'); dialog.remove(); }},
      element('form', {method: 'dialog'}, element('p', {}, question),
        element('div', {class: 'bar'}, element('button', {value: 'yes'}, action), element('button', {value: 'no'}, 'Cancel'))));
    document.body.append(dialog);
    dialog.showModal();
  });
}
