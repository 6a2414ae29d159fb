"""Plugins of the stable tier in the built server: the example in C, C++ and Rust, built by every compiler there is and in another mode of the
C++ library than the server's, and the archived binary of the first release."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

from harness import BINARY, PLUGINS, Server, kubectls, wait_for  # pylint: disable=wrong-import-position

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
EXAMPLES = os.path.join(ROOT, 'docs/examples')
INCLUDE = os.path.join(ROOT, 'plugin-sdk/include')
MAP = os.path.join(ROOT, 'cmake/stable.map')
ARCHIVED = os.path.join(ROOT, 'tests/plugins/stable/stock-1.so')
NAME = 'example.com/stock'
SHELVES = '/apis/stock.example.com/v1/namespaces/default/shelves'
BOXES = '/apis/stock.example.com/v1/namespaces/default/boxes'
MERGE = {'Content-Type': 'application/merge-patch+json'}
CLANG = next((path for path in map(shutil.which, ('clang++', 'clang++-14', '/usr/lib/llvm-14/bin/clang++')) if path), None)
GCC = shutil.which('gcc') and shutil.which('g++')
SHARED = ['-shared', '-fPIC', '-fvisibility=hidden', '-Wall', '-Wextra', '-Werror', '-Wl,--version-script=' + MAP, '-I', INCLUDE]


def shelf(name, **spec):
    return {'apiVersion': 'stock.example.com/v1', 'kind': 'Shelf', 'metadata': {'name': name}, 'spec': spec}


def box(name, of):
    return {'apiVersion': 'stock.example.com/v1', 'kind': 'Box', 'metadata': {'name': name}, 'spec': {'shelf': of}}


def compiled(folder, example, compiler, *flags):
    out = os.path.join(folder, 'stock.so')
    source = os.path.join(EXAMPLES, example)
    name = 'stock.c' if example == 'stable-c' else 'stock.cpp'
    command = [compiler, *SHARED, *flags, '-I', source, '-o', out, os.path.join(source, name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError('%s\n%s' % (' '.join(command), done.stderr))
    return out


class Stock:
    """What every build of the example does. `build(folder)` makes stock.so."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='backplane-stable-')
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.file = cls.build(cls.folder)
        cls.server = Server('--plugin-dir=' + cls.folder, *cls.flags, plugin_dir=PLUGINS)
        cls.addClassCleanup(cls.server.stop)

    flags = ()

    def call(self, method, path, body=None, code=200, **more):
        got, _, answer = self.server.request(method, path, body, **more)
        self.assertEqual(got, code, '%s\n%s' % (answer, self.server.text()[-3000:]))
        return answer

    def plugin(self, *args):
        done = subprocess.run([BINARY, 'plugin', *args], capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def boxes_of(self, name):
        return self.call('GET', SHELVES + '/' + name).get('status', {}).get('boxes')

    def test_a_rule_across_fields_refuses_create_and_update(self):
        words = 'Shelf.stock.example.com "full" is invalid: spec.reserved: Invalid value: 5: must not be more than the 3 slots'
        refused = self.call('POST', SHELVES, shelf('full', slots=3, reserved=5), 422)
        self.assertEqual((refused['message'], refused['details']['causes'][0]['field']), (words, 'spec.reserved'))
        self.call('POST', SHELVES, shelf('full', slots=3, reserved=2), 201)
        self.assertEqual(self.call('PATCH', SHELVES + '/full', '{"spec":{"reserved":5}}', 422, headers=MERGE)['message'], words)
        self.assertEqual(self.call('POST', SHELVES, shelf('standard'), 201)['spec'], {'slots': 10})

    def test_boxes_are_labelled_refused_and_counted(self):
        refused = self.call('POST', BOXES, box('lost', 'nowhere'), 403)
        self.assertEqual(refused['message'], 'boxes.stock.example.com "lost" is forbidden: there is no shelf default/nowhere')
        self.call('POST', SHELVES, shelf('counted'), 201)
        # The rule sees the shelf as soon as the informer has it.
        self.assertTrue(wait_for(lambda: self.server.request('POST', BOXES, box('first', 'counted'))[0] == 201))
        self.assertEqual(self.call('GET', BOXES + '/first')['metadata']['labels'], {'shelf': 'counted'})
        self.call('POST', BOXES, box('second', 'counted'), 201)
        self.assertTrue(wait_for(lambda: self.boxes_of('counted') == 2), self.server.text()[-3000:])
        self.call('DELETE', BOXES + '/first')
        self.assertTrue(wait_for(lambda: self.boxes_of('counted') == 1))
        self.call('POST', SHELVES, shelf('other'), 201)
        self.assertTrue(wait_for(lambda: self.server.request('PATCH', BOXES + '/second', '{"spec":{"shelf":"other"}}', MERGE)[0] == 200))
        self.assertTrue(wait_for(lambda: (self.boxes_of('counted'), self.boxes_of('other')) == (0, 1)))

    def test_kubectl_shows_its_columns(self):
        self.call('POST', SHELVES, shelf('shown', slots=7), 201)
        self.assertTrue(wait_for(lambda: self.boxes_of('shown') == 0))
        for kubectl in kubectls():
            lines = self.server.kubectl(kubectl, 'get', 'shelves', 'shown').splitlines()
            self.assertEqual([line.split()[:3] for line in lines], [['NAME', 'SLOTS', 'BOXES'], ['shown', '7', '0']])

    def test_check_inspect_and_list_know_it(self):
        self.plugin('check', self.file)
        shown = json.loads(self.plugin('inspect', self.file, '-o', 'json'))
        self.assertEqual((shown['manifest']['name'], shown['stamp'], shown['findings']), (NAME, {'stable': '1'}, []))
        found = json.loads(self.plugin('list', '--kubeconfig', self.server.kubeconfig, '-o', 'json'))['plugins']
        self.assertIn(NAME, [each['name'] for each in found])


@unittest.skipUnless(GCC, 'no gcc')
class CByGcc(Stock, unittest.TestCase):
    build = classmethod(lambda cls, folder: compiled(folder, 'stable-c', 'gcc', '-std=c11', '-O2', '-s'))

    def test_a_reload_leaves_it_in_service(self):
        for _ in range(3):
            self.plugin('reload', NAME, '--kubeconfig', self.server.kubeconfig)
        self.call('POST', SHELVES, shelf('again'), 201)
        self.assertTrue(wait_for(lambda: self.boxes_of('again') == 0), self.server.text()[-3000:])


@unittest.skipUnless(CLANG, 'no clang')
class CByClang(Stock, unittest.TestCase):
    build = classmethod(lambda cls, folder: compiled(folder, 'stable-c', (CLANG or '').replace('clang++', 'clang'), '-std=c11', '-O1'))


class CppStock(Stock):
    def test_its_path_check_and_hooks(self):
        self.assertRegex(self.call('GET', '/stock'), r'^\d+ boxes, open, \n$')
        self.assertRegex(self.call('POST', '/stock', 'said'), r'^\d+ boxes, open, said\n$')
        self.assertEqual(self.call('DELETE', '/stock', code=403)['message'], 'the stock stays')
        self.call('POST', '/stock', 'x' * 2000, 413)
        self.assertIn('[+]stock ok', self.call('GET', '/readyz?verbose'))
        self.assertIn('[+]poststarthook/stock/started ok', self.call('GET', '/readyz?verbose'))

    def test_its_users_and_its_decisions(self):
        def ask(token, path):
            return self.server.request('GET', path, headers={'Authorization': 'Bearer ' + token}, client_certificate=False)[0]
        self.assertEqual([ask('stock-keeper', path) for path in (SHELVES, '/api/v1/namespaces/default/secrets')], [200, 403])
        self.assertEqual(ask('stock-thief', SHELVES), 401)

    def test_its_audit_sink_counts_what_is_refused(self):
        with Server('--plugin-dir=' + self.folder, *self.flags, plugin_dir=PLUGINS) as server:
            self.assertEqual(server.request('DELETE', '/stock')[0], 403)
            self.assertEqual(server.terminate(), 0, server.text()[-3000:])
            self.assertIn('1 requests were refused', server.text())


@unittest.skipUnless(GCC, 'no gcc')
class CppByGcc(CppStock, unittest.TestCase):
    build = classmethod(lambda cls, folder: compiled(folder, 'stable-cpp', 'g++', '-std=c++20', '-O2', '-fno-gnu-unique'))


@unittest.skipUnless(GCC, 'no gcc')
class CppInDebugMode(CppStock, unittest.TestCase):
    """Another layout of containers and another std::string than the server's."""
    build = classmethod(lambda cls, folder: compiled(folder, 'stable-cpp', 'g++', '-std=c++20', '-O0', '-fno-gnu-unique', '-D_GLIBCXX_DEBUG',
                                                     '-D_GLIBCXX_USE_CXX11_ABI=0'))


@unittest.skipUnless(CLANG, 'no clang')
class CppByClang(CppStock, unittest.TestCase):
    build = classmethod(lambda cls, folder: compiled(folder, 'stable-cpp', CLANG, '-std=c++20', '-O1'))


@unittest.skipUnless(shutil.which('cargo'), 'no cargo')
class Rust(Stock, unittest.TestCase):
    @classmethod
    def build(cls, folder):
        target = os.path.join(folder, 'cargo')
        subprocess.run(['cargo', 'build', '--quiet', '--release', '--offline', '--target-dir', target, '--manifest-path',
                        os.path.join(EXAMPLES, 'stable-rust/Cargo.toml')], check=True)
        return shutil.copy(os.path.join(target, 'release/libstock.so'), os.path.join(folder, 'stock.so'))


@unittest.skipUnless(os.uname().machine == 'x86_64', 'the archived binary is for x86-64')
class FirstRelease(Stock, unittest.TestCase):
    build = classmethod(lambda cls, folder: shutil.copy(ARCHIVED, os.path.join(folder, 'stock.so')))

    def test_its_documents_are_checked_by_the_first_startup_only(self):
        with tempfile.TemporaryDirectory(prefix='backplane-checked-') as data:
            flag = '--plugin-dir=' + self.folder
            for _ in range(2):
                with Server(flag, data_dir=data, plugin_dir=PLUGINS) as server:
                    states = {each['name']: each['state'] for each in server.request('GET', '/plugins')[2]['plugins']}
                    self.assertEqual(states[NAME], 'Committed')
                    server.terminate()
                history = json.loads(pathlib.Path(data, 'data/plugins.json').read_text(encoding='utf-8'))
                digest = hashlib.sha256(pathlib.Path(self.file).read_bytes()).hexdigest()
                self.assertEqual(history['checked'], [digest])
            # The file is replaced: the new bytes are checked.
            other = pathlib.Path(self.folder, 'stock.so')
            former = other.read_bytes()
            self.addCleanup(other.write_bytes, former)
            other.unlink()  # the test class's server uses a copy
            other.write_bytes(former.replace(b'.spec.slots', b'.spec.slotz'))
            with Server(flag, data_dir=data, plugin_dir=PLUGINS) as server:
                found = {each['name']: each for each in server.request('GET', '/plugins')[2]['plugins']}[NAME]
                self.assertIn('PLG-DOC-001', json.dumps(found))
                server.terminate()


class Examples(unittest.TestCase):
    def test_every_snippet_of_the_page_is_part_of_an_example(self):
        sources = ''.join(path.read_text(encoding='utf-8') for path in pathlib.Path(EXAMPLES).glob('stable-*/**/*.*') if 'target' not in path.parts)
        page = pathlib.Path(ROOT, 'docs/stable-tier.md').read_text(encoding='utf-8')
        snippets = re.findall(r'^```(?:c|cpp|cmake|rust)\n(.*?)^```', page, re.M | re.S)
        self.assertGreater(len(snippets), 6)
        for snippet in snippets:
            self.assertIn(snippet, sources)

    def test_the_three_have_the_same_documents(self):
        for name in ('plugin.json', 'group.json', 'types.json'):
            texts = [pathlib.Path(EXAMPLES, 'stable-' + each, name).read_text(encoding='utf-8') for each in ('c', 'cpp', 'rust')]
            self.assertEqual(len(set(texts)), 1, name)


if __name__ == '__main__':
    unittest.main()
