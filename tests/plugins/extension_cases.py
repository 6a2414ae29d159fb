"""What a plugin does as an extension of an API server, whichever that is. A test class sets up:

outer        with request(method, path, body, headers) → (status, headers, object), and text()
config       the path of a kubeconfig of the runner, with the rights of docs/examples/extension/rbac.yaml
admin        the path of a kubeconfig of an administrator
folder       a folder for the runners' data
"""
import json
import os
import shutil
import subprocess
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e')]
from harness import kubectls, wait_for  # noqa: E402
from runner_process import Runner  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
INCLUDE = os.path.join(ROOT, 'plugin-sdk/include')
SECONDS = 90
JANE = {'Impersonate-User': 'jane', 'Impersonate-Group': 'system:authenticated'}
MERGE = {'Content-Type': 'application/merge-patch+json'}
APISERVICES = '/apis/apiregistration.k8s.io/v1/apiservices/'
HOOKS = '/apis/admissionregistration.k8s.io/v1/'


def stable_plugin(folder):
    """The example in C, built as docs/stable-tier.md says."""
    example, out = os.path.join(ROOT, 'docs/examples/stable-c'), os.path.join(folder, 'stock.so')
    subprocess.run([os.environ.get('CC', 'cc'), '-std=c11', '-shared', '-fPIC', '-fvisibility=hidden', '-I', INCLUDE, '-I', example, '-o', out,
                    os.path.join(example, 'stock.c')], check=True)
    return out


