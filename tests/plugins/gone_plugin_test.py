"""Groups of a plugin that does not run any more: listed, readable and deletable, and without effect on other groups."""
import glob
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

from etcd_test import ETCD, Etcd  # pylint: disable=wrong-import-position
from harness import PLUGINS, Server, is_sanitized, kubectls, main, namespace, wait_for  # pylint: disable=wrong-import-position

TWO_VERSIONS = os.environ['TWO_VERSIONS']
BUILDS = os.environ['BUILDS']
WIDGETS = os.environ['WIDGETS']
STOCK = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'stable/stock-1.so')
NAME = 'example.com/stock'
GROUP = '/apis/stock.example.com/v1'
GADGETS = '/apis/test.example.com/v1/gadgets'
# The namespace controller waits five seconds, so that all servers have seen the deletion; the rest is for a slow machine.
LONGEST = 15
MERGE = {'Content-Type': 'application/merge-patch+json'}
STRATEGIC = {'Content-Type': 'application/strategic-merge-patch+json'}
JSON_PATCH = {'Content-Type': 'application/json-patch+json'}
APPLY = {'Content-Type': 'application/apply-patch+yaml'}
TABLE = {'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'}
JSON = 'application/json'
PROTOBUF = 'application/vnd.kubernetes.protobuf'
AGGREGATED = {'Accept': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'}


def shelves(ns='default'):
    return GROUP + '/namespaces/%s/shelves' % ns


def shelf(name, **metadata):
    return {'apiVersion': 'stock.example.com/v1', 'kind': 'Shelf', 'metadata': dict(metadata, name=name), 'spec': {'slots': 12}}


class Case(unittest.TestCase):
    """A plugin directory and a data directory that outlive the servers of one test."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='backplane-gone-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.plugins = self.directory('plugins')
        self.data = os.path.join(self.folder, 'server')
        os.mkdir(self.data)

    def directory(self, name):
        path = os.path.join(self.folder, name)
        os.mkdir(path)
        for each in glob.glob(os.path.join(PLUGINS, '*.so')):
            os.symlink(os.path.abspath(each), os.path.join(path, os.path.basename(each)))
        return path

    def file(self, name='stock.so'):
        return os.path.join(self.plugins, name)

    def install(self, source=STOCK, name='stock.so'):
        shutil.copy(source, self.file(name))

    def server(self, *flags, **more):
        server = Server('--runtime-config=plugins.backplane.dev/v1alpha1=true', *flags, **dict({'data_dir': self.data, 'plugin_dir': self.plugins}, **more))
        self.addCleanup(server.stop)
        return server

    def call(self, server, method, path, body=None, code=200, **headers):
        got = server.request(method, path, body, **headers)
        self.assertEqual(got[0], code, (method, path, got[2], server.text()[-2000:]))
        return got[2]

    def act(self, server, action, name=NAME, code=200, **body):
        return self.call(server, 'POST', '/plugins/' + action, dict(body, name=name), code)

    def refused(self, server, method, path, body, *parts, plugin=NAME, **headers):
        code, sent, status = server.request(method, path, body, **headers)
        self.assertEqual((code, status.get('reason')), (503, 'PluginUnavailable'), (method, path, headers, status))
        # Programs made with client-go send such a request ten times more, each after this time, before they show the message.
        self.assertEqual((int(sent['Retry-After']), status['details']['retryAfterSeconds']), (1, 1))
        for part in (plugin, 'can be read and deleted only', *parts):
            self.assertIn(part, status['message'])
        return status['message']

    def check_group(self, server, *why):
        """The group is complete in discovery, objects are read, and writes are refused. Shelf `a` exists."""
        groups = {each['metadata']['name']: each for each in self.call(server, 'GET', '/apis', headers=AGGREGATED)['items']}
        versions = groups['stock.example.com']['versions']
        self.assertEqual([(each['version'], each['freshness']) for each in versions], [('v1', 'Current')])
        resources = {each['resource']: each for each in versions[0]['resources']}
        self.assertEqual(set(resources), {'boxes', 'shelves'})
        resource = resources['shelves']
        self.assertEqual((resource['responseKind']['kind'], resource['scope'], resource['singularResource']), ('Shelf', 'Namespaced', 'shelf'))
        self.assertLessEqual({'get', 'list', 'watch', 'create', 'delete', 'deletecollection', 'patch', 'update'}, set(resource['verbs']))
        self.assertEqual([each['subresource'] for each in resource['subresources']], ['status'])
        found = self.call(server, 'GET', shelves() + '/a')
        self.assertEqual(found['spec'], {'slots': 12})
        code, headers, listed = server.request('GET', GROUP + '/shelves?labelSelector=!absent')
        self.assertEqual((code, listed['kind']), (200, 'ShelfList'))
        self.assertIn('a', [each['metadata']['name'] for each in listed['items']])
        self.assertIn(NAME, headers['Warning'])
        table = self.call(server, 'GET', shelves(), headers=TABLE)
        self.assertEqual([each['name'] for each in table['columnDefinitions']], ['Name', 'Slots', 'Boxes', 'Age'])
        self.assertIn(['a', 12], [row['cells'][:2] for row in table['rows']])
        document = self.call(server, 'GET', '/openapi/v3' + GROUP)
        schemas = document['components']['schemas']
        self.assertLessEqual(set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document))), set(schemas))
        document = self.call(server, 'GET', '/openapi/v2')
        self.assertLessEqual(set(re.findall(r'"#/definitions/([^"]+)"', json.dumps(document))), set(document['definitions']))
        self.assertIn('slots', schemas['com.example.stock.v1.Shelf']['properties']['spec']['properties'])
        self.refused(server, 'POST', shelves(), shelf('new'), *why)
        self.refused(server, 'PATCH', shelves() + '/a', '{"spec":{"slots":1}}', *why, headers=MERGE)
        self.refused(server, 'PATCH', shelves() + '/a', '{"metadata":{"labels":{"a":"b"}}}', *why, headers=MERGE)
        found['spec']['slots'] = 4
        self.refused(server, 'PUT', shelves() + '/a', found, *why)
        self.refused(server, 'PATCH', shelves() + '/a/status', '{"status":{"boarded":true}}', *why, headers=MERGE)
        self.assertEqual(self.call(server, 'GET', shelves() + '/a')['spec']['slots'], 12)

    def delete_namespace(self, server, name):
        """Deletes it and returns the seconds until a watch has seen its end."""
        revision = self.call(server, 'GET', '/api/v1/namespaces')['metadata']['resourceVersion']
        begun = time.monotonic()
        self.call(server, 'DELETE', '/api/v1/namespaces/' + name)
        path = '/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3D' + name + '&resourceVersion='
        connection = server.connect(timeout=90)
        connection.request('GET', path + revision + '&timeoutSeconds=60')
        for line in connection.getresponse():
            if json.loads(line)['type'] == 'DELETED':
                connection.close()
                return time.monotonic() - begun
        raise AssertionError('the namespace stays: %s\n%s' % (server.request('GET', '/api/v1/namespaces/' + name)[2], server.text()[-3000:]))

    def fill(self, server, *namespaces):
        for each in namespaces:
            if each != 'default':
                self.call(server, 'POST', '/api/v1/namespaces', namespace(each), code=201)
            self.call(server, 'POST', shelves(each), shelf('a'), code=201)


class Gone(Case):
    def test_a_plugin_that_is_disabled_and_enabled_while_the_server_runs(self):
        self.install()
        server = self.server(controllers=True)
        self.fill(server, 'default', 'one', 'two')
        self.call(server, 'POST', shelves('two'), shelf('held', finalizers=['example.com/hold']), code=201)
        self.act(server, 'disable')
        self.check_group(server, 'it is disabled', 'backplane plugin enable ' + NAME)
        self.assertLess(self.delete_namespace(server, 'one'), LONGEST)
        # An object with a finalizer waits for it, and the finalizer can be removed.
        self.call(server, 'DELETE', '/api/v1/namespaces/two')
        self.assertTrue(wait_for(lambda: server.request('GET', shelves('two') + '/held')[2]['metadata'].get('deletionTimestamp')))
        self.call(server, 'PATCH', shelves('two') + '/held', '{"metadata":{"finalizers":null}}', headers=MERGE)
        self.assertTrue(wait_for(lambda: server.request('GET', '/api/v1/namespaces/two')[0] == 404))
        self.act(server, 'enable')
        self.call(server, 'PATCH', shelves() + '/a', '{"spec":{"slots":3}}', headers=MERGE)
        self.assertEqual(self.call(server, 'GET', shelves() + '/a')['spec']['slots'], 3)
        self.call(server, 'POST', shelves(), shelf('b'), code=201)
        self.assertNotIn('Warning', server.request('GET', shelves())[1])

    def test_an_owner_is_deleted_without_its_dependents(self):
        self.install()
        server = self.server(controllers=True)
        maps = '/api/v1/namespaces/default/configmaps'
        owner = self.call(server, 'POST', maps, {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'owner'}}, code=201)
        reference = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': 'owner', 'uid': owner['metadata']['uid'], 'blockOwnerDeletion': True}
        self.call(server, 'POST', shelves(), shelf('child', ownerReferences=[reference]), code=201)
        self.act(server, 'disable')
        self.call(server, 'DELETE', maps + '/owner', {'apiVersion': 'v1', 'kind': 'DeleteOptions', 'propagationPolicy': 'Orphan'})
        self.assertTrue(wait_for(lambda: server.request('GET', maps + '/owner')[0] == 404), server.text()[-3000:])
        self.assertNotIn('ownerReferences', self.call(server, 'GET', shelves() + '/child')['metadata'])

    def test_a_finalizer_is_removed_by_put_and_a_deletecollection_empties_the_rest(self):
        self.install()
        server = self.server()
        self.fill(server, 'default')
        self.call(server, 'POST', shelves(), shelf('held', finalizers=['example.com/hold']), code=201)
        self.act(server, 'disable')
        self.call(server, 'DELETE', shelves())
        held = self.call(server, 'GET', shelves() + '/held')
        self.assertEqual(len(self.call(server, 'GET', shelves())['items']), 1)
        held['metadata']['finalizers'] = []
        self.call(server, 'PUT', shelves() + '/held', held)
        self.assertEqual(self.call(server, 'GET', shelves())['items'], [])

    def test_protobuf_is_answered_as_for_custom_resources(self):
        """kube-apiserver has no protobuf of custom resources: 406, unless the client accepts JSON as well; metadata alone has one."""
        self.install()
        server = self.server()
        self.fill(server, 'default')
        definition = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'foos.e.com'},
                      'spec': {'group': 'e.com', 'scope': 'Namespaced', 'names': {'plural': 'foos', 'kind': 'Foo'}, 'versions': [
                          {'name': 'v1', 'served': True, 'storage': True,
                           'schema': {'openAPIV3Schema': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}}]}}
        self.call(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition, code=201)
        foos = '/apis/e.com/v1/namespaces/default/foos'
        foo = {'apiVersion': 'e.com/v1', 'kind': 'Foo', 'metadata': {'name': 'a'}}
        self.assertTrue(wait_for(lambda: server.request('POST', foos, foo)[0] in (201, 409)))
        self.act(server, 'disable')
        one, many = ';as=%s;g=meta.k8s.io;v=v1' % 'PartialObjectMetadata', ';as=%s;g=meta.k8s.io;v=v1' % 'PartialObjectMetadataList'
        table = ';as=Table;g=meta.k8s.io;v=v1'
        watch = '?watch=true&timeoutSeconds=1'

        def answer(path, method, accept, body=None, **headers):
            code, sent, text = server.request(method, path, body, headers=dict(headers, Accept=accept))
            return code, sent.get('Content-Type'), text.get('message') if isinstance(text, dict) and code >= 400 else None
        for path, method, accept, expected in (
                ('/a', 'GET', PROTOBUF, (406, PROTOBUF)), ('', 'GET', PROTOBUF, (406, PROTOBUF)), (watch, 'GET', PROTOBUF, (406, PROTOBUF)),
                ('/a', 'GET', PROTOBUF + ',' + JSON, (200, JSON)), ('', 'GET', PROTOBUF + ',' + JSON, (200, JSON)),
                (watch, 'GET', PROTOBUF + ';stream=watch,' + JSON, (200, JSON)),
                ('/a', 'GET', PROTOBUF + one, (200, PROTOBUF)), ('', 'GET', PROTOBUF + many, (200, PROTOBUF)),
                (watch, 'GET', PROTOBUF + one, (200, PROTOBUF + ';stream=watch')), ('', 'GET', PROTOBUF + table, (406, JSON)),
                ('', 'GET', PROTOBUF + table + ',' + JSON + table, (200, JSON)), ('/nothing', 'GET', PROTOBUF, (406, PROTOBUF)),
                ('/nothing', 'GET', PROTOBUF + ',' + JSON, (404, PROTOBUF))):
            with self.subTest(path=path, accept=accept):
                got = answer(shelves() + path, method, accept)
                self.assertEqual(got[:2], expected, got)
                self.assertEqual(got, answer(foos + path, method, accept))

    def test_a_plugin_whose_file_is_removed_or_damaged_before_a_restart(self):
        self.install()
        with self.server(controllers=True) as server:
            self.fill(server, 'default', 'one')
            self.assertEqual(server.terminate(), 0)
        os.remove(self.file())
        with self.server(controllers=True) as server:
            self.check_group(server, 'no file of it is in the plugin directories')
            events = server.connect(timeout=90)
            events.request('GET', shelves('one') + '?watch=true&timeoutSeconds=60')
            stream = events.getresponse()
            self.assertEqual(json.loads(stream.readline())['type'], 'ADDED')
            self.assertLess(self.delete_namespace(server, 'one'), LONGEST)
            self.assertEqual(json.loads(stream.readline())['type'], 'DELETED')
            events.close()
            for kubectl in kubectls():
                shown = server.kubectl(kubectl, 'api-resources', '--api-group=stock.example.com')
                self.assertIn('Shelf', shown)
                server.kubectl(kubectl, 'api-resources')
                self.assertRegex(server.kubectl(kubectl, 'get', 'shelves'), r'NAME +SLOTS +BOXES +AGE\na +12 ')
            self.assertEqual(server.terminate(), 0)
        shutil.copy(STOCK, self.file())
        with open(self.file(), 'r+b') as f:
            f.truncate(5000)
        with self.server() as server:
            self.check_group(server, 'PLG-FILE-')
            self.assertEqual(server.terminate(), 0)
        self.install()
        with self.server() as server:
            self.call(server, 'POST', shelves(), shelf('b'), code=201)
            self.assertEqual(server.terminate(), 0)

    def test_plugins_left_out_by_flags(self):
        self.install()
        with self.server() as server:
            self.fill(server, 'default')
            self.assertEqual(server.terminate(), 0)
        for flag, why in (('--disable-plugin=' + NAME, 'it is disabled'), ('--safe-mode', 'PLG-LIFE-017')):
            with self.server(flag) as server:
                self.check_group(server, why)
                self.assertEqual(server.terminate(), 0)

    def test_keys_of_the_runtime_config_do_not_keep_the_server_from_starting_without_the_plugin(self):
        self.install()
        hidden, box, beta = ('--runtime-config=stock.example.com/' + each for each in ('v1=false', 'v1/boxes=false', 'v1beta1=true'))
        with self.server() as server:
            self.fill(server, 'default')
            self.assertEqual(server.terminate(), 0)

        def answers(*flags):
            with self.server(*flags) as server:
                codes = server.request('GET', shelves())[0], server.request('GET', GROUP + '/namespaces/default/boxes')[0]
                self.assertEqual('stock.example.com' in json.dumps(self.call(server, 'GET', '/apis')), 200 in codes)
                self.assertEqual(server.terminate(), 0)
            return codes
        disabled = '--disable-plugin=' + NAME
        self.assertEqual(answers(disabled, hidden), (404, 404))
        self.assertEqual(answers(disabled, box), (200, 404))
        self.assertEqual(answers(disabled, beta), (200, 200))
        os.remove(self.file())
        self.assertEqual(answers(hidden), (404, 404))
        # Resources that are to be served must exist, and so must groups that other plugins lack.
        for item in ('stock.example.com/v1beta1=true', 'rbac.authorisation.k8s.io/v1=false', 'aps/v1=false'):
            with self.server('--runtime-config=' + item, wait=False) as server:
                self.assertEqual(server.process.wait(60), 1)
                self.assertIn('unknown api groups "%s"' % item.partition('=')[0], server.text())

    def test_a_new_file_is_enabled_by_the_last_part_of_its_name(self):
        server = self.server()
        self.act(server, 'enable', 'stock', code=404)
        self.install()
        self.act(server, 'enable', 'stock')
        self.fill(server, 'default')

    def test_a_plugin_that_has_crashed_the_server(self):
        if is_sanitized():
            self.skipTest('the sanitizer ends the server in its own way')
        self.install(os.path.join(BUILDS, 'gadgets_one.so'), 'gadgets.so')
        with self.server() as server:
            self.call(server, 'POST', GADGETS, {'apiVersion': 'test.example.com/v1', 'kind': 'Gadget', 'metadata': {'name': 'a'}, 'spec': {'size': 2}}, code=201)
            with self.assertRaises(OSError):
                server.request('GET', '/gadgets/crash')
            self.assertEqual(server.process.wait(60), -signal.SIGABRT)
        with self.server() as server:
            code, _, status = server.request('POST', GADGETS, {'apiVersion': 'test.example.com/v1', 'kind': 'Gadget', 'metadata': {'name': 'b'}})
            self.assertEqual((code, status['reason']), (503, 'PluginUnavailable'))
            self.assertIn('PLG-LIFE-016', status['message'])
            self.assertEqual(self.call(server, 'GET', GADGETS + '/a')['spec'], {'size': 2})
            self.call(server, 'DELETE', GADGETS + '/a')
            self.assertEqual(server.request('GET', GADGETS + '/a')[0], 404)
            self.act(server, 'enable', 'test.example.com/gadgets')
            self.call(server, 'POST', GADGETS, {'apiVersion': 'test.example.com/v1', 'kind': 'Gadget', 'metadata': {'name': 'b'}}, code=201)

    def test_encrypted_values(self):
        self.install()
        config = os.path.join(self.folder, 'encryption.yaml')
        with open(config, 'w', encoding='utf-8') as f:
            f.write('kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n- resources: ["*.*"]\n  providers:\n'
                    '  - aescbc:\n      keys:\n      - {name: k1, secret: %s}\n  - identity: {}\n' % 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=')
        flag = '--encryption-provider-config=' + config
        with self.server(flag) as server:
            made = self.call(server, 'POST', shelves(), shelf('a'), code=201)
            columns = self.call(server, 'GET', shelves(), headers=TABLE)
            self.assertEqual(server.terminate(), 0)
        os.remove(self.file())
        with self.server(flag) as server:
            found = self.call(server, 'GET', shelves() + '/a')
            self.assertEqual((found['spec'], found['metadata']['uid']), (made['spec'], made['metadata']['uid']))
            now = self.call(server, 'GET', shelves(), headers=TABLE)
            self.assertEqual([each['name'] for each in now['columnDefinitions']], [each['name'] for each in columns['columnDefinitions']])
            self.call(server, 'DELETE', shelves() + '/a')
            self.assertEqual(self.call(server, 'GET', shelves())['items'], [])
            self.assertEqual(server.terminate(), 0)

    def test_groups_are_forgotten_on_request(self):
        self.install()
        server = self.server()
        self.fill(server, 'default')
        self.assertIn('disable it first', self.act(server, 'forget', code=409)['message'])
        self.act(server, 'disable')
        self.assertIn('has 1 objects of shelves.stock.example.com left', self.act(server, 'forget', code=409)['message'])
        self.act(server, 'forget', force=True)
        self.assertEqual(server.request('GET', shelves())[0], 404)
        self.act(server, 'forget', code=404)
        # The objects still exist, and a plugin that is loaded again is recorded again.
        self.act(server, 'enable')
        self.call(server, 'GET', shelves() + '/a')
        self.act(server, 'disable')
        self.call(server, 'DELETE', shelves() + '/a')
        self.act(server, 'forget', 'stock')
        self.assertEqual(server.request('GET', shelves())[0], 404)
        self.assertEqual(server.terminate(), 0)

    def test_a_store_in_memory(self):
        self.install()
        server = self.server('--storage-backend=memory')
        self.fill(server, 'default')
        self.act(server, 'disable')
        self.check_group(server, 'it is disabled')


class Refusals(Case):
    """A typed kind with a subresource of each role. Widget `a` has a finalizer, and its color belongs to the field manager `owner`."""
    PLUGIN = 'test.example.com/widgets'
    VERSION = '/apis/widgets.example.com/v1'
    PATH = VERSION + '/namespaces/default/widgets'

    def widget(self, name='a', color=None, **metadata):
        out = {'apiVersion': 'widgets.example.com/v1', 'kind': 'Widget', 'metadata': dict(metadata, name=name)}
        return dict(out, spec={'color': color}) if color else out

    def apply(self, server, body, query='', name='a', code=200):
        return self.call(server, 'PATCH', self.PATH + '/' + name + '?fieldManager=' + query, json.dumps(body), code, headers=APPLY)

    def refused(self, server, method, path, body, *parts, **more):
        return super().refused(server, method, path, body, 'it is disabled', *parts, plugin=self.PLUGIN, **more)

    def start(self):
        self.install(WIDGETS, 'widgets.so')
        server = self.server()
        self.apply(server, self.widget(color='red', finalizers=['example.com/hold']), 'owner', code=201)
        return server

    def listed(self, server):
        """The subresources of both forms of discovery."""
        legacy = self.call(server, 'GET', self.VERSION)['resources']
        groups = {each['metadata']['name']: each for each in self.call(server, 'GET', '/apis', headers=AGGREGATED)['items']}
        aggregated = groups['widgets.example.com']['versions'][0]['resources'][0]['subresources']
        return ({each['name'].partition('/')[2]: (each['kind'], each['verbs']) for each in legacy if '/' in each['name']},
                {each['subresource']: (each['responseKind']['kind'], each['verbs']) for each in aggregated})

    def test_all_subresources_stay_listed_and_are_refused(self):
        server = self.start()
        before = self.listed(server)
        self.assertEqual(set(before[0]), {'eject', 'log', 'scale', 'shell', 'status'})
        scale = self.call(server, 'GET', self.PATH + '/a/scale')
        self.act(server, 'disable', self.PLUGIN)
        self.assertEqual(self.listed(server), before)
        texts = {self.refused(server, 'GET', self.PATH + '/a/' + name, None) for name in ('scale', 'log', 'shell')}
        for dry_run in ('', '?dryRun=All'):
            scale['spec']['replicas'] = 3
            texts.add(self.refused(server, 'PUT', self.PATH + '/a/scale' + dry_run, scale))
            for name in ('scale', 'status'):
                for headers in (MERGE, STRATEGIC):
                    texts.add(self.refused(server, 'PATCH', self.PATH + '/a/' + name + dry_run, '{"spec":{"replicas":3}}', headers=headers))
            for name, body in (('eject', {'apiVersion': 'widgets.example.com/v1', 'kind': 'Ejection', 'metadata': {'name': 'a'}}), ('shell', {})):
                texts.add(self.refused(server, 'POST', self.PATH + '/a/' + name + dry_run, body))
        applied = {'apiVersion': 'autoscaling/v1', 'kind': 'Scale', 'metadata': {'name': 'a'}, 'spec': {'replicas': 3}}
        texts.add(self.refused(server, 'PATCH', self.PATH + '/a/scale?fieldManager=me', json.dumps(applied), headers=APPLY))
        self.assertEqual(len(texts), 1, texts)
        self.assertEqual(self.call(server, 'GET', self.PATH + '/a/status')['spec'], {'color': 'red', 'replicas': 1})
        self.assertEqual(server.request('DELETE', self.PATH + '/a/scale')[0], 405)
        self.assertEqual(server.request('GET', self.PATH + '/a/nothing')[0], 404)
        paths, components = (self.call(server, 'GET', '/openapi/v3' + self.VERSION)[part] for part in ('paths', 'components'))
        for name in ('eject', 'scale', 'status'):
            used = json.dumps(paths[self.VERSION + '/namespaces/{namespace}/widgets/{name}/' + name]).split('"#/components/schemas/')[1:]
            self.assertLessEqual({each.partition('"')[0] for each in used}, set(components['schemas']))
        self.act(server, 'enable', self.PLUGIN)
        self.assertEqual(self.listed(server), before)
        self.assertEqual(self.call(server, 'GET', self.PATH + '/a/scale')['spec'], {'replicas': 1})

    def test_writes_are_refused_before_conflicts_are_computed(self):
        server = self.start()
        found = self.call(server, 'GET', self.PATH + '/a')
        self.apply(server, self.widget(color='blue'), 'other', code=409)
        stale = dict(found, spec={'color': 'blue'}, metadata=dict(found['metadata'], resourceVersion='1'))
        self.act(server, 'disable', self.PLUGIN)
        texts = set()
        for query in ('?', '?dryRun=All&'):
            for more in ('fieldManager=other', 'fieldManager=other&force=true', 'fieldManager=owner'):
                texts.add(self.refused(server, 'PATCH', self.PATH + '/a' + query + more, json.dumps(self.widget(color='blue')), headers=APPLY))
            texts.add(self.refused(server, 'PATCH', self.PATH + '/new' + query + 'fieldManager=me', json.dumps(self.widget('new')), headers=APPLY))
            for headers in (MERGE, STRATEGIC):
                texts.add(self.refused(server, 'PATCH', self.PATH + '/a' + query, '{"spec":{"color":"blue"}}', headers=headers))
                stale_patch = '{"metadata":{"resourceVersion":"1","labels":{"a":"b"}}}'
                texts.add(self.refused(server, 'PATCH', self.PATH + '/a' + query, stale_patch, headers=headers))
            patch = '[{"op":"replace","path":"/spec/color","value":"blue"}]'
            texts.add(self.refused(server, 'PATCH', self.PATH + '/a' + query, patch, headers=JSON_PATCH))
            texts.add(self.refused(server, 'PUT', self.PATH + '/a' + query, stale))
            texts.add(self.refused(server, 'POST', self.PATH + query, self.widget('new')))
        self.assertEqual(len(texts), 1, texts)
        self.assertEqual(self.call(server, 'GET', self.PATH + '/a'), found)

    def test_an_apply_of_finalizers_alone_is_served(self):
        server = self.start()
        self.act(server, 'disable', self.PLUGIN)
        other = self.widget(finalizers=['example.com/other'])
        self.assertIn('example.com/other', self.apply(server, other, 'other')['metadata']['finalizers'])
        # Nothing changes, so nothing is refused.
        same = self.widget(color='red', finalizers=['example.com/hold'])
        self.assertEqual(self.apply(server, same, 'owner')['spec']['color'], 'red')
        # A client that gets 415 sends the patch again as a merge patch.
        ties = '{"metadata":{"$setElementOrder/finalizers":[],"finalizers":null}}'
        self.call(server, 'PATCH', self.PATH + '/a', ties, 415, headers=STRATEGIC)
        self.call(server, 'PATCH', self.PATH + '/a', '{"metadata":{"finalizers":null}}', headers=MERGE)
        self.call(server, 'DELETE', self.PATH + '/a')
        self.assertEqual(server.request('GET', self.PATH + '/a')[0], 404)


class Versions(Case):
    def test_a_kind_with_two_versions_is_served_in_the_stored_one(self):
        self.install(TWO_VERSIONS, 'tickets.so')
        server = self.server()
        group, name = '/apis/tickets.example.com', 'example.com/two-versions'
        one, two = (group + '/%s/namespaces/default/tickets' % version for version in ('v1', 'v2'))
        ticket = {'apiVersion': 'tickets.example.com/v1', 'kind': 'Ticket', 'metadata': {'name': 'a'},
                  'spec': {'passenger': 'Ada Lovelace', 'seat': '12C'}}
        self.call(server, 'POST', one, ticket, code=201)
        self.act(server, 'disable', name)
        self.assertEqual([each['version'] for each in self.call(server, 'GET', group)['versions']], ['v2'])
        self.assertEqual(server.request('GET', one)[0], 404)
        listed = self.call(server, 'GET', two + '?fieldSelector=spec.passenger.last%3DLovelace')
        self.assertEqual([each['spec']['seat']['row'] for each in listed['items']], [12])
        self.act(server, 'enable', name)
        self.assertEqual(self.call(server, 'GET', one + '/a')['spec'], ticket['spec'])


@unittest.skipUnless(ETCD, 'etcd is not installed')
class OverEtcd(Case):
    def test_two_hosts_of_which_one_has_the_plugin(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        self.install()
        without = self.directory('without')
        other = self.server('--etcd-servers=' + etcd.url, data_dir=self.directory('other'), plugin_dir=without, controllers=True)
        self.assertEqual(other.request('GET', shelves())[0], 404)
        server = self.server('--etcd-servers=' + etcd.url)
        self.fill(server, 'default', 'one')
        # The other server detects the group.
        self.assertTrue(wait_for(lambda: other.request('GET', shelves() + '/a')[0] == 200))
        self.check_group(other, 'no file of it is in the plugin directories')
        self.call(server, 'PATCH', shelves() + '/a', '{"metadata":{"labels":{"from":"server"}}}', headers=MERGE)
        self.assertTrue(wait_for(lambda: self.call(other, 'GET', shelves() + '/a')['metadata'].get('labels') == {'from': 'server'}))
        self.assertLess(self.delete_namespace(other, 'one'), LONGEST)
        self.assertEqual(self.call(server, 'GET', shelves('one'))['items'], [])
        self.assertEqual(server.terminate(), 0)
        self.check_group(other, 'no file of it is in the plugin directories')
        self.call(other, 'DELETE', shelves() + '/a')
        self.act(other, 'forget')
        self.assertEqual(other.request('GET', shelves())[0], 404)


if __name__ == '__main__':
    main()
