"""No program has two classes of the same name in one namespace: that violates the one-definition rule, and compilers do not report it."""
import collections
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMESPACE = re.compile(r'\s*(?:inline\s+)?namespace\s*([\w:]*)[^{;=]*\{')
CLASS = re.compile(r'(?:struct|class)\s+(?:[A-Z_]+\s+)?(\w+)(?![\w:])[^;]*\{')
# Folders that are linked into one program; a plugin is linked with the SDK only, so the host's names cannot clash with its own.
PROGRAMS = {'host and SDK': ('host', 'plugin-sdk'), **{p.name: ('plugin-sdk', 'plugins/' + p.name) for p in (ROOT / 'plugins').iterdir() if p.is_dir()}}


def classes(path):
    """Names with their namespaces of the classes that a file defines outside of functions, other classes and unnamed namespaces."""
    spaces, depth = [], 0
    for line in path.read_text().splitlines():
        code = line.split('//')[0]
        opened = NAMESPACE.match(code)
        if opened:
            spaces.append((opened.group(1) or None, depth))
        defined = CLASS.match(code)
        if defined and len(spaces) == depth and all(name for name, _ in spaces):
            yield '::'.join(name for name, _ in spaces) + '::' + defined.group(1)
        depth += code.count('{') - code.count('}')
        while spaces and depth <= spaces[-1][1]:
            spaces.pop()


def definitions(folders):
    found = collections.defaultdict(set)
    for folder in folders:
        for path in sorted((ROOT / folder).rglob('*.[ch]pp')):
            for name in classes(path):
                found[name].add(os.path.relpath(path, ROOT))
    return found


class Names(unittest.TestCase):
    def test_a_class_is_defined_in_one_place(self):
        for program, folders in PROGRAMS.items():
            with self.subTest(program):
                found = definitions(folders)
                self.assertGreater(len(found), 100)
                self.assertEqual({name: sorted(files) for name, files in found.items() if len(files) > 1}, {})


if __name__ == '__main__':
    unittest.main()
