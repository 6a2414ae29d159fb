"""A policy engine (a project's controller with admission webhooks) as a process outside the cluster: it has the rights of its service account, the
certificates of its secret, and the address of its service."""
import base64
import contextlib
import json
import os
import pathlib
import re
import subprocess
import threading
import unittest

import clients
import harness
from kube_apiserver import listed
from real_definitions_test import documents, module, said
from webhook_pods import own_address

APPLY = {'Content-Type': 'application/apply-patch+yaml'}
MERGE = {'Content-Type': 'application/merge-patch+json'}
NAMESPACES = '/api/v1/namespaces'
DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
ADMISSION = '/apis/admissionregistration.k8s.io/v1/'
DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/'


class Cluster:
    """A server with its controllers. Webhook services are resolved to endpoints, because no proxy of services runs here."""

    def __init__(self):
        self.server = harness.Server('--enable-aggregator-routing=true', service_accounts=True, controllers=True)
        self.request = self.server.request
        self.kinds, self.warnings = {}, []

    def path(self, api_version, kind, namespace, name=''):
        """The path of an object, or of the list if the name is empty; None if the kind is not served."""
        key = api_version, kind
        if key not in self.kinds:
            self.kinds = {(group.removeprefix('/apis/').removeprefix('/api/'), each['kind']): (group, each) for group, each in listed(self.server)}
        if key not in self.kinds:
            return None
        group, resource = self.kinds[key]
        space = '/namespaces/' + (namespace or 'default') if resource['namespaced'] else ''
        return '%s%s/%s%s' % (group, space, resource['name'], '/' + name if name else '')

    def path_of(self, text):
        def named(key):
            found = re.search(r'^  %s:\s*"?([^\s"]+)' % key, text.partition('\nmetadata:')[2], flags=re.M)
            return found[1] if found else None
        # A definition is established before its kind is in the discovery documents.
        return harness.wait_for(lambda: self.path(said(text, 'apiVersion'), said(text, 'kind'), named('namespace'), named('name')))

    def apply(self, text, query=''):
        """(status, object) of a server-side apply; its warnings are in `warnings`."""
        path = self.path_of(text)
        assert path, 'the kind is not served: ' + text[:300]
        code, headers, answer = self.request('PATCH', path + '?fieldManager=tester&force=true' + query, text.encode(), APPLY)
        self.warnings = [value for key, value in headers.items() if key.lower() == 'warning']
        return code, answer

    def applied(self, text):
        """The applied object, whose definition may have been created just before."""
        code, answer = harness.wait_for(lambda: (got := self.apply(text))[0] != 404 and got) or (404, text)
        assert code in (200, 201), answer
        return answer

    def get(self, path):
        code, _, answer = self.request('GET', path)
        return answer if code == 200 else None

    def install(self, folder, *patterns, change=lambda text: text):
        """Applies the changed documents of the manifests, and waits until the definitions are established."""
        made = [self.applied(change(text)) for _, text in documents(folder, *patterns)]
        for name in [each['metadata']['name'] for each in made if each['kind'] == 'CustomResourceDefinition']:
            assert harness.wait_for(lambda name=name: self.established(name)), name

    def established(self, name):
        definition = self.get(DEFINITIONS + name) or {}
        return any(each['type'] == 'Established' and each['status'] == 'True' for each in definition.get('status', {}).get('conditions') or [])

    def pod_of(self, namespace, deployment, address):
        """Creates a running pod of the deployment's template, as a controller and a kubelet would; returns its name."""
        template = self.get('/apis/apps/v1/namespaces/%s/deployments/%s' % (namespace, deployment))['spec']['template']
        pods = '/api/v1/namespaces/%s/pods' % namespace
        template['metadata']['name'] = deployment + '-0'
        code, _, answer = self.request('POST', pods, {'metadata': template['metadata'], 'spec': template['spec']})
        assert code == 201, answer
        status = {'phase': 'Running', 'podIP': address, 'podIPs': [{'ip': address}],
                  'conditions': [{'type': each, 'status': 'True'} for each in ('Ready', 'ContainersReady', 'PodScheduled', 'Initialized')]}
        code, _, answer = self.request('PATCH', '%s/%s-0/status' % (pods, deployment), {'status': status}, MERGE)
        assert code == 200, answer
        return deployment + '-0'

    def endpoint(self, namespace, service, address, port, name=None):
        """The service has this endpoint, for the port of this name or its first one."""
        name = name or self.get('/api/v1/namespaces/%s/services/%s' % (namespace, service))['spec']['ports'][0].get('name', '')
        code, _, answer = self.request('POST', '/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices' % namespace, {
            'metadata': {'name': service, 'labels': {'kubernetes.io/service-name': service}}, 'addressType': 'IPv4',
            'ports': [{'name': name, 'port': port}], 'endpoints': [{'addresses': [address], 'conditions': {'ready': True}}]})
        assert code == 201, answer

    def account_kubeconfig(self, namespace, account):
        """The path of a kubeconfig with a token of the service account."""
        code, _, made = self.request('POST', '/api/v1/namespaces/%s/serviceaccounts/%s/token' % (namespace, account), {
            'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': {'expirationSeconds': 7200}})
        assert code == 201, made
        with open(self.server.kubeconfig, encoding='utf-8') as file:
            authority = re.search(r'certificate-authority-data: (\S+)', file.read())[1]
        cluster = {'server': 'https://127.0.0.1:%d' % self.server.port, 'certificate-authority-data': authority}
        path = os.path.join(self.server.dir, account + '.kubeconfig')
        with open(path, 'w', encoding='utf-8') as file:
            json.dump({'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c', 'clusters': [{'name': 'c', 'cluster': cluster}],
                       'users': [{'name': 'c', 'user': {'token': made['status']['token']}}],
                       'contexts': [{'name': 'c', 'context': {'cluster': 'c', 'user': 'c', 'namespace': namespace}}]}, file)
        return path

    def stop(self):
        self.server.stop()


