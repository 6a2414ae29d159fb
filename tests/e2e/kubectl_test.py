"""Common uses of kubectl, with every available kubectl."""
import json
import multiprocessing.pool
import os
import subprocess
import tempfile
import threading
import time
import unittest

from harness import Served, Server, kubectls, main

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: "nginx:1.25", ports: [{containerPort: 80}]}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers: [{name: c, image: busybox}]
"""
SECRET = """
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {password: hunter2}
"""
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
"""
WIDGET = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n'


class Kubectl(Served):
    """The suite; one subclass per kubectl binary."""
    binary = None
    number = 0

    def setUp(self):
        Kubectl.number += 1
        self.ns = 'ns%d' % Kubectl.number
        self.k('create', 'ns', self.ns)

    def k(self, *args, **kw):
        return self.server.kubectl(self.binary, *args, **kw)

    def n(self, *args, **kw):
        return self.k('-n', self.ns, *args, **kw)

    def test_readyz_and_discovery(self):
        self.assertIn('readyz check passed', self.k('get', '--raw', '/readyz?verbose'))
        resources = self.k('api-resources')
        for name in ('configmaps', 'deployments', 'customresourcedefinitions', 'apiservices'):
            self.assertIn(name, resources)
        versions = self.k('api-versions').split()
        for version in ('v1', 'apps/v1', 'apiextensions.k8s.io/v1', 'apiregistration.k8s.io/v1'):
            self.assertIn(version, versions)

    def test_life_of_each_kind(self):
        for kind, name, manifest in (('deployment', 'web', DEPLOYMENT), ('service', 'web', SERVICE), ('pod', 'p', POD), ('secret', 's', SECRET)):
            with self.subTest(kind=kind):
                self.n('create', '-f', '-', stdin=manifest)
                self.assertIn(name, self.n('get', kind, '-o', 'wide'))
                self.assertIn('kind: ' + kind.capitalize(), self.n('get', kind, name, '-o', 'yaml'))
                got = json.loads(self.n('get', kind, name, '-o', 'json'))
                self.assertEqual(got['metadata']['namespace'], self.ns)
                self.assertIn('/' + name, self.n('get', kind, '-o', 'name'))
                self.assertEqual(self.n('get', kind, name, '-o', 'jsonpath={.metadata.name}'), name)
                self.n('label', kind, name, 'tier=front')
                self.n('annotate', kind, name, 'note=hello')
                self.n('patch', kind, name, '-p', '{"metadata":{"labels":{"patched":"yes"}}}')
                labels = json.loads(self.n('get', kind, name, '-o', 'json'))['metadata']['labels']
                self.assertEqual((labels['tier'], labels['patched']), ('front', 'yes'))
                self.assertIn(name, self.n('get', kind, '-l', 'tier=front', '-o', 'name'))
                self.n('replace', '-f', '-', stdin=self.n('get', kind, name, '-o', 'yaml'))
                self.n('delete', kind, name, '--wait=false' if kind == 'pod' else '--wait=true')
        self.assertNotIn('web', self.n('get', 'deployments,services', '-o', 'name'))

    def test_client_side_apply_changes_and_removes(self):
        self.n('apply', '-f', '-', stdin='apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: "1", b: "2"}\n')
        self.n('apply', '-f', '-', stdin='apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: "3"}\n')
        self.assertEqual(json.loads(self.n('get', 'cm', 'c', '-o', 'json'))['data'], {'a': '3'})
        self.assertIn('unchanged', self.n('apply', '-f', '-', stdin='apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: "3"}\n'))
        self.n('apply', '-f', '-', stdin=DEPLOYMENT)
        self.n('apply', '-f', '-', stdin=DEPLOYMENT.replace('nginx:1.25', 'nginx:1.26').replace('replicas: 2', 'replicas: 5'))
        got = json.loads(self.n('get', 'deploy', 'web', '-o', 'json'))
        self.assertEqual(got['spec']['template']['spec']['containers'][0]['image'], 'nginx:1.26')
        self.assertEqual((got['spec']['replicas'], got['metadata']['generation']), (5, 2))

    def test_edit_and_scale(self):
        self.n('create', '-f', '-', stdin=DEPLOYMENT)
        editor = os.path.join(self.server.dir, 'editor')
        with open(editor, 'w') as f:
            f.write('#!/bin/sh\nsed -i "s/nginx:1.25/nginx:1.27/" "$1"\n')
        os.chmod(editor, 0o755)
        env = dict(os.environ, KUBE_EDITOR=editor, HOME=self.server.dir)
        done = subprocess.run([self.binary, '--kubeconfig', self.server.kubeconfig, '-n', self.ns, 'edit', 'deploy', 'web'], capture_output=True, text=True, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.n('scale', 'deploy', 'web', '--replicas=7')
        got = json.loads(self.n('get', 'deploy', 'web', '-o', 'json'))
        self.assertEqual(got['spec']['template']['spec']['containers'][0]['image'], 'nginx:1.27')
        self.assertEqual(got['spec']['replicas'], 7)

    def test_watch_sees_what_another_kubectl_does(self):
        command = [self.binary, '--kubeconfig', self.server.kubeconfig, '-n', self.ns, 'get', 'cm', '-w', '-o', 'name']
        watch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ, HOME=self.server.dir))
        seen = []
        reader = threading.Thread(target=lambda: seen.extend(iter(watch.stdout.readline, '')), daemon=True)
        reader.start()
        deadline = time.monotonic() + 30
        number = 0
        # The start of the watch is not visible: objects are created until one of them shows.
        while not seen and time.monotonic() < deadline:
            number += 1
            self.n('create', 'configmap', 'w%d' % number)
            time.sleep(0.2)
        watch.kill()
        watch.wait()
        reader.join(10)
        watch.stdout.close()
        self.assertTrue(any('configmap/w' in line for line in seen), seen)

    def test_explain(self):
        self.assertIn('replicas', self.k('explain', 'deployment.spec'))
        self.assertIn('containers', self.k('explain', 'pod.spec', '--recursive'))

    def test_explain_prints_every_kind(self):
        groups = self.server.request('GET', '/apis')[2]['groups']
        kinds = []
        for version in ['v1'] + [group['preferredVersion']['groupVersion'] for group in groups]:
            path = ('/apis/' if '/' in version else '/api/') + version
            kinds += [(each['name'], version) for each in self.server.request('GET', path)[2]['resources'] if '/' not in each['name']]
        self.assertGreater(len(kinds), 60)
        with multiprocessing.pool.ThreadPool(4) as pool:
            texts = pool.map(lambda kind: self.k('explain', kind[0], '--recursive', '--api-version=' + kind[1]), kinds)
        for kind, text in zip(kinds, texts):
            with self.subTest(kind):
                self.assertRegex(text, r'(?m)^KIND: ')
                self.assertRegex(text, r'(?ms)^FIELDS:\n.*^ +apiVersion\t<string>')
                self.assertNotIn('<empty>', text.split('FIELDS:')[0])

    def test_custom_resources(self):
        self.k('create', '-f', '-', stdin=CRD)
        self.k('wait', '--for=condition=Established', 'crd/widgets.example.com', '--timeout=30s')
        for attempt in range(50):  # kubectl reads discovery, which shows the kind a moment after the condition
            if self.n('create', '-f', '-', stdin=WIDGET, check=False).returncode == 0:
                break
            time.sleep(0.1)
        self.assertIn('w', self.n('get', 'wd'))
        self.assertEqual(self.n('get', 'widget', 'w', '-o', 'jsonpath={.spec.size}'), '3')
        self.n('patch', 'widget', 'w', '--type=merge', '-p', '{"spec":{"size":4}}')
        self.assertEqual(self.n('get', 'widget', 'w', '-o', 'jsonpath={.spec.size}'), '4')
        self.n('delete', 'widget', 'w')
        self.assertNotIn('widget', self.n('get', 'widgets', '-o', 'name'))
        self.k('delete', 'crd', 'widgets.example.com')

    def test_errors_name_the_problem(self):
        done = self.n('get', 'cm', 'nothing', check=False)
        self.assertIn('Error from server (NotFound): configmaps "nothing" not found', done.stderr)
        done = self.n('create', '-f', '-', stdin=POD.replace('containers: [{name: c, image: busybox}]', 'containers: []'), check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('spec.containers', done.stderr)


class Readme(unittest.TestCase):
    """The lines of README.md, unchanged."""

    def test_its_lines_work(self):
        readme = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../README.md')
        with open(readme, encoding='utf-8') as f:
            block = f.read().split('## kubectl in ten lines', 1)[1].split('```sh\n', 1)[1].split('```', 1)[0]
        lines = [line for line in block.splitlines() if not line.startswith('export KUBECONFIG=')]
        self.assertGreaterEqual(len(lines), 9)
        script = 'set -e\ntrap \'kill $(jobs -p)\' EXIT\n' + '\n'.join(lines) + '\n'
        with Server() as server, tempfile.TemporaryDirectory() as folder:
            os.symlink(kubectls()[0], os.path.join(folder, 'kubectl'))
            env = dict(os.environ, KUBECONFIG=server.kubeconfig, HOME=folder, PATH=folder + ':' + os.environ['PATH'])
            done = subprocess.run(['bash', '-c', script], capture_output=True, text=True, timeout=120, env=env)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for shown in ('readyz check passed', 'deployments', 'namespace/demo created', 'deployment.apps/web', 'configmap/greeting labeled', 'DESCRIPTION'):
                self.assertIn(shown, done.stdout)


for index, path in enumerate(kubectls()):
    name = 'Kubectl%d' % index
    globals()[name] = type(name, (Kubectl, unittest.TestCase), {'binary': path})


class KubectlIsInstalled(unittest.TestCase):
    def test_there_is_one(self):
        self.assertTrue(kubectls(), 'no kubectl was found: scripts/setup --tests unpacks one')


if __name__ == '__main__':
    main()
