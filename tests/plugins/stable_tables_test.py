"""The contract of the stable tier: generated files are up to date, released members keep their places, the headers are small and need nothing
else, and no fingerprint of the SDK enters the file of a plugin."""
import glob
import os
import re
import struct
import subprocess
import sys
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
SDK = os.path.join(ROOT, 'plugin-sdk')
HEADERS = os.path.join(SDK, 'include/backplane/stable')
ARCHIVE = os.path.join(ROOT, 'tests/plugins/stable')
sys.path.insert(0, os.path.join(SDK, 'stable'))

import generate  # pylint: disable=wrong-import-position
import json  # pylint: disable=wrong-import-position,wrong-import-order

MOST_BYTES = 64 * 1024
# value structs have no struct_size, so no member may be added.
FROZEN = 'value'


def note_of(path):
    """The description of the note of a plugin of the stable tier."""
    with open(path, 'rb') as f:
        data = f.read()
    at = data.index(b'Backplane\0\0\0')
    _, size, kind = struct.unpack('<3I', data[at - 12:at])
    return kind, data[at + 12:at + 12 + size]


class Tables(unittest.TestCase):
    def setUp(self):
        self.now = generate.released(generate.load())
        with open(os.path.join(SDK, 'stable/released.json')) as f:
            self.released = json.load(f)

    def test_the_headers_are_those_of_the_tables(self):
        for path, text in generate.outputs(generate.load()).items():
            with open(path) as f:
                self.assertEqual(f.read(), text, path + ' is out of date: run plugin-sdk/stable/generate.py')

    def test_what_has_been_released_stays(self):
        self.assertEqual(self.now['abi'], self.released['abi'])
        for name, value in self.released['constants'].items():
            self.assertEqual(self.now['constants'].get(name), value, name)
        for name, table in self.released['tables'].items():
            members = self.now['tables'][name]['members']
            self.assertEqual(members[:len(table['members'])], table['members'], name)
            if table['by'] == FROZEN:
                self.assertEqual(members, table['members'], name)
            if len(members) > len(table['members']):
                self.assertGreater(self.now['tables'][name]['version'], table['version'], name + ' has grown, and its version has not')

    def test_a_change_of_a_released_member_is_noticed(self):
        changed = generate.load()
        groups = next(header for header in changed['header'] if header['name'] == 'groups')
        table = next(each for each in groups['struct'] if each['name'] == 'bp_kind')
        table['members'] = table['members'].replace('bp_str kind;', 'int32_t first;\nbp_str kind;')
        now = generate.released(changed)['tables']['bp_kind']['members']
        before = self.released['tables']['bp_kind']['members']
        self.assertNotEqual(now[:len(before)], before)

    def test_every_table_begins_with_its_size(self):
        for name, table in self.now['tables'].items():
            if table['by'] != FROZEN:
                self.assertEqual(table['members'][0], 'size_t struct_size', name)

    def test_all_c_headers_together_are_small(self):
        size = sum(os.path.getsize(path) for path in glob.glob(os.path.join(HEADERS, '*.h')))
        self.assertGreater(size, 1000)
        self.assertLessEqual(size, MOST_BYTES)


class Headers(unittest.TestCase):
    def compile(self, language, text, *flags):
        command = [*flags, '-x', language, '-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-pedantic', '-I', os.path.join(SDK, 'include'), '-']
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_is_c11_and_cpp(self):
        for path in glob.glob(os.path.join(HEADERS, '*.h')):
            text = '#include <backplane/stable/%s>\nint used;\n' % os.path.basename(path)
            with self.subTest(path):
                self.compile('c', text, os.environ.get('CC', 'gcc'), '-std=c11')
                self.compile('c++', text, os.environ.get('CXX', 'g++'), '-std=c++17')

    def test_each_of_the_cpp_face_stands_alone(self):
        for path in glob.glob(os.path.join(HEADERS, '*.hpp')):
            with self.subTest(path):
                self.compile('c++', '#include <backplane/stable/%s>\n' % os.path.basename(path), os.environ.get('CXX', 'g++'), '-std=c++20')

    def test_they_include_no_other_headers_of_the_sdk(self):
        """So that no change of a header or a source of the SDK or the host can change what a plugin is compiled to."""
        for path in glob.glob(os.path.join(HEADERS, '*')):
            with open(path) as f:
                for target in re.findall(r'#include [<"]([^">]+)[">]', f.read()):
                    if '/' in target:
                        self.assertTrue(target.startswith('backplane/stable/'), '%s includes %s' % (path, target))
                    else:
                        self.assertRegex(target, r'^(std(def|int)\.h|[a-z_]+)$', path)


class Archive(unittest.TestCase):
    """Binaries of the first release of their tables: the examples stable-c and stable-store, and the plugin of stable_points_test.py."""

    def test_the_note_of_a_plugin_has_the_manifest_and_the_form_alone(self):
        for file, example in (('stock-1.so', 'stable-c'), ('store-1.so', 'stable-store')):
            kind, text = note_of(os.path.join(ARCHIVE, file))
            magic, size, abi, json_size, *reserved = struct.unpack('<8s6I', text[:32])
            self.assertEqual((kind, magic, size, abi, reserved), (2, b'BPSTABLE', 32, generate.load()['abi'], [0, 0, 0]))
            with open(os.path.join(ROOT, 'docs/examples', example, 'plugin.json'), 'rb') as f:
                self.assertEqual(text[32:32 + json_size], f.read(), 'nothing else is in it: no version of the SDK, no fingerprint')

    def test_they_are_small(self):
        files = glob.glob(os.path.join(ARCHIVE, '*-1.so'))
        self.assertEqual(len(files), 3)
        self.assertLessEqual(sum(os.path.getsize(path) for path in files), 50 * 1024)


if __name__ == '__main__':
    unittest.main()
