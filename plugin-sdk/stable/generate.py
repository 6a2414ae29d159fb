"""Writes the C headers and the Rust declarations of the stable tier from tables.toml and tables/.

  generate.py           writes them
  generate.py --check   ends with 1 and names those that are out of date
  generate.py --release writes released.json: what no later version may change
"""
import json
import os
import re
import sys
import textwrap
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
HEADERS = os.path.join(HERE, '../include/backplane/stable')
RUST = os.path.join(HERE, '../../docs/examples/stable-rust/src/tables.rs')
WIDTH = 140
MADE = 'Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.'


class Argument:
    """One declaration: a type and a name; for a function, `type` is what it returns and `arguments` are its parameters."""

    def __init__(self, text, comment=()):
        self.comment = list(comment)
        self.arguments = None
        pointer = re.fullmatch(r'([^()]+?)\(\*(\w+)\)\((.*)\)', text)  # a pointer to a function, as a parameter
        function = re.fullmatch(r'([^()]+?)(\w+)\((.*)\)', text)  # a member function
        if pointer or function:
            self.type, self.name, inner = (pointer or function).groups()
            self.arguments = [Argument(each) for each in split(inner)]
        else:
            array = re.fullmatch(r'(.+?)(\w+)\[(\d+)\]', text)
            self.type, self.name = (array or re.fullmatch(r'(.+?)(\w+)', text)).groups()[:2]
            self.size = int(array[3]) if array else None
        self.type = re.sub(r'\s*\*', '*', self.type.strip()).replace('*const', '* const')

    def c(self, inside=False):
        if self.arguments is not None:
            return '%s (*%s)(%s)' % (self.type, self.name, ', '.join(each.c(True) for each in self.arguments) or 'void')
        return '%s %s%s' % (self.type, self.name, '[%d]' % self.size if self.size else '')

    def rust(self):
        return '%s: %s' % ({'type': 'kind', 'self': 'this'}.get(self.name, self.name), self.rust_type())

    def rust_type(self):
        if self.arguments is None:
            text = rust_of(self.type)
            return '[%s; %d]' % (text, self.size) if self.size else text
        result = '' if self.type == 'void' else ' -> ' + rust_of(self.type)
        return 'Option<unsafe extern "C" fn(%s)%s>' % (', '.join(each.rust() for each in self.arguments), result)


def split(text):
    """The arguments of a list, at commas outside of parentheses."""
    parts, depth, at = [], 0, 0
    for i, c in enumerate(text + ','):
        depth += {'(': 1, ')': -1}.get(c, 0)
        if c == ',' and depth == 0:
            parts.append(text[at:i].strip())
            at = i + 1
    return [part for part in parts if part]


# Constants that functions return.
SIGNED = ('BP_ALLOW', 'BP_DENY', 'BP_NO_OPINION', 'BP_PUSHED', 'BP_FULL', 'BP_ENDED')
RUST_TYPES = {'int32_t': 'i32', 'uint32_t': 'u32', 'int64_t': 'i64', 'uint64_t': 'u64', 'size_t': 'usize', 'char': 'c_char', 'void': 'c_void'}


def rust_of(text):
    if text.endswith('* const*'):
        return '*const ' + rust_of(text.removesuffix(' const*'))
    if text.endswith('*'):
        inner = text[:-1]
        constant = inner.startswith('const ')
        return ('*const ' if constant else '*mut ') + rust_of(inner.removeprefix('const '))
    return RUST_TYPES.get(text, text)


def declarations(text):
    """The declarations of `members`, each with the comment above it."""
    comment, out = [], []
    for line in text.strip().splitlines():
        if line.startswith('//'):
            comment.append(line[2:].strip())
        else:
            out.append(Argument(line.rstrip(';'), comment))
            comment = []
    return out


def rows(text):
    """The lines of `constants` and `handles`, each with the comment above it."""
    comment, out = [], []
    for line in text.strip().splitlines():
        if line.startswith('//'):
            comment.append(line[2:].strip())
        else:
            out.append((comment, line))
            comment = []
    return out


def members_of(struct):
    first = [] if struct['by'] == 'value' else [Argument('size_t struct_size')]
    return first + declarations(struct['members'])


def remark(text, indent='', sign='//'):
    lines = []
    for paragraph in re.split(r'(?<=[.:])\n|(?=\n\n)', ' '.join(text) if isinstance(text, list) else text.strip()):
        lines += [''] if paragraph.startswith('\n') else []
        lines += textwrap.wrap(paragraph.strip(), WIDTH - len(indent) - 3) 
    return [(indent + sign + ' ' + line).rstrip() for line in lines]


def wrapped(text):
    """A declaration on several lines, its arguments under the first one."""
    if len(text) <= WIDTH:
        return [text]
    column = text.index(')(') + 2 if ')(' in text else text.index('(') + 1
    head, parts = text[:column], split(text[column:text.rindex(')')])
    lines, line = [], head
    for i, part in enumerate(parts):
        piece = part + (', ' if i + 1 < len(parts) else ');')
        if len((line + piece).rstrip()) > WIDTH:
            lines.append(line.rstrip())
            line = ' ' * column
        line += piece
    return lines + [line]


