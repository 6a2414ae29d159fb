"""Custom types that are created, changed, deleted and created again, over restarts; and APIServices: of this server's group versions and of other servers."""
import json
import time
import unittest

from harness import Server, main

CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
APISERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
AGGREGATED = {'Accept': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'}


def definition(plural, kind, group='e2e.example.com', properties=None):
    schema = {'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': properties or {'size': {'type': 'integer'}}}}}
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': '%s.%s' % (plural, group)},
            'spec': {'group': group, 'scope': 'Cluster', 'names': {'plural': plural, 'singular': kind.lower(), 'kind': kind},
                     'versions': [{'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': schema}}]}}


def etag(answer):
    return {name.lower(): value for name, value in answer[1].items()}['etag']


def eventually(what, check, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        got = check()
        if got:
            return got
        if time.monotonic() > deadline:
            raise AssertionError(what + ' does not come')
        time.sleep(0.02)


class CustomTypes(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(lambda: self.server.stop())

    def get(self, path, **options):
        return self.server.request('GET', path, **options)

    def define(self, *args, **options):
        crd = definition(*args, **options)
        code, _, body = self.server.request('POST', CRDS, crd)
        self.assertEqual(code, 201, body)
        path = '/apis/%s/v1/%s' % (crd['spec']['group'], crd['spec']['names']['plural'])
        eventually(path, lambda: self.get(path)[0] == 200)
        self.wait_until_established(crd['metadata']['name'])
        return path

    def wait_until_established(self, name):
        """A type is served before its status says so, and a change must not conflict with that write."""
        eventually('the status of ' + name, lambda: 'Established' in [condition['type'] for condition in self.get(
            CRDS + '/' + name)[2]['status'].get('conditions') or [] if condition['status'] == 'True'])

    def test_members_that_say_nothing(self):
        crd = definition('words', 'Word')
        schema = crd['spec']['versions'][0]['schema']['openAPIV3Schema']
        schema['properties']['spec']['dependencies'] = {}
        code, _, body = self.server.request('POST', CRDS, crd)
        self.assertEqual(code, 422, body)
        self.assertEqual([cause['field'] for cause in body['details']['causes']],
                         ['spec.validation.openAPIV3Schema.properties[spec].dependencies'])
        schema['properties']['spec'].update(dependencies=None, patternProperties={}, definitions={}, enum=[], required=[])
        crd['spec']['conversion'] = {'strategy': 'None', 'webhook': {'conversionReviewVersions': []}}
        code, _, body = self.server.request('POST', CRDS, crd)
        self.assertEqual(code, 201, body)
        self.assertEqual(body['spec']['conversion'], {'strategy': 'None'})
        kept = body['spec']['versions'][0]['schema']['openAPIV3Schema']['properties']['spec']
        self.assertEqual(sorted(kept), ['properties', 'type'])

    def open_watch(self, path):
        connection = self.server.connect()
        connection.request('GET', path + '?watch=true&resourceVersion=0')
        response = connection.getresponse()
        self.assertEqual(response.status, 200)
        return response

    def restart(self):
        old = self.server
        old.own_dir = False
        self.assertEqual(old.terminate(), 0)
        old.stop()
        self.server = Server(data_dir=old.dir)
        self.server.own_dir = True

    def test_an_apiservice_of_a_custom_group_outlives_a_restart(self):
        self.define('widgets', 'Widget')
        name = APISERVICES + '/v1.e2e.example.com'

        def available():
            code, _, service = self.get(name)
            conditions = [] if code == 404 else service.get('status', {}).get('conditions', [])
            return any(each['type'] == 'Available' and each['status'] == 'True' for each in conditions) and service

        before = eventually('the APIService', available)
        self.assertEqual(before['metadata']['labels'], {'kube-aggregator.kubernetes.io/automanaged': 'true'})
        self.assertEqual((before['spec']['groupPriorityMinimum'], before['spec']['versionPriority']), (1000, 100))
        self.restart()
        self.assertEqual(self.get('/apis/e2e.example.com/v1/widgets')[0], 200)
        # At the end of a startup, the registration removes stale APIServices; this one is stale.
        gone = {'apiVersion': 'apiregistration.k8s.io/v1', 'kind': 'APIService',
                'metadata': {'name': 'v1.nobody.example.com', 'labels': {'kube-aggregator.kubernetes.io/automanaged': 'true'}},
                'spec': {'group': 'nobody.example.com', 'version': 'v1', 'groupPriorityMinimum': 1000, 'versionPriority': 100}}
        self.assertEqual(self.server.request('POST', APISERVICES, gone)[0], 201)
        eventually('its end', lambda: self.get(APISERVICES + '/v1.nobody.example.com')[0] == 404)
        after = self.get(name)[2]
        self.assertEqual(after['metadata']['uid'], before['metadata']['uid'])
        self.assertEqual(after['metadata']['resourceVersion'], before['metadata']['resourceVersion'])

    def test_the_apiservice_goes_with_the_last_type_of_its_group_version(self):
        self.define('widgets', 'Widget')
        self.define('gadgets', 'Gadget')
        name = APISERVICES + '/v1.e2e.example.com'
        eventually('the APIService', lambda: self.get(name)[0] == 200)
        self.server.request('DELETE', CRDS + '/widgets.e2e.example.com')
        eventually('the end of widgets', lambda: self.get('/apis/e2e.example.com/v1/widgets')[0] == 404)
        self.assertEqual(self.get(name)[0], 200)
        self.server.request('DELETE', CRDS + '/gadgets.e2e.example.com')
        eventually('the end of the APIService', lambda: self.get(name)[0] == 404)

    def test_a_watch_ends_with_its_type_and_shows_nothing_of_a_successor(self):
        path = self.define('widgets', 'Widget')
        watch = self.open_watch(path)
        self.assertEqual(self.server.request('DELETE', CRDS + '/widgets.e2e.example.com')[0], 200)
        eventually('the end of the type', lambda: self.get(CRDS + '/widgets.e2e.example.com')[0] == 404)
        self.define('widgets', 'Successor')
        made = {'apiVersion': 'e2e.example.com/v1', 'kind': 'Successor', 'metadata': {'name': 'other'}}
        self.assertEqual(self.server.request('POST', path, made)[0], 201)
        self.assertNotIn(b'other', watch.read())

    # Regression: the status was 405, and 404 for an apply.
    def test_nothing_is_created_while_the_type_goes(self):
        path = self.define('widgets', 'Widget')

        def widget(name, *finalizers):
            return {'apiVersion': 'e2e.example.com/v1', 'kind': 'Widget', 'metadata': {'name': name, 'finalizers': list(finalizers)}}

        self.assertEqual(self.server.request('POST', path, widget('held', 'e2e.example.com/hold'))[0], 201)
        self.assertEqual(self.server.request('DELETE', CRDS + '/widgets.e2e.example.com')[0], 200)
        message = 'widgets.e2e.example.com "new" is forbidden: create not allowed while custom resource definition is terminating'
        apply = {'Content-Type': 'application/apply-patch+yaml'}
        posted, applied = (eventually('the refusal', lambda ask=ask: (answer := self.server.request(*ask))[0] == 403 and answer) for ask in (
            ('POST', path, widget('new')), ('PATCH', path + '/new?fieldManager=e2e', json.dumps(widget('new')), apply)))
        self.assertEqual([posted[2]['message'], applied[2]['message']], [message] * 2)
        self.assertEqual(self.server.request('PATCH', path + '/held?fieldManager=e2e', json.dumps(widget('held', 'e2e.example.com/hold')), apply)[0], 200)
        merge = {'Content-Type': 'application/merge-patch+json'}
        self.assertEqual(self.server.request('PATCH', path + '/new', '{}', merge)[0], 404)
        self.server.request('PATCH', path + '/held', '{"metadata":{"finalizers":null}}', merge)
        eventually('the end of the type', lambda: self.get(CRDS + '/widgets.e2e.example.com')[0] == 404)

    def test_a_watch_ends_when_the_schema_changes(self):
        path = self.define('widgets', 'Widget')
        watch = self.open_watch(path)
        crd = self.get(CRDS + '/widgets.e2e.example.com')[2]
        crd['spec']['versions'][0]['schema']['openAPIV3Schema']['properties']['spec']['properties']['color'] = {'type': 'string'}
        self.assertEqual(self.server.request('PUT', CRDS + '/widgets.e2e.example.com', crd)[0], 200)
        self.assertEqual(watch.read(), b'')
        made = {'apiVersion': 'e2e.example.com/v1', 'kind': 'Widget', 'metadata': {'name': 'w'}, 'spec': {'color': 'red', 'weight': 1}}
        code, _, stored = self.server.request('POST', path, made)
        self.assertEqual((code, stored.get('spec')), (201, {'color': 'red'}))

    def test_objects_of_before_are_shown_and_stored_as_the_definition_has_them_now(self):
        crd = definition('gadgets', 'Gadget')
        versions = crd['spec']['versions']
        versions[0]['subresources'] = {'status': {}}
        versions[0]['schema']['openAPIV3Schema']['properties']['status'] = {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}
        versions.append({'name': 'v2', 'served': True, 'storage': False, 'schema': {'openAPIV3Schema': {
            'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {'size': {'type': 'integer'}}}}}}})
        self.assertEqual(self.server.request('POST', CRDS, crd)[0], 201)
        group = '/apis/e2e.example.com/'
        eventually('gadgets', lambda: self.get(group + 'v1/gadgets')[0] == 200 and self.get(group + 'v2/gadgets')[0] == 200)
        self.wait_until_established('gadgets.e2e.example.com')

        def create(version, name):
            gadget = {'apiVersion': 'e2e.example.com/' + version, 'kind': 'Gadget', 'spec': {'size': 1},
                      'metadata': {'name': name, 'finalizers': ['example.com/held']}}
            self.assertEqual(self.server.request('POST', group + version + '/gadgets', gadget)[0], 201)

        for name in ('touched', 'deleted', 'left'):
            create('v1', name)
        _, _, crd = self.get(CRDS + '/gadgets.e2e.example.com')
        crd['spec']['versions'][0]['schema']['openAPIV3Schema']['properties']['spec']['properties']['unit'] = {'type': 'string', 'default': 'mm'}
        self.assertEqual(self.server.request('PUT', CRDS + '/gadgets.e2e.example.com', crd)[0], 200)
        specs = lambda version: {each['metadata']['name']: each['spec'] for each in self.get(group + version + '/gadgets')[2]['items']}
        eventually('the default', lambda: specs('v1')['left'] == {'size': 1, 'unit': 'mm'})
        create('v2', 'through')
        patch = {'Content-Type': 'application/merge-patch+json'}
        for path, body in (('/status', {'status': {'seen': True}}), ('', {'metadata': {'labels': {'a': 'b'}}})):
            code, _, answer = self.server.request('PATCH', group + 'v1/gadgets/touched' + path, body, headers=patch)
            self.assertEqual((code, answer['metadata']['generation']), (200, 1), answer)
        self.assertEqual(self.server.request('DELETE', group + 'v1/gadgets/deleted')[0], 200)
        for restarted in (False, True):
            if restarted:
                self.restart()
                eventually('gadgets', lambda: self.get(group + 'v1/gadgets')[0] == 200)
            for name in ('touched', 'deleted', 'left', 'through'):
                self.assertEqual(specs('v1')[name], {'size': 1, 'unit': 'mm'}, (name, restarted))
                self.assertEqual(specs('v2')[name], {'size': 1}, (name, restarted))

    def test_an_empty_list_of_managers_does_not_ask_for_a_new_record(self):
        path = self.define('widgets', 'Widget')
        merge = {'Content-Type': 'application/merge-patch+json', 'User-Agent': 'two'}
        widget = {'apiVersion': 'e2e.example.com/v1', 'kind': 'Widget', 'metadata': {'name': 'w'}, 'spec': {'size': 1}}
        code, _, made = self.server.request('POST', path, widget, headers={'User-Agent': 'one'})
        self.assertEqual(code, 201, made)
        made['metadata']['managedFields'] = []
        for method, body, headers in (('PUT', made, {'User-Agent': 'two'}), ('PATCH', {'metadata': {'managedFields': []}}, merge)):
            code, _, answer = self.server.request(method, path + '/w', body, headers=headers)
            self.assertEqual((code, [entry['manager'] for entry in answer['metadata'].get('managedFields', ())]), (200, ['one']), answer)
        _, _, answer = self.server.request('PATCH', path + '/w', {'metadata': {'managedFields': [{}]}}, headers=merge)
        self.assertNotIn('managedFields', answer['metadata'])

    def test_a_default_comes_back_when_another_version_lets_go_of_its_field(self):
        crd = definition('widgets', 'Widget', properties={'mode': {'type': 'string', 'default': 'x'}, 'size': {'type': 'integer'}})
        crd['spec']['versions'].append(dict(crd['spec']['versions'][0], name='v2', storage=False))
        self.assertEqual(self.server.request('POST', CRDS, crd)[0], 201)
        group = '/apis/e2e.example.com/'
        eventually('v2', lambda: all(self.get(group + version + '/widgets')[0] == 200 for version in ('v1', 'v2')))
        for version, spec, mode in (('v2', {'mode': 'y', 'size': 1}, 'y'), ('v1', {'size': 1}, 'x')):
            widget = {'apiVersion': 'e2e.example.com/' + version, 'kind': 'Widget', 'metadata': {'name': 'w'}, 'spec': spec}
            code, _, answer = self.server.request('PATCH', group + version + '/widgets/w?fieldManager=m', widget,
                                                  headers={'Content-Type': 'application/apply-patch+yaml'})
            self.assertIn(code, (200, 201), answer)
            self.assertEqual(answer['spec']['mode'], mode)

    def test_documents_follow_a_change_and_etags_stay_over_a_restart(self):
        self.define('widgets', 'Widget')
        aggregated = self.get('/apis', headers=AGGREGATED)
        index = self.get('/openapi/v3')[2]['paths']['apis/e2e.example.com/v1']['serverRelativeURL']
        document = self.get(index)
        self.assertIn('com.example.e2e.v1.Widget', document[2]['components']['schemas'])
        self.assertEqual(etag(document).strip('"'), index.split('hash=')[1])
        self.assertEqual(self.get('/apis', headers=dict(AGGREGATED, **{'If-None-Match': etag(aggregated)}))[0], 304)
        self.restart()
        self.assertEqual(self.get('/openapi/v3')[2]['paths']['apis/e2e.example.com/v1']['serverRelativeURL'], index)
        self.assertEqual(etag(self.get('/apis', headers=AGGREGATED)), etag(aggregated))
        self.define('gadgets', 'Gadget')
        self.assertNotEqual(self.get('/openapi/v3')[2]['paths']['apis/e2e.example.com/v1']['serverRelativeURL'], index)
        changed = self.get('/apis', headers=AGGREGATED)
        self.assertNotEqual(etag(changed), etag(aggregated))
        group = [g for g in changed[2]['items'] if g['metadata']['name'] == 'e2e.example.com'][0]
        self.assertEqual([r['resource'] for r in group['versions'][0]['resources']], ['gadgets', 'widgets'])
        self.assertIn('com.example.e2e.v1.Gadget', self.get('/openapi/v2')[2]['definitions'])

    def test_a_group_version_of_another_server_is_unavailable_until_its_apiservice_goes(self):
        spec = {'group': 'agg.example.com', 'version': 'v1', 'groupPriorityMinimum': 100, 'versionPriority': 10,
                'insecureSkipTLSVerify': True, 'service': {'namespace': 'default', 'name': 'agg'}}
        name = APISERVICES + '/v1.agg.example.com'
        made = {'apiVersion': 'apiregistration.k8s.io/v1', 'kind': 'APIService', 'metadata': {'name': 'v1.agg.example.com'}, 'spec': spec}
        self.assertEqual(self.server.request('POST', APISERVICES, made)[0], 201)

        def reason(wanted):
            conditions = self.get(name)[2].get('status', {}).get('conditions', [])
            return [c for c in conditions if c['reason'] == wanted]
        self.assertEqual(eventually('ServiceNotFound', lambda: reason('ServiceNotFound'))[0]['message'],
                         'service/agg in "default" is not present')
        for method, path in (('GET', ''), ('GET', '/things'), ('POST', '/namespaces/default/things')):
            code, headers, body = self.server.request(method, '/apis/agg.example.com/v1' + path)
            self.assertEqual((code, body), (503, 'service unavailable\n'), path)
            self.assertEqual(headers['Content-Type'], 'text/plain; charset=utf-8')
        self.assertIn('agg.example.com', json.dumps(self.get('/apis')[2]))
        items = self.get('/apis', headers=AGGREGATED)[2]['items']
        self.assertEqual([g['versions'] for g in items if g['metadata']['name'] == 'agg.example.com'],
                         [[{'version': 'v1', 'freshness': 'Stale'}]])
        service = {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 'agg'}, 'spec': {'ports': [{'name': 'http', 'port': 80}]}}
        self.assertEqual(self.server.request('POST', '/api/v1/namespaces/default/services', service)[0], 201)
        eventually('ServicePortError', lambda: reason('ServicePortError'))
        self.assertEqual(self.server.request('DELETE', name)[0], 200)
        eventually('its end', lambda: self.get('/apis/agg.example.com/v1')[0] == 404)
        self.assertNotIn('agg.example.com', json.dumps(self.get('/apis')[2]))

    def test_many_types_of_one_group_come_and_go_together(self):
        for number in range(60):
            crd = definition('things%d' % number, 'Thing%d' % number)
            self.assertEqual(self.server.request('POST', CRDS, crd)[0], 201)
        eventually('all of them', lambda: (answer := self.get('/apis/e2e.example.com/v1'))[0] == 200 and len(answer[2]['resources']) == 60)
        code = self.server.request('DELETE', CRDS)[0]
        self.assertEqual(code, 200)
        eventually('their end', lambda: self.get('/apis/e2e.example.com')[0] == 404)


if __name__ == '__main__':
    main()