def prepare(cls):
    """The account and the rights of the runner, in the outer server; returns its token."""
    subprocess.run([kubectls()[0], '--kubeconfig', cls.admin, 'apply', '-f', os.path.join(ROOT, 'docs/examples/extension/rbac.yaml')], check=True,
                   capture_output=True)
    answer = cls.outer.request('POST', '/api/v1/namespaces/kube-system/serviceaccounts/backplane-runner/token',
                               {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': {'expirationSeconds': 7200}})
    assert answer[0] == 201, answer
    return answer[2]['status']['token']


class Extended:
    """Requests and waiting."""

    def call(self, method, path, body=None, code=200, headers=None):
        got = self.outer.request(method, path, body, headers=headers or {})
        self.assertEqual(got[0], code, '%s\n%s' % (got[2], self.runner.text()[-4000:]))
        return got[2]

    def eventually(self, what, why=''):
        self.assertTrue(wait_for(what, SECONDS), '%s\n%s' % (why, self.runner.text()[-4000:]))

    @classmethod
    def available(cls, name):
        code, _, found = cls.outer.request('GET', APISERVICES + name)
        status = found.get('status', {}) if code == 200 else {}
        return any(each['type'] == 'Available' and each['status'] == 'True' for each in status.get('conditions', []))

    @classmethod
    def run_plugin(cls, *flags):
        cls.runner = Runner(os.path.join(cls.folder, cls.__name__), cls.config, *flags)
        cls.addClassCleanup(lambda: cls.runner.stop())  # the server that runs at the end

    def kubectl(self, *args, text=None):
        done = subprocess.run([kubectls()[0], '--kubeconfig', self.admin, *args], input=text, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr + self.runner.text()[-3000:])
        return done.stdout


class ServedGroup(Extended):
    """The API group of one plugin. `plugin()` returns its file; `group`, `kind`, `resource`, `spec`, `change`: one of its kinds."""
    group = kind = resource = ''
    spec, change = {}, {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.flags = ('--plugin=' + cls.plugin(),)
        cls.run_plugin(*cls.flags)
        cls.name = 'v1.' + cls.group
        assert wait_for(lambda: cls.available(cls.name), SECONDS), cls.runner.text()[-4000:]

    def path(self, name='', ns='default'):
        return '/apis/%s/v1/namespaces/%s/%s%s' % (self.group, ns, self.resource, name and '/' + name)

    def item(self, name):
        return {'apiVersion': self.group + '/v1', 'kind': self.kind, 'metadata': {'name': name}, 'spec': self.spec}

    def test_every_verb_goes_through_the_api_server(self):
        self.call('POST', self.path(), self.item('a'), 201)
        self.assertEqual([each['metadata']['name'] for each in self.call('GET', self.path())['items']], ['a'])
        self.call('PATCH', self.path('a'), {'spec': self.change}, headers=MERGE)
        found = self.call('GET', self.path('a'))
        self.assertEqual({**found['spec'], **self.change}, found['spec'])
        self.call('DELETE', self.path('a'))
        self.assertEqual(self.call('GET', self.path('a'), code=404)['reason'], 'NotFound')

    def test_kubectl_sees_no_difference(self):
        manifest = json.dumps(self.item('k'))
        self.eventually(lambda: '/apis/%s/v1' % self.group in json.dumps(self.outer.request('GET', '/openapi/v3')[2]))
        self.kubectl('create', '-f', '-', text=manifest)
        self.kubectl('apply', '--server-side', '--force-conflicts', '-f', '-', text=manifest)
        self.assertIn('k', self.kubectl('get', self.resource + '.' + self.group))
        watched = self.kubectl('get', self.resource + '.' + self.group, '-w', '--output-watch-events', '--request-timeout=2s')
        self.assertIn('ADDED', watched)
        self.kubectl('delete', self.resource + '.' + self.group, 'k')

    def test_a_user_without_rights_gets_403(self):
        refused = self.call('GET', self.path(), code=403, headers=JANE)
        self.assertEqual(refused['message'], '%s.%s is forbidden: User "jane" cannot list resource "%s" in API group "%s" in the namespace "default"' %
                         (self.resource, self.group, self.resource, self.group))

    def test_a_namespace_that_does_not_exist_is_refused(self):
        refused = self.call('POST', self.path(ns='absent'), self.item('a'), 404)
        self.assertEqual(refused['message'], 'namespaces "absent" not found')

    def test_an_object_of_another_namespace_is_refused(self):
        self.call('POST', self.path(), self.item('n'), 201)
        theirs = self.item('n')
        theirs['metadata']['namespace'] = 'kube-system'
        for method, path in (('POST', self.path()), ('PUT', self.path('n'))):
            refused = self.call(method, path, theirs, 400)
            self.assertEqual(refused['message'], 'the namespace of the provided object does not match the namespace sent on the request')
        self.call('DELETE', self.path('n'))

    def test_a_namespace_that_is_being_deleted_takes_updates_and_no_creates(self):
        self.call('POST', '/api/v1/namespaces', namespace('ending'), 201)
        held = self.item('held')
        held['metadata']['finalizers'] = ['example.com/hold']
        self.call('POST', self.path(ns='ending'), held, 201)
        self.call('DELETE', '/api/v1/namespaces/ending')

        def refused():
            status, _, self.answer = self.outer.request('POST', self.path(ns='ending') + '?dryRun=All', self.item('late'))
            return status == 403
        self.eventually(refused)
        self.assertEqual(self.answer['message'], '%s.%s "late" is forbidden: unable to create new content in namespace ending because it is being '
                         'terminated' % (self.resource, self.group))
        self.call('PATCH', self.path('held', 'ending'), {'metadata': {'finalizers': None}}, headers=MERGE)
        self.eventually(lambda: self.outer.request('GET', '/api/v1/namespaces/ending')[0] == 404)

    def test_updates_in_a_namespace_that_is_gone_are_refused(self):
        self.call('POST', '/api/v1/namespaces', namespace('gone'), 201)
        self.call('POST', self.path(ns='gone'), self.item('left'), 201)
        # Without the group the namespace controller does not find the object.
        self.assertEqual(self.runner.stop(), 0, self.runner.text()[-3000:])
        self.call('DELETE', APISERVICES + self.name)
        self.eventually(lambda: self.group not in json.dumps(self.outer.request('GET', '/apis')[2]))
        self.call('DELETE', '/api/v1/namespaces/gone')
        self.eventually(lambda: self.outer.request('GET', '/api/v1/namespaces/gone')[0] == 404)
        type(self).runner = Runner(os.path.join(self.folder, type(self).__name__), self.config, *self.flags)
        self.eventually(lambda: self.outer.request('GET', self.path('left', 'gone'))[0] == 200)
        refused = self.call('PATCH', self.path('left', 'gone'), {'spec': self.change}, 404, MERGE)
        self.assertEqual(refused['message'], 'namespaces "gone" not found')
        self.call('DELETE', self.path('left', 'gone'))

    def test_deletion_of_a_namespace_empties_it(self):
        self.call('POST', '/api/v1/namespaces', namespace('short-lived'), 201)
        self.call('POST', self.path(ns='short-lived'), self.item('a'), 201)
        self.call('DELETE', '/api/v1/namespaces/short-lived')
        self.eventually(lambda: self.outer.request('GET', '/api/v1/namespaces/short-lived')[0] == 404)
        self.assertEqual(self.call('GET', self.path(ns='short-lived'))['items'], [])

    def test_what_is_deleted_is_registered_again(self):
        before = self.call('GET', APISERVICES + self.name)['metadata']['uid']
        self.call('DELETE', APISERVICES + self.name)
        self.eventually(lambda: self.outer.request('GET', APISERVICES + self.name)[2].get('metadata', {}).get('uid', before) != before)
        self.eventually(lambda: self.available(self.name))

    def test_objects_are_there_after_a_restart(self):
        self.call('POST', self.path(), self.item('stays'), 201)
        uid = self.call('GET', self.path('stays'))['metadata']['uid']
        self.assertEqual(self.runner.stop(), 0, self.runner.text()[-3000:])
        type(self).runner = Runner(os.path.join(self.folder, type(self).__name__), self.config, *self.flags)
        self.eventually(lambda: self.outer.request('GET', self.path('stays'))[0] == 200)
        self.assertEqual(self.call('GET', self.path('stays'))['metadata']['uid'], uid)
        self.call('DELETE', self.path('stays'))

    def test_it_was_refused_nothing(self):
        self.assertNotIn('orbidden', '\n'.join(line for line in self.runner.text().splitlines() if 'backplane-runner" cannot' in line))


class Library(ServedGroup):
    """The native example: a controller counts books into their shelf, and a rule keeps shelves with books."""
    group, kind, resource = 'library.example.com', 'Shelf', 'shelves'
    spec, change = {'minBooks': 1, 'maxBooks': 20}, {'maxBooks': 21}

    @classmethod
    def plugin(cls):
        return os.environ['LIBRARY']

    def test_its_controller_and_its_rule_work(self):
        book = {'apiVersion': self.group + '/v1', 'kind': 'Book', 'metadata': {'name': 'b'}, 'spec': {'title': 'B', 'shelf': 'full'}}
        books = self.path().replace('shelves', 'books')
        self.call('POST', self.path(), self.item('full'), 201)
        self.call('POST', books, book, 201)
        self.eventually(lambda: self.outer.request('GET', self.path('full'))[2].get('status', {}).get('books') == 1)
        self.assertIn('the shelf has 1 books', self.call('DELETE', self.path('full'), code=403)['message'])
        self.call('DELETE', books + '/b')
        self.eventually(lambda: self.outer.request('DELETE', self.path('full'))[0] == 200)


class Stock(ServedGroup):
    """The example of the stable tier in C."""
    group, kind, resource = 'stock.example.com', 'Shelf', 'shelves'
    spec, change = {'slots': 3}, {'slots': 4}

    @classmethod
    def plugin(cls):
        folder = os.path.join(cls.folder, 'stock')
        os.makedirs(folder, exist_ok=True)
        return stable_plugin(folder)


class Rules(Extended):
    """The native example of admission rules as webhooks: it labels config maps, and knows the namespaces."""
    maps = '/api/v1/namespaces/default/configmaps'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.flags = ('--plugin=' + os.environ['RULES'], '--admission-webhooks', '--webhook-resources=configmaps', '--service-name=rules', '--unregister')
        cls.run_plugin(*cls.flags)
        assert wait_for(lambda: cls.outer.request('GET', HOOKS + 'validatingwebhookconfigurations/rules')[0] == 200, SECONDS), cls.runner.text()
        assert wait_for(lambda: cls.outer.request('GET', HOOKS + 'mutatingwebhookconfigurations/rules')[0] == 200, SECONDS), cls.runner.text()

    @staticmethod
    def map_of(name, labels=None, **data):
        return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name, 'labels': labels or {}}, 'data': data}

    def test_a_mutating_rule_changes_what_is_stored_and_warns(self):
        def labelled():
            status, headers, made = self.outer.request('POST', self.maps + '?dryRun=All', self.map_of('m'))
            self.assertEqual(status, 201, made)
            self.warning = headers.get('Warning') or headers.get('warning') or ''
            return made['metadata'].get('labels', {}).get('team') == 'everybody'
        self.eventually(labelled)
        self.assertIn('the config map belongs to team everybody because it names none', self.warning)

    def test_a_validating_rule_refuses(self):
        def refused():
            status, _, self.answer = self.outer.request('POST', self.maps + '?dryRun=All', self.map_of('v', {'team': 'absent'}))
            return status == 403
        self.eventually(refused)
        self.assertEqual(self.answer['message'], 'admission webhook "knownteam.rules.backplane.dev" denied the request: configmaps "v" is forbidden: '
                         'there is no team absent')
        self.call('POST', self.maps + '?dryRun=All', self.map_of('v', {'team': 'default'}), 201)

    def test_the_configurations_say_what_the_flags_say(self):
        hooks = self.call('GET', HOOKS + 'validatingwebhookconfigurations/rules')['webhooks']
        self.assertEqual(hooks[0]['rules'][0]['resources'], ['configmaps'])
        self.assertEqual((hooks[0]['failurePolicy'], hooks[0]['sideEffects']), ('Fail', 'None'))

    def test_what_another_made_is_not_taken_and_not_deleted(self):
        theirs = {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': 'ValidatingWebhookConfiguration', 'metadata': {'name': 'theirs'}}
        uid = self.call('POST', HOOKS + 'validatingwebhookconfigurations', theirs, 201)['metadata']['uid']
        other = Runner(os.path.join(self.folder, 'theirs'), self.config, *(f for f in self.flags if 'service' not in f), '--service-name=theirs')
        self.addCleanup(other.stop)
        self.eventually(lambda: 'not labelled app.kubernetes.io/managed-by=backplane-runner' in other.text(), other.text())
        self.eventually(lambda: self.outer.request('GET', HOOKS + 'mutatingwebhookconfigurations/theirs')[0] == 200)
        self.assertEqual(other.stop(), 0, other.text()[-3000:])
        self.assertEqual(self.call('GET', HOOKS + 'validatingwebhookconfigurations/theirs')['metadata']['uid'], uid)
        self.call('GET', HOOKS + 'mutatingwebhookconfigurations/theirs', code=404)

    def test_x_nothing_stays_with_unregister(self):
        self.assertEqual(self.runner.stop(), 0, self.runner.text()[-3000:])
        for kind in ('mutating', 'validating'):
            self.call('GET', HOOKS + kind + 'webhookconfigurations/rules', code=404)
        type(self).runner = Runner(os.path.join(self.folder, type(self).__name__), self.config, *self.flags)


class StockRule(Extended):
    """The rule of the stable plugin as a webhook for custom resources of the outer server, which its informer reads, too."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for kind, plural in (('Shelf', 'shelves'), ('Box', 'boxes')):
            code = cls.outer.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(kind, plural))[0]
            assert code == 201, code
        # The permissions for the objects that its informers read and its controller writes do not belong to every runner.
        assert grant(cls.outer, 'stock.example.com') == [201, 201]
        folder = os.path.join(cls.folder, 'stock-rule')
        os.makedirs(folder, exist_ok=True)
        cls.run_plugin('--plugin=' + stable_plugin(folder), '--admission-webhooks', '--api-groups=false', '--service-name=stock-rule')
        assert wait_for(lambda: cls.outer.request('GET', HOOKS + 'mutatingwebhookconfigurations/stock-rule')[0] == 200, SECONDS), cls.runner.text()

    def test_it_reads_the_outer_server_s_objects(self):
        boxes = '/apis/stock.example.com/v1/namespaces/default/boxes'
        item = {'apiVersion': 'stock.example.com/v1', 'kind': 'Box', 'metadata': {'name': 'b'}, 'spec': {'shelf': 'top'}}

        def refused():
            status, _, self.answer = self.outer.request('POST', boxes + '?dryRun=All', item)
            return status == 403
        self.eventually(refused)
        self.assertIn('there is no shelf', self.answer['message'])
        self.call('POST', boxes.replace('boxes', 'shelves'), {'apiVersion': 'stock.example.com/v1', 'kind': 'Shelf', 'metadata': {'name': 'top'},
                                                              'spec': {'slots': 1}}, 201)
        self.eventually(lambda: self.outer.request('POST', boxes + '?dryRun=All', item)[0] == 201)
        self.assertEqual(self.call('POST', boxes, item, 201)['metadata']['labels'], {'shelf': 'top'})
        # Its controller writes to that namespace, too.
        self.eventually(lambda: self.outer.request('GET', boxes.replace('boxes', 'shelves') + '/top')[2].get('status') == {'boxes': 1})


def namespace(name):
    return {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': name}}


def definition(kind, plural):
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': plural + '.stock.example.com'},
            'spec': {'group': 'stock.example.com', 'scope': 'Namespaced', 'names': {'plural': plural, 'kind': kind},
                     'versions': [{'name': 'v1', 'served': True, 'storage': True, 'subresources': {'status': {}}, 'schema': {
                         'openAPIV3Schema': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}}]}}


def grant(outer, group):
    """The role of a plugin that reads that group of the outer server and writes status there; the codes of the requests."""
    metadata, api = {'name': 'backplane-runner:' + group}, 'rbac.authorization.k8s.io'
    role = {'apiVersion': api + '/v1', 'kind': 'ClusterRole', 'metadata': metadata,
            'rules': [{'apiGroups': [group], 'resources': ['*'], 'verbs': ['get', 'list', 'watch']},
                      {'apiGroups': [group], 'resources': ['*/status'], 'verbs': ['patch']}]}
    binding = {'apiVersion': api + '/v1', 'kind': 'ClusterRoleBinding', 'metadata': metadata,
               'roleRef': {'apiGroup': api, 'kind': 'ClusterRole', 'name': metadata['name']},
               'subjects': [{'kind': 'ServiceAccount', 'name': 'backplane-runner', 'namespace': 'kube-system'}]}
    return [outer.request('POST', '/apis/%s/v1/%s' % (api, resource), body)[0]
            for resource, body in (('clusterroles', role), ('clusterrolebindings', binding))]


def available_kubectl():
    return bool(kubectls()) and shutil.which(os.environ.get('CC', 'cc')) is not None
