"""The guide (docs/plugins.md, docs/guide): its snippets, its links, and the behaviour of the plugins that it builds, with the installed SDK alone."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
BUILD = os.environ['BACKPLANE_BUILD']
EXAMPLES = os.path.join(SOURCE, 'docs/examples')
GUIDE = sorted(glob.glob(os.path.join(SOURCE, 'docs/guide/*.md')))
PAGES = [os.path.join(SOURCE, 'docs', name) for name in ('plugins.md', 'stable-tier.md')] + GUIDE
# Snippets in these languages are parts of an example or of a plugin of the tests; the commands of `sh` are run by hello_world_test.py.
CHECKED = {'cpp', 'c', 'rust', 'toml', 'cmake', 'json', 'yaml'}
TYPED_KIND = ('pools/group.json', 'pools/pools_v2.json', 'pools/pools_v1.json', 'pools/plugin.cpp')


def run(*command, cwd=None, code=0):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != code:
        raise AssertionError('%s ended with %d:\n%s' % (' '.join(command), done.returncode, done.stdout))
    return done.stdout


def read(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


def snippets(text):
    """(language, content) of each fenced block."""
    return re.findall(r'^```(\w*)\n(.*?)^```$', text, re.M | re.S)


def prose(text):
    return re.sub(r'^```.*?^```$', '', text, flags=re.M | re.S)


def anchors(text):
    """The anchors of the headings, as renderers of Markdown make them."""
    names = re.findall(r'^#+ (.*)$', prose(text), re.M)
    return {re.sub(r'[^\w\- ]', '', name.lower()).replace(' ', '-') for name in names}


def unfit_snippets(text, sources):
    """The snippets of a page that are in no source, or have a language that is not checked."""
    wrong = []
    for language, content in snippets(text):
        if language not in CHECKED | {'sh', 'console'} or (language in CHECKED and content not in sources):
            wrong.append('```%s\n%s' % (language, content))
    return wrong


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        paths = glob.glob(os.path.join(EXAMPLES, '**/*'), recursive=True) + glob.glob(os.path.join(SOURCE, 'tests/plugins/seams/*'))
        cls.sources = '\n'.join(read(path) for path in paths if os.path.isfile(path))

    def test_every_snippet_is_part_of_an_example(self):
        count = 0
        for page in PAGES:
            text = read(page)
            count += len(snippets(text))
            self.assertEqual(unfit_snippets(text, self.sources), [], page)
        self.assertGreater(count, 50)

    def test_a_snippet_that_is_in_no_example_is_found(self):
        self.assertEqual(len(unfit_snippets('```cpp\nint nowhere = 1;\n```\n', self.sources)), 1)
        self.assertEqual(len(unfit_snippets('```\nanything\n```\n', self.sources)), 1)
        self.assertEqual(unfit_snippets('```cpp\nBACKPLANE_PLUGIN(Pools)\n```\n', self.sources), [])

    def test_every_link_leads_to_a_page_or_an_example(self):
        for page in PAGES:
            text = read(page)
            for link in re.findall(r'\]\(([^)\s]+)\)', prose(text)):
                path, _, anchor = link.partition('#')
                target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                self.assertTrue(os.path.exists(target), '%s: %s' % (page, link))
                if anchor:
                    self.assertIn(anchor, anchors(read(target)), '%s: %s' % (page, link))

    def test_the_entry_lists_every_page(self):
        entry = read(PAGES[0])
        self.assertLessEqual(len(entry.splitlines()), 120)
        for page in GUIDE:
            self.assertIn('(guide/%s)' % os.path.basename(page), entry)

    def test_a_typed_kind_has_at_most_sixty_lines(self):
        lines = [line for name in TYPED_KIND for line in read(os.path.join(EXAMPLES, name)).splitlines() if line.strip()]
        self.assertLessEqual(len(lines), 60)
        self.assertLessEqual(max(len(line) for line in lines), 160)
        self.assertEqual(set(TYPED_KIND), {'pools/' + name for name in os.listdir(os.path.join(EXAMPLES, 'pools'))} -
                         {'pools/plugin.json', 'pools/CMakeLists.txt', 'pools/example.yaml'})


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix='backplane-guide-')
        cls.prefix = os.path.join(cls.dir, 'prefix')
        cls.binary = os.path.join(cls.prefix, 'bin/backplane')
        run('cmake', '--install', BUILD, '--prefix', cls.prefix)
        cls.plugins = os.path.join(cls.dir, 'plugins')
        shutil.copytree(os.path.join(cls.prefix, 'lib/backplane/plugins'), cls.plugins)
        for name in ('pools', 'library', 'simple-store', 'two-versions'):
            # The example that the SDK installs.
            folder = os.path.join(cls.dir, name)
            shutil.copytree(os.path.join(cls.prefix, 'share/doc/backplane-plugin-sdk/examples', name), folder)
            run('cmake', '-G', 'Ninja', '-S', folder, '-B', folder + '/build', '-DCMAKE_PREFIX_PATH=' + cls.prefix,
                '-DCMAKE_CXX_COMPILER=' + os.environ['CXX'], '-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror ' + os.environ.get('SDK_CXX_FLAGS', ''))
            run('cmake', '--build', folder + '/build')
            run(cls.binary, 'plugin', 'check', folder + '/build/%s.so' % name)
            if name != 'two-versions':
                shutil.copy(folder + '/build/%s.so' % name, cls.plugins)
        os.environ['BACKPLANE'] = cls.binary
        from harness import Server  # pylint: disable=import-outside-toplevel
        cls.server = Server('--require-plugin', 'example.com/pools', '--require-plugin', 'example.com/library', plugin_dir=cls.plugins)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.dir)

    def call(self, method, path, body=None, code=200, **headers):
        got = self.server.request(method, path, body, headers={name.replace('_', '-'): value for name, value in headers.items()})
        self.assertEqual(got[0], code, got[2])
        return got[2]

    def wait(self, true):
        from harness import wait_for  # pylint: disable=import-outside-toplevel
        self.assertTrue(wait_for(true, 60), self.server.text()[-3000:])

    def test_the_tests_of_the_examples_pass(self):
        for name in ('two-versions', 'library'):
            output = run('ctest', '--output-on-failure', cwd=os.path.join(self.dir, name, 'build'))
            if name == 'library' and 'GTest_DIR:PATH=GTest_DIR-NOTFOUND' in read(os.path.join(self.dir, name, 'build/CMakeCache.txt')):
                continue  # built without a test
            self.assertIn('100% tests passed, 0 tests failed out of 1', output)

    def test_the_typed_kind_has_all_that_the_guide_lists(self):
        v1, v2 = ('/apis/pools.example.com/%s/namespaces/default/pools' % version for version in ('v1', 'v2'))

        def pool(name, version='v2', **spec):
            return {'apiVersion': 'pools.example.com/' + version, 'kind': 'Pool', 'metadata': {'name': name}, 'spec': spec}
        made = self.call('POST', v2, pool('web', size='large'), 201)
        self.assertEqual(made['spec'], {'replicas': 1, 'maxReplicas': 10, 'size': 'large'})  # defaults
        self.assertEqual(made['metadata']['generation'], 1)
        # Rules of fields and across fields; the guide shows these causes.
        refused = self.call('POST', v2, pool('wrong', replicas=20), 422)
        causes = ['%s: %s' % (cause['field'], cause['message']) for cause in refused['details']['causes']]
        shown = [line[2:] for _, content in snippets(read(os.path.join(SOURCE, 'docs/guide/03-validation.md'))) for line in content.splitlines()
                 if line.startswith('* ')]
        self.assertEqual(causes, shown)
        self.call('POST', v2, pool('wrong', size='huge'), 422)
        self.call('POST', v2, pool('wrong', size='small', maxReplicas=101), 422)
        # Update, and a field that must not change.
        made['spec']['replicas'] = 2
        made = self.call('PUT', v2 + '/web', made)
        self.assertEqual(made['metadata']['generation'], 2)
        self.call('PATCH', v2 + '/web', {'spec': {'size': 'small'}}, 422, Content_Type='application/merge-patch+json')
        # The other version.
        seen = self.call('GET', v1 + '/web')
        self.assertEqual(seen['spec'], {'replicas': 2, 'maxReplicas': 10, 'large': True})
        self.call('POST', v1, pool('batch', 'v1', replicas=0), 201)
        self.assertEqual(self.call('GET', v2 + '/batch')['spec'], {'replicas': 0, 'maxReplicas': 10, 'size': 'small'})
        self.call('POST', v1, pool('wrong', 'v1', replicas=20), 422)
        # Status and scale.
        self.call('PATCH', v2 + '/web/status', {'status': {'replicas': 1}, 'spec': {'replicas': 9}}, Content_Type='application/merge-patch+json')
        seen = self.call('GET', v2 + '/web')
        self.assertEqual((seen['status'], seen['spec']['replicas']), ({'replicas': 1}, 2))
        scale = self.call('GET', v2 + '/web/scale')
        self.assertEqual((scale['kind'], scale['spec'], scale['status']), ('Scale', {'replicas': 2}, {'replicas': 1}))
        self.call('PATCH', v2 + '/web/scale', {'spec': {'replicas': 3}}, Content_Type='application/merge-patch+json')
        self.assertEqual(self.call('GET', v2 + '/web')['spec']['replicas'], 3)
        # Table, OpenAPI, apply.
        table = self.call('GET', v2, Accept='application/json;as=Table;v=v1;g=meta.k8s.io')
        self.assertEqual([column['name'] for column in table['columnDefinitions']], ['Name', 'Wanted', 'Running', 'Age'])
        self.assertEqual([row['cells'][:3] for row in table['rows']], [['batch', 0, 0], ['web', 3, 1]])
        described = self.call('GET', '/openapi/v3/apis/pools.example.com/v2')
        self.assertIn('com.example.pools.v2.Pool', described['components']['schemas'])
        applied = dict(pool('web', replicas=4, size='large'))
        applied = self.call('PATCH', v2 + '/web?fieldManager=guide&force=true', json.dumps(applied), Content_Type='application/apply-patch+yaml')
        self.assertEqual(applied['spec']['replicas'], 4)
        self.assertIn('guide', {entry['manager'] for entry in applied['metadata']['managedFields']})

    def test_the_checks_of_the_typed_kind_hold(self):
        output = run(self.binary, 'plugin', 'test', cwd=os.path.join(self.dir, 'pools')).splitlines()
        self.assertRegex(output[-1], r'^\d+ checks, 0 failed, in')

    def test_the_controller_counts_and_the_rule_keeps_shelves_with_books(self):
        shelves, books = ('/apis/library.example.com/v1/namespaces/default/' + resource for resource in ('shelves', 'books'))

        def thing(kind, name, **spec):
            return {'apiVersion': 'library.example.com/v1', 'kind': kind, 'metadata': {'name': name}, 'spec': spec}

        def count(shelf):
            return self.call('GET', shelves + '/' + shelf)['status']['books']
        self.call('POST', shelves, thing('Shelf', 'wrong', minBooks=60), 422)
        self.call('POST', books, thing('Book', 'early', title='Early', shelf='novels'), 201)
        self.call('POST', shelves, thing('Shelf', 'novels', minBooks=1, maxBooks=20), 201)
        self.call('POST', shelves, thing('Shelf', 'poems'), 201)
        self.call('POST', books, thing('Book', 'moby-dick', title='Moby-Dick', shelf='novels'), 201)
        self.wait(lambda: (count('novels'), count('poems')) == (2, 0))
        refused = self.call('DELETE', shelves + '/novels', code=403)
        self.assertEqual(refused['message'], 'shelves.library.example.com "novels" is forbidden: the shelf has 2 books')
        moved = self.call('GET', books + '/moby-dick')
        moved['spec']['shelf'] = 'poems'
        self.call('PUT', books + '/moby-dick', moved)
        self.call('DELETE', books + '/early')
        self.wait(lambda: (count('novels'), count('poems')) == (0, 1))
        self.wait(lambda: self.server.request('DELETE', shelves + '/novels')[0] == 200)
        self.assertEqual([b['metadata']['name'] for b in self.call('GET', books + '?fieldSelector=spec.shelf%3Dpoems')['items']], ['moby-dick'])

    def test_a_server_runs_on_the_store_of_the_guide(self):
        from harness import Server, configmap  # pylint: disable=import-outside-toplevel
        maps = '/api/v1/namespaces/default/configmaps'
        with Server('--storage-backend', 'simple', plugin_dir=self.plugins) as server:
            code, _, made = server.request('POST', maps, configmap('a', k='v'))
            self.assertEqual(code, 201, made)
            made['data']['k'] = 'w'
            self.assertEqual(server.request('PUT', maps + '/a', made)[0], 200)
            self.assertEqual(server.request('PUT', maps + '/a', made)[0], 409)
            self.assertEqual(server.request('GET', maps + '/a')[2]['data'], {'k': 'w'})
            self.assertEqual(server.request('DELETE', maps + '/a')[0], 200)
            self.assertEqual(server.terminate(), 0, server.text()[-3000:])


if __name__ == '__main__':
    unittest.main()
