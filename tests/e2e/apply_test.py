"""Server-side apply over one Deployment, by HTTP and with every available kubectl: two managers, conflict, force, sharing, removal; migration
from client-side apply; metadata.managedFields."""
import json
import unittest

from harness import Served, kubectls, main

YAML = {'Content-Type': 'application/apply-patch+yaml', 'User-Agent': 'test'}
DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/web'


def deployment(**spec):
    return {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'web'}, 'spec': spec}


def containers(*pairs):
    return {'metadata': {'labels': {'app': 'web'}}, 'spec': {'containers': [{'name': name, 'image': image} for name, image in pairs]}}


def managers(item):
    """{(manager, operation, subresource): fieldsV1}"""
    return {(m['manager'], m['operation'], m.get('subresource', '')): m['fieldsV1'] for m in item['metadata'].get('managedFields', [])}


class ApplyTest(Served, unittest.TestCase):
    def tearDown(self):
        self.server.request('DELETE', DEPLOYMENT)

    def apply(self, manager, body, want=200, path=DEPLOYMENT, **options):
        query = '&'.join(['fieldManager=' + manager] + ['%s=%s' % pair for pair in options.items()])
        text = body if isinstance(body, str) else json.dumps(body)
        status, _, answer = self.server.request('PATCH', path + '?' + query, text, YAML)
        self.assertEqual(status, want, answer)
        return answer

    def make(self):
        return self.apply('one', deployment(replicas=1, selector={'matchLabels': {'app': 'web'}}, template=containers(('c', 'nginx:1'))), 201)

    def test_patches_reach_into_the_record_and_what_was_read_can_be_sent_back(self):
        self.make()
        path = '/metadata/managedFields/0/fieldsV1/f:spec/f:replicas'
        patch = [{'op': 'test', 'path': path, 'value': {}}, {'op': 'copy', 'from': path, 'path': path[:-len('replicas')] + 'paused'},
                 {'op': 'add', 'path': '/metadata/annotations', 'value': {'a': 'b'}}]
        status, _, patched = self.server.request('PATCH', DEPLOYMENT + '?fieldManager=two', json.dumps(patch),
                                                 {'Content-Type': 'application/json-patch+json'})
        self.assertEqual(status, 200, patched)
        self.assertIn('f:paused', managers(patched)['one', 'Apply', '']['f:spec'])
        self.assertEqual(managers(patched)['two', 'Update', ''], {'f:metadata': {'f:annotations': {'.': {}, 'f:a': {}}}})
        for kind in ('merge', 'strategic-merge'):
            status, _, patched = self.server.request('PATCH', DEPLOYMENT + '?fieldManager=two', '{"metadata":{"annotations":{"a":"%s"}}}' % kind,
                                                     {'Content-Type': 'application/%s-patch+json' % kind})
            self.assertEqual(status, 200, patched)
            self.assertEqual(managers(patched)['two', 'Update', ''], {'f:metadata': {'f:annotations': {'.': {}, 'f:a': {}}}})
        status, _, sent = self.server.request('PUT', DEPLOYMENT + '?fieldManager=three', json.dumps(patched), {'Content-Type': 'application/json'})
        self.assertEqual((status, sent), (200, patched))
        status, _, read = self.server.request('GET', DEPLOYMENT)
        self.assertEqual((status, read), (200, patched))

    def test_two_managers_conflict_force_share_and_remove(self):
        made = self.make()
        self.assertEqual(list(managers(made)), [('one', 'Apply', '')])
        again = self.make_again()
        self.assertEqual(again['metadata']['resourceVersion'], made['metadata']['resourceVersion'])

        refused = self.apply('two', deployment(replicas=3), 409)
        self.assertEqual(refused['message'], 'Apply failed with 1 conflict: conflict with "one": .spec.replicas')
        self.assertEqual(refused['details']['causes'],
                         [{'reason': 'FieldManagerConflict', 'message': 'conflict with "one"', 'field': '.spec.replicas'}])

        forced = self.apply('two', deployment(replicas=3), force='true')
        self.assertEqual(forced['spec']['replicas'], 3)
        self.assertEqual(managers(forced)['two', 'Apply', ''], {'f:spec': {'f:replicas': {}}})
        self.assertNotIn('f:replicas', managers(forced)['one', 'Apply', '']['f:spec'])

        shared = self.apply('three', deployment(replicas=3))
        self.assertEqual(managers(shared)['three', 'Apply', ''], {'f:spec': {'f:replicas': {}}})
        # If one of two managers drops a shared field, the other one keeps it; if the last one drops it, the field gets its default.
        self.assertEqual(self.apply('two', deployment())['spec']['replicas'], 3)
        self.assertEqual(self.apply('three', deployment())['spec']['replicas'], 1)

        side = self.apply('two', {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'web'},
                                  'spec': {'template': {'spec': {'containers': [{'name': 'side', 'image': 's'}]}}}})
        self.assertEqual([c['name'] for c in side['spec']['template']['spec']['containers']], ['c', 'side'])
        gone = self.apply('two', deployment())
        self.assertEqual([c['name'] for c in gone['spec']['template']['spec']['containers']], ['c'])

    def make_again(self):
        return self.apply('one', deployment(replicas=1, selector={'matchLabels': {'app': 'web'}}, template=containers(('c', 'nginx:1'))))

    def test_updates_patches_status_and_scale_are_recorded(self):
        self.make()
        merge = {'Content-Type': 'application/merge-patch+json', 'User-Agent': 'editor/1 (linux)'}
        _, _, changed = self.server.request('PATCH', DEPLOYMENT, '{"metadata":{"labels":{"x":"y"}}}', merge)
        self.assertEqual(managers(changed)['editor', 'Update', ''], {'f:metadata': {'f:labels': {'.': {}, 'f:x': {}}}})
        status = {'status': {'replicas': 1}, 'spec': {'replicas': 7}}
        _, _, changed = self.server.request('PATCH', DEPLOYMENT + '/status', json.dumps(status), dict(merge, **{'User-Agent': 'controller'}))
        self.assertEqual(managers(changed)['controller', 'Update', 'status'], {'f:status': {'f:replicas': {}}})
        self.assertEqual(changed['spec']['replicas'], 1)
        code, _, scale = self.server.request('PATCH', DEPLOYMENT + '/scale', '{"spec":{"replicas":5}}', dict(merge, **{'User-Agent': 'hpa'}))
        self.assertEqual((code, scale['spec']['replicas']), (200, 5))
        _, _, item = self.server.request('GET', DEPLOYMENT)
        self.assertEqual(managers(item)['hpa', 'Update', 'scale'], {'f:spec': {'f:replicas': {}}})
        self.assertNotIn('f:replicas', managers(item)['one', 'Apply', '']['f:spec'])
        refused = self.apply('one', deployment(replicas=1, selector={'matchLabels': {'app': 'web'}}, template=containers(('c', 'nginx:1'))), 409)
        self.assertEqual(refused['message'],
                         'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas')

    def test_a_record_can_be_thrown_away_and_begins_with_the_first_apply(self):
        self.make()
        merge = {'Content-Type': 'application/merge-patch+json', 'User-Agent': 'editor'}
        _, _, item = self.server.request('PATCH', DEPLOYMENT, '{"metadata":{"managedFields":[]}}', merge)
        self.assertNotIn('managedFields', item['metadata'])
        item = self.apply('two', dict(deployment(), metadata={'name': 'web', 'labels': {'a': 'b'}}))
        self.assertEqual(sorted(manager for manager, _, _ in managers(item)), ['before-first-apply', 'two'])

    def test_errors_of_a_configuration_are_reported(self):
        self.make()
        status, _, answer = self.server.request('PATCH', DEPLOYMENT, '{}', YAML)
        self.assertEqual((status, answer['details']['causes'][0]['field']), (422, 'fieldManager'))
        self.assertIn('is required for apply patch', answer['message'])
        self.assertEqual(self.apply('m', '- 1', 400)['message'],
                         'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}')
        self.assertEqual(self.apply('m', 'kind: Pod\napiVersion: v1\n', 400)['message'], 'invalid object type: /v1, Kind=Pod')
        wrong = dict(deployment(nonsense=1))
        self.assertEqual(self.apply('m', wrong, 500)['message'],
                         'failed to create typed patch object (/web; apps/v1, Kind=Deployment): .spec.nonsense: field not declared in schema')
        twice = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nmetadata: {name: web}\n'
        self.assertIn('already set in map', self.apply('m', twice, 400, fieldValidation='Strict')['message'])
        repeated = 'apiVersion: apps/v1\nkind: Deployment\nkind: Deployment\nmetadata: {name: web, name: web}\n'
        status, headers, _ = self.server.request('PATCH', DEPLOYMENT + '?fieldManager=m', repeated, YAML)
        self.assertEqual(status, 200)
        self.assertRegex(headers.get('Warning', ''), r'^299 - "line [34]: key \\"(kind|name)\\" already set in map"$')  # the last of two
        self.assertEqual(self.apply('m', '{"metadata":{"name":"a\\/b"}}', 400)['message'],
                         'error decoding YAML: error converting YAML to JSON: yaml: found unknown escape character')
        self.assertEqual(self.apply('m', dict(deployment(), metadata={'name': 'other'}), 400)['message'],
                         'the name of the object (other) does not match the name on the URL (web)')
        absent = dict(deployment(), metadata={'name': 'gone', 'uid': 'abc'})
        self.assertEqual(self.apply('m', absent, 409, path=DEPLOYMENT.replace('web', 'gone'))['reason'], 'Conflict')
        stale = dict(deployment(), metadata={'name': 'web', 'resourceVersion': '1'})
        self.assertEqual(self.apply('m', stale, 409)['reason'], 'Conflict')

    def test_the_creator_of_a_v1_autoscaler_owns_the_default_that_only_v2_has(self):
        path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers'
        spec = {'maxReplicas': 5, 'scaleTargetRef': {'kind': 'Deployment', 'name': 'web', 'apiVersion': 'apps/v1'}}
        body = {'apiVersion': 'autoscaling/v1', 'kind': 'HorizontalPodAutoscaler', 'metadata': {'name': 'made'}, 'spec': spec}
        status, _, made = self.server.request('POST', path, body, {'Content-Type': 'application/json', 'User-Agent': 'maker'})
        self.assertEqual((status, made['spec']['targetCPUUtilizationPercentage']), (201, 80))
        owned = dict(dict.fromkeys(('f:maxReplicas', 'f:minReplicas', 'f:targetCPUUtilizationPercentage'), {}), **{'f:scaleTargetRef': {}})
        self.assertEqual(managers(made)['maker', 'Update', ''], {'f:spec': owned})
        # A manager owns only the fields that it applies.
        applied = self.apply('m', dict(body, metadata={'name': 'applied'}), 201, path=path + '/applied')
        self.assertEqual(managers(applied)['m', 'Apply', ''], {'f:spec': {'f:maxReplicas': {}, 'f:scaleTargetRef': {}}})
        for name in ('made', 'applied'):
            self.assertEqual(self.server.request('DELETE', path + '/' + name)[0], 200)

    def test_kubectl_applies_on_the_server_after_it_has_done_so_itself(self):
        manifest = json.dumps(deployment(replicas=2, selector={'matchLabels': {'app': 'web'}}, template=containers(('c', 'nginx:1'))))
        changed = manifest.replace('nginx:1', 'nginx:2')
        for binary in kubectls():
            with self.subTest(kubectl=binary):
                self.tearDown()
                self.server.kubectl(binary, 'apply', '-f', '-', stdin=manifest)
                self.server.kubectl(binary, 'apply', '--server-side', '-f', '-', stdin=changed)
                _, _, item = self.server.request('GET', DEPLOYMENT)
                self.assertEqual(item['spec']['template']['spec']['containers'][0]['image'], 'nginx:2')
                self.assertIn(('kubectl', 'Apply', ''), managers(item))
                self.assertIn('nginx:2', item['metadata']['annotations']['kubectl.kubernetes.io/last-applied-configuration'])
                done = self.server.kubectl(binary, 'apply', '--server-side', '--field-manager=other', '-f', '-', stdin=manifest, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn('conflict with "kubectl"', done.stderr)
                self.server.kubectl(binary, 'apply', '--server-side', '--field-manager=other', '--force-conflicts', '-f', '-', stdin=manifest)
                _, _, item = self.server.request('GET', DEPLOYMENT)
                self.assertEqual(item['spec']['template']['spec']['containers'][0]['image'], 'nginx:1')


if __name__ == '__main__':
    main()