def c_struct(struct):
    who = {'value': 'Never changes.', 'host': 'Filled by the host.', 'plugin': 'Filled by the plugin.'}[struct['by']]
    out = remark((struct.get('text', '') + ' ' + who).strip())
    if 'table' in struct:
        out += ['#define BP_%s_TABLE "backplane.%s"' % (struct['table'], struct['table'].lower())]
        out += ['#define BP_%s_TABLE_VERSION %d' % (struct['table'], struct['version'])]
    out += ['typedef struct %s {' % struct['name']]
    for member in members_of(struct):
        out += remark([' '.join(member.comment)], '  ') if member.comment else []
        out += wrapped('  %s;' % member.c())
    return out + ['} %s;' % struct['name'], '']


def c_header(header):
    name = header['name'].upper()
    out = remark(header['text']) + ['//', '// ' + MADE, '#ifndef BACKPLANE_STABLE_%s_H' % name, '#define BACKPLANE_STABLE_%s_H' % name, '']
    if header['name'] == 'base':
        out += ['#include <stddef.h>', '#include <stdint.h>', '']
    else:
        out += ['#include "backplane/stable/%s.h"' % each for each in header.get('needs', ['base'])] + ['']
    out += ['#ifdef __cplusplus', 'extern "C" {', '#endif', '']
    for comment, line in rows(header.get('constants', '')):
        out += (remark(comment) if comment else []) + ['#define ' + line]
    out += [''] if 'constants' in header else []
    for comment, line in rows(header.get('handles', '')):
        out += remark(comment) + ['typedef struct %s %s;' % (line, line)]
    out += [''] if 'handles' in header else []
    for struct in header['struct']:
        out += c_struct(struct)
    if header['name'] == 'base':
        out += ENTRY
    return '\n'.join(out + ['#ifdef __cplusplus', '}', '#endif', '', '#endif']) + '\n'


ENTRY = '''// The entry point: the only symbol that a plugin exports. It creates the plugin and has no other effect. NULL and an error: it has failed.
#define BP_STABLE_ENTRY "backplane_stable_plugin"
__attribute__((visibility("default"))) const bp_plugin* backplane_stable_plugin(bp_error* error);

// BP_KNOWS: whether the side that has filled the table was compiled with the member. BP_HAS: also whether the member, a function or a
// pointer, is not NULL.
#define BP_KNOWS(table, type, member) ((table)->struct_size >= offsetof(type, member) + sizeof(((type*)0)->member))
#define BP_HAS(table, type, member) (BP_KNOWS(table, type, member) && (table)->member != NULL)
'''.splitlines() + ['']


def rust_file(spec):
    out = ['// The tables of the stable tier. ' + MADE, '#![allow(non_camel_case_types, dead_code)]', 'use std::os::raw::{c_char, c_void};', '']
    for header in spec['header']:
        for _, line in rows(header.get('constants', '')):
            name, value = line.split()
            kind = 'i32' if name in SIGNED or 'LOG' in name or 'PATCH' in name else 'u32'
            out.append('pub const %s: %s = %s;' % (name, kind, value))
        for _, line in rows(header.get('handles', '')):
            out.append('pub enum %s {}' % line)
        for struct in header['struct']:
            if 'table' in struct:
                out.append('pub const BP_%s_TABLE: &str = "backplane.%s";' % (struct['table'], struct['table'].lower()))
                out.append('pub const BP_%s_TABLE_VERSION: u32 = %d;' % (struct['table'], struct['version']))
            out += ['#[repr(C)]'] + (['#[derive(Clone, Copy)]'] if struct['by'] == 'value' else []) + ['pub struct %s {' % struct['name']]
            out += ['    pub %s,' % member.rust() for member in members_of(struct)] + ['}']
    return '\n'.join(out) + '\n'


def read(name):
    with open(os.path.join(HERE, name), 'rb') as f:
        return tomllib.load(f)


def load():
    spec = read('tables.toml')
    spec['header'] = [read('tables/%s.toml' % name) for name in spec['headers']]
    return spec


def outputs(spec):
    out = {os.path.join(HEADERS, header['name'] + '.h'): c_header(header) for header in spec['header']}
    abi = ['// The version of the note and of the entry point. ' + MADE, '#define BP_STABLE_ABI %d' % spec['abi']]
    out[os.path.join(HEADERS, 'abi.h')] = '\n'.join([abi[0], '#ifndef BACKPLANE_STABLE_ABI_H', '#define BACKPLANE_STABLE_ABI_H', abi[1], '#endif']) + '\n'
    out[RUST] = rust_file(spec)
    return out


def released(spec):
    """What must stay: the form of the entry point, constants, and the members of each table in their order."""
    constants = dict(line.split() for header in spec['header'] for _, line in rows(header.get('constants', '')))
    tables = {struct['name']: {'by': struct['by'], 'version': struct.get('version', 0), 'members': [member.c() for member in members_of(struct)]}
              for header in spec['header'] for struct in header['struct']}
    return {'abi': spec['abi'], 'constants': constants, 'tables': tables}


def main():
    if '--release' in sys.argv:
        with open(os.path.join(HERE, 'released.json'), 'w') as f:
            f.write(json.dumps(released(load()), indent=1) + '\n')
        return
    stale = []
    for path, text in outputs(load()).items():
        current = open(path).read() if os.path.exists(path) else None
        if current == text:
            continue
        stale.append(os.path.normpath(path))
        if '--check' not in sys.argv:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w') as f:
                f.write(text)
    if '--check' in sys.argv and stale:
        sys.exit('out of date, run plugin-sdk/stable/generate.py: ' + ', '.join(stale))


if __name__ == '__main__':
    main()
