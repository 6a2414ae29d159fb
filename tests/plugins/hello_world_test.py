"""The SDK for a third-party developer: installed, found by CMake, and sufficient to build, inspect and serve the plugins of the docs."""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
BUILD = os.environ['BACKPLANE_BUILD']
EXAMPLES = os.path.join(SOURCE, 'docs/examples')


def run(*command, code=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != code:
        raise AssertionError('%s ended with %d:\n%s' % (' '.join(command), done.returncode, done.stdout))
    return done.stdout


class HelloWorld(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix='backplane-sdk-')
        cls.prefix = os.path.join(cls.dir, 'prefix')
        cls.binary = os.path.join(cls.prefix, 'bin/backplane')
        run('cmake', '--install', BUILD, '--prefix', cls.prefix)
        # An earlier SDK, with different rules for pods.
        cls.before = os.path.join(cls.dir, 'before')
        shutil.copytree(cls.prefix, cls.before, symlinks=True)
        with open(os.path.join(cls.before, 'include/backplane/workload/pod_validation.hpp'), 'a') as f:
            f.write('namespace backplane::workload { void validate_what_nobody_has_any_more(const Object& pod_spec); }\n')
        for name, prefix in (('hello-world', cls.prefix), ('tour', cls.prefix), ('census', cls.prefix), ('two-versions', cls.prefix), ('runner', cls.before),
                             ('admission', cls.prefix)):
            run('cmake', '-G', 'Ninja', '-S', os.path.join(EXAMPLES, name), '-B', os.path.join(cls.dir, name), '-DCMAKE_PREFIX_PATH=' + prefix,
                '-DCMAKE_CXX_COMPILER=' + os.environ['CXX'], '-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror ' + os.environ.get('SDK_CXX_FLAGS', ''))
            run('cmake', '--build', os.path.join(cls.dir, name))
        cls.hello = os.path.join(cls.dir, 'hello-world/hello-world.so')
        os.environ['BACKPLANE'] = cls.binary
        sys.path.insert(0, os.path.join(SOURCE, 'tests/e2e'))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def test_the_install_tree_has_its_parts(self):
        for path in ('bin/backplane', 'lib/libbackplane-sdk.so', 'lib/libbackplane-workload.a', 'include/backplane/plugin.hpp',
                     'include/backplane/workload/pod_validation.hpp', 'include/backplane/abi/descriptor.h',
                     'lib/cmake/BackplanePluginSdk/BackplanePluginSdkConfig.cmake',
                     'share/doc/backplane-plugin-sdk/plugins.md', 'share/doc/backplane-plugin-sdk/guide/01-hello.md',
                     'share/doc/backplane-plugin-sdk/examples/hello-world/group.json'):
            self.assertTrue(os.path.exists(os.path.join(self.prefix, path)), path)
        names = {os.path.basename(path) for path in glob.glob(os.path.join(self.prefix, 'lib/backplane/plugins/*.so'))}
        self.assertLessEqual({'aggregator.so', 'apiextensions.so', 'apps.so', 'autoscaling.so', 'core.so', 'events.so', 'storage-rocksdb.so'}, names)
        self.assertIn('libbackplane-sdk.so', run('ldd', self.binary))
        self.assertNotIn('not found', run('ldd', self.binary))

    def test_the_installed_plugins_and_the_examples_have_no_findings(self):
        run(self.binary, 'plugin', 'check')
        others = [os.path.join(self.dir, name, name + '.so') for name in ('tour', 'two-versions')]
        run(self.binary, 'plugin', 'check', self.hello, *others)

    def test_the_descriptor_is_what_the_manifest_says(self):
        shown = json.loads(run(self.binary, 'plugin', 'inspect', self.hello, '-o', 'json'))
        with open(os.path.join(EXAMPLES, 'hello-world/plugin.json')) as f:
            self.assertEqual(shown['manifest'], json.load(f))
        self.assertEqual(shown['findings'], [])

    def test_nothing_but_the_note_and_the_entry_point_is_exported(self):
        # The runner links a static library; two plugins with the library must not share its symbols.
        for path in (self.hello, os.path.join(self.dir, 'runner/runner.so'), os.path.join(self.prefix, 'lib/backplane/plugins/core.so')):
            symbols = run('nm', '-D', '--defined-only', path)
            self.assertEqual({line.split()[-1] for line in symbols.splitlines()}, {'backplane_plugin_create', 'backplane_plugin_note'}, path)

    def test_a_plugin_of_the_stable_tier_needs_its_headers_alone(self):
        alone = os.path.join(self.dir, 'alone')
        for part in ('include/backplane/stable', 'lib/cmake/BackplaneStableSdk', 'share/backplane/examples'):
            shutil.copytree(os.path.join(self.prefix, part), os.path.join(alone, part))
        for name in ('stable-c', 'stable-cpp'):
            folder = os.path.join(self.dir, name)
            run('cmake', '-G', 'Ninja', '-S', os.path.join(alone, 'share/backplane/examples', name), '-B', folder, '-DCMAKE_PREFIX_PATH=' + alone,
                '-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror', '-DCMAKE_C_FLAGS=-Wall -Wextra -Werror')
            run('cmake', '--build', folder)
            run(self.binary, 'plugin', 'check', os.path.join(folder, 'stock.so'))
            symbols = run('nm', '-D', '--defined-only', os.path.join(folder, 'stock.so'))
            self.assertEqual({line.split()[-1] for line in symbols.splitlines()}, {'backplane_stable_plugin'})

    def test_hello_world_is_short(self):
        def lines(name):
            with open(os.path.join(EXAMPLES, 'hello-world', name)) as f:
                return len(f.readlines())
        self.assertEqual(glob.glob(os.path.join(EXAMPLES, 'hello-world/*.[ch]pp')), [], 'a kind that is data alone needs no C++')
        self.assertLessEqual(lines('CMakeLists.txt'), 6)
        self.assertLessEqual(lines('plugin.json'), 15)

    def test_a_plugin_is_stamped_with_the_folders_that_it_uses(self):
        def folders(*path):
            return set(json.loads(run(self.binary, 'plugin', 'inspect', os.path.join(self.dir, *path), '-o', 'json'))['stamp']['contracts'])
        self.assertEqual(folders('tour', 'tour.so'), {'core', 'types', 'points', 'host'})
        self.assertIn('rest', folders('hello-world', 'hello-world.so'))
        self.assertNotIn('net', folders('hello-world', 'hello-world.so'))
        self.assertEqual(folders('census', 'census.so'), {'core', 'points', 'rest', 'net', 'host'})

    def test_a_change_of_a_folder_is_reported_by_its_name(self):
        """The bytes of one fingerprint changed in the file: as if the plugin had been built with other headers of that folder."""
        with open(self.hello, 'rb') as f:
            bytes_of = bytearray(f.read())
        head = bytes_of.index(b'BPPLUGIN')
        rest = head + 100 + 4 * 3  # bp_note_head.contracts[3]
        bytes_of[rest] ^= 1
        changed = os.path.join(self.dir, 'changed.so')
        with open(changed, 'wb') as f:
            f.write(bytes_of)
        text = run(self.binary, 'plugin', 'check', changed, code=1)
        self.assertIn('PLG-ABI-014', text)
        self.assertIn('backplane/rest', text)
        self.assertNotIn('backplane/points', text)

    def build_changed(self, name, old='', new='', flags=''):
        """Builds a copy of hello-world with one text in its schema replaced; (exit code, output)."""
        folder = os.path.join(self.dir, name)
        shutil.copytree(os.path.join(EXAMPLES, 'hello-world'), folder)
        path = os.path.join(folder, 'greetings.json')
        with open(path) as f:
            text = f.read()
        self.assertIn(old, text)
        with open(path, 'w') as f:
            f.write(text.replace(old, new))
        run('cmake', '-G', 'Ninja', '-S', folder, '-B', folder + '/build', '-DCMAKE_PREFIX_PATH=' + self.prefix,
            '-DCMAKE_CXX_COMPILER=' + os.environ['CXX'], '-DCMAKE_CXX_FLAGS=' + os.environ.get('SDK_CXX_FLAGS', '') + ' ' + flags)
        done = subprocess.run(['cmake', '--build', folder + '/build', '--', '-k', '0'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def test_a_wrong_document_is_an_error_of_the_build_with_its_place(self):
        code, text = self.build_changed('misspelt', '"minLength"', '"minLenght"')
        self.assertNotEqual(code, 0)
        place = '/definitions/com.example.demo.v1.Greeting/properties/spec/properties/name/minLenght'
        self.assertRegex(text, r'greetings\.json:17: %s: "minLenght" is not a keyword of schemas; did you mean "minLength"\?' % place)
        self.assertFalse(os.path.exists(os.path.join(self.dir, 'misspelt/build/hello-world.so')))

    def test_another_mode_of_the_library_is_a_code_and_no_error_of_the_linker(self):
        for flag, wanted in (('-D_GLIBCXX_USE_CXX11_ABI=0', 'PLG-ABI-005'), ('-D_GLIBCXX_DEBUG', 'PLG-ABI-006')):
            code, text = self.build_changed(wanted, flags=flag)
            self.assertNotEqual(code, 0)
            self.assertIn(wanted, text)
            self.assertNotIn('undefined reference', text)

    def test_kubectl_applies_again_what_it_has_applied(self):
        """With a change, on the client's side (a JSON merge patch for structural kinds) and on the server's."""
        from harness import Server, kubectls
        if not kubectls():
            self.skipTest('there is no kubectl')
        plugins = os.path.join(self.dir, 'plugins-to-apply')
        shutil.copytree(os.path.join(self.prefix, 'lib/backplane/plugins'), plugins)
        for name in ('hello-world', 'two-versions', 'runner'):
            shutil.copy(os.path.join(self.dir, name, name + '.so'), plugins)
        template = {'spec': {'containers': [{'name': 'c', 'image': 'nginx'}]}}
        kinds = [('demo.example.com/v1', 'Greeting', 'greetings', {'spec': {'name': 'world'}}),
                 ('tickets.example.com/v2', 'Ticket', 'tickets', {'spec': {'passenger': {'first': 'Ada', 'last': 'L'}}}),
                 ('tickets.example.com/v1', 'Ticket', 'tickets.v1.tickets.example.com', {'spec': {'passenger': 'Ada L'}}),
                 ('run.example.com/v1', 'Runner', 'runners', {'template': template})]
        with Server(plugin_dir=plugins) as server:
            for kubectl in kubectls():
                for number, (version, kind, resource, rest) in enumerate(kinds):
                    for flags in ([], ['--server-side']):
                        name = 'a%d%s' % (number, len(flags))
                        for label in ('one', 'two', 'two'):
                            thing = dict(rest, apiVersion=version, kind=kind, metadata={'name': name, 'labels': {'is': label}})
                            done = subprocess.run([kubectl, '--kubeconfig', server.kubeconfig, 'apply', *flags, '-f', '-'], input=json.dumps(thing),
                                                  capture_output=True, text=True)
                            self.assertEqual(done.returncode, 0, '%s %s: %s' % (kind, flags, done.stderr))
                        shown = run(kubectl, '--kubeconfig', server.kubeconfig, 'get', resource, name, '-o', 'jsonpath={.metadata.labels.is}')
                        self.assertEqual(shown.strip(), 'two')
                        run(kubectl, '--kubeconfig', server.kubeconfig, 'delete', resource, name)
            greetings = '/apis/demo.example.com/v1/namespaces/default/greetings'
            code, _, refused = server.request('PATCH', greetings + '/x', '{}', {'Content-Type': 'application/strategic-merge-patch+json'})
            self.assertEqual(code, 415, refused)
            self.assertEqual(refused['message'], 'the body of the request was in an unknown format - accepted media types include: '
                             'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml')
            described = server.request('GET', '/openapi/v3/apis/demo.example.com/v1')[2]
            patch = described['paths']['/apis/demo.example.com/v1/namespaces/{namespace}/greetings/{name}']['patch']
            self.assertEqual(set(patch['requestBody']['content']), {'application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'})

    def test_a_server_with_it_serves_its_group(self):
        from harness import Server
        plugins = os.path.join(self.dir, 'plugins')
        shutil.copytree(os.path.join(self.prefix, 'lib/backplane/plugins'), plugins)
        for name in ('hello-world', 'tour'):
            shutil.copy(os.path.join(self.dir, name, name + '.so'), plugins)
        greetings = '/apis/demo.example.com/v1/namespaces/default/greetings'
        with Server(plugin_dir=plugins) as server:
            self.assertIn('demo.example.com', {g['name'] for g in server.request('GET', '/apis')[2]['groups']})
            greeting = {'apiVersion': 'demo.example.com/v1', 'kind': 'Greeting', 'metadata': {'name': 'first'}, 'spec': {'name': 'world'}}
            code, _, made = server.request('POST', greetings, greeting)
            self.assertEqual((code, made['spec']), (201, {'greeting': 'Hello', 'name': 'world'}), made)
            table = server.request('GET', greetings, headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})[2]
            self.assertEqual(table['rows'][0]['cells'], ['first', 'Hello, world!'])
            for spec in ({'name': 'nobody'}, {'name': ''}, {}, {'name': 7}):
                wrong = dict(greeting, metadata={'name': 'wrong'}, spec=spec)
                self.assertEqual(server.request('POST', greetings, wrong)[0], 422, spec)
            refused = server.request('POST', greetings, dict(greeting, metadata={'name': 'wrong'}, spec={}))[2]
            self.assertEqual(refused['message'], 'Greeting.demo.example.com "wrong" is invalid: spec.name: Required value')
            self.assertEqual(refused['details']['causes'], [{'reason': 'FieldValueRequired', 'message': 'Required value', 'field': 'spec.name'}])
            self.assertEqual(server.request('PUT', greetings + '/first', dict(made, spec={'name': ''}))[0], 422)
            loud = dict(greeting, metadata={'name': 'loud'}, spec={'name': 'you', 'greeting': 'HEY!'})
            self.assertEqual(server.request('POST', greetings, loud)[0], 403)
            long = dict(greeting, metadata={'name': 'long'}, spec={'name': 'you', 'greeting': 'Good day' * 6})
            code, _, refused = server.request('POST', greetings, long)
            self.assertEqual(code, 403, refused)
            self.assertIn('size(spec.greeting) <= 40', refused['message'])
            self.assertEqual(server.request('GET', '/readyz/greeter')[0], 200)
            self.assertEqual(server.request('DELETE', greetings + '/first')[0], 200)
            self.assertEqual(server.request('GET', greetings)[2]['items'], [])

    def test_a_plugin_built_before_a_change_of_rules_for_pods_is_served(self):
        from harness import Server
        plugins = os.path.join(self.dir, 'plugins-and-runner')
        shutil.copytree(os.path.join(self.prefix, 'lib/backplane/plugins'), plugins)
        shutil.copy(os.path.join(self.dir, 'runner/runner.so'), plugins)
        run(self.binary, 'plugin', 'check', os.path.join(plugins, 'runner.so'))
        runners = '/apis/run.example.com/v1/namespaces/default/runners'

        def runner(name, **container):
            template = {'spec': {'containers': [dict({'name': 'c', 'image': 'nginx'}, **container)]}}
            return {'apiVersion': 'run.example.com/v1', 'kind': 'Runner', 'metadata': {'name': name}, 'template': template}

        with Server('--require-plugin', 'example.com/runner', plugin_dir=plugins) as server:
            code, _, made = server.request('POST', runners, runner('first'))
            self.assertEqual(code, 201, made)
            self.assertEqual(made['template']['spec']['containers'][0]['imagePullPolicy'], 'Always')
            code, _, refused = server.request('POST', runners, runner('second', securityContext={'privileged': True}))
            self.assertEqual(code, 422, refused)
            self.assertIn('template.spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy', refused['message'])
        with Server('--allow-privileged', plugin_dir=plugins) as server:
            code, _, made = server.request('POST', runners, runner('second', securityContext={'privileged': True}))
            self.assertEqual(code, 201, made)

    def test_a_plugin_with_an_informer_counts_what_another_plugin_stores(self):
        from harness import Server, configmap
        plugins = os.path.join(self.dir, 'plugins-and-census')
        shutil.copytree(os.path.join(self.prefix, 'lib/backplane/plugins'), plugins)
        shutil.copy(os.path.join(self.dir, 'census/census.so'), plugins)
        maps = '/api/v1/namespaces/default/configmaps'

        def member(name, team):
            made = configmap(name, k='v')
            made['metadata']['labels'] = {'team': team}
            return made

        def wait_for_census(server, expected):
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                code, _, counted = server.request('GET', '/census')
                if (code, counted) == (200, expected):
                    return
                time.sleep(0.05)
            self.fail('the census says %d %s where %s was expected\n%s' % (code, counted, expected, server.text()[-3000:]))

        data_dir = os.path.join(self.dir, 'census-data')
        os.mkdir(data_dir)
        with Server('--require-plugin', 'example.com/census', plugin_dir=plugins, data_dir=data_dir) as server:
            for name, team in (('a', 'red'), ('b', 'red'), ('c', 'blue')):
                self.assertEqual(server.request('POST', maps, member(name, team))[0], 201)
            wait_for_census(server, {'blue': 1, 'red': 2})
            self.assertEqual(server.request('DELETE', maps + '/a')[0], 200)
            self.assertEqual(server.request('PUT', maps + '/c', member('c', 'red'))[0], 200)
            wait_for_census(server, {'blue': 0, 'red': 2})
            report = server.request('GET', maps + '/census')[2]['data']
            self.assertEqual(set(report), {'blue', 'red'})
            self.assertEqual(server.terminate(), 0, server.text()[-3000:])
        with Server('--require-plugin', 'example.com/census', plugin_dir=plugins, data_dir=data_dir) as server:
            wait_for_census(server, {'red': 2})  # from the initial list

    def test_admission_plugins_with_a_configuration_an_informer_and_an_expression(self):
        from harness import Server, configmap
        plugins = os.path.join(self.dir, 'plugins-and-admission')
        shutil.copytree(os.path.join(self.prefix, 'lib/backplane/plugins'), plugins)
        shutil.copy(os.path.join(self.dir, 'admission/admission-rules.so'), plugins)
        maps = '/api/v1/namespaces/default/configmaps'
        configured = os.path.join(self.dir, 'admission.json')
        with open(configured, 'w') as f:
            json.dump({'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'AdmissionConfiguration',
                       'plugins': [{'name': 'DefaultTeam', 'configuration': {'team': 'blue'}}]}, f)
        with Server('--require-plugin', 'example.com/admission-rules', '--admission-control-config-file', configured,
                    plugin_dir=plugins) as server:
            code, _, refused = server.request('POST', maps, configmap('a', k='v'))
            self.assertEqual(code, 403, refused)
            self.assertEqual(refused['message'], 'configmaps "a" is forbidden: there is no team blue')
            self.assertEqual(server.request('POST', '/api/v1/namespaces', {'metadata': {'name': 'blue'}})[0], 201)
            deadline = time.monotonic() + 60
            while code != 201 and time.monotonic() < deadline:  # the informer receives the change
                code, headers, made = server.request('POST', maps, configmap('a', k='v'))
            self.assertEqual(code, 201, made)
            self.assertEqual(made['metadata']['labels'], {'team': 'blue'})
            self.assertIn('belongs to team blue', headers['Warning'])
            code, _, refused = server.request('POST', maps, configmap('b', k='v' * 1001))
            self.assertEqual(code, 403, refused)
            self.assertIn('failed expression: data.all(key, data[key].size() <= 1000)', refused['message'])

    def test_the_commands_of_the_guide_do_what_it_says(self):
        """The unchanged commands in a copy of the example; only the port and the data directory are the test's."""
        from harness import Server, kubectls
        with open(os.path.join(SOURCE, 'docs/guide/01-hello.md')) as f:
            blocks = re.findall(r'^```sh\n(.*?)^```', f.read(), re.M | re.S)
        self.assertEqual(len(blocks), 1)
        lines = re.sub(r'\bPREFIX\b', self.prefix, blocks[0]).splitlines()
        serve = [line for line in lines if line.startswith('backplane --')]
        self.assertEqual(len(serve), 1, lines)
        folder = os.path.join(self.dir, 'guide')
        shutil.copytree(os.path.join(EXAMPLES, 'hello-world'), folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder)
        tools = [os.path.dirname(self.binary)] + [os.path.dirname(os.path.abspath(path)) for path in kubectls()[:1]]
        env = dict(os.environ, PATH=os.pathsep.join(tools + [os.environ['PATH']]), CXXFLAGS=os.environ.get('SDK_CXX_FLAGS', ''))

        def shell(line):
            done = subprocess.run(['bash', '-ec', line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
            self.assertEqual(done.returncode, 0, '%s\n%s' % (line, done.stdout))
            return done.stdout

        after = lines.index(serve[0])
        for line in lines[:after]:
            shell(line)
        words = shlex.split(serve[0])
        self.assertEqual(words[1], '--plugin-dir')
        with Server(*words[3:], plugin_dir=words[2]) as server:
            if not kubectls():
                self.skipTest('there is no kubectl for the rest')
            env['KUBECONFIG'] = server.kubeconfig
            shown = [shell(line) for line in lines[after + 1:]]
            self.assertIn('created', shown[0])
            self.assertRegex(shown[1], r'first +Hello, world!')


if __name__ == '__main__':
    unittest.main()
