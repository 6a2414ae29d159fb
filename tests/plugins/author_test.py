"""`backplane plugin new | build | check | run | reload | test`: from nothing to an object of a kind of one's own, with the installed SDK alone."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

BUILD = os.environ['BACKPLANE_BUILD']
os.environ.setdefault('BACKPLANE', os.path.join(BUILD, 'bin/backplane'))
os.environ.setdefault('BACKPLANE_PLUGINS', os.path.join(BUILD, 'lib/backplane/plugins'))

from harness import Server, free_port, main, wait_for  # pylint: disable=wrong-import-position

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
# Two versions, status, scale, a rule that a plugin does not have, columns, short names.
CRD = '''
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: crontabs.stable.example.com
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct], categories: [all]}
  conversion: {strategy: None}
  versions:
'''
VERSION = '''  - name: NAME
    served: true
    storage: STORED
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns:
    - {name: Spec, type: string, jsonPath: .spec.cronSpec, description: When it runs.}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    selectableFields: [{jsonPath: .spec.cronSpec}]
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [cronSpec, image, limits, ports]
            x-kubernetes-validations: [{rule: "self.replicas < 10"}]
            properties:
              cronSpec: {type: string, pattern: '^([0-9]+|[*])( ([0-9]+|[*])){4}$', default: "0 0 * * *"}
              image: {type: string, minLength: 3, maxLength: 100}
              limits: {type: object, additionalProperties: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}}
              ports: {type: array, minItems: 1, items: {type: object, required: [port], properties: {port: {type: integer, minimum: 1, maximum: 65535}}}}
              replicas: {type: integer, minimum: 0}
          status:
            type: object
            properties:
              replicas: {type: integer}
              conditions: {type: array, items: {type: object, properties: {type: {type: string}, status: {type: string}}}}
'''
CRD += VERSION.replace('NAME', 'v2').replace('STORED', 'true') + VERSION.replace('NAME', 'v1').replace('STORED', 'false')
WIDGETS = '/apis/widgets.example.com/v1/namespaces/default/widgets'


class Running(Server):
    """The server that `backplane plugin run` has started."""

    def __init__(self, data):  # pylint: disable=super-init-not-called
        self.kubeconfig = os.path.join(data, 'admin.kubeconfig')
        self.read_kubeconfig()


def widget(name, size):
    return {'apiVersion': 'widgets.example.com/v1', 'kind': 'Widget', 'metadata': {'name': name}, 'spec': {'size': size}}


class Author(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='backplane-author-')
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.prefix = os.path.join(self.dir, 'prefix')
        self.run_in(self.dir, 'cmake', '--install', BUILD, '--prefix', self.prefix)
        self.binary = os.path.join(self.prefix, 'bin/backplane')

    def run_in(self, folder, *command, code=0):
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, code, '%s\n%s' % (' '.join(command), done.stdout))
        return done.stdout

    def start(self, folder, data):
        log = open(os.path.join(self.dir, 'log'), 'w', encoding='utf-8')  # pylint: disable=consider-using-with
        self.addCleanup(log.close)
        run = subprocess.Popen([self.binary, 'plugin', 'run', '--data-dir', data, '--secure-port', str(free_port())],  # pylint: disable=consider-using-with
                               cwd=folder, stdout=log, stderr=subprocess.STDOUT)

        def end():
            if run.poll() is None:
                run.send_signal(signal.SIGTERM)
                run.wait(120)
        self.addCleanup(end)
        return run

    def log(self):
        with open(os.path.join(self.dir, 'log'), encoding='utf-8') as f:
            return f.read()

    def test_from_nothing_to_an_object_and_a_changed_source(self):
        begun = time.monotonic()
        self.run_in(self.dir, self.binary, 'plugin', 'new', 'widgets', '--group', 'widgets.example.com', '--kind', 'Widget')
        folder = os.path.join(self.dir, 'widgets')
        self.run_in(folder, self.binary, 'plugin', 'build')
        self.run_in(folder, self.binary, 'plugin', 'check', 'build/widgets.so')
        data = os.path.join(self.dir, 'data')
        run = self.start(folder, data)
        self.assertTrue(wait_for(lambda: 'export KUBECONFIG=' in self.log() or run.poll() is not None, 120), self.log())
        server = Running(data)
        self.assertEqual(server.request('GET', WIDGETS)[0], 200, self.log())
        print('from nothing to an answer: %.1f s' % (time.monotonic() - begun))
        with open(os.path.join(folder, 'example.yaml'), encoding='utf-8') as f:
            example = f.read()
        code, _, made = server.request('POST', WIDGETS, example, headers={'Content-Type': 'application/yaml'})
        self.assertEqual((code, made['spec']), (201, {'size': 3}))
        self.assertEqual(server.request('POST', WIDGETS, widget('wrong', -1))[0], 422)
        plugin = '/apis/plugins.backplane.dev/v1alpha1/plugins/widgets.example.com'
        self.assertEqual(server.request('GET', plugin)[2]['status']['build'], 1)

        types = os.path.join(folder, 'widgets.json')
        with open(types, encoding='utf-8') as f:
            text = f.read()
        with open(types + '.new', 'w', encoding='utf-8') as f:  # as an editor does
            f.write(text.replace('"minimum": 0', '"minimum": -5'))
        os.rename(types + '.new', types)
        self.assertTrue(wait_for(lambda: server.request('GET', plugin)[2]['status']['build'] == 2, 120), self.log())
        self.assertEqual(server.request('POST', WIDGETS, widget('small', -1))[0], 201)
        self.assertEqual(server.request('GET', WIDGETS + '/first')[0], 200)

        with open(types, 'w', encoding='utf-8') as f:
            f.write('{')
        self.assertTrue(wait_for(lambda: 'the former one stays in service' in self.log(), 120), self.log())
        self.assertEqual(server.request('GET', WIDGETS + '/first')[0], 200)
        output = self.run_in(folder, self.binary, 'plugin', 'reload', 'widgets', '--kubeconfig', server.kubeconfig)
        self.assertTrue(re.search('plugin example.com/widgets reloaded', output), output)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(120), 0, self.log())

    def test_the_checks_of_a_new_plugin_hold_and_those_of_a_wrong_sample_do_not(self):
        self.run_in(self.dir, self.binary, 'plugin', 'new', 'widgets', '--group', 'widgets.example.com', '--kind', 'Widget')
        folder = os.path.join(self.dir, 'widgets')
        output = self.run_in(folder, self.binary, 'plugin', 'test').splitlines()[-1]
        found = re.fullmatch(r'(\d+) checks, 0 failed, in ([\d.]+) s', output)
        self.assertTrue(found, output)
        self.assertGreaterEqual(int(found[1]), 150)
        print(output)
        sample = os.path.join(folder, 'example.yaml')
        with open(sample, encoding='utf-8') as f:
            text = f.read()
        with open(sample, 'w', encoding='utf-8') as f:
            f.write(text.replace('size: 3', 'size: -3'))
        output = self.run_in(folder, self.binary, 'plugin', 'test', code=1)
        self.assertIn('FAILED  widgets.example.com/v1 widgets: create: creates an object\n        expected code 201, got 422', output)
        with open(os.path.join(folder, 'widgets.json'), 'a', encoding='utf-8') as f:
            f.write('{')
        self.assertNotIn(' checks, ', self.run_in(folder, self.binary, 'plugin', 'test', code=2))

    def test_a_plugin_of_the_stable_tier_needs_no_boost(self):
        for language, source in (('c', 'plugin.c'), ('c++', 'plugin.cpp')):
            name = 'stable-' + source[7:]
            self.run_in(self.dir, self.binary, 'plugin', 'new', name, '--group', 'widgets.example.com', '--kind', 'Widget', '--tier=stable', '--language', language)
            folder = os.path.join(self.dir, name)
            self.assertTrue(os.path.exists(os.path.join(folder, source)))
            # A package that looks for Boost would fail now.
            self.run_in(folder, 'cmake', '-S', '.', '-B', 'build', '-DCMAKE_PREFIX_PATH=' + self.prefix, '-DCMAKE_DISABLE_FIND_PACKAGE_Boost=TRUE')
            self.run_in(folder, self.binary, 'plugin', 'build')
            file = 'build/%s.so' % name
            self.run_in(folder, self.binary, 'plugin', 'check', file)
            shown = json.loads(self.run_in(folder, self.binary, 'plugin', 'inspect', file, '-o', 'json'))
            self.assertEqual(shown['stamp'], {'stable': '1'})
            output = self.run_in(folder, self.binary, 'plugin', 'test').splitlines()[-1]
            self.assertRegex(output, r'^\d+ checks, 0 failed, in')
            data = os.path.join(self.dir, 'data-' + name)
            run = self.start(folder, data)
            self.assertTrue(wait_for(lambda: 'export KUBECONFIG=' in self.log() or run.poll() is not None, 120), self.log())  # pylint: disable=cell-var-from-loop
            self.assertEqual(Running(data).request('POST', WIDGETS, widget('first', 3))[0], 201, self.log())
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(120), 0, self.log())
        output = self.run_in(self.dir, self.binary, 'plugin', 'new', 'refused', '--group', 'widgets.example.com', '--kind', 'Widget', '--language=c', code=1)
        self.assertIn('--tier=stable', output)

    def test_the_commands_of_the_guide(self):
        """Those of its first page, except `run`, which another test starts."""
        with open(os.path.join(SOURCE, 'docs/guide/01-hello.md'), encoding='utf-8') as f:
            block = re.search(r'^```console\n(backplane plugin new widgets .*?)^```', f.read(), re.M | re.S)[1]
        commands = [line for line in block.splitlines() if ' plugin run ' not in line]
        self.assertGreaterEqual(len(commands), 5)
        env = dict(os.environ, PATH=os.path.dirname(self.binary) + os.pathsep + os.environ['PATH'])
        done = subprocess.run(['bash', '-ec', '\n'.join(commands)], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout.splitlines()[-1], r'^\d+ checks, 0 failed, in')

    def test_a_plugin_from_a_custom_resource_definition(self):
        with open(os.path.join(self.dir, 'crd.yaml'), 'w', encoding='utf-8') as f:
            f.write(CRD)
        output = self.run_in(self.dir, self.binary, 'plugin', 'new', 'crontabs', '--crd', 'crd.yaml')
        self.assertIn('x-kubernetes-validations: "x-kubernetes-validations" is run for custom resources alone', output)
        folder = os.path.join(self.dir, 'crontabs')
        self.assertEqual([name for name in os.listdir(folder) if name.endswith('.cpp')], [])
        self.assertTrue(os.path.exists(os.path.join(folder, 'crontabs_v2.json')))
        output = self.run_in(folder, self.binary, 'plugin', 'test').splitlines()[-1]
        found = re.fullmatch(r'(\d+) checks, 0 failed, in ([\d.]+) s', output)
        self.assertTrue(found, output)
        self.assertGreaterEqual(int(found[1]), 300)  # of both versions
        with open(os.path.join(self.dir, 'webhook.yaml'), 'w', encoding='utf-8') as f:
            f.write(CRD.replace('strategy: None', 'strategy: Webhook'))
        output = self.run_in(self.dir, self.binary, 'plugin', 'new', 'refused', '--crd', 'webhook.yaml', code=1)
        self.assertIn('webhook.yaml: spec.conversion.strategy: Webhook: a plugin calls no conversion webhook', output)
        self.assertFalse(os.path.exists(os.path.join(self.dir, 'refused')))
        output = self.run_in(self.dir, self.binary, 'plugin', 'new', 'refused', '--kind', 'CronTab', code=1)
        self.assertIn('--group', output)

    def test_a_plugin_from_an_openapi_document(self):
        with Server() as server:
            document = server.request('GET', '/openapi/v3/apis/coordination.k8s.io/v1')[2]
        text = json.dumps(document).replace('coordination.k8s.io', 'leases.example.com').replace('io.k8s.api.coordination', 'com.example.leases')
        with open(os.path.join(self.dir, 'openapi.json'), 'w', encoding='utf-8') as f:
            f.write(text)
        self.run_in(self.dir, self.binary, 'plugin', 'new', 'leases', '--openapi', 'openapi.json', '--kind', 'Lease')
        output = self.run_in(os.path.join(self.dir, 'leases'), self.binary, 'plugin', 'test').splitlines()[-1]
        self.assertRegex(output, r'^\d+ checks, 0 failed, in')

    def test_names_that_cannot_be(self):
        output = self.run_in(self.dir, self.binary, 'plugin', 'new', 'widgets', '--group', 'widgets', '--kind', 'Widget', code=1)
        self.assertIn('--group: must be a domain', output)
        os.mkdir(os.path.join(self.dir, 'taken'))
        with open(os.path.join(self.dir, 'taken', 'file'), 'w', encoding='utf-8'):
            pass
        output = self.run_in(self.dir, self.binary, 'plugin', 'new', 'taken', '--group', 'widgets.example.com', '--kind', 'Widget', code=1)
        self.assertIn('has files already', output)


if __name__ == '__main__':
    main()