class SecretVolume(threading.Thread):
    """A kubelet's volume: the folder has the contents of the secret."""

    def __init__(self, cluster, namespace, name, folder):
        super().__init__(daemon=True)
        self.cluster, self.folder = cluster, folder
        self.path = '/api/v1/namespaces/%s/secrets?watch=true&fieldSelector=metadata.name=%s' % (namespace, name)
        os.makedirs(folder, exist_ok=True)
        self.start()

    def run(self):
        with contextlib.closing(self.cluster.server.connect(timeout=None)) as connection, contextlib.suppress(OSError):
            connection.request('GET', self.path)
            with connection.getresponse() as events:
                while line := events.readline():
                    self.mount(json.loads(line)['object'].get('data') or {})

    def mount(self, data):
        for name, value in data.items():
            path = os.path.join(self.folder, name)
            with open(path + '.new', 'wb') as file:
                file.write(base64.b64decode(value))
            os.rename(path + '.new', path)


class Engine:
    """The running program; its output is in a file of the server's folder."""

    def __init__(self, cluster, program, arguments, environment):
        self.log_path = os.path.join(cluster.server.dir, os.path.basename(program) + '.log')
        with open(self.log_path, 'wb') as log:
            self.process = subprocess.Popen([program, *arguments], stdout=log, stderr=subprocess.STDOUT, cwd=cluster.server.dir,
                                            env=dict(os.environ, HOME=cluster.server.dir, **environment))

    def text(self):
        with open(self.log_path, errors='replace', encoding='utf-8') as file:
            return file.read()

    def wait(self, what, holds, seconds=120):
        """Waits until it holds, unless the program ends."""
        found = harness.wait_for(lambda: self.process.poll() is not None or holds(), seconds)
        if self.process.poll() is not None or not found:
            raise AssertionError('%s: not within %d s; the program %s:\n%s' % (
                what, seconds, 'runs' if self.process.poll() is None else 'ended', self.text()[-6000:]))
        return found

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Case(unittest.TestCase):
    """Tests of one server with one engine: its name, the path, the version and the package of its Go module.
    `start` installs it and starts the program."""
    name = path = version = package = ''
    is_long = True  # whether its build is too long for each run of the tests; POLICY_ENGINES lists the ones that run nevertheless

    @classmethod
    def setUpClass(cls):
        if cls.is_long and cls.name not in os.environ.get('POLICY_ENGINES', '').replace(',', ' ').split():
            raise unittest.SkipTest('POLICY_ENGINES does not list ' + cls.name)
        cls.address = own_address()
        if cls.address is None:
            raise unittest.SkipTest('this machine has only loopback addresses, which endpoints cannot have')
        cls.module = module(cls.path, cls.version)
        try:
            program = clients.go_build(os.path.join(clients.BUILD_DIR, cls.name), clients.recipe(cls.name), [cls.path + cls.package])
        except clients.Missing as why:
            raise unittest.SkipTest('%s cannot be built: %s' % (cls.name, why))
        cls.program = next(iter(program.values()))
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        cls.start()

    @classmethod
    def start(cls):
        raise NotImplementedError

    @classmethod
    def run_engine(cls, arguments, environment):
        cls.engine = Engine(cls.cluster, cls.program, arguments, environment)
        cls.addClassCleanup(cls.engine.stop)

    @classmethod
    def read(cls, name):
        return pathlib.Path(cls.module, name).read_text(encoding='utf-8')

    def wait(self, what, holds):
        return self.engine.wait(what, holds)

    def apply(self, text):
        """Applies an object, which the test deletes at its end; returns its path."""
        self.cluster.applied(text)
        self.addCleanup(self.cluster.request, 'DELETE', self.cluster.path_of(text))
        return self.cluster.path_of(text)

    def refusal(self, text):
        """The message for a refused object."""
        code, answer = self.cluster.apply(text)
        self.assertIn(code, (400, 403, 422), answer)
        return answer['message']

    def try_create(self, path, body):
        """(status, object) of a create with dryRun."""
        code, _, answer = self.cluster.request('POST', path + '?dryRun=All', body)
        return code, answer

    def try_namespace(self, **labels):
        return self.try_create(NAMESPACES, {'metadata': {'name': 'tried', 'labels': labels}})

    def wait_gone(self, path):
        self.wait(path + ' is deleted', lambda: self.cluster.get(path) is None)
